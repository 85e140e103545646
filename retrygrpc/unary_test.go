package retrygrpc_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/memnet"
	"github.com/gobackoff/retry/retrygrpc"
	"github.com/gobackoff/retry/retrytest"
)

// TestCodes: the code decides whether a call is retried, and callers get the same code.
func TestCodes(t *testing.T) {
	for code := codes.Canceled; code <= codes.Unauthenticated; code++ {
		t.Run(code.String(), func(t *testing.T) {
			want := 1
			switch code {
			case codes.Unknown, codes.DeadlineExceeded, codes.ResourceExhausted, codes.Aborted, codes.Internal, codes.Unavailable:
				want = 4
			}
			s := &server{unary: failing(100, status.Error(code, "no"))}
			_, err := newClient(t, s, quick).UnaryCall(t.Context(), &pb.SimpleRequest{})
			assert.Equal(t, want, s.hits())
			assert.Equal(t, code, status.Code(err))
			_, isGiveUp := errors.AsType[*retry.Error](err)
			assert.Equal(t, want > 1, isGiveUp)
			if !isGiveUp {
				assert.Equal(t, "no", status.Convert(err).Message())
			}
		})
	}
}

func TestUnarySucceeds(t *testing.T) {
	s := &server{unary: failing(2, unavailable)}
	resp, err := newClient(t, s, quick).UnaryCall(t.Context(), &pb.SimpleRequest{Payload: &pb.Payload{Body: []byte("body")}})
	require.NoError(t, err)
	assert.Equal(t, "body", string(resp.GetPayload().GetBody()))
	assert.Equal(t, [][]string{nil, {"1"}, {"2"}}, s.previous())
}

func pushback(values ...string) func(context.Context, int) error {
	return func(ctx context.Context, n int) error {
		if n > 2 {
			return nil
		}
		_ = grpc.SetTrailer(ctx, metadata.MD{"grpc-retry-pushback-ms": values})
		return unavailable
	}
}

func info(code codes.Code, d time.Duration) error {
	s, err := status.New(code, "later").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(d)})
	if err != nil {
		panic(err)
	}
	return s.Err()
}

// TestHints: a hint sets the wait but does not make a failure retryable.
func TestHints(t *testing.T) {
	const ms = time.Millisecond
	for name, tt := range map[string]struct {
		script func(context.Context, int) error
		waits  []time.Duration
		hits   int
		code   codes.Code
	}{
		"pushback":                         {pushback("20"), []time.Duration{20 * ms, 20 * ms}, 3, codes.OK},
		"pushback 0":                       {pushback("0"), []time.Duration{0, 0}, 3, codes.OK},
		"pushback -1 stops":                {pushback("-1"), nil, 1, codes.Unavailable},
		"malformed pushback stops":         {pushback("soon"), nil, 1, codes.Unavailable},
		"two pushbacks stop":               {pushback("1", "2"), nil, 1, codes.Unavailable},
		"pushback beyond an int32 stops":   {pushback("99999999999"), nil, 1, codes.Unavailable},
		"RetryInfo":                        {failing(2, info(codes.Unavailable, 15*ms)), []time.Duration{15 * ms, 15 * ms}, 3, codes.OK},
		"RetryInfo of a quota":             {failing(1, info(codes.ResourceExhausted, 15*ms)), []time.Duration{15 * ms}, 2, codes.OK},
		"RetryInfo of a permanent code":    {failing(2, info(codes.InvalidArgument, 15*ms)), nil, 1, codes.InvalidArgument},
		"pushback of a permanent code":     {withTrailer("5", status.Error(codes.NotFound, "")), nil, 1, codes.NotFound},
		"pushback overrides RetryInfo":     {withTrailer("5", info(codes.Unavailable, time.Hour)), []time.Duration{5 * ms, 5 * ms, 5 * ms}, 4, codes.Unavailable},
		"negative RetryInfo is not a hint": {failing(1, info(codes.Unavailable, -time.Hour)), []time.Duration{0}, 2, codes.OK},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{unary: tt.script}
			var waits []time.Duration
			policy := quick.With(retry.Hooks{OnRetry: func(_ context.Context, _ retry.Attempt, wait time.Duration) { waits = append(waits, wait) }})
			_, err := newClient(t, s, policy).UnaryCall(t.Context(), &pb.SimpleRequest{})
			assert.Equal(t, tt.code, status.Code(err))
			assert.Equal(t, tt.waits, waits)
			assert.Equal(t, tt.hits, s.hits())
		})
	}
}

// TestPushbackZero: a pushback of 0 asks for a retry at once, whatever the policy's delay.
func TestPushbackZero(t *testing.T) {
	const minute = time.Minute
	at := withTrailer("0", unavailable)
	twice := func(ctx context.Context, n int) error {
		if n > 2 {
			return nil
		}
		return at(ctx, n)
	}
	for name, tt := range map[string]struct {
		script func(context.Context, int) error
		policy retry.Policy
		waits  []time.Duration
		code   codes.Code
	}{
		"twice":                         {twice, retry.Policy{Backoff: retry.Constant(minute)}, []time.Duration{0, 0}, codes.OK},
		"twice, the default delay":      {twice, retry.Policy{Rand: retrytest.Fixed(0.9)}, []time.Duration{0, 0}, codes.OK},
		"always":                        {at, retry.Policy{Backoff: retry.Constant(minute), MaxAttempts: 5}, []time.Duration{0, 0, minute, 0}, codes.Unavailable},
		"always, within a time":         {at, retry.Policy{Backoff: retry.Constant(minute), MaxElapsed: 2 * minute}, []time.Duration{0, 0, minute, 0, minute, 0}, codes.Unavailable},
		"always, a schedule":            {at, retry.Policy{Backoff: retry.Schedule{minute, minute, minute}}, []time.Duration{0, 0, minute}, codes.Unavailable},
		"a policy that ignores hints":   {twice, retry.Policy{Backoff: retry.Constant(minute), Hint: retry.HintIgnore{}}, []time.Duration{minute, minute}, codes.OK},
		"a pointer to such a rule":      {twice, retry.Policy{Backoff: retry.Constant(minute), Hint: &retry.HintIgnore{}}, []time.Duration{minute, minute}, codes.OK},
		"beside RetryInfo":              {withTrailer("0", info(codes.Unavailable, time.Hour)), retry.Policy{Backoff: retry.Constant(minute), MaxAttempts: 2}, []time.Duration{0}, codes.Unavailable},
		"a code that no retry helps":    {withTrailer("0", status.Error(codes.NotFound, "")), retry.Policy{}, nil, codes.NotFound},
		"a rule that does not go on":    {at, retry.Policy{Backoff: retry.BackoffFunc(func(retry.Attempt, float64) time.Duration { return -1 })}, []time.Duration{0, 0}, codes.Unavailable},
		"a code, retried by the policy": {twice, retry.Policy{Backoff: retry.Constant(minute), Classifier: retry.Codes{Retry: []string{"UNAVAILABLE"}}}, []time.Duration{0, 0}, codes.OK},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var waits []time.Duration
				policy := tt.policy.With(retry.Hooks{OnRetry: func(_ context.Context, _ retry.Attempt, wait time.Duration) { waits = append(waits, wait) }})
				_, err := newVirtualClient(t, &server{unary: tt.script}, policy).UnaryCall(t.Context(), &pb.SimpleRequest{})
				assert.Equal(t, tt.code, status.Code(err))
				assert.Equal(t, tt.waits, waits)
			})
		})
	}
}

func withTrailer(value string, err error) func(context.Context, int) error {
	return func(ctx context.Context, _ int) error {
		_ = grpc.SetTrailer(ctx, metadata.Pairs("grpc-retry-pushback-ms", value))
		return err
	}
}

// TestDetails: the error of a call that gave up contains the details of the last failure.
func TestDetails(t *testing.T) {
	s := &server{unary: failing(9, info(codes.Unavailable, time.Microsecond))}
	_, err := newClient(t, s, quick).UnaryCall(t.Context(), &pb.SimpleRequest{})
	found := status.Convert(err)
	assert.Len(t, found.Details(), 1)
	assert.Contains(t, found.Message(), "gave up after 4 attempts (all attempts used)")
	assert.ErrorIs(t, err, retry.ErrMaxAttempts)
}

func TestTooLarge(t *testing.T) {
	s := &server{unary: failing(0, nil)}
	c := newClient(t, s, quick)
	body := &pb.SimpleRequest{Payload: &pb.Payload{Body: make([]byte, 5000)}}
	attempts := 0
	count := quick.With(retry.Hooks{OnAttempt: func(context.Context, retry.Attempt) (context.Context, func(retry.Attempt)) {
		attempts++
		return nil, nil
	}})
	for _, limit := range []grpc.CallOption{grpc.MaxCallSendMsgSize(1000), grpc.MaxCallRecvMsgSize(1000)} {
		attempts = 0
		_, err := c.UnaryCall(t.Context(), body, limit, retrygrpc.WithPolicy(count))
		assert.Equal(t, codes.ResourceExhausted, status.Code(err))
		assert.Equal(t, 1, attempts)
	}
}

// TestDeadlines: each attempt has its own deadline, and so does the call.
func TestDeadlines(t *testing.T) {
	// The server may notice the deadline at the same moment as the client: a backoff of an
	// hour leaves no time for a retry within the call's deadline.
	policy := retry.Policy{Backoff: retry.Constant(time.Hour), AttemptTimeout: time.Minute}
	for name, tt := range map[string]struct {
		hangs   int // calls that hang
		end     func(context.Context) (context.Context, context.CancelFunc)
		code    codes.Code
		err     error
		hits    int
		elapsed time.Duration
	}{
		"an attempt's deadline": {1, context.WithCancel, codes.OK, nil, 2, time.Hour + time.Minute},
		"the caller's deadline": {9, func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 20*time.Second)
		}, codes.DeadlineExceeded, context.DeadlineExceeded, 1, 20 * time.Second},
		"canceled by the caller": {9, func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(20*time.Second, cancel)
			return ctx, cancel
		}, codes.Canceled, context.Canceled, 1, 20 * time.Second},
		"canceled before": {9, func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return ctx, cancel
		}, codes.Canceled, context.Canceled, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &server{unary: func(ctx context.Context, n int) error {
					if n <= tt.hangs {
						<-ctx.Done()
					}
					return ctx.Err()
				}}
				var failures []retry.Class
				policy := policy.With(retry.Hooks{OnRetry: func(_ context.Context, failed retry.Attempt, _ time.Duration) {
					failures = append(failures, failed.Class)
				}})
				start := time.Now()
				ctx, cancel := tt.end(t.Context())
				defer cancel()
				_, err := newVirtualClient(t, s, policy).UnaryCall(ctx, &pb.SimpleRequest{})
				assert.Equal(t, tt.elapsed, time.Since(start))
				assert.Equal(t, tt.code, status.Code(err))
				assert.ErrorIs(t, err, tt.err)
				assert.Equal(t, tt.hits, s.hits())
				if tt.err == nil {
					assert.Equal(t, []retry.Class{retry.ClassTimeout}, failures)
				}
			})
		})
	}
}

// TestWaitForReady: an attempt that waits for a connection ends at its deadline, and the next
// attempt finds the server.
func TestWaitForReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{unary: failing(0, nil)}
		policy := retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 100, AttemptTimeout: 50 * time.Second}
		network := memnet.New() // whose listener does not accept connections yet
		failures := 0
		policy.OnRetry = func(_ context.Context, failed retry.Attempt, _ time.Duration) {
			assert.Equal(t, retry.ClassTimeout, failed.Class)
			if failures++; failures == 2 {
				s.start(t, network)
			}
		}
		c := pb.NewTestServiceClient(dialMemory(t, network, retrygrpc.DialOptions(policy)...))
		_, err := c.UnaryCall(t.Context(), &pb.SimpleRequest{}, grpc.WaitForReady(true))
		assert.NoError(t, err)
		assert.Equal(t, 2, failures)
		assert.Equal(t, 1, s.hits())
	})
}

// TestWithPolicy: a call may have its own policy; the last option wins.
func TestWithPolicy(t *testing.T) {
	s := &server{unary: failing(9, unavailable)}
	c := newClient(t, s, quick)
	_, err := c.UnaryCall(t.Context(), &pb.SimpleRequest{}, retrygrpc.WithPolicy(quick), retrygrpc.WithPolicy(retry.Policy{MaxAttempts: 1}))
	assert.ErrorIs(t, err, retry.ErrMaxAttempts)
	assert.Equal(t, 1, s.hits())
	_, err = c.UnaryCall(t.Context(), &pb.SimpleRequest{}, retrygrpc.WithPolicy(retry.Policy{MaxAttempts: -1}))
	assert.ErrorIs(t, err, retry.ErrInvalid)
	assert.Equal(t, 1, s.hits())
}

// TestWithPolicyAlone: without DialOptions, WithPolicy ends a call instead of being ignored.
func TestWithPolicyAlone(t *testing.T) {
	s := &server{unary: failing(0, nil), stream: func(int, grpc.ServerStreamingServer[pb.StreamingOutputCallResponse]) error { return nil }}
	c := dial(t, s.start(t, nil))
	_, err := c.UnaryCall(t.Context(), &pb.SimpleRequest{}, retrygrpc.WithPolicy(quick))
	assert.ErrorContains(t, err, "WithPolicy needs a connection with retrygrpc.DialOptions")
	stream, err := c.StreamingOutputCall(t.Context(), &pb.StreamingOutputCallRequest{}, retrygrpc.WithPolicy(quick))
	if err == nil {
		_, err = stream.Recv()
	}
	assert.ErrorContains(t, err, "WithPolicy needs a connection with retrygrpc.DialOptions")
	assert.Equal(t, 0, s.hits())
}

type refusal struct{ err error }

func (r refusal) Wait(context.Context) error { return r.err }

func TestLimiterRefuses(t *testing.T) {
	s := &server{unary: failing(0, nil)}
	policy := quick
	policy.Limiter = refusal{errors.New("no token")}
	_, err := newClient(t, s, policy).UnaryCall(t.Context(), &pb.SimpleRequest{})
	assert.Equal(t, codes.Unavailable, status.Code(err))
	assert.ErrorContains(t, err, "no token")
	assert.Zero(t, s.hits())
}

// TestClassifierOfTheUser: a policy's Classifier replaces the package's.
func TestClassifierOfTheUser(t *testing.T) {
	s := &server{unary: failing(2, status.Error(codes.NotFound, "not yet"))}
	policy := quick
	policy.Classifier = retry.FirstOf(retry.ClassifierFunc(func(err error) retry.Verdict {
		if status.Code(err) == codes.NotFound {
			return retry.Verdict{Class: retry.ClassTransient}
		}
		return retry.Verdict{Class: retry.ClassUnknown}
	}), retrygrpc.Classifier{})
	_, err := newClient(t, s, policy).UnaryCall(t.Context(), &pb.SimpleRequest{})
	assert.NoError(t, err)
	assert.Equal(t, 3, s.hits())
	assert.Zero(t, retrygrpc.Classifier{}.Classify(errors.New("no status")))
}

// TestNested: an outer policy does not multiply the client's attempts.
func TestNested(t *testing.T) {
	s := &server{unary: failing(99, unavailable)}
	c := newClient(t, s, quick)
	err := retry.Do(t.Context(), quick, func(ctx context.Context) error {
		_, err := c.UnaryCall(ctx, &pb.SimpleRequest{})
		return err
	})
	assert.Equal(t, codes.Unavailable, status.Code(err))
	assert.Equal(t, 4, s.hits())
}

// TestCanceledByAttemptTimeout: a server that reports the end of an attempt's time as
// CANCELLED does not make it permanent.
func TestCanceledByAttemptTimeout(t *testing.T) {
	policy := retry.Policy{AttemptTimeout: time.Millisecond, MaxAttempts: 2, Backoff: retry.NoDelay{}, Classifier: retrygrpc.Classifier{}}
	calls := 0
	err := retry.Do(t.Context(), policy, func(ctx context.Context) error {
		calls++
		<-ctx.Done()
		return status.Error(codes.Canceled, "the client has gone")
	})
	assert.ErrorIs(t, err, retry.ErrMaxAttempts)
	assert.Equal(t, 2, calls)
	assert.Equal(t, retry.ClassPermanent, retrygrpc.Classifier{}.Classify(status.Error(codes.Canceled, "the caller")).Class)
}
