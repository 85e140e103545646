package retry_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gobackoff/retry"
)

// The numbers to look at are ratios within one run:
//
//	go test -run '^$' -bench . -count 10 . | tee bench.txt && benchstat bench.txt

var errFlaky = errors.New("flaky")

func succeed(context.Context) error { return nil }

// failing returns an operation that fails n times, then succeeds, over and over.
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

// noClock does not wait.
type noClock struct{}

func (noClock) Now() time.Time                             { return time.Unix(1, 0) }
func (noClock) Sleep(context.Context, time.Duration) error { return nil }

// direct calls the operation as Do does, without inlining, and does nothing else.
//
//go:noinline
func direct(ctx context.Context, op func(context.Context) error) error { return op(ctx) }

// again is the least that a retry loop can do.
//
//go:noinline
func again(ctx context.Context, op func(context.Context) error) error {
	for {
		if err := op(ctx); err == nil {
			return nil
		}
	}
}

// byHand is the loop that people write themselves, with one timer.
//
//go:noinline
func byHand(ctx context.Context, attempts int, wait time.Duration, op func(context.Context) error) error {
	var timer *time.Timer
	for attempt := 1; ; attempt++ {
		err := op(ctx)
		if err == nil || attempt == attempts {
			return err
		}
		if timer == nil {
			timer = time.NewTimer(wait)
		} else {
			timer.Reset(wait)
		}
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

func BenchmarkSuccess(b *testing.B) {
	ctx := b.Context()
	b.Run("by=direct", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = direct(ctx, succeed)
		}
	})
	for _, p := range []struct {
		name   string
		policy retry.Policy
	}{
		{"Do", retry.Policy{}},
		{"Do,budget", retry.Policy{Budget: &retry.TokenBudget{}}},
		{"Do,elapsed", retry.Policy{MaxElapsed: time.Hour}},
		{"Do,timeout", retry.Policy{AttemptTimeout: time.Hour}},
	} {
		b.Run("by="+p.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = retry.Do(ctx, p.policy, succeed)
			}
		})
	}
	b.Run("by=DoValue", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = retry.DoValue(ctx, retry.Policy{}, func(context.Context) (int, error) { return 1, nil })
		}
	})
}

// BenchmarkThreeRetriesNoWait is the cost of the loop itself.
func BenchmarkThreeRetriesNoWait(b *testing.B) {
	ctx := context.Background()
	b.Run("by=again", func(b *testing.B) {
		b.ReportAllocs()
		op := failing(3)
		for b.Loop() {
			_ = again(ctx, op)
		}
	})
	b.Run("by=Do", func(b *testing.B) {
		b.ReportAllocs()
		p, op := retry.Policy{MaxAttempts: 4, Clock: noClock{}}, failing(3)
		for b.Loop() {
			_ = retry.Do(ctx, p, op)
		}
	})
}

// BenchmarkThreeRetries waits for 1 ns on the system clock, with a context
// that can be cancelled.
func BenchmarkThreeRetries(b *testing.B) {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	b.Run("by=hand", func(b *testing.B) {
		b.ReportAllocs()
		op := failing(3)
		for b.Loop() {
			_ = byHand(ctx, 4, 1, op)
		}
	})
	b.Run("by=Do", func(b *testing.B) {
		b.ReportAllocs()
		p, op := retry.Policy{MaxAttempts: 4, Backoff: retry.Constant(1)}, failing(3)
		for b.Loop() {
			_ = retry.Do(ctx, p, op)
		}
	})
}

func BenchmarkDelay(b *testing.B) {
	a := retry.Attempt{Number: 5, Waited: time.Second, Err: errFlaky, Class: retry.ClassTransient}
	for name, rule := range everyBackoff {
		b.Run("of="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				rule.rule.Delay(a, 0.5)
			}
		})
	}
}

// BenchmarkShared has all processors run calls of one policy.
func BenchmarkShared(b *testing.B) {
	for _, p := range []struct {
		name   string
		policy retry.Policy
	}{
		{"none", retry.Policy{MaxAttempts: 4, Clock: noClock{}}},
		{"TokenBudget", retry.Policy{MaxAttempts: 4, Clock: noClock{}, Budget: &retry.TokenBudget{Capacity: 1e9}}},
		{"ThrottleBudget", retry.Policy{MaxAttempts: 4, Clock: noClock{}, Budget: &retry.ThrottleBudget{MaxTokens: 1e9}}},
		{"RatioBudget", retry.Policy{MaxAttempts: 4, Clock: noClock{}, Budget: &retry.RatioBudget{Floor: 1e9, Clock: noClock{}}}},
	} {
		b.Run("budget="+p.name, func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				op := failing(3)
				for pb.Next() {
					_ = retry.Do(context.Background(), p.policy, op)
				}
			})
		})
	}
}

func BenchmarkClassify(b *testing.B) {
	for name, err := range map[string]error{
		"plain":   errFlaky,
		"wrapped": wrapped(errFlaky),
		"status":  wrapped(statusedError(503)),
		"marked":  retry.Permanent(errFlaky),
	} {
		b.Run("error="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				retry.DefaultClassifier{}.Classify(err)
			}
		})
	}
}
