package retrygrpc_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc"
	pb "google.golang.org/grpc/interop/grpc_testing"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/admit"
	"github.com/gobackoff/retry/internal/memnet"
	"github.com/gobackoff/retry/retrygrpc"
)

// TestAdmissionStall: a server with four slots of 10 ms, at 70 % load, stalls for two
// seconds. With an Admission, real clients lose nothing. The time is virtual.
func TestAdmissionStall(t *testing.T) {
	const config = `{"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 4, "initialBackoff": "0.05s",
		"maxBackoff": "20s", "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}}]}`
	for _, test := range []struct {
		name  string
		dial  []grpc.DialOption
		gated bool
		least float64
		most  float64
	}{
		{"retrygrpc", repeatingAll(retry.Policy{MaxAttempts: 4, AttemptTimeout: time.Second}), true, 0.99, 1},
		{"retrygrpc without admission", repeatingAll(retry.Policy{MaxAttempts: 4, AttemptTimeout: time.Second}), false, 0, 0.5},
		{"grpc-go", []grpc.DialOption{grpc.WithDefaultServiceConfig(config)}, true, 0.99, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var options []grpc.ServerOption
				if test.gated {
					options = (&retrygrpc.Admission{Gate: new(admit.Gate)}).ServerOptions()
				}
				share := stall(t, options, test.dial)
				t.Logf("%.1f %% of the calls succeed", 100*share)
				assert.GreaterOrEqual(t, share, test.least)
				assert.LessOrEqual(t, share, test.most)
			})
		})
	}
}

// stall returns the share of the calls that succeed.
func stall(t *testing.T, serverOptions []grpc.ServerOption, dialOptions []grpc.DialOption) float64 {
	start := time.Now()
	slots := make(chan struct{}, 4)
	s := &server{unary: func(context.Context, int) error {
		slots <- struct{}{}
		defer func() { <-slots }()
		if at := time.Since(start); at > 5*time.Second && at < 7*time.Second {
			time.Sleep(7*time.Second - at)
		}
		time.Sleep(10 * time.Millisecond)
		return nil
	}}
	g := grpc.NewServer(serverOptions...)
	pb.RegisterTestServiceServer(g, s)
	network := memnet.New()
	serve(t, g, network)
	client := pb.NewTestServiceClient(dialMemory(t, network, dialOptions...))
	var calls sync.WaitGroup
	var all, good atomic.Int64
	for time.Since(start) < 25*time.Second {
		time.Sleep(time.Duration(rand.ExpFloat64() / 280 * float64(time.Second)))
		calls.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			all.Add(1)
			if _, err := client.UnaryCall(ctx, &pb.SimpleRequest{}); err == nil {
				good.Add(1)
			}
		})
	}
	calls.Wait()
	time.Sleep(time.Minute) // the server finishes what nobody waits for
	return float64(good.Load()) / float64(all.Load())
}
