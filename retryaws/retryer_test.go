package retryaws_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryaws"
	"github.com/gobackoff/retry/retrytest"
)

var _ aws.RetryerV2 = (*retryaws.Retryer)(nil)

func TestNew(t *testing.T) {
	tests := []struct {
		name   string
		policy retry.Policy
		want   string // in the error; "": none
	}{
		{"the zero policy", retry.Policy{}, ""},
		{"a preset", awspreset.JavaScriptV3Standard20.Policy("sqs"), ""},
		{"the system's clock", retry.Policy{Clock: retry.SystemClock{}}, ""},
		{"an invalid number", retry.Policy{MaxAttempts: -1}, "MaxAttempts is negative"},
		{"an invalid rule", retry.Policy{Backoff: retry.Constant(-1)}, "negative"},
		{"another clock", retry.Policy{Clock: &retrytest.Clock{}}, "does not support Clock; use WithPolicy"},
		{"everything that the SDK's loop does not support", retry.Policy{
			MaxElapsed:     time.Minute,
			AttemptTimeout: time.Second,
			Hooks: retry.Hooks{
				OnAttempt: func(ctx context.Context, _ retry.Attempt) (context.Context, func(retry.Attempt)) {
					return ctx, nil
				},
				OnRetry:  func(context.Context, retry.Attempt, time.Duration) {},
				OnGiveUp: func(context.Context, *retry.Error) {},
			},
		}, "does not support MaxElapsed, AttemptTimeout, OnAttempt, OnRetry, OnGiveUp;"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := retryaws.New(tt.policy)
			if tt.want == "" {
				require.NoError(t, err)
				assert.NotNil(t, r)
				return
			}
			assert.ErrorIs(t, err, retry.ErrInvalid)
			assert.ErrorContains(t, err, tt.want)
			assert.Nil(t, r)
		})
	}
}

func TestMaxAttempts(t *testing.T) {
	assert.Equal(t, 3, new(retryaws.Retryer).MaxAttempts(), "the zero Retryer")
	inEveryForm(t, func(t *testing.T, f form) {
		for _, tt := range []struct{ attempts, requests int }{{0, 3}, {1, 1}, {5, 5}} {
			transport := newScript(unavailable)
			err := getItem(t.Context(), newDynamoDB(t, transport, f, retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: tt.attempts}))
			assertAPIError(t, err, "ServiceUnavailable")
			assert.Equal(t, tt.requests, transport.count())
		}
		many := make([]step, 100, 101)
		for i := range many {
			many[i] = unavailable
		}
		transport := newScript(append(many, ok)...)
		assert.NoError(t, getItem(t.Context(), newDynamoDB(t, transport, f, retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: retry.Unlimited})))
		assert.Equal(t, 101, transport.count(), "without limit")
	})
}

func assertAPIError(t *testing.T, err error, code string) {
	t.Helper()
	var api smithy.APIError
	if assert.ErrorAs(t, err, &api) {
		assert.Equal(t, code, api.ErrorCode())
	}
}

type ledger struct {
	mu       sync.Mutex
	refuse   bool
	waits    int
	deposits map[deposit]int
	withdraw map[retry.Class]int
	observed map[retry.Class]int // ClassUnknown: success
}

type deposit struct {
	last retry.Class
	ok   bool
}

func newLedger() *ledger {
	return &ledger{deposits: map[deposit]int{}, withdraw: map[retry.Class]int{}, observed: map[retry.Class]int{}}
}

func (l *ledger) TryWithdraw(a retry.Attempt) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.withdraw[a.Class]++
	return !l.refuse
}

func (l *ledger) Deposit(paid retry.Attempt, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deposits[deposit{paid.Class, err == nil}]++
}

func (l *ledger) Wait(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waits++
	return nil
}

func (l *ledger) Observe(a retry.Attempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.observed[a.Class]++
}

func TestAccounts(t *testing.T) {
	const (
		transient = retry.ClassTransient
		throttle  = retry.ClassThrottled
		permanent = retry.ClassPermanent
		success   = retry.ClassUnknown
	)
	type counts map[retry.Class]int
	tests := []struct {
		name     string
		steps    []step
		withdraw counts
		deposits map[deposit]int
		observed counts
	}{
		{"success at once", []step{ok}, counts{}, map[deposit]int{{0, true}: 1}, counts{success: 1}},
		{"success after a retry", []step{unavailable, ok}, counts{transient: 1}, map[deposit]int{{transient, true}: 1}, counts{transient: 1, success: 1}},
		{"success after retries", []step{throttled, unavailable, throttled, ok}, counts{transient: 1, throttle: 2}, map[deposit]int{{throttle, true}: 1}, counts{transient: 1, throttle: 2, success: 1}},
		{"permanent at once", []step{denied}, counts{}, map[deposit]int{{0, false}: 1}, counts{permanent: 1}},
		{"permanent after retries", []step{throttled, unavailable, denied}, counts{transient: 1, throttle: 1}, map[deposit]int{{transient, false}: 1}, counts{transient: 1, throttle: 1, permanent: 1}},
		{"gives up", []step{unavailable}, counts{transient: 3}, map[deposit]int{}, counts{transient: 4}},
	}
	inEveryForm(t, func(t *testing.T, f form) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				l := newLedger()
				transport := newScript(tt.steps...)
				c := newDynamoDB(t, transport, f, retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 4, Budget: l, Limiter: l})
				_ = getItem(t.Context(), c)
				assert.Equal(t, tt.withdraw, counts(l.withdraw), "withdrawn")
				assert.Equal(t, tt.deposits, l.deposits, "deposited")
				assert.Equal(t, tt.observed, counts(l.observed), "observed")
				assert.Equal(t, transport.count(), l.waits, "waits")
			})
		}
	})
}

func TestAccountsTogether(t *testing.T) {
	const calls = 64
	inEveryForm(t, func(t *testing.T, f form) {
		l := newLedger()
		p := retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 4, Budget: l, Limiter: l}
		kinds := [][]step{{ok}, {unavailable, ok}, {throttled, throttled, ok}, {denied}, {unavailable, denied}, {unavailable}}
		shared := f.retryer(t, p)
		var group sync.WaitGroup
		for i := range calls * len(kinds) {
			group.Go(func() {
				c := newDynamoDB(t, newScript(kinds[i%len(kinds)]...), form{
					retryer: func(testing.TB, retry.Policy) aws.Retryer { return shared },
					options: f.options,
				}, p)
				_ = getItem(t.Context(), c)
			})
		}
		group.Wait()
		assert.Equal(t, map[deposit]int{
			{0, true}: calls, {retry.ClassTransient, true}: calls, {retry.ClassThrottled, true}: calls,
			{0, false}: calls, {retry.ClassTransient, false}: calls,
		}, l.deposits)
		assert.Equal(t, map[retry.Class]int{
			0: 3 * calls, retry.ClassTransient: 6 * calls, retry.ClassThrottled: 2 * calls, retry.ClassPermanent: 2 * calls,
		}, l.observed)
	})
}

func TestAccountsRandom(t *testing.T) {
	const calls = 500
	kinds := []step{ok, ok, unavailable, throttled, denied, failWith(io.EOF), respond(200, "<html>"), respond(429, "{}")}
	random := rand.New(rand.NewPCG(1, 2))
	scripts := make([][]step, calls)
	for i := range scripts {
		for range 1 + random.IntN(4) {
			scripts[i] = append(scripts[i], kinds[random.IntN(len(kinds))])
		}
	}
	for _, mode := range modes {
		t.Run(mode.name, func(t *testing.T) {
			t.Setenv(modeVariable, mode.value)
			var ledgers []*ledger
			for _, f := range []form{asRetryer, asMiddleware} {
				l, transport := newLedger(), newScript(ok)
				c := newDynamoDB(t, transport, f, retry.Policy{Backoff: retry.NoDelay{}, Budget: l, Limiter: l})
				for _, steps := range scripts {
					transport.rewrite(steps...)
					_ = getItem(t.Context(), c)
				}
				ledgers = append(ledgers, l)
			}
			assert.Equal(t, ledgers[1].deposits, ledgers[0].deposits)
			assert.Equal(t, ledgers[1].withdraw, ledgers[0].withdraw)
			assert.Equal(t, ledgers[1].observed, ledgers[0].observed)
			assert.Equal(t, ledgers[1].waits, ledgers[0].waits)
			assert.NotEmpty(t, ledgers[0].deposits[deposit{retry.ClassThrottled, false}])
		})
	}
}

// TestBudget: an empty budget ends a call with ErrBudget and the last failure. Successes
// refill the budget, and so do permanent failures unless SuccessOnly is set.
func TestBudget(t *testing.T) {
	inEveryForm(t, func(t *testing.T, f form) {
		for _, successOnly := range []bool{false, true} {
			bucket := &awspreset.TokenBudget{Capacity: 20, Costs: awspreset.TokenCosts{Transient: 10}, SuccessOnly: successOnly}
			transport := newScript(unavailable)
			c := newDynamoDB(t, transport, f, retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 9, Budget: bucket})
			call := func(steps ...step) error {
				transport.rewrite(steps...)
				return getItem(t.Context(), c)
			}
			err := call(unavailable)
			assert.ErrorIs(t, err, retry.ErrBudget)
			assertAPIError(t, err, "ServiceUnavailable")
			assert.Equal(t, 3, transport.count())
			assert.Zero(t, bucket.Balance())

			for range 10 {
				require.NoError(t, call(ok))
			}
			assert.Equal(t, 10.0, bucket.Balance(), "successes fill it")
			require.NoError(t, call(unavailable, ok))
			assert.Equal(t, 10.0, bucket.Balance(), "a retry that succeeds costs nothing")
			assertAPIError(t, call(unavailable, denied), "AccessDeniedException")
			left := map[bool]float64{false: 10, true: 0}
			assert.Equal(t, left[successOnly], bucket.Balance(), "a permanent failure after a retry")
		}
	})
}

func TestOuterLoop(t *testing.T) {
	inEveryForm(t, func(t *testing.T, f form) {
		transport := newScript(unavailable)
		c := newDynamoDB(t, transport, f, retry.Policy{Budget: &awspreset.TokenBudget{Deficit: 500}})
		err := retry.Do(t.Context(), retry.Policy{Backoff: retry.NoDelay{}}, func(ctx context.Context) error { return getItem(ctx, c) })
		assert.ErrorIs(t, err, retry.ErrBudget)
		assert.Equal(t, 1, transport.count())
	})
}

// TestNested: Do repeats no call that the SDK has given up, whichever loop the client has.
func TestNested(t *testing.T) {
	throttles := respond(400, `{"__type":"ThrottlingException"}`)
	plain := form{"the SDK's", func(testing.TB, retry.Policy) aws.Retryer { return nil }, asRetryer.options}
	for name, failure := range map[string]step{"503": unavailable, "throttling": throttles, "lost": failWith(&net.OpError{Op: "read", Err: syscall.ECONNRESET})} {
		for _, f := range []form{plain, asRetryer, asMiddleware} {
			t.Run(name+"/"+f.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					transport := newScript(failure)
					c := newDynamoDB(t, transport, f, retry.Policy{MaxAttempts: 4})
					require.Error(t, retry.Do(t.Context(), retry.Policy{MaxAttempts: 5}, func(ctx context.Context) error { return getItem(ctx, c) }))
					want := 4
					if f.name == plain.name && !retryaws.IsSince2026() {
						want = 3 // the SDK's own number for DynamoDB
					}
					assert.Equal(t, want, transport.count())
				})
			})
		}
	}
}

type limit struct{ left int }

var errLimit = errors.New("limit reached")

func (l *limit) Wait(context.Context) error {
	if l.left--; l.left < 0 {
		return errLimit
	}
	return nil
}

func TestLimiter(t *testing.T) {
	inEveryForm(t, func(t *testing.T, f form) {
		transport := newScript(unavailable)
		c := newDynamoDB(t, transport, f, retry.Policy{Backoff: retry.NoDelay{}, Limiter: &limit{2}})
		assert.ErrorIs(t, getItem(t.Context(), c), errLimit)
		assert.Equal(t, 2, transport.count())
	})
}

func TestCancel(t *testing.T) {
	inEveryForm(t, func(t *testing.T, f form) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Minute, cancel)
			l := newLedger()
			transport := newScript(unavailable)
			c := newDynamoDB(t, transport, f, retry.Policy{Backoff: retry.Constant(time.Hour), Budget: l})
			start := time.Now()
			err := getItem(ctx, c)
			assert.ErrorIs(t, err, context.Canceled)
			assert.Equal(t, time.Minute, time.Since(start))
			assert.Equal(t, 1, transport.count())
			assert.Empty(t, l.deposits)
			if f.name == asMiddleware.name { // the SDK's loop loses the last failure
				assertAPIError(t, err, "ServiceUnavailable")
			}
		})
	})
}

// TestCancelAttempt: cancellation within an attempt ends the call, whatever the Classifier
// returns.
func TestCancelAttempt(t *testing.T) {
	always := retry.ClassifierFunc(func(error) retry.Verdict { return retry.Verdict{Class: retry.ClassTransient} })
	for _, classifier := range []retry.Classifier{nil, always} {
		inEveryForm(t, func(t *testing.T, f form) {
			ctx, cancel := context.WithCancel(t.Context())
			l := newLedger()
			transport := newScript(func(r *http.Request) (*http.Response, error) {
				cancel()
				return nil, r.Context().Err()
			})
			c := newDynamoDB(t, transport, f, retry.Policy{Classifier: classifier, Budget: l})
			assert.ErrorIs(t, getItem(ctx, c), context.Canceled)
			assert.Equal(t, 1, transport.count())
			assert.Empty(t, l.deposits)
			assert.Empty(t, l.withdraw)
		})
	}
}

// TestCancelAnswered: a response that makes the failure permanent is one even if the context
// has ended.
func TestCancelAnswered(t *testing.T) {
	inEveryForm(t, func(t *testing.T, f form) {
		ctx, cancel := context.WithCancel(t.Context())
		l := newLedger()
		transport := newScript(func(r *http.Request) (*http.Response, error) {
			cancel()
			return respond(400, `{"__type":"ConditionalCheckFailedException"}`)(r)
		})
		assertAPIError(t, getItem(ctx, newDynamoDB(t, transport, f, retry.Policy{Budget: l})), "ConditionalCheckFailedException")
		assert.Equal(t, map[deposit]int{{0, false}: 1}, l.deposits)
	})
}

// TestCanceledInside: an attempt that was canceled by something other than the caller ends
// the call, and deposits nothing, because the server has not answered.
func TestCanceledInside(t *testing.T) {
	inEveryForm(t, func(t *testing.T, f form) {
		l := newLedger()
		transport := newScript(failWith(&smithy.CanceledError{Err: context.Canceled}))
		assert.ErrorIs(t, getItem(t.Context(), newDynamoDB(t, transport, f, retry.Policy{Budget: l})), context.Canceled)
		assert.Equal(t, 1, transport.count())
		assert.Empty(t, l.deposits)
	})
}

func TestSilentServer(t *testing.T) {
	inEveryForm(t, func(t *testing.T, f form) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			transport := newScript(silent)
			start := time.Now()
			err := getItem(ctx, newDynamoDB(t, transport, f, retry.Policy{}))
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Equal(t, time.Second, time.Since(start))
			assert.Equal(t, 1, transport.count())
		})
	})
}

// TestMarkers: marks of package retry in the SDK's errors override the classifier.
func TestMarkers(t *testing.T) {
	inEveryForm(t, func(t *testing.T, f form) {
		for _, tt := range []struct {
			name     string
			err      error
			requests int
		}{
			{"permanent", retry.Permanent(io.ErrUnexpectedEOF), 1},
			{"transient", retry.Transient(context.Canceled), 3},
			{"unknown", errors.New("strange"), 3},
		} {
			transport := newScript(failWith(tt.err))
			err := getItem(t.Context(), newDynamoDB(t, transport, f, retry.Policy{Backoff: retry.NoDelay{}}))
			assert.ErrorIs(t, err, tt.err, tt.name)
			assert.Equal(t, tt.requests, transport.count(), tt.name)
		}
	})
}

func TestInitialToken(t *testing.T) {
	l := newLedger()
	r, err := retryaws.New(retry.Policy{Budget: l, Limiter: l})
	require.NoError(t, err)
	require.NoError(t, r.GetInitialToken()(nil))
	assert.Equal(t, map[deposit]int{{0, true}: 1}, l.deposits)
	assert.Zero(t, l.waits)
	assert.False(t, r.IsErrorRetryable(nil))
}

func TestEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l := newLedger()
	r, err := retryaws.New(retry.Policy{Budget: l})
	require.NoError(t, err)
	_, err = r.GetRetryToken(ctx, errors.New("failed"))
	assert.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, l.withdraw)
}

// TestRetryMaxAttempts: the client's RetryMaxAttempts overrides a Retryer's policy but
// not that of WithPolicy.
func TestRetryMaxAttempts(t *testing.T) {
	inEveryForm(t, func(t *testing.T, f form) {
		transport := newScript(unavailable)
		options := newDynamoDB(t, transport, f, retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 5}).Options()
		options.RetryMaxAttempts = 2
		assertAPIError(t, getItem(t.Context(), dynamodb.New(options)), "ServiceUnavailable")
		assert.Equal(t, map[string]int{asRetryer.name: 2, asMiddleware.name: 5}[f.name], transport.count())
	})
}

func TestHints(t *testing.T) {
	const (
		ms = time.Millisecond
		s  = time.Second
	)
	tests := []struct {
		name   string
		rule   retry.HintRule
		header string
		value  string
		want   time.Duration
		sdk    time.Duration // if the SDK's loop extends it
	}{
		{"at least", retry.HintAtLeast{Exact: true}, "Retry-After", "7", 7 * s, 0},
		{"AWS's own", retry.HintAtLeast{Exact: true}, "X-Amz-Retry-After", "1500", 1500 * ms, 0},
		{"smaller than the delay", nil, "X-Amz-Retry-After", "20", s, 0},
		{"date", retry.HintAtLeast{Exact: true}, "Retry-After", "Sat, 01 Jan 2000 00:00:07 GMT", 7 * s, 0},
		{"date far off", retry.HintAtLeast{Exact: true}, "Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT", time.Hour, 0},
		{"huge", retry.HintAtLeast{Exact: true}, "Retry-After", "99999999999999999999", time.Hour, 0},
		{"huge, AWS's own", retry.HintAtLeast{Exact: true}, "X-Amz-Retry-After", "9000000000000", time.Hour, time.Hour + 5*s},
		{"negative", nil, "X-Amz-Retry-After", "-5", s, 0},
		{"not a number", nil, "X-Amz-Retry-After", "1e3", s, 0},
		{"not a number, general header", nil, "Retry-After", "abc", s, 0},
		{"window", awspreset.HintWindow{}, "X-Amz-Retry-After", "60000", 6 * s, 0},
		{"window, ours", awspreset.HintWindow{}, "Retry-After", "60", 6 * s, 0},
		{"ignored", retry.HintIgnore{}, "Retry-After", "7", s, 0},
		{"ignored, AWS's own", retry.HintIgnore{}, "X-Amz-Retry-After", "7000", s, 6 * s},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inEveryFormAndMode(t, func(t *testing.T, f form, m mode) {
				want := tt.want
				if f.name == asRetryer.name && m.extends {
					want = cmp.Or(tt.sdk, tt.want)
				}
				p := retry.Policy{Backoff: retry.Constant(s), MaxAttempts: 2, Hint: tt.rule}
				asking := respond(503, `{}`, tt.header, tt.value, "Date", "Sat, 01 Jan 2000 00:00:00 GMT")
				assert.Equal(t, []time.Duration{want}, gaps(t, asking, func(transport *script) *dynamodb.Client {
					return newDynamoDB(t, transport, f, p)
				}))
			})
		})
	}
}

// TestPresetHints: a client with a preset reads the headers that the preset's SDK reads.
func TestPresetHints(t *testing.T) {
	const s = time.Second
	for _, tt := range []struct {
		preset        awspreset.Preset
		header, value string
		want          time.Duration
	}{
		{awspreset.Standard21, "Retry-After", "3", s},
		{awspreset.Standard21, "X-Amz-Retry-After", "3000", 3 * s},
		{awspreset.Standard21, "X-Amz-Retry-After", "9000", 6 * s},
		{awspreset.JavaV2Legacy, "Retry-After", "9", 9 * s},
		{awspreset.JavaScriptV3Standard20, "Retry-After", "9", 6 * s},
		{awspreset.GoV1, "Retry-After", "9", 10 * s},
		{awspreset.BotocoreLegacy, "Retry-After", "9", s},
		{awspreset.GoV2Standard20, "Retry-After", "9", s},
	} {
		t.Run(fmt.Sprint(tt.preset, " ", tt.header, " ", tt.value), func(t *testing.T) {
			inEveryForm(t, func(t *testing.T, f form) {
				p := tt.preset.Policy("dynamodb")
				p.Backoff, p.MaxAttempts = retry.Constant(s), 2
				asking := respond(503, `{}`, tt.header, tt.value)
				assert.Equal(t, []time.Duration{tt.want}, gaps(t, asking, func(transport *script) *dynamodb.Client {
					return newDynamoDB(t, transport, f, p)
				}))
			})
		})
	}
}

// consulting is a Classifier of a user, which consults another one.
type consulting struct{ retry.Classifier }

func (c consulting) Unwrap() []retry.Classifier { return []retry.Classifier{c.Classifier} }

// TestPartsOfPreset: a Classifier that consults a preset's reads the headers that the preset's
// SDK reads.
func TestPartsOfPreset(t *testing.T) {
	preset := awspreset.Standard21.Policy("dynamodb").Classifier
	mine := retry.ClassifierFunc(func(error) retry.Verdict { return retry.Verdict{} })
	const delay, hint = time.Second, 3 * time.Second
	for name, tt := range map[string]struct {
		classifier retry.Classifier
		want       time.Duration // after a 503 with Retry-After: 3, which Standard21 does not read
	}{
		"the preset's":         {preset, delay},
		"FirstOf":              {retry.FirstOf(mine, preset), delay},
		"FirstOf twice":        {retry.FirstOf(retry.FirstOf(mine, preset), mine), delay},
		"the SDK's rules":      {retry.FirstOf(retryaws.SDKRules{}, preset), delay},
		"transactionVerdict":   {retry.FirstOf(retry.ClassifierFunc(transactionVerdict), preset), delay},
		"Codes":                {retry.Codes{Else: preset}, delay},
		"Codes twice":          {retry.Codes{Else: retry.FirstOf(mine, retry.Codes{Else: preset})}, delay},
		"a wrapper's":          {consulting{preset}, delay},
		"nil":                  {nil, hint},
		"mine":                 {mine, hint},
		"a pointer to it":      {pointerTo(preset), delay},
		"a pointer to Codes":   {&retry.Codes{Else: preset}, delay},
		"Codes without preset": {retry.Codes{}, hint},
		"FirstOf without":      {retry.FirstOf(mine), hint},
		"a hidden preset":      {retry.ClassifierFunc(preset.Classify), hint},
	} {
		t.Run(name, func(t *testing.T) {
			inEveryForm(t, func(t *testing.T, f form) {
				p := retry.Policy{Classifier: tt.classifier, Backoff: retry.Constant(delay), MaxAttempts: 2, Hint: retry.HintAtLeast{Exact: true}}
				asking := respond(503, `{}`, "Retry-After", "3")
				assert.Equal(t, []time.Duration{tt.want}, gaps(t, asking, func(transport *script) *dynamodb.Client {
					return newDynamoDB(t, transport, f, p)
				}))
			})
		})
	}
}

// pointerTo returns a pointer to the Classifier of a preset, which is the same rule.
func pointerTo(preset retry.Classifier) retry.Classifier {
	c := preset.(awspreset.Classifier)
	return &c
}

// TestPointerToCodes: a pointer to Codes has the same rules behind it as a value.
func TestPointerToCodes(t *testing.T) {
	codes := retry.Codes{Retry: []string{"404"}}
	for _, status := range []int{400, 404, 408, 421, 423, 425, 429, 500, 501, 503} {
		counts := map[string]int{}
		for name, classifier := range map[string]retry.Classifier{"value": codes, "pointer": &codes} {
			transport := newScript(respond(status, `{}`))
			client := newDynamoDB(t, transport, asRetryer, retry.Policy{Classifier: classifier, Backoff: retry.NoDelay{}})
			require.Error(t, getItem(t.Context(), client))
			counts[name] = len(transport.requests)
		}
		assert.Equal(t, counts["value"], counts["pointer"], status)
	}
}

type negativeHint struct{}

func (negativeHint) Wait(time.Duration, time.Duration) (time.Duration, bool) { return -time.Hour, true }

func TestNegativeWait(t *testing.T) {
	r, err := retryaws.New(retry.Policy{Backoff: retry.NoDelay{}, Hint: negativeHint{}})
	require.NoError(t, err)
	for _, failed := range []error{io.EOF, retry.After(io.EOF, time.Second)} {
		wait, err := r.RetryDelay(1, failed)
		require.NoError(t, err)
		assert.Zero(t, wait)
	}
}

// TestHintStop: if the hint rule gives up, the call ends with ErrHint and the last
// failure, and an outer policy does not retry the call.
func TestHintStop(t *testing.T) {
	inEveryForm(t, func(t *testing.T, f form) {
		transport := newScript(respond(503, `{"__type":"ServiceUnavailable"}`, "Retry-After", "7"))
		c := newDynamoDB(t, transport, f, retry.Policy{Hint: retry.HintOrGiveUp{Max: time.Second}})
		err := retry.Do(t.Context(), retry.Policy{Backoff: retry.NoDelay{}}, func(ctx context.Context) error { return getItem(ctx, c) })
		assert.ErrorIs(t, err, retry.ErrHint)
		assertAPIError(t, err, "ServiceUnavailable")
		assert.Equal(t, 1, transport.count())
	})
}
