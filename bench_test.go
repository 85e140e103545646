package retry_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gobackoff/retry"
)

var errFlaky = errors.New("flaky")

func succeed(context.Context) error { return nil }

// failing returns an operation that fails n times, then succeeds, over and over.
func failing(n int) func(context.Context) error {
	calls := 0
	return func(context.Context) error {
		if calls++; calls%(n+1) != 0 {
			return errFlaky
		}
		return nil
	}
}

// noClock does not wait.
type noClock struct{}

func (noClock) Now() time.Time                             { return time.Unix(1, 0) }
func (noClock) Sleep(context.Context, time.Duration) error { return nil }

// direct keeps the compiler from inlining what is measured against.
//
//go:noinline
func direct(ctx context.Context, op func(context.Context) error) error { return op(ctx) }

func BenchmarkSuccess(b *testing.B) {
	ctx := b.Context()
	b.Run("direct", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = direct(ctx, succeed)
		}
	})
	b.Run("Do", func(b *testing.B) {
		b.ReportAllocs()
		var p retry.Policy
		for b.Loop() {
			_ = retry.Do(ctx, p, succeed)
		}
	})
	b.Run("DoValue", func(b *testing.B) {
		b.ReportAllocs()
		var p retry.Policy
		for b.Loop() {
			_, _ = retry.DoValue(ctx, p, func(context.Context) (int, error) { return 1, nil })
		}
	})
}

func BenchmarkThreeRetriesNoWait(b *testing.B) {
	b.ReportAllocs()
	p := retry.Policy{MaxAttempts: 4, Clock: noClock{}}
	op := failing(3)
	ctx := b.Context()
	for b.Loop() {
		_ = retry.Do(ctx, p, op)
	}
}
