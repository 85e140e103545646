package retrygrpc_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/internal/memnet"
	"github.com/gobackoff/retry/retrygrpc"
)

// TestRepeatable: which calls are made again after the server has failed.
func TestRepeatable(t *testing.T) {
	const unnamed = "the server may have executed /retry.test.Levels/Pay: see Client.Repeatable"
	plain := errors.New("plain")
	for name, tt := range map[string]struct {
		client retrygrpc.Client
		method string
		err    error
		push   string
		at     point
		hits   int
		text   string
	}{
		"no level":                             {retrygrpc.Client{}, "Pay", plain, "", atBegin, 1, unnamed},
		"no level, unavailable":                {retrygrpc.Client{}, "Pay", unavailable, "", atBegin, 1, "gave up after 1 attempt (not safe to repeat): " + unavailable.Error() + " (" + unnamed + ")"},
		"no level, after headers":              {retrygrpc.Client{}, "Pay", unavailable, "", afterHeaders, 1, unnamed},
		"no level, pushback":                   {retrygrpc.Client{}, "Pay", unavailable, "1", atBegin, 1, unnamed + " and Client.TrustPushback"},
		"no level, no pushback, trusted":       {retrygrpc.Client{TrustPushback: true}, "Pay", unavailable, "", atBegin, 1, unnamed},
		"no level, pushback, trusted":          {retrygrpc.Client{TrustPushback: true}, "Pay", unavailable, "1", atBegin, 2, ""},
		"no level, no more attempts, trusted":  {retrygrpc.Client{TrustPushback: true}, "Pay", unavailable, "-1", atBegin, 1, "not now"},
		"no level, headers, pushback, trusted": {retrygrpc.Client{TrustPushback: true}, "Pay", unavailable, "1", afterHeaders, 1, unnamed},
		"idempotent":                           {retrygrpc.Client{}, "Put", plain, "", atBegin, 2, ""},
		"idempotent, after headers":            {retrygrpc.Client{}, "Put", unavailable, "", afterHeaders, 2, ""},
		"no side effects":                      {retrygrpc.Client{}, "Get", unavailable, "", atBegin, 2, ""},
		"method named":                         {retrygrpc.Client{Repeatable: []string{"retry.test.Levels/Pay"}}, "Pay", plain, "", atBegin, 2, ""},
		"service named":                        {retrygrpc.Client{Repeatable: []string{"retry.test.Levels"}}, "Pay", plain, "", atBegin, 2, ""},
		"unregistered service named":           {retrygrpc.Client{Repeatable: []string{"other.Service", "other.Service/Get", "/retry.test.Levels"}, AllowUnregistered: true}, "Pay", plain, "", atBegin, 2, ""},
		"all named":                            {retrygrpc.Client{Repeatable: []string{"*"}}, "Pay", plain, "", atBegin, 2, ""},
		"another named":                        {retrygrpc.Client{Repeatable: []string{"retry.test.Levels/Get"}}, "Pay", plain, "", atBegin, 1, unnamed},
		"permanent":                            {retrygrpc.Client{}, "Pay", status.Error(codes.NotFound, "none"), "", atBegin, 1, "rpc error: code = NotFound desc = none"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &levelServer{fault: func(ctx context.Context, _ string, execution int, at point) error {
				if execution > 1 || at != tt.at {
					return nil
				}
				if tt.push != "" {
					_ = grpc.SetTrailer(ctx, metadata.Pairs("grpc-retry-pushback-ms", tt.push))
				}
				return tt.err
			}}
			tt.client.Policy = quick
			conn := connect(t, s.serve(t, nil), tt.client.DialOptions()...)
			err := conn.Invoke(withID(t.Context(), "a"), "/"+levels+"/"+tt.method, &wrapperspb.BytesValue{}, &wrapperspb.BytesValue{})
			assert.Equal(t, tt.hits, s.of("a"))
			if tt.text == "" {
				assert.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.text)
			assert.Equal(t, status.Code(tt.err), status.Code(err))
			isPermanent := tt.push == "-1" || name == "permanent"
			assert.Equal(t, !isPermanent, errors.Is(err, retry.ErrUnrepeatable))
		})
	}
}

// TestUnusablePolicy: a client whose policy would panic at the first failure makes no calls.
func TestUnusablePolicy(t *testing.T) {
	conn := connect(t, "localhost:1", retrygrpc.DialOptions(retry.Policy{Budget: (*awspreset.TokenBudget)(nil)})...)
	err := conn.Invoke(t.Context(), "/a/b", &pb.Empty{}, &pb.Empty{})
	assert.ErrorIs(t, err, retry.ErrInvalid)
	assert.ErrorContains(t, err, "Budget is a nil *awspreset.TokenBudget")
}

// TestRepeatableInvalid: a client with a name that nothing has makes no calls, and the error
// names all such names.
func TestRepeatableInvalid(t *testing.T) {
	const service, method = `no service "retry.test.Level" is registered: see Client.AllowUnregistered`, `the service retry.test.Levels has no method "Pa"`
	for name, tt := range map[string]struct {
		client retrygrpc.Client
		want   []string
	}{
		"malformed":          {retrygrpc.Client{Repeatable: []string{"a/b/c"}}, []string{`"a/b/c"`}},
		"service":            {retrygrpc.Client{Repeatable: []string{"retry.test.Level"}}, []string{service}},
		"not a service":      {retrygrpc.Client{Repeatable: []string{"google.protobuf.BytesValue"}}, []string{`"google.protobuf.BytesValue" is registered`}},
		"method":             {retrygrpc.Client{Repeatable: []string{"/retry.test.Levels/Pa"}}, []string{method}},
		"method, allowed":    {retrygrpc.Client{Repeatable: []string{"retry.test.Levels/Pa"}, AllowUnregistered: true}, []string{method}},
		"malformed, allowed": {retrygrpc.Client{Repeatable: []string{"a/b/c"}, AllowUnregistered: true}, []string{`"a/b/c"`}},
		"several":            {retrygrpc.Client{Repeatable: []string{"retry.test.Levels/Pa", "*", "retry.test.Level/Pay"}}, []string{service, method}},
	} {
		t.Run(name, func(t *testing.T) {
			conn := connect(t, "localhost:1", tt.client.DialOptions()...)
			err := conn.Invoke(t.Context(), "/a/b", &pb.Empty{}, &pb.Empty{})
			assert.ErrorIs(t, err, retry.ErrInvalid)
			for _, want := range tt.want {
				assert.ErrorContains(t, err, want)
			}
			_, err = conn.NewStream(t.Context(), &kinds[1], "/a/b")
			assert.ErrorIs(t, err, retry.ErrInvalid)
		})
	}
}

// TestRepeatableUnregistered: without a descriptor, a method is not repeated.
func TestRepeatableUnregistered(t *testing.T) {
	s := &server{unary: failing(9, unavailable)}
	c := dial(t, s.start(t, nil), retrygrpc.DialOptions(quick)...)
	_, err := c.UnaryCall(t.Context(), &pb.SimpleRequest{})
	assert.ErrorIs(t, err, retry.ErrUnrepeatable)
	assert.Equal(t, 1, s.hits())
	for _, method := range []string{"/no.such.Service/Method", "/google.protobuf.BytesValue/value", "nonsense"} {
		assert.Equal(t, codes.Unimplemented, status.Code(connect(t, s.start(t, nil), retrygrpc.DialOptions(quick)...).Invoke(t.Context(), "/"+method, &pb.Empty{}, &pb.Empty{})))
	}
}

// TestUnsent: without a connection, any call is repeated.
func TestUnsent(t *testing.T) {
	_, err := nowhere(t, quick).UnaryCall(t.Context(), &pb.SimpleRequest{})
	assert.ErrorIs(t, err, retry.ErrMaxAttempts)
	assert.ErrorContains(t, err, "gave up after 4 attempts")
}

// faulty makes a script of faults for an id, the same for every client. It breaks
// connections only if told to.
func faulty(broken *fragile, slow time.Duration) func(context.Context, string, int, point) error {
	return func(ctx context.Context, id string, execution int, at point) error {
		h := fnv.New32a()
		fmt.Fprint(h, id, execution)
		kind := (h.Sum32() >> 8) % 32
		switch {
		case kind < 6 && at == atBegin:
			return []error{unavailable, errors.New("plain"), status.Error(codes.Internal, "bug"), status.Error(codes.Aborted, "conflict"),
				status.Error(codes.ResourceExhausted, "quota"), status.Error(codes.DeadlineExceeded, "of another server")}[kind]
		case kind == 6 && at == afterAll || kind == 7 && at == afterHeaders:
			return unavailable
		case kind == 8 && at == afterAll && slow > 0:
			time.Sleep(slow)
		case kind == 9 && at == afterMessage:
			return unavailable
		case kind == 10 && broken != nil && at == afterAll && h.Sum32()%8 == 0:
			broken.breakAll()
		}
		return nil
	}
}

// callAll makes calls in 50 goroutines and reports which succeeded.
func callAll(t *testing.T, conn *grpc.ClientConn, method string, calls int) map[string]bool {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	succeeded := map[string]bool{}
	for w := range 50 {
		wg.Go(func() {
			for i := w; i < calls; i += 50 {
				id := fmt.Sprint(method, i)
				err := conn.Invoke(withID(t.Context(), id), "/"+levels+"/"+method, &wrapperspb.BytesValue{}, &wrapperspb.BytesValue{})
				mu.Lock()
				succeeded[id] = err == nil
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return succeeded
}

// everyThird closes every third connection before it is used.
type everyThird struct {
	*fragile
	n atomic.Int64
}

func (e *everyThird) Accept() (net.Conn, error) {
	conn, err := e.fragile.Accept()
	if err == nil && e.n.Add(1)%3 == 0 {
		_ = conn.Close()
	}
	return conn, err
}

// TestNeverTwice: whatever fails, a method without a level is executed at most once.
func TestNeverTwice(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	neverTwice(t, l, "", callsOf(10_000), callsOf(2_000))
}

// TestRepeatedInTime: on a machine that never stalls, retries of methods with a level are
// also not lost.
func TestRepeatedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := memnet.New()
		payments, puts := neverTwice(t, network, inMemoryTarget, callsOf(1_000), callsOf(1_000), inMemory(network))
		time.Sleep(time.Minute) // handlers that nobody waits for end
		assert.Positive(t, payments.succeeded)
		assert.Greater(t, puts.most, 1)
		assert.Greater(t, puts.succeeded, callsOf(1_000)/2)
	})
}

// executed is how many calls of a method succeeded, and how often the server executed one of
// them at most.
type executed struct{ succeeded, most int }

// neverTwice makes calls of a method without a level and of one with a level, to a server
// on l that fails, is slow, sends GOAWAY, and breaks connections.
func neverTwice(t *testing.T, l net.Listener, target string, payments, puts int, options ...grpc.DialOption) (pay, put executed) {
	t.Helper()
	f := &fragile{Listener: l}
	s := &levelServer{fault: faulty(f, 120*time.Millisecond)}
	address := s.serve(t, &everyThird{fragile: f}, grpc.KeepaliveParams(keepalive.ServerParameters{ // sends GOAWAY
		MaxConnectionAge: 50 * time.Millisecond, MaxConnectionAgeGrace: 20 * time.Millisecond}))
	var client counters
	var resends retrygrpc.Resends
	policy := retry.Policy{Backoff: retry.FullJitter{Base: 5 * time.Millisecond, Cap: 50 * time.Millisecond}, MaxAttempts: 10, AttemptTimeout: 100 * time.Millisecond}
	quickly := grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.Config{BaseDelay: time.Millisecond, MaxDelay: 10 * time.Millisecond}, MinConnectTimeout: time.Second})
	options = append(options, retrygrpc.DialOptions(policy.With(client.hooks()))...)
	conn := connect(t, cmp.Or(target, address), append(options, grpc.WithStatsHandler(&resends), quickly)...)
	count := func(method string, calls int) (e executed) {
		for id, succeeded := range callAll(t, conn, method, calls) {
			if succeeded {
				e.succeeded++
				assert.Positive(t, s.of(id))
			}
			e.most = max(e.most, s.of(id))
		}
		t.Logf("%s: %d calls, %d succeeded, executed at most %d times; so far %d retries, %d resends of grpc-go",
			method, calls, e.succeeded, e.most, client.retries.Load(), resends.Count())
		return e
	}
	pay, put = count("Pay", payments), count("Put", puts)
	assert.LessOrEqual(t, pay.most, 1)
	return pay, put
}

// TestAsGoodAsServiceConfig: with a level, every call succeeds that succeeds with
// grpc-go's own retries, at equal attempts and with the same faults.
func TestAsGoodAsServiceConfig(t *testing.T) {
	calls := callsOf(5_000)
	policy := retry.Policy{Backoff: retry.Constant(time.Microsecond), MaxAttempts: 4}
	config, _, err := retrygrpc.ServiceConfig(policy, "*")
	require.NoError(t, err)
	successes := map[string]map[string]bool{}
	for name, options := range map[string][]grpc.DialOption{
		"retrygrpc": retrygrpc.DialOptions(policy), "grpc-go": {grpc.WithDefaultServiceConfig(config)},
	} {
		s := &levelServer{fault: faulty(nil, 0)}
		successes[name] = callAll(t, connect(t, s.serve(t, nil), options...), "Put", calls)
	}
	ours, theirs := 0, 0
	for id, succeeded := range successes["grpc-go"] {
		if succeeded {
			theirs++
			assert.True(t, successes["retrygrpc"][id], id)
		}
		if successes["retrygrpc"][id] {
			ours++
		}
	}
	t.Logf("of %d calls, %d succeeded with grpc-go's retries, %d with this package's", calls, theirs, ours)
}

type connWithoutAddr struct{ net.Conn }

func (connWithoutAddr) RemoteAddr() net.Addr { return nil }

// TestConnectionWithoutAddress: a call that was sent counts as sent even if its connection
// has no address.
func TestConnectionWithoutAddress(t *testing.T) {
	var executed atomic.Int32
	server := grpc.NewServer(grpc.UnknownServiceHandler(func(any, grpc.ServerStream) error {
		executed.Add(1)
		return status.Error(codes.Unavailable, "after the effect")
	}))
	conn := connect(t, "passthrough:///"+serve(t, server, nil), append(retrygrpc.DialOptions(retry.Policy{Backoff: retry.NoDelay{}}),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
			return connWithoutAddr{conn}, err
		}))...)
	err := conn.Invoke(t.Context(), "/shop.Orders/Create", &emptypb.Empty{}, &emptypb.Empty{})
	assert.ErrorIs(t, err, retry.ErrUnrepeatable)
	assert.EqualValues(t, 1, executed.Load())
}
