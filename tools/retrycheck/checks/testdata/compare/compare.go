package compare

import (
	"context"
	"errors"

	"github.com/gobackoff/retry"
)

func compares(ctx context.Context, p retry.Policy, op func(context.Context) error) string {
	err := retry.Do(ctx, p, op)
	if err == retry.ErrMaxAttempts { // want `matches retry.ErrMaxAttempts but is not equal to it: use errors.Is\(err, retry.ErrMaxAttempts\)`
		return "attempts"
	}
	if nil != err && retry.ErrBudget != err { // want `use errors.Is\(err, retry.ErrBudget\)`
		return "other"
	}
	return ""
}

func matches(ctx context.Context, p retry.Policy, op func(context.Context) error) bool {
	reason := func(_ context.Context, e *retry.Error) { _ = e.Reason == retry.ErrBudget && e.Err == nil }
	err := retry.Do(ctx, p.With(retry.Hooks{OnGiveUp: reason}), op)
	return errors.Is(err, retry.ErrMaxAttempts) || err == context.Canceled
}

func switches(ctx context.Context, p retry.Policy, op func(context.Context) error) int {
	switch err := retry.Do(ctx, p, op); err {
	case nil:
		return 0
	case context.Canceled, retry.ErrMaxAttempts: // want `use errors.Is\(err, retry.ErrMaxAttempts\)`
		return 1
	}
	hooks := retry.Hooks{OnGiveUp: func(_ context.Context, e *retry.Error) {
		switch e.Reason {
		case retry.ErrBudget:
		}
	}}
	switch err := retry.Do(ctx, p.With(hooks), op); {
	case errors.Is(err, retry.ErrMaxElapsed):
		return 2
	}
	return 3
}
