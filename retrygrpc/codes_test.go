package retrygrpc_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/gobackoff/retry/retryconfig"
	"github.com/gobackoff/retry/retrygrpc"
)

// TestCodesOfText: the codes of a policy's text add to those of the Classifier, and do not make a
// method repeatable.
func TestCodesOfText(t *testing.T) {
	tooLarge := status.Error(codes.ResourceExhausted, "grpc: received message larger than max (5 vs. 4)")
	for name, tt := range map[string]struct {
		text, method string
		err          error
		hits         int
	}{
		"not listed":                    {"", "Get", status.Error(codes.FailedPrecondition, ""), 1},
		"listed":                        {"retry-on=FAILED_PRECONDITION", "Get", status.Error(codes.FailedPrecondition, ""), 2},
		"listed, but may not run twice": {"retry-on=FAILED_PRECONDITION", "Pay", status.Error(codes.FailedPrecondition, ""), 1},
		"the usual ones stay":           {"retry-on=FAILED_PRECONDITION", "Get", unavailable, 2},
		"what the Classifier knows":     {"retry-on=FAILED_PRECONDITION", "Get", tooLarge, 1},
		"stopped":                       {"stop-on=Unavailable", "Get", unavailable, 1},
	} {
		t.Run(name, func(t *testing.T) {
			policy, err := retryconfig.Parse("no-delay " + tt.text)
			require.NoError(t, err)
			s := &levelServer{fault: func(_ context.Context, _ string, execution int, at point) error {
				if execution > 1 || at != atBegin {
					return nil
				}
				return tt.err
			}}
			conn := connect(t, s.serve(t, nil), retrygrpc.DialOptions(policy)...)
			err = conn.Invoke(withID(t.Context(), "a"), "/"+levels+"/"+tt.method, &wrapperspb.BytesValue{}, &wrapperspb.BytesValue{})
			assert.Equal(t, tt.hits, s.of("a"))
			assert.Equal(t, tt.hits == 1, err != nil)
		})
	}
}
