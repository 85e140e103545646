package cookbook

import (
	"context"
	"log/slog"
	"time"

	"github.com/gobackoff/retry"
)

// FirstAtOnce makes the first retry at once, and the others after the delays of rest. After
// throttling, the first retry waits, too.
func FirstAtOnce(rest retry.Backoff) retry.Backoff {
	return retry.BackoffFunc(func(a retry.Attempt, u float64) time.Duration {
		if a.Class == retry.ClassThrottled {
			return rest.Delay(a, u)
		}
		if a.Number == 1 {
			return 0
		}
		a.Number-- // the second retry has the first delay of rest
		return rest.Delay(a, u)
	})
}

// WithMoreTime gives the first attempt one unit of time, the second two, and so on.
func WithMoreTime(ctx context.Context, policy retry.Policy, unit time.Duration, op func(context.Context) error) error {
	number := 0
	return retry.Do(ctx, policy, func(ctx context.Context) error {
		number++
		ctx, cancel := context.WithTimeout(ctx, time.Duration(number)*unit)
		defer cancel()
		return op(ctx)
	})
}

// Patient makes at most three attempts that fail, besides any number that the server refuses
// because it limits the rate. MaxElapsed bounds both.
func Patient(ctx context.Context, op func(context.Context) error) error {
	policy := retry.Policy{MaxElapsed: 10 * time.Minute}
	failures := 0
	return retry.Do(ctx, policy, func(ctx context.Context) error {
		err := op(ctx)
		if err == nil || policy.Classify(err).Class == retry.ClassThrottled {
			return err
		}
		failures++
		if failures == 3 {
			return retry.Permanent(err)
		}
		return err
	})
}

// Numbered shows an operation that wants to know which attempt it is.
func Numbered(ctx context.Context, policy retry.Policy, send func(ctx context.Context, number int) error) error {
	policy = policy.With(retry.AttemptInContext())
	return retry.Do(ctx, policy, func(ctx context.Context) error {
		attempt, _ := retry.AttemptFrom(ctx)
		return send(ctx, attempt.Number)
	})
}

// A Skippable clock ends a wait as soon as something is sent to Skip, such as the click of a
// user on "try now".
type Skippable struct {
	retry.SystemClock
	Skip <-chan struct{}
}

// Sleep implements [retry.Clock].
func (c Skippable) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.Skip:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// Visible returns policy for a program with a user: show is called before each wait, and skip
// ends it.
func Visible(policy retry.Policy, show func(error, time.Duration), skip <-chan struct{}) retry.Policy {
	policy.Clock = Skippable{Skip: skip}
	return policy.With(retry.Hooks{
		OnRetry: func(_ context.Context, failed retry.Attempt, wait time.Duration) { show(failed.Err, wait) },
	})
}

// Drained ends its waits when shutdown ends, but lets an attempt that is running finish
// within ten seconds.
func Drained(shutdown context.Context, policy retry.Policy, op func(context.Context) error) error {
	return retry.Do(shutdown, policy, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		return op(ctx)
	})
}

// LogDoublings logs the failures 1, 2, 4, 8 … of a call.
func LogDoublings(policy retry.Policy, log *slog.Logger) retry.Policy {
	return policy.With(retry.Hooks{
		OnRetry: func(ctx context.Context, failed retry.Attempt, wait time.Duration) {
			n := failed.Number
			if n&(n-1) == 0 { // a power of two
				log.WarnContext(ctx, "will retry", "attempt", n, "error", failed.Err, "wait", wait)
			}
		},
	})
}
