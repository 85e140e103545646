// Package retryslog logs retries with log/slog. It is separate from package retry
// because log/slog adds 53 kB to a program that does not otherwise use it.
//
//	policy = policy.With(retryslog.Hooks(slog.Default()))
//
// To log a [retry.Policy], pass it directly to the logger: handlers print its String.
package retryslog

import (
	"context"
	"log/slog"
	"time"

	"github.com/gobackoff/retry"
)

// Hooks returns hooks that log each retry as a warning, just before its wait, and each call
// that gives up as an error. Two kinds of calls are logged at the level Debug instead: those that
// the caller canceled, and those that ended with their first attempt because its failure was
// permanent. The logger receives the call's context. A nil logger means the [slog.Default] in
// effect when each line is logged.
func Hooks(logger *slog.Logger) retry.Hooks {
	log := func(ctx context.Context, level slog.Level, message string, attrs ...slog.Attr) {
		l := logger
		if l == nil {
			l = slog.Default()
		}
		l.LogAttrs(ctx, level, message, attrs...)
	}
	return retry.Hooks{
		OnRetry: func(ctx context.Context, failed retry.Attempt, wait time.Duration) {
			log(ctx, slog.LevelWarn, "retry", Attempt(failed), slog.Duration("wait", wait))
		},
		OnGiveUp: func(ctx context.Context, e *retry.Error) {
			level := slog.LevelError
			if e.Reason == retry.ErrPermanent && e.Attempts == 1 || e.ReasonLabel() == "canceled" {
				level = slog.LevelDebug // a 404, say: the caller decides what it means
			}
			log(ctx, level, "gave up", Error(e))
		},
	}
}

// Attempt returns a group named "attempt" with those fields of the attempt that are set:
// number, waited, error, class, unrepeatable and hint.
func Attempt(a retry.Attempt) slog.Attr {
	attrs := []slog.Attr{slog.Int("number", a.Number)}
	if a.Waited > 0 {
		attrs = append(attrs, slog.Duration("waited", a.Waited))
	}
	if a.Err != nil {
		attrs = append(attrs, slog.Any("error", a.Err), slog.String("class", a.Class.String()))
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
	attrs := []slog.Attr{slog.Any("reason", e.Reason), slog.Int("attempts", e.Attempts)}
	if e.SinceFailure > 0 {
		attrs = append(attrs, slog.Duration("since_failure", e.SinceFailure))
	}
	if e.Next > 0 {
		attrs = append(attrs, slog.Duration("next", e.Next))
	}
	if e.Err != nil {
		attrs = append(attrs, slog.Any("error", e.Err))
	}
	return slog.GroupAttrs("retry", attrs...)
}
