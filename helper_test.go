package retry_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrytest"
)

const (
	ms       = time.Millisecond
	forever  = time.Duration(math.MaxInt64)
	almost1  = 1 - 0x1p-53
	nanotick = time.Nanosecond
)

const (
	unknown   = retry.ClassUnknown
	permanent = retry.ClassPermanent
	transient = retry.ClassTransient
	timeout   = retry.ClassTimeout
	throttled = retry.ClassThrottled
)

var (
	errOp    = errors.New("operation failed")
	errFlaky = errors.New("flaky")
	errCause = errors.New("shutting down")
)

func succeed(context.Context) error { return nil }

func fails(context.Context) error { return errOp }

// failing returns an operation that alternates between n failures and a success.
func failing(n int) func(context.Context) error {
	failures := 0
	return func(context.Context) error {
		if failures == n {
			failures = 0
			return nil
		}
		failures++
		return errFlaky
	}
}

func wrapped(err error) error { return fmt.Errorf("outer: %w", err) }

// onClock returns a policy with delays of 1 s, 2 s, 4 s … on a virtual clock.
func onClock(attempts int) (retry.Policy, *retrytest.Clock) {
	clock := &retrytest.Clock{}
	return retry.Policy{Backoff: retry.Exponential{Base: time.Second}, MaxAttempts: attempts, Hint: retry.HintAtLeast{Exact: true}, Clock: clock}, clock
}

// play calls an operation with these outcomes on a virtual clock. A nil Rand means
// 0.5.
func play(t *testing.T, p retry.Policy, outcomes ...error) (calls int, waits []time.Duration, err error) {
	t.Helper()
	clock, op := &retrytest.Clock{}, retrytest.Script(outcomes...)
	p.Clock = clock
	if p.Rand == nil {
		p.Rand = retrytest.Fixed(0.5)
	}
	if p.Hint == nil {
		p.Hint = retry.HintAtLeast{Exact: true}
	}
	err = retry.Do(t.Context(), p, op.Run)
	return op.Calls(), clock.Waits(), err
}

func delaysOf(b retry.Backoff, n int, random func() float64) []time.Duration {
	return slices.Collect(retry.Policy{Backoff: b, MaxAttempts: n + 1, Rand: random}.Delays())
}

// A delayCase has the delays of a rule before its first retries.
type delayCase struct {
	name string
	rule retry.Backoff
	u    float64
	want []time.Duration
}

func checkDelays(t *testing.T, cases []delayCase) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			var got []time.Duration
			a := retry.Attempt{Number: 1, Verdict: retry.Verdict{Class: retry.ClassTransient}}
			for range tt.want {
				a.Waited = tt.rule.Delay(a, tt.u)
				a.Number++
				got = append(got, a.Waited)
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

// An extremeCase is a rule with invalid arguments and their documented meaning.
type extremeCase struct {
	name   string
	rule   retry.Backoff
	number int
	u      float64
	want   time.Duration
}

func checkExtremes(t *testing.T, cases []extremeCase) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.rule.Delay(retry.Attempt{Number: tt.number}, tt.u)
			// A float64 has 53 bits of precision; a second in nanoseconds needs 30.
			assert.InDelta(t, float64(tt.want), float64(got), float64(tt.want)*0x1p-30)
		})
	}
}

func asError(t *testing.T, err error) *retry.Error {
	t.Helper()
	e, ok := err.(*retry.Error)
	require.True(t, ok, "%T: %v", err, err)
	return e
}

// failed classifies err as a call does.
func failed(t *testing.T, c retry.Classifier, err error) retry.Attempt {
	t.Helper()
	var seen retry.Attempt
	p := retry.Policy{MaxAttempts: 1, Classifier: c, Hooks: afterAttempts(func(a retry.Attempt) { seen = a })}
	require.Error(t, retry.Do(t.Context(), p, retrytest.Script(err).Run))
	return seen
}

func afterAttempts(f func(retry.Attempt)) retry.Hooks {
	return retry.Hooks{OnAttempt: func(ctx context.Context, _ retry.Attempt) (context.Context, func(retry.Attempt)) {
		return ctx, f
	}}
}

// foreignBackoff is a rule of another package, which may be invalid.
type foreignBackoff struct{ fault string }

func (foreignBackoff) Delay(retry.Attempt, float64) time.Duration { return time.Second }
func (b foreignBackoff) Validate() error {
	if b.fault == "" {
		return nil
	}
	return errors.New(b.fault)
}

type hintFunc func(delay, hint time.Duration) (time.Duration, bool)

func (f hintFunc) Wait(delay, hint time.Duration) (time.Duration, bool) { return f(delay, hint) }

type limiterFunc func(context.Context) error

func (f limiterFunc) Wait(ctx context.Context) error { return f(ctx) }

// refusing is a budget that calls a function and then refuses.
type refusing func()

func (f refusing) TryWithdraw(retry.Attempt) bool { f(); return false }
func (refusing) Deposit(retry.Attempt, error)     {}

type noClock struct{}

func (noClock) Now() time.Time                             { return time.Unix(1, 0) }
func (noClock) Sleep(context.Context, time.Duration) error { return nil }

// panickyClock panics with value instead of waiting, or calls Goexit if value is nil.
type panickyClock struct{ value any }

func (panickyClock) Now() time.Time { return time.Unix(1, 0) }
func (c panickyClock) Sleep(context.Context, time.Duration) error {
	if c.value == nil {
		runtime.Goexit()
	}
	panic(c.value)
}

// noneLeft checks that no goroutines were leaked. Goroutines that have
// ended are still counted for a moment.
func noneLeft(t *testing.T, before int) {
	t.Helper()
	for range 1_000_000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("%d goroutines, but %d before", runtime.NumGoroutine(), before)
}

func inUse() int64 {
	runtime.GC()
	runtime.GC() // the first collection keeps the contents of pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// Errors like those of other libraries, named for the methods or fields that the
// classifier reads.
type (
	statusedError int
	httpCodeError struct{ code int }
	codedError    struct{ code string }
	codeAndStatus struct {
		codedError
		statusedError
	}
	sqlError       struct{ state string }
	redisError     struct{ text string }
	labelError     struct{ label string }
	retryableError struct{ yes bool }
	smithyError    struct{ yes bool }
	canceledError  struct{ yes bool }
	connError      struct{ yes bool }
	pgxError       struct{ safe bool }
	azureError     struct{ statusedError }
	timeoutError   struct{ yes bool }
	retryAfter     time.Duration
	mongoError     []int
	statusField    struct{ StatusCode uint16 }

	statusFieldOfStripe struct {
		Code           string
		HTTPStatusCode int
	}
	responseField struct{ Response *http.Response }
	brokenError   struct{ inner error }
	hintedError   struct {
		hint  time.Duration
		inner error
	}
)

func (e statusedError) Error() string                { return fmt.Sprint("status ", int(e)) }
func (e statusedError) HTTPStatusCode() int          { return int(e) }
func (e httpCodeError) Error() string                { return fmt.Sprint("code ", e.code) }
func (e httpCodeError) HTTPCode() int                { return e.code }
func (e codedError) Error() string                   { return e.code }
func (e codedError) ErrorCode() string               { return e.code }
func (e codeAndStatus) Error() string                { return e.codedError.Error() }
func (e sqlError) Error() string                     { return e.state }
func (e sqlError) SQLState() string                  { return e.state }
func (e redisError) Error() string                   { return e.text }
func (redisError) RedisError()                       {}
func (e labelError) Error() string                   { return e.label }
func (e labelError) HasErrorLabel(label string) bool { return label == e.label }
func (e retryableError) Error() string               { return "reported" }
func (e retryableError) Retryable() bool             { return e.yes }
func (e smithyError) Error() string                  { return "reported" }
func (e smithyError) RetryableError() bool           { return e.yes }
func (e canceledError) Error() string                { return "canceled" }
func (e canceledError) CanceledError() bool          { return e.yes }
func (e connError) Error() string                    { return "connection" }
func (e connError) ConnectionError() bool            { return e.yes }
func (e pgxError) Error() string                     { return "pgx" }
func (e pgxError) SafeToRetry() bool                 { return e.safe }
func (azureError) NonRetriable()                     {}
func (e timeoutError) Error() string                 { return "timeout" }
func (e timeoutError) Timeout() bool                 { return e.yes }
func (e retryAfter) Error() string                   { return "later" }
func (e retryAfter) RetryAfter() time.Duration       { return time.Duration(e) }
func (brokenError) Error() string                    { return "half-built" }
func (e brokenError) Unwrap() error                  { return e.inner }
func (brokenError) HTTPStatusCode() int              { panic("no response") }
func (brokenError) HTTPCode() int                    { panic("no response") }
func (brokenError) ErrorCode() string                { panic("no response") }
func (brokenError) ErrorMessage() string             { panic("no response") }
func (brokenError) SQLState() string                 { panic("no response") }
func (brokenError) Retryable() bool                  { panic("no response") }
func (brokenError) RetryableError() bool             { panic("no response") }
func (brokenError) CanceledError() bool              { panic("no response") }
func (brokenError) ConnectionError() bool            { panic("no response") }
func (brokenError) SafeToRetry() bool                { panic("no response") }
func (brokenError) HasErrorLabel(string) bool        { panic("no response") }
func (brokenError) Timeout() bool                    { panic("no response") }
func (brokenError) RetryAfter() time.Duration        { panic("no response") }

func (hintedError) Error() string               { return "later" }
func (e hintedError) Unwrap() error             { return e.inner }
func (e hintedError) RetryAfter() time.Duration { return e.hint }

func (e statusField) Error() string          { return "field" }
func (e *statusFieldOfStripe) Error() string { return "field" }
func (e *responseField) Error() string       { return "field" }
func (e mongoError) Error() string           { return "mongo" }
func (e mongoError) ErrorCodes() []int       { return e }
