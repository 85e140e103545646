package retrygrpc_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrygrpc"
)

// TestDocumentedCodes: the table in docs/reference/grpc.md has the class of every code.
func TestDocumentedCodes(t *testing.T) {
	text, err := os.ReadFile("../docs/reference/grpc.md")
	require.NoError(t, err)
	documented := map[codes.Code]string{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, " | ")
		if len(cells) != 4 {
			continue
		}
		for name := range strings.SplitSeq(strings.TrimPrefix(cells[0], "| "), ", ") {
			var code codes.Code
			if code.UnmarshalJSON([]byte(`"`+name+`"`)) == nil {
				documented[code], _, _ = strings.Cut(cells[1], ",")
			}
		}
	}
	assert.Len(t, documented, 17)
	assert.Equal(t, retry.ClassUnknown, retrygrpc.Classifier{}.Classify(status.Error(17, "")).Class)
	for code := codes.Canceled; code <= codes.Unauthenticated; code++ {
		assert.Equal(t, documented[code], retrygrpc.Classifier{}.Classify(status.Error(code, "")).Class.String(), code)
	}
}

// carrier is a program's own error with a status of gRPC.
type carrier struct{ status *status.Status }

func (c *carrier) Error() string              { return "own" }
func (c *carrier) GRPCStatus() *status.Status { return c.status }

// TestStatusInField: DefaultClassifier knows the status in a program's own error.
func TestStatusInField(t *testing.T) {
	busy, err := status.New(codes.ResourceExhausted, "quota").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(7 * time.Second)})
	require.NoError(t, err)
	for _, tt := range []struct {
		status *status.Status
		want   retry.Verdict
	}{
		{status.New(codes.NotFound, ""), retry.Verdict{Class: retry.ClassPermanent}},
		{status.New(codes.Unavailable, ""), retry.Verdict{Class: retry.ClassTransient}},
		{status.New(codes.DeadlineExceeded, ""), retry.Verdict{Class: retry.ClassTimeout}},
		{status.New(10001, "out of stock"), retry.Verdict{}},
		{status.New(codes.ResourceExhausted, "grpc: received message larger than max (5 vs. 4)"), retry.Verdict{Class: retry.ClassPermanent}},
		{status.New(codes.Unknown, ""), retry.Verdict{}},
		{busy, retry.Verdict{Class: retry.ClassThrottled, Hint: 7 * time.Second}},
		{nil, retry.Verdict{}},
	} {
		assert.Equal(t, tt.want, retry.Policy{}.Classify(&carrier{tt.status}), "%v", tt.status)
		assert.Equal(t, tt.want, retry.Policy{}.Classify(fmt.Errorf("call: %w", &carrier{tt.status})), "%v", tt.status)
	}
	assert.Equal(t, retry.ClassUnknown, retry.Policy{}.Classify((*carrier)(nil)).Class, "a nil pointer")
}

// TestTooLargeForm: the sentences of gRPC's implementations about a message that is too large.
func TestTooLargeForm(t *testing.T) {
	for message, want := range map[string]retry.Class{
		"trying to send message larger than max (5 vs. 4)":              retry.ClassPermanent,
		"Received message larger than max (5 vs. 4)":                    retry.ClassPermanent,
		"gRPC message exceeds maximum size 4: 5":                        retry.ClassPermanent,
		"Received message exceeds the maximum configured message size.": retry.ClassPermanent,
		"grpc: message too large (5 bytes)":                             retry.ClassPermanent,
		"quota exceeded: 5 messages":                                    retry.ClassThrottled,
	} {
		assert.Equal(t, want, retrygrpc.Classifier{}.Classify(status.Error(codes.ResourceExhausted, message)).Class, message)
	}
}
