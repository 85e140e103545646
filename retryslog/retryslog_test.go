package retryslog_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryslog"
	"github.com/gobackoff/retry/retrytest"
)

// logger returns a logger that writes lines without the time.
func logger(out *strings.Builder) *slog.Logger {
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}

var errOp = errors.New("operation failed")

func TestHooks(t *testing.T) {
	policy := retry.Policy{Backoff: retry.Constant(time.Second), Clock: &retrytest.Clock{}, MaxAttempts: 3, MaxElapsed: time.Hour}
	const two = "level=WARN msg=retry attempt.number=1 attempt.error=\"operation failed\" attempt.class=unknown wait=1s\n" +
		"level=WARN msg=retry attempt.number=2 attempt.waited=1s attempt.error=\"operation failed\" attempt.class=unknown wait=1s\n"
	t.Run("success after retries", func(t *testing.T) {
		var out strings.Builder
		assert.NoError(t, retry.Do(t.Context(), policy.With(retryslog.Hooks(logger(&out))), retrytest.Script(errOp, errOp, nil).Run))
		assert.Equal(t, two, out.String())
	})
	t.Run("gave up", func(t *testing.T) {
		var out strings.Builder
		assert.Error(t, retry.Do(t.Context(), policy.With(retryslog.Hooks(logger(&out))), retrytest.Script(errOp).Run))
		assert.Equal(t, two+"level=ERROR msg=\"gave up\" retry.reason=\"all attempts used\" retry.attempts=3 retry.since_failure=2s retry.error=\"operation failed\"\n", out.String())
	})
	canceled, cancel := context.WithCancel(t.Context())
	defer cancel()
	for name, tt := range map[string]struct {
		ctx      context.Context
		outcomes []error
		level    string
	}{
		"permanent at once":          {t.Context(), []error{retry.Permanent(errOp)}, "DEBUG"},
		"permanent after a retry":    {t.Context(), []error{errOp, retry.Permanent(errOp)}, "ERROR"},
		"canceled by the caller":     {canceled, []error{errOp}, "DEBUG"},
		"not retried, not permanent": {t.Context(), []error{retry.Unrepeatable(errOp)}, "ERROR"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			op := retrytest.Script(tt.outcomes...)
			assert.Error(t, retry.Do(tt.ctx, policy.With(retryslog.Hooks(logger(&out))), func(ctx context.Context) error {
				cancel()
				return op.Run(ctx)
			}))
			assert.Contains(t, out.String(), "level="+tt.level+" msg=\"gave up\"")
		})
	}
	t.Run("the default logger", func(t *testing.T) {
		var out strings.Builder
		before := slog.Default()
		defer slog.SetDefault(before)
		policy := policy.With(retryslog.Hooks(nil))
		slog.SetDefault(logger(&out))
		assert.NoError(t, retry.Do(t.Context(), policy, retrytest.Script(errOp, errOp, nil).Run))
		assert.Equal(t, two, out.String())
	})
}

// TestFlood: 3,600 calls that fail in an hour have few lines above Debug, and these say how many
// others there were.
func TestFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		policy := retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 3}.With(retryslog.Hooks(logger(&out)))
		for range 3600 {
			time.Sleep(time.Second)
			assert.Error(t, retry.Do(t.Context(), policy, retrytest.Script(errOp, errOp, errOp).Run))
		}
		assert.Equal(t, 600, strings.Count(out.String(), "level=WARN"))
		assert.Equal(t, 600, strings.Count(out.String(), "level=ERROR"))
		assert.Equal(t, 59, strings.Count(out.String(), "level=WARN msg=retry lowered=110 "))
		assert.Equal(t, 59, strings.Count(out.String(), "level=ERROR msg=\"gave up\" lowered=50 "))
		assert.Equal(t, 3*3600, strings.Count(out.String(), "\n"), "nothing is lost")

		out.Reset()
		assert.Error(t, retry.Do(t.Context(), policy, retrytest.Script(retry.Throttled(errOp), retry.Unrepeatable(errOp)).Run))
		assert.Contains(t, out.String(), "level=WARN", "another class")
		assert.Contains(t, out.String(), "level=ERROR", "another reason")
	})
}

func TestAttempt(t *testing.T) {
	var nobody *fs.PathError // whose Error method panics
	for name, tt := range map[string]struct {
		attempt retry.Attempt
		want    string
	}{
		"first": {retry.Attempt{Number: 1}, "attempt.number=1"},
		"all": {
			retry.Attempt{Number: 2, Waited: 50 * time.Millisecond, Err: errors.New("no"), Verdict: retry.Verdict{Class: retry.ClassThrottled, Unrepeatable: true, Hint: time.Second}},
			"attempt.number=2 attempt.waited=50ms attempt.error=no attempt.class=throttled attempt.unrepeatable=true attempt.hint=1s",
		},
		"a typed nil": {retry.Attempt{Number: 1, Err: nobody}, "attempt.number=1 attempt.error=<nil> attempt.class=unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			logger(&out).Info("x", retryslog.Attempt(tt.attempt))
			assert.Equal(t, "level=INFO msg=x "+tt.want+"\n", out.String())
		})
	}
}

func TestError(t *testing.T) {
	var nobody *fs.PathError
	for name, tt := range map[string]struct {
		err  *retry.Error
		want string
	}{
		"nil":         {nil, ""},
		"before":      {&retry.Error{Reason: context.Canceled}, " retry.reason=\"context canceled\" retry.attempts=0"},
		"all":         {&retry.Error{Err: errOp, Reason: retry.ErrBudget, Attempts: 2, SinceFailure: time.Second, Next: time.Minute}, " retry.reason=\"client-side retry budget used up\" retry.attempts=2 retry.since_failure=1s retry.next=1m0s retry.error=\"operation failed\""},
		"a typed nil": {&retry.Error{Err: nobody, Reason: retry.ErrBudget, Attempts: 1}, " retry.reason=\"client-side retry budget used up\" retry.attempts=1 retry.error=<nil>"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			logger(&out).Info("x", retryslog.Error(tt.err))
			assert.Equal(t, "level=INFO msg=x"+tt.want+"\n", out.String())
		})
	}
}

// TestNoSecrets: a line has no credentials of a URL, and a handler still finds the error.
func TestNoSecrets(t *testing.T) {
	secret := &url.Error{Op: "Get", URL: "https://me:SECRET@host/a?sig=SECRET", Err: errOp}
	policy := retry.Policy{Clock: &retrytest.Clock{}, MaxAttempts: 2}
	for name, handler := range map[string]func(io.Writer, *slog.HandlerOptions) slog.Handler{
		"text": func(w io.Writer, o *slog.HandlerOptions) slog.Handler { return slog.NewTextHandler(w, o) },
		"JSON": func(w io.Writer, o *slog.HandlerOptions) slog.Handler { return slog.NewJSONHandler(w, o) },
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			found := 0
			log := slog.New(handler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				err, isError := a.Value.Any().(error)
				_, isURL := errors.AsType[*url.Error](err)
				if isError && isURL && errors.Is(err, errOp) {
					found++
				}
				return a
			}}))
			assert.Error(t, retry.Do(t.Context(), policy.With(retryslog.Hooks(log)), retrytest.Script(fmt.Errorf("load: %w", secret)).Run))
			assert.NotContains(t, out.String(), "SECRET")
			assert.Equal(t, 2, strings.Count(out.String(), "https://host/a"), out.String())
			assert.Equal(t, 2, found)
		})
	}
}

func TestPolicy(t *testing.T) {
	var out strings.Builder
	logger(&out).Info("x", "policy", retry.Policy{Backoff: retry.FullJitter{Base: time.Second}, MaxAttempts: 7})
	assert.Equal(t, "level=INFO msg=x policy=\"backoff=retry.FullJitter{Base:1s} attempts=7\"\n", out.String())
}

func ExampleHooks() {
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	policy := retry.Policy{Backoff: retry.Constant(time.Millisecond)}.With(retryslog.Hooks(log))
	_ = retry.Do(context.Background(), policy, retrytest.Script(errOp, nil).Run)
	// Output:
	// level=WARN msg=retry attempt.number=1 attempt.error="operation failed" attempt.class=unknown wait=1ms
}
