package retrygrpc_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/memnet"
	"github.com/gobackoff/retry/retrygrpc"
)

// A server calls functions defined by a test and passes them the number n of the call,
// from 1.
type server struct {
	pb.UnimplementedTestServiceServer
	unary  func(ctx context.Context, n int) error
	stream func(n int, s grpc.ServerStreamingServer[pb.StreamingOutputCallResponse]) error

	mu    sync.Mutex
	calls []metadata.MD
	at    []time.Time
}

func (s *server) count(ctx context.Context) int {
	md, _ := metadata.FromIncomingContext(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls, s.at = append(s.calls, md), append(s.at, time.Now())
	return len(s.calls)
}

func (s *server) hits() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls)
}

// previous returns each call's metadata about earlier attempts.
func (s *server) previous() [][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all [][]string
	for _, md := range s.calls {
		all = append(all, md["grpc-previous-rpc-attempts"])
	}
	return all
}

func (s *server) UnaryCall(ctx context.Context, req *pb.SimpleRequest) (*pb.SimpleResponse, error) {
	if err := s.unary(ctx, s.count(ctx)); err != nil {
		return nil, err
	}
	return &pb.SimpleResponse{Payload: req.GetPayload()}, nil
}

func (s *server) StreamingOutputCall(_ *pb.StreamingOutputCallRequest, stream grpc.ServerStreamingServer[pb.StreamingOutputCallResponse]) error {
	return s.stream(s.count(stream.Context()), stream)
}

func (s *server) StreamingInputCall(stream grpc.ClientStreamingServer[pb.StreamingInputCallRequest, pb.StreamingInputCallResponse]) error {
	return s.unary(stream.Context(), s.count(stream.Context()))
}

func (s *server) start(t testing.TB, l net.Listener) string {
	t.Helper()
	g := grpc.NewServer()
	pb.RegisterTestServiceServer(g, s)
	return serve(t, g, l)
}

// serve runs g on l, or on a free port if l is nil, and returns the address.
func serve(t testing.TB, g *grpc.Server, l net.Listener) string {
	t.Helper()
	if l == nil {
		var err error
		l, err = net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
	}
	go func() { _ = g.Serve(l) }()
	t.Cleanup(g.Stop)
	return l.Addr().String()
}

// inMemory makes connections on a network in memory, for tests in virtual time. The
// target is inMemoryTarget.
func inMemory(network *memnet.Network) grpc.DialOption {
	return grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
		return network.Dial(ctx, "memory", address)
	})
}

const inMemoryTarget = "passthrough:///memory"

// dialMemory connects to the server that runs on a network in memory.
func dialMemory(t testing.TB, network *memnet.Network, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	return connect(t, inMemoryTarget, append(options, inMemory(network))...)
}

// newVirtualClient is newClient for tests in virtual time.
func newVirtualClient(t testing.TB, s *server, p retry.Policy) pb.TestServiceClient {
	t.Helper()
	network := memnet.New()
	s.start(t, network)
	return pb.NewTestServiceClient(dialMemory(t, network, repeatingAll(p)...))
}

func dial(t testing.TB, address string, options ...grpc.DialOption) pb.TestServiceClient {
	t.Helper()
	return pb.NewTestServiceClient(connect(t, address, options...))
}

// repeatingAll allows all methods to be repeated.
func repeatingAll(p retry.Policy) []grpc.DialOption {
	return retrygrpc.Client{Policy: p, Repeatable: []string{"*"}}.DialOptions()
}

func newClient(t testing.TB, s *server, p retry.Policy) pb.TestServiceClient {
	t.Helper()
	return dial(t, s.start(t, nil), repeatingAll(p)...)
}

func failing(times int, err error) func(context.Context, int) error {
	return func(_ context.Context, n int) error {
		if n <= times {
			return err
		}
		return nil
	}
}

var (
	unavailable = status.Error(codes.Unavailable, "not now")
	quick       = retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 4, Hint: retry.HintAtLeast{Exact: true}}
)

func nowhere(t testing.TB, p retry.Policy) pb.TestServiceClient {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return dial(t, l.Addr().String(), retrygrpc.DialOptions(p)...)
}
