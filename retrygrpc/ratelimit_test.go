package retrygrpc_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/ratelimit"
)

// TestRateLimit: a ratelimit.Limiter lets the calls of a client share a RetryInfo.
func TestRateLimit(t *testing.T) {
	for name, tt := range map[string]struct {
		limiter     retry.Limiter
		least, most int // requests of 900 calls
	}{
		"none": {nil, 1800, 1800},
		"one":  {new(ratelimit.Limiter), 900, 1035},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				s := &server{unary: func(context.Context, int) error {
					left := 2*time.Second - time.Since(start)
					if left <= 0 {
						return nil
					}
					refused, err := status.New(codes.ResourceExhausted, "quota").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(left)})
					assert.NoError(t, err)
					return refused.Err()
				}}
				client := newVirtualClient(t, s, retry.Policy{Limiter: tt.limiter})
				var calls sync.WaitGroup
				for range 900 {
					time.Sleep(time.Second / 900)
					calls.Go(func() {
						_, err := client.UnaryCall(t.Context(), &pb.SimpleRequest{})
						assert.NoError(t, err)
					})
				}
				calls.Wait()
				assert.GreaterOrEqual(t, s.hits(), tt.least)
				assert.LessOrEqual(t, s.hits(), tt.most)
			})
		})
	}
}
