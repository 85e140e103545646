package retry_test

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

// Compare ratios within one run:
//
//	go test -run '^$' -bench . -count 10 . | tee bench.txt && benchstat bench.txt

// direct only calls the operation. It is the baseline for Do.
//
//go:noinline
func direct(ctx context.Context, op func(context.Context) error) error { return op(ctx) }

// again is the simplest possible retry loop.
//
//go:noinline
func again(ctx context.Context, op func(context.Context) error) error {
	for {
		if err := op(ctx); err == nil {
			return nil
		}
	}
}

// byHand is the loop that people write themselves.
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
		{"Do,budget", retry.Policy{Budget: &awspreset.TokenBudget{}}},
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

// BenchmarkThreeRetriesNoWait measures the cost of the loop.
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

// BenchmarkThreeRetries waits for 1 ns before each retry, on the system clock and with a
// cancellable context.
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
	a := retry.Attempt{Number: 5, Waited: time.Second, Err: errFlaky, Verdict: retry.Verdict{Class: retry.ClassTransient}}
	for name, rule := range everyBackoff {
		b.Run("of="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				rule.rule.Delay(a, 0.5)
			}
		})
	}
}

func BenchmarkShared(b *testing.B) {
	for _, p := range []struct {
		name   string
		policy retry.Policy
	}{
		{"none", retry.Policy{MaxAttempts: 4, Clock: noClock{}}},
		{"TokenBudget", retry.Policy{MaxAttempts: 4, Clock: noClock{}, Budget: &awspreset.TokenBudget{Capacity: 1e9}}},
		{"SharedBudget", retry.Policy{MaxAttempts: 4, Clock: noClock{}, Budget: &retry.SharedBudget{Reserve: 1e9, Clock: noClock{}}}},
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
		"text":    errors.New("operation failed"), // ends like a text that is recognized
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

// TestAllocations checks the allocations that the benchmarks report.
func TestAllocations(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	deadline, cancelDeadline := context.WithTimeout(ctx, time.Hour)
	defer cancelDeadline()
	tick := retry.Policy{Backoff: retry.Constant(1), MaxAttempts: 4}
	oneTimer := testing.AllocsPerRun(200, func() { <-time.NewTimer(1).C })
	oneTimeout := testing.AllocsPerRun(200, func() {
		_, cancel := context.WithTimeout(ctx, time.Hour)
		cancel()
	})
	watch := func(ctx context.Context, _ retry.Attempt) (context.Context, func(retry.Attempt)) {
		return ctx, func(retry.Attempt) {}
	}
	tests := []struct {
		name   string
		ctx    context.Context
		policy retry.Policy
		op     func(context.Context) error
		want   float64
	}{
		{"success", ctx, retry.Policy{}, succeed, 0},
		{"success with a budget", ctx, retry.Policy{Budget: &awspreset.TokenBudget{}}, succeed, 0},
		{"success with a shared budget", ctx, retry.Policy{Budget: &retry.SharedBudget{}}, succeed, 0},
		{"success with a time limit", ctx, retry.Policy{MaxElapsed: time.Hour}, succeed, 0},
		{"success with a limit for each attempt", ctx, retry.Policy{AttemptTimeout: time.Hour}, succeed, oneTimeout},
		{"success with a watch on each attempt", ctx, retry.Policy{Hooks: retry.Hooks{OnAttempt: watch}}, succeed, 0},
		{"three retries, no clock", ctx, retry.Policy{MaxAttempts: 4, Clock: noClock{}}, failing(3), 0},
		{"three retries, no clock, budget and deadline", deadline, retry.Policy{MaxAttempts: 4, Clock: noClock{}, Budget: &awspreset.TokenBudget{}}, failing(3), 0},
		{"three retries, no clock, hook", ctx, retry.Policy{MaxAttempts: 4, Clock: noClock{}, Hooks: retry.Hooks{OnRetry: func(context.Context, retry.Attempt, time.Duration) {}}}, failing(3), 0},
		{"three retries, one timer", ctx, tick, failing(3), oneTimer},
		{"three retries, one timer of a named clock", ctx, retry.Policy{Backoff: retry.Constant(1), MaxAttempts: 4, Clock: retry.SystemClock{}}, failing(3), oneTimer},
		{"three retries, no wait", ctx, retry.Policy{MaxAttempts: 4, Backoff: retry.NoDelay{}}, failing(3), 0},
		{"giving up", ctx, retry.Policy{MaxAttempts: 4, Clock: noClock{}}, func(context.Context) error { return errFlaky }, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := testing.AllocsPerRun(200, func() { _ = retry.Do(tt.ctx, tt.policy, tt.op) })
			assert.Equal(t, tt.want, got)
		})
	}
	t.Run("value", func(t *testing.T) {
		got := testing.AllocsPerRun(200, func() {
			_, _ = retry.DoValue(ctx, retry.Policy{}, func(context.Context) (int, error) { return 1, nil })
		})
		assert.Zero(t, got)
	})
	for profile := range awspreset.All() {
		t.Run(profile.String(), func(t *testing.T) {
			p := profile.Policy("sts")
			p.Clock = noClock{}
			op, failures := statusedError(503), 0
			got := testing.AllocsPerRun(200, func() {
				_ = retry.Do(ctx, p, func(context.Context) error {
					if failures++; failures%3 == 0 {
						return nil
					}
					return op
				})
			})
			assert.Zero(t, got)
		})
	}
	for name, b := range everyBackoff {
		t.Run("Delay of "+name, func(t *testing.T) {
			a := retry.Attempt{Number: 3, Waited: time.Second, Err: errOp, Verdict: retry.Verdict{Class: retry.ClassTransient}}
			assert.Zero(t, testing.AllocsPerRun(200, func() { b.rule.Delay(a, 0.5) }))
		})
	}
}

// TestStackOfWaitingCall: a goroutine whose operation failed waits with a stack of 4 KiB.
// Twice as much is a regression.
func TestStackOfWaitingCall(t *testing.T) {
	if instrumented() || runtime.GOARCH != "amd64" || runtime.GOOS == "windows" {
		t.Skip("stack frames are larger, or stacks start with 8 KiB")
	}
	for name, policy := range map[string]retry.Policy{
		"constant":    {Backoff: retry.Constant(time.Hour)},
		"full jitter": {Backoff: retry.FullJitter{Base: 1000 * time.Hour}},
		"budget":      {Backoff: retry.Constant(time.Hour), Budget: &awspreset.TokenBudget{Capacity: 100_000}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const calls = 4000
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				before := stackInUse()
				call := func() error { return retry.Do(ctx, policy, func(context.Context) error { return wrapped(errOp) }) } // as in a caller's function
				for range calls {
					go func() { ignore(call()) }()
				}
				synctest.Wait()
				// A few stacks grow because the runtime itself briefly needs more.
				assert.Less(t, (stackInUse()-before)/calls, uint64(5000), "bytes")
			})
		})
	}
}

//go:noinline
func ignore(error) {}

func stackInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.StackInuse
}

func instrumented() bool {
	info, _ := debug.ReadBuildInfo()
	return testing.CoverMode() != "" || info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
