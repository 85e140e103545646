// Package retryslog logs retries with log/slog. It is separate from package retry
// because log/slog adds 53 kB to a program that does not otherwise use it.
//
//	policy = policy.With(retryslog.Hooks(slog.Default()))
//
// Errors are logged without the user and the query of a URL in them: see [retry.Text].
//
// To log why a call gave up, and which line changes that, log its error with [retry.Explain]:
//
//	slog.Debug(retry.Explain(policy, err))
//
// To log a [retry.Policy], pass it directly to the logger: handlers print its String.
package retryslog

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
)

// Hooks returns hooks that log each retry as a warning, just before its wait, and each call
// that gives up as an error. Two kinds of calls are logged at the level Debug instead: those that
// the caller canceled, and those that ended with their first attempt because its failure was
// permanent. The logger receives the call's context. A nil logger means the [slog.Default] in
// effect when each line is logged.
//
// A server that is down does not flood the log. Of the retries of one class, and of the calls
// that give up for one reason, ten lines a minute have the level above, and the others have the
// level Debug. The first line of the next minute has the number of these in the field lowered.
// The hooks that one call of Hooks returns count together.
func Hooks(logger *slog.Logger) retry.Hooks {
	log := func(ctx context.Context, level slog.Level, message string, attrs ...slog.Attr) {
		l := logger
		if l == nil {
			l = slog.Default()
		}
		l.LogAttrs(ctx, level, message, attrs...)
	}
	var lines repeated
	return retry.Hooks{
		OnRetry: func(ctx context.Context, failed retry.Attempt, wait time.Duration) {
			level, lowered := lines.level(slog.LevelWarn, "retry "+failed.Class.String())
			log(ctx, level, "retry", append(lowered, Attempt(failed), slog.Duration("wait", wait))...)
		},
		OnGiveUp: func(ctx context.Context, e *retry.Error) {
			level := slog.LevelError
			if e.Reason == retry.ErrPermanent && e.Attempts == 1 || e.ReasonLabel() == "canceled" {
				level = slog.LevelDebug // a 404, say: the caller decides what it means
			}
			level, lowered := lines.level(level, "gave up "+e.ReasonLabel())
			log(ctx, level, "gave up", append(lowered, Error(e))...)
		},
	}
}

// repeated lowers the level of lines of which there are many. A kind is a class or a reason, so
// there are few.
type repeated struct {
	mu    sync.Mutex
	kinds map[string]*kind
}

// A kind is what is known about the lines of one kind in the present minute.
type kind struct {
	since          time.Time
	lines, lowered int
}

// level returns the level for a line, and a field with the number of those that were lowered.
func (r *repeated) level(level slog.Level, name string) (slog.Level, []slog.Attr) {
	const most = 10
	if level == slog.LevelDebug {
		return level, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kinds == nil {
		r.kinds = map[string]*kind{}
	}
	k := r.kinds[name]
	if k == nil {
		k = &kind{}
		r.kinds[name] = k
	}
	var lowered []slog.Attr
	now := time.Now()
	if now.Sub(k.since) >= time.Minute {
		if k.lowered > 0 {
			lowered = append(lowered, slog.Int("lowered", k.lowered))
		}
		*k = kind{since: now}
	}
	k.lines++
	if k.lines > most {
		k.lowered++
		level = slog.LevelDebug
	}
	return level, lowered
}

// Attempt returns a group named "attempt" with those fields of the attempt that are set:
// number, waited, error, class, unrepeatable and hint.
func Attempt(a retry.Attempt) slog.Attr {
	attrs := []slog.Attr{slog.Int("number", a.Number)}
	if a.Waited > 0 {
		attrs = append(attrs, slog.Duration("waited", a.Waited))
	}
	if a.Err != nil {
		attrs = append(attrs, slog.Any("error", public(a.Err)), slog.String("class", a.Class.String()))
	}
	if a.Unrepeatable {
		attrs = append(attrs, slog.Bool("unrepeatable", true))
	}
	if a.Hint > 0 {
		attrs = append(attrs, slog.Duration("hint", a.Hint))
	}
	return slog.GroupAttrs("attempt", attrs...)
}

// Error returns a group named "retry" with those fields of e that are set: reason,
// attempts, since_failure, next and error. A nil e gives an empty group.
func Error(e *retry.Error) slog.Attr {
	if e == nil {
		return slog.Group("retry")
	}
	attrs := []slog.Attr{slog.Any("reason", public(e.Reason)), slog.Int("attempts", e.Attempts)}
	if e.SinceFailure > 0 {
		attrs = append(attrs, slog.Duration("since_failure", e.SinceFailure))
	}
	if e.Next > 0 {
		attrs = append(attrs, slog.Duration("next", e.Next))
	}
	if e.Err != nil {
		attrs = append(attrs, slog.Any("error", public(e.Err)))
	}
	return slog.GroupAttrs("retry", attrs...)
}

// public returns err, or an error with its [retry.Text] if that is different.
func public(err error) error {
	text := retry.Text(err)
	if err == nil || text == fmt.Sprint(err) {
		return err
	}
	return publicError{err, text}
}

// publicError has no Unwrap, so that a handler which prints each error of a chain finds no
// secret. One that looks for an error finds it.
type publicError struct {
	err  error
	text string
}

func (e publicError) Error() string        { return e.text }
func (e publicError) Is(target error) bool { return errfacts.Is(e.err, target) }
func (e publicError) As(target any) bool   { return errfacts.AsTarget(e.err, target) }
