package retrygrpc_test

import (
	"context"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrygrpc"
)

type counters struct{ attempts, retries, gaveUp atomic.Int64 }

func (c *counters) hooks() retry.Hooks {
	return retry.Hooks{
		OnAttempt: func(ctx context.Context, a retry.Attempt) (context.Context, func(retry.Attempt)) {
			id := strconv.FormatInt(c.attempts.Add(1), 10)
			return metadata.AppendToOutgoingContext(ctx, "id", id), nil
		},
		OnRetry:  func(context.Context, retry.Attempt, time.Duration) { c.retries.Add(1) },
		OnGiveUp: func(context.Context, *retry.Error) { c.gaveUp.Add(1) },
	}
}

// load makes calls in 50 goroutines.
func load(t *testing.T, c pb.TestServiceClient, calls int) map[codes.Code]int64 {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	outcomes := map[codes.Code]int64{}
	for i := range 50 {
		wg.Go(func() {
			for range (calls + 49 - i) / 50 {
				_, err := c.UnaryCall(t.Context(), &pb.SimpleRequest{})
				mu.Lock()
				outcomes[status.Code(err)]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return outcomes
}

func callsOf(full int) int {
	if testing.Short() {
		return full / 10
	}
	return full
}

// TestLoad: in 10,000 calls with injected faults, the server counts every attempt that the
// client makes, and every fault has the expected outcome.
func TestLoad(t *testing.T) {
	calls := callsOf(10_000)
	var faults [6]atomic.Int64
	s := &server{unary: func(ctx context.Context, _ int) error {
		fault := rand.IntN(2 * len(faults)) // half the calls succeed
		if fault >= len(faults) {
			return nil
		}
		faults[fault].Add(1)
		switch fault {
		case 0:
			return unavailable
		case 1:
			return status.Error(codes.ResourceExhausted, "quota")
		case 2:
			return info(codes.Unavailable, time.Millisecond)
		case 3:
			return status.Error(codes.InvalidArgument, "permanent")
		case 4:
			_ = grpc.SetTrailer(ctx, metadata.Pairs("grpc-retry-pushback-ms", "-1"))
			return status.Error(codes.Aborted, "no more attempts")
		}
		return status.Error(codes.DeadlineExceeded, "deadline of another server")
	}}
	var client counters
	policy := retry.Policy{Backoff: retry.FullJitter{Base: time.Millisecond}, MaxAttempts: 4}.With(client.hooks())
	outcomes := load(t, newClient(t, s, policy), calls)
	assert.EqualValues(t, client.attempts.Load(), s.hits())
	assert.Equal(t, client.attempts.Load(), int64(calls)+client.retries.Load())
	assert.Equal(t, int64(calls), outcomes[codes.OK]+client.gaveUp.Load(), "every call succeeds or gives up once")
	assert.Equal(t, faults[3].Load(), outcomes[codes.InvalidArgument], "a permanent failure ends its call")
	assert.Equal(t, faults[4].Load(), outcomes[codes.Aborted], "a pushback of -1 ends its call")
	t.Logf("%d calls: %d attempts, %d seen by the server, outcomes %v", calls, client.attempts.Load(), s.hits(), outcomes)
}

type fragile struct {
	net.Listener
	mu    sync.Mutex
	conns []net.Conn
}

func (f *fragile) Accept() (net.Conn, error) {
	conn, err := f.Listener.Accept()
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // closing sends a reset
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.conns = append(f.conns, conn)
	return conn, err
}

func (f *fragile) breakAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, conn := range f.conns {
		_ = conn.Close()
	}
	f.conns = nil
}

// TestLoadBroken: although connections are reset under load, every call succeeds, and the
// server receives no attempt twice, and none that the client did not make.
func TestLoadBroken(t *testing.T) {
	calls := callsOf(5_000)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	f := &fragile{Listener: l}
	s := &server{unary: func(_ context.Context, n int) error {
		if n%200 == 0 {
			f.breakAll()
		}
		return nil
	}}
	var client counters
	// Unlimited, because grpc-go waits for a second after a connection breaks at its beginning.
	policy := retry.Policy{Backoff: retry.FullJitter{Base: 5 * time.Millisecond, Cap: 100 * time.Millisecond}, MaxAttempts: retry.Unlimited}.With(client.hooks())
	outcomes := load(t, dial(t, s.start(t, f), repeatingAll(policy)...), calls)
	assert.Equal(t, map[codes.Code]int64{codes.OK: int64(calls)}, outcomes)
	seen := map[string]int{}
	s.mu.Lock() // handlers of broken connections may still begin
	defer s.mu.Unlock()
	for _, md := range s.calls {
		seen[md["id"][0]]++
	}
	for id, times := range seen {
		n, err := strconv.ParseInt(id, 10, 64)
		require.NoError(t, err)
		assert.LessOrEqual(t, n, client.attempts.Load())
		assert.Equal(t, 1, times, "attempt %s", id)
	}
	assert.Positive(t, client.retries.Load())
	assert.Equal(t, client.attempts.Load(), int64(calls)+client.retries.Load())
	t.Logf("%d calls: %d attempts, %d seen by the server", calls, client.attempts.Load(), len(seen))
}

// respond is an innermost interceptor, so that only the code above it is measured.
var respond = grpc.WithChainUnaryInterceptor(func(context.Context, string, any, any, *grpc.ClientConn, grpc.UnaryInvoker, ...grpc.CallOption) error {
	return nil
})

// TestAllocations: retries cost a call that succeeds four allocations.
func TestAllocations(t *testing.T) {
	count := func(options ...grpc.DialOption) float64 {
		c, req := dial(t, "localhost:1", append(options, respond)...), &pb.SimpleRequest{}
		return testing.AllocsPerRun(100, func() { _, _ = c.UnaryCall(t.Context(), req) })
	}
	assert.LessOrEqual(t, count(retrygrpc.DialOptions(retry.Policy{})...)-count(), 4.0)
}
