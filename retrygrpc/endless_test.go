package retrygrpc_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrygrpc"
)

// ring is an error that wraps itself. It counts the steps of those who look into it, and ends after
// far too many, so that a test fails instead of hanging.
type ring struct{ steps int }

func (*ring) Error() string { return "ring" }

func (r *ring) Unwrap() error {
	r.steps++
	if r.steps > 100_000 {
		return nil
	}
	return r
}

// TestEndlessErrors: an error of an interceptor may wrap itself.
func TestEndlessErrors(t *testing.T) {
	endless := &ring{}
	fails := grpc.WithChainUnaryInterceptor(func(context.Context, string, any, any, *grpc.ClientConn, grpc.UnaryInvoker, ...grpc.CallOption) error {
		return endless
	})
	client := dial(t, "passthrough:///nowhere", append(repeatingAll(quick), fails)...)
	_, err := client.UnaryCall(t.Context(), &pb.SimpleRequest{})
	assert.Equal(t, codes.Unknown, status.Code(err))
	assert.Equal(t, retry.Verdict{}, retrygrpc.Classifier{}.Classify(endless))
	assert.Less(t, endless.steps, 10_000)
}
