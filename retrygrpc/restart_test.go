package retrygrpc_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc"
	pb "google.golang.org/grpc/interop/grpc_testing"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/memnet"
	"github.com/gobackoff/retry/retrygrpc"
)

// TestRestart: with the options on the first screen of docs/grpc.md, no call fails while the server
// restarts. With the zero policy, calls do.
func TestRestart(t *testing.T) {
	policy := retry.Policy{AttemptTimeout: 5 * time.Second, Budget: &retry.SharedBudget{}}
	page := append(retrygrpc.DialOptions(policy), grpc.WithDefaultCallOptions(grpc.WaitForReady(true)))
	for name, tt := range map[string]struct {
		options []grpc.DialOption
		down    time.Duration
		fails   bool
	}{
		"100 ms":                 {page, 100 * time.Millisecond, false},
		"a second":               {page, time.Second, false},
		"100 ms, no preparation": {retrygrpc.DialOptions(retry.Policy{}), 100 * time.Millisecond, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var up atomic.Pointer[memnet.Network]
				start := func() *grpc.Server {
					g := grpc.NewServer()
					pb.RegisterTestServiceServer(g, &server{unary: failing(0, nil)})
					network := memnet.New()
					serve(t, g, network)
					up.Store(network)
					return g
				}
				first := start()
				dialer := grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
					network := up.Load()
					if network == nil {
						return nil, errors.New("connection refused")
					}
					return network.Dial(ctx, "memory", address)
				})
				client := pb.NewTestServiceClient(connect(t, inMemoryTarget, append(tt.options, dialer)...))
				go func() {
					time.Sleep(200 * time.Millisecond)
					up.Store(nil)
					first.GracefulStop()
					time.Sleep(tt.down)
					start()
				}()
				var failed atomic.Int64
				var calls sync.WaitGroup
				for range 100 {
					calls.Go(func() {
						_, err := client.UnaryCall(t.Context(), &pb.SimpleRequest{})
						if err != nil {
							failed.Add(1)
						}
					})
					time.Sleep(5 * time.Millisecond)
				}
				calls.Wait()
				assert.Equal(t, tt.fails, failed.Load() > 0, "%d calls failed", failed.Load())
			})
		})
	}
}
