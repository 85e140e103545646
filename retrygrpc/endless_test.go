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
	"github.com/gobackoff/retry/internal/test/cyclic"
	"github.com/gobackoff/retry/retrygrpc"
)

// TestEndlessErrors: an error of an interceptor may wrap itself.
func TestEndlessErrors(t *testing.T) {
	ring := &cyclic.Error{}
	fails := grpc.WithChainUnaryInterceptor(func(context.Context, string, any, any, *grpc.ClientConn, grpc.UnaryInvoker, ...grpc.CallOption) error {
		return ring
	})
	client := dial(t, "passthrough:///nowhere", append(repeatingAll(quick), fails)...)
	_, err := client.UnaryCall(t.Context(), &pb.SimpleRequest{})
	assert.Equal(t, codes.Unknown, status.Code(err))
	assert.Equal(t, retry.Verdict{}, retrygrpc.Classifier{}.Classify(ring))
	assert.Less(t, ring.Steps, 10_000)
}
