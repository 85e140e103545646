package retry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrytest"
)

func TestReasonLabel(t *testing.T) {
	failed := errors.New("failed")
	ended := func(cause error) context.Context {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		return ctx
	}
	clock := &retrytest.Clock{}
	soon, cancel := context.WithDeadline(t.Context(), clock.Now().Add(time.Millisecond))
	defer cancel()
	over, cancelOver := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancelOver()
	second := retry.Constant(time.Second)
	for name, tt := range map[string]struct {
		ctx    context.Context
		policy retry.Policy
		err    error
		want   string
	}{
		"attempts":                           {t.Context(), retry.Policy{MaxAttempts: 1}, failed, "attempts"},
		"elapsed":                            {t.Context(), retry.Policy{Backoff: second, MaxElapsed: 1}, failed, "elapsed"},
		"budget":                             {t.Context(), retry.Policy{Budget: &awspreset.TokenBudget{Capacity: 1}}, failed, "budget"},
		"hint":                               {t.Context(), retry.Policy{Hint: retry.HintOrGiveUp{Max: 1}}, retry.After(failed, time.Hour), "hint"},
		"unrepeatable":                       {t.Context(), retry.Policy{}, retry.Unrepeatable(failed), "unrepeatable"},
		"permanent":                          {t.Context(), retry.Policy{}, retry.Permanent(failed), "permanent"},
		"canceled":                           {ended(nil), retry.Policy{}, failed, "canceled"},
		"canceled for a reason":              {ended(failed), retry.Policy{}, failed, "canceled"},
		"canceled by another's timeout":      {ended(context.DeadlineExceeded), retry.Policy{}, failed, "canceled"},
		"wait beyond the deadline":           {soon, retry.Policy{Backoff: second, Clock: clock}, failed, "deadline"},
		"deadline passed":                    {over, retry.Policy{}, failed, "deadline"},
		"limiter":                            {t.Context(), retry.Policy{Limiter: limiterFunc(func(context.Context) error { return failed })}, failed, "wait"},
		"limiter with the error of a budget": {t.Context(), retry.Policy{Limiter: limiterFunc(func(context.Context) error { return fmt.Errorf("limiter: %w", retry.ErrBudget) })}, failed, "wait"},
	} {
		t.Run(name, func(t *testing.T) {
			var got string
			policy := tt.policy.With(retry.Hooks{OnGiveUp: func(_ context.Context, e *retry.Error) { got = e.ReasonLabel() }})
			assert.Error(t, retry.Do(tt.ctx, policy, retrytest.Script(tt.err).Run))
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestErrorTimeout(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errOp, false},
		{io.EOF, false},
		{context.DeadlineExceeded, true},
		{wrapped(os.ErrDeadlineExceeded), true},
		{&url.Error{Op: "Get", Err: errOp}, false},
		{brokenError{errOp}, false},
	} {
		err := &retry.Error{Err: tt.err, Reason: retry.ErrMaxAttempts}
		assert.Equal(t, tt.want, err.Timeout(), "%v", tt.err)
		assert.Equal(t, tt.want, (&url.Error{Op: "Get", Err: err}).Timeout(), "%v", tt.err)
	}
	assert.True(t, (&retry.Error{Reason: context.DeadlineExceeded}).Timeout(), "the call never began")
	assert.True(t, (&retry.Error{Err: errOp, Reason: context.DeadlineExceeded}).Timeout())
	assert.False(t, (&retry.Error{Err: errOp, Reason: context.Canceled}).Timeout())
}

func TestError(t *testing.T) {
	tests := []struct {
		err  *retry.Error
		text string
	}{
		{
			&retry.Error{},
			"gave up before the first attempt (<nil>)",
		},
		{
			&retry.Error{Reason: context.Canceled},
			"gave up before the first attempt (context canceled)",
		},
		{
			&retry.Error{Err: errOp, Reason: retry.ErrMaxAttempts, Attempts: 1},
			"gave up after 1 attempt (all attempts used): operation failed",
		},
		{
			&retry.Error{Err: errors.Join(errOp, io.EOF), Reason: retry.ErrBudget, Attempts: 3, SinceFailure: 1234567 * time.Microsecond, Next: 80 * ms},
			"gave up after 3 attempts (client-side retry budget used up, next wait 80ms): operation failed; EOF",
		},
	}
	for _, tt := range tests {
		assert.EqualError(t, tt.err, tt.text)
		if tt.err.Reason != nil {
			assert.NotContains(t, tt.err.Unwrap(), nil)
		}
	}
}

// unhashable is an error that panics as a map key and in comparisons.
type unhashable []string

func (e unhashable) Error() string { return strings.Join(e, ", ") }

// TestErrorIsSmall: after 200,000 attempts the error has only the last failure, and
// its text is one line.
func TestErrorIsSmall(t *testing.T) {
	const attempts, size = 200_000, 256
	before, calls := inUse(), 0
	err := retry.Do(t.Context(), retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: attempts}, func(context.Context) error {
		calls++
		return unhashable{string(make([]byte, size)), fmt.Sprintf("failure %d\nof many", calls)}
	})
	grown := inUse() - before
	assert.Equal(t, attempts, calls)
	assert.Less(t, grown, int64(attempts*size/20), "memory kept")
	text := err.Error()
	assert.Less(t, len(text), 2*size)
	assert.NotContains(t, text, "\n")
	assert.Contains(t, text, "200000 attempts")
	assert.Contains(t, text, "failure 200000")
	e := asError(t, err)
	assert.Equal(t, attempts, e.Attempts)
	assert.Equal(t, []error{e.Err, retry.ErrMaxAttempts}, e.Unwrap())
}

// TestUncomparableErrors: errors that cannot be compared cause no panic.
func TestUncomparableErrors(t *testing.T) {
	bad := unhashable{"bad"}
	for name, tt := range map[string]struct {
		policy   retry.Policy
		outcomes []error
		calls    int
	}{
		"transient":  {retry.Policy{}, []error{bad}, 3},
		"recovers":   {retry.Policy{Budget: new(awspreset.TokenBudget)}, []error{bad, nil}, 2},
		"throttling": {retry.Policy{Budget: new(retry.SharedBudget), MaxAttempts: 3, MaxElapsed: time.Hour}, []error{retry.Throttled(bad)}, 3},
		"permanent":  {retry.Policy{Budget: new(retry.SharedBudget)}, []error{retry.Permanent(bad)}, 1},
		"classifier": {retry.Policy{Classifier: retry.FirstOf(retry.DefaultClassifier{}, awspreset.Classifier{Preset: awspreset.JavaV1})}, []error{errors.Join(bad, bad)}, 1},
		"limiter":    {retry.Policy{Limiter: limiterFunc(func(context.Context) error { return bad })}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			gaveUp := false
			tt.policy.OnGiveUp = func(context.Context, *retry.Error) { gaveUp = true }
			calls, _, err := play(t, tt.policy, tt.outcomes...)
			assert.Equal(t, tt.calls, calls)
			assert.Equal(t, gaveUp, err != nil)
			if err != nil {
				var got unhashable
				assert.ErrorAs(t, err, &got)
			}
		})
	}
	t.Run("cause of the context", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(bad)
		err := retry.Do(ctx, retry.Policy{}, retrytest.Script().Run)
		var got unhashable
		assert.ErrorAs(t, err, &got)
		assert.ErrorIs(t, err, context.Canceled)
	})
}

// TestErrorIsOneLine: a server's text neither ends a line nor controls a terminal.
// TestErrorHasNoSecrets: the error of a client without this library has its URL.
func TestErrorHasNoSecrets(t *testing.T) {
	secret := &url.Error{Op: "Get", URL: "https://me:SECRET@host/a?access_token=SECRET", Err: io.EOF}
	err := &retry.Error{Err: fmt.Errorf("load: %w", secret), Reason: retry.ErrMaxAttempts, Attempts: 3}
	assert.EqualError(t, err, `gave up after 3 attempts (all attempts used): load: Get "https://host/a": EOF`)
	assert.EqualError(t, &retry.Error{Reason: secret}, `gave up before the first attempt (Get "https://host/a": EOF)`)
	assert.ErrorIs(t, err, secret)
	assert.Equal(t, `Get "https://host/a": EOF`, retry.Text(retry.Permanent(secret)))
	assert.Equal(t, "<nil>", retry.Text(nil))
}

func TestErrorIsOneLine(t *testing.T) {
	err := &retry.Error{Err: errors.New("a\nb\rc\x1b[2Jd\u2028e\x00f\u009bg, größer 語\xff"), Reason: retry.ErrMaxAttempts, Attempts: 3}
	assert.EqualError(t, err, "gave up after 3 attempts (all attempts used): a; b c [2Jd e f g, größer 語\ufffd")
}
