package retrygrpc_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrygrpc"
)

var hintsLost = "Hint: gRPC waits for exactly the server's pushback, and grpc-go ignores RetryInfo"

// asGRPC is a policy that a service config can express exactly.
var asGRPC = retry.Policy{
	Backoff:     retry.Spread{Of: retry.Exponential{Base: 10 * time.Millisecond, Factor: 3}, Fraction: 0.2},
	MaxAttempts: 4,
	Hint:        retry.HintIgnore{},
	Budget:      &retrygrpc.ThrottleBudget{MaxTokens: 20},
	Classifier:  retry.OnlyIf(func(err error) bool { return status.Code(err) == codes.Unavailable }),
}

func TestServiceConfig(t *testing.T) {
	const all = `{"methodConfig":[{"name":[{}]`
	for name, tt := range map[string]struct {
		policy  retry.Policy
		methods []string
		want    string
		lost    []string
	}{
		"exact": {asGRPC, []string{"a.B", "/c.D/E"},
			`{"methodConfig":[{"name":[{"service":"a.B"},{"service":"c.D","method":"E"}],"retryPolicy":{"maxAttempts":4,"initialBackoff":"0.01s","maxBackoff":"0.09s","backoffMultiplier":3,"retryableStatusCodes":["UNAVAILABLE"]}}],"retryThrottling":{"maxTokens":20,"tokenRatio":0.1}}`, nil},
		"the zero policy": {retry.Policy{}, []string{"*"},
			all + `,"retryPolicy":{"maxAttempts":3,"initialBackoff":"0.025s","maxBackoff":"0.05s","backoffMultiplier":2,"retryableStatusCodes":["UNKNOWN","DEADLINE_EXCEEDED","RESOURCE_EXHAUSTED","ABORTED","INTERNAL","UNAVAILABLE"]}}]}`,
			[]string{"Backoff: gRPC draws each delay from within 20 % of its mean, unlike this policy", "Backoff: gRPC has no separate delays after throttling", hintsLost}},
		"no retry":        {retry.Policy{MaxAttempts: 1, Hint: retry.HintIgnore{}}, []string{"*"}, all + `}]}`, nil},
		"no delay at all": {retry.Policy{Hint: retry.HintIgnore{}, Backoff: endsAfter(0)}, []string{"*"}, all + `}]}`, nil},
		"one delay": {retry.Policy{Hint: retry.HintIgnore{}, Backoff: endsAfter(1), Classifier: asGRPC.Classifier}, []string{"*"},
			all + `,"retryPolicy":{"maxAttempts":2,"initialBackoff":"1s","maxBackoff":"1s","backoffMultiplier":1,"retryableStatusCodes":["UNAVAILABLE"]}}]}`,
			[]string{"Backoff: gRPC draws each delay from within 20 % of its mean, unlike this policy"}},
		"nothing to retry": {retry.Policy{Hint: retry.HintIgnore{}, Backoff: asGRPC.Backoff, Classifier: retry.OnlyIf(func(error) bool { return false })}, []string{"*"}, all + `}]}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			config, lost, err := retrygrpc.ServiceConfig(tt.policy, tt.methods...)
			require.NoError(t, err)
			assert.Equal(t, tt.want, config)
			assert.Equal(t, tt.lost, lost)
		})
	}
}

// endsAfter returns a rule with n delays of a second and no further one.
func endsAfter(n int) retry.Backoff {
	return retry.BackoffFunc(func(a retry.Attempt, _ float64) time.Duration {
		if a.Number > n {
			return -1
		}
		return time.Second
	})
}

func TestServiceConfigLost(t *testing.T) {
	exact := asGRPC
	exact.Budget = nil
	hook := func(context.Context, retry.Attempt, time.Duration) {}
	for want, change := range map[string]func(p *retry.Policy){
		"MaxAttempts: gRPC makes at most 5 attempts, not 6":                                        func(p *retry.Policy) { p.MaxAttempts = 6 },
		"MaxAttempts: gRPC makes at most 5 attempts, not unlimited":                                func(p *retry.Policy) { p.MaxAttempts, p.Backoff = retry.Unlimited, retry.Constant(time.Second) },
		"MaxElapsed: gRPC has only the deadline of the call":                                       func(p *retry.Policy) { p.MaxElapsed = time.Hour },
		"AttemptTimeout: gRPC has only the deadline of the call":                                   func(p *retry.Policy) { p.AttemptTimeout = time.Second },
		"Limiter: gRPC has none":                                                                   func(p *retry.Policy) { p.Limiter = refusal{} },
		"Hooks: gRPC has none":                                                                     func(p *retry.Policy) { p.OnRetry = hook },
		"Budget: gRPC has only the rule of a ThrottleBudget, not that of a *awspreset.TokenBudget": func(p *retry.Policy) { p.Budget = &awspreset.TokenBudget{} },
		"Budget: gRPC has at most 1000 tokens, not 2000":                                           func(p *retry.Policy) { p.Budget = &retrygrpc.ThrottleBudget{MaxTokens: 2000} },
		"Backoff: gRPC has no retry without a delay":                                               func(p *retry.Policy) { p.Backoff = retry.NoDelay{} },
		"Backoff: retry 3 waits for 12ms on average, not 30ms":                                     func(p *retry.Policy) { p.Backoff = retry.Schedule{10e6, 11e6, 30e6} },
		"Backoff: gRPC draws each delay from within 20 % of its mean, unlike this policy":          func(p *retry.Policy) { p.Backoff = retry.Exponential{Base: time.Second} },
		"Backoff: gRPC has no separate delays after throttling": func(p *retry.Policy) {
			p.Backoff = retry.WhenThrottled{Throttled: retry.Constant(time.Second), Else: asGRPC.Backoff}
		},
		hintsLost: func(p *retry.Policy) { p.Hint = nil },
	} {
		t.Run(want, func(t *testing.T) {
			p := exact
			change(&p)
			config, lost, err := retrygrpc.ServiceConfig(p, "*")
			require.NoError(t, err)
			assert.Contains(t, lost, want)
			_, err = grpc.NewClient("127.0.0.1:1", grpc.WithDefaultServiceConfig(config), grpc.WithTransportCredentials(insecure.NewCredentials()))
			assert.NoError(t, err, "grpc-go accepts the config")
		})
	}
	_, lost, err := retrygrpc.ServiceConfig(exact, "*")
	assert.NoError(t, err)
	assert.Empty(t, lost)
}

func TestServiceConfigInvalid(t *testing.T) {
	_, _, err := retrygrpc.ServiceConfig(retry.Policy{MaxAttempts: -1}, "*")
	assert.ErrorIs(t, err, retry.ErrInvalid)
	for _, method := range []string{"", "/", "a.B/", "a.B/C/D"} {
		_, _, err := retrygrpc.ServiceConfig(retry.Policy{}, method)
		assert.ErrorContains(t, err, method)
	}
	_, _, err = retrygrpc.ServiceConfig(retry.Policy{})
	assert.ErrorContains(t, err, "needs the methods", "otherwise gRPC would execute twice what nobody has named")
}

// TestServiceConfigWorks: with the config, grpc-go retries as the policy specifies.
func TestServiceConfigWorks(t *testing.T) {
	config, _, err := retrygrpc.ServiceConfig(asGRPC, "grpc.testing.TestService/UnaryCall")
	require.NoError(t, err)
	s := &server{unary: failing(99, unavailable)}
	c := dial(t, s.start(t, nil), grpc.WithDefaultServiceConfig(config))
	_, err = c.UnaryCall(t.Context(), &pb.SimpleRequest{})
	assert.Equal(t, codes.Unavailable, status.Code(err))
	require.Equal(t, 4, s.hits())
}

// TestStacked: the retries of a service config do not multiply with those of the policy.
func TestStacked(t *testing.T) {
	config, _, err := retrygrpc.ServiceConfig(retry.Policy{Backoff: retry.Constant(time.Microsecond), MaxAttempts: 4}, "*")
	require.NoError(t, err)
	s := &server{unary: failing(99, unavailable)}
	options := append(repeatingAll(quick), grpc.WithDefaultServiceConfig(config))
	_, err = dial(t, s.start(t, nil), options...).UnaryCall(t.Context(), &pb.SimpleRequest{})
	assert.Error(t, err)
	assert.Equal(t, 4, s.hits())

	without := options[:2:2] // the interceptors without WithDisableRetry
	s = &server{unary: failing(99, unavailable)}
	_, err = dial(t, s.start(t, nil), append(without, grpc.WithDefaultServiceConfig(config))...).UnaryCall(t.Context(), &pb.SimpleRequest{})
	assert.Error(t, err)
	assert.Equal(t, 16, s.hits(), "without WithDisableRetry the retries multiply")
}
