package sethvargo

import (
	"context"
	"time"

	"github.com/sethvargo/go-retry" // want "1 of 7 calls can be rewritten"
)

func s1(ctx context.Context) error {
	b := retry.NewFibonacci(time.Second)
	b = retry.WithMaxRetries(3, b)
	return retry.Do(ctx, b, func(ctx context.Context) error { // want "retry\\.Do: left alone: the package marks errors for other calls, which are left alone"
		return retry.RetryableError(ctx.Err())
	})
}

func s2(ctx context.Context) error {
	b := retry.WithMaxDuration(time.Minute, retry.WithCappedDuration(time.Second, retry.WithJitterPercent(5, retry.NewExponential(time.Millisecond))))
	return retry.Do(ctx, retry.WithMaxRetries(3, b), func(ctx context.Context) error { return nil }) // want "retry\\.Do: left alone: the package marks errors for other calls, which are left alone"
}
func s3(ctx context.Context) error {
	return retry.Exponential(ctx, time.Second, func(ctx context.Context) error { return nil }) // want "retry\\.Exponential: left alone: the package marks errors for other calls, which are left alone"
}

type locker struct{ lock retry.Backoff }

func newLocker(n uint64) *locker {
	return &locker{lock: retry.WithMaxRetries(n, retry.NewConstant(time.Second))}
}

func (l *locker) get(ctx context.Context) error {
	return retry.Do(ctx, l.lock, func(ctx context.Context) error { return nil }) // want "retry\\.Do: left alone: its backoff comes from elsewhere"
}

func s4(ctx context.Context, b retry.Backoff) error {
	c := retry.NewExponential(time.Second)
	if err := retry.Do(ctx, retry.WithJitter(time.Second, c), func(ctx context.Context) error { return nil }); err != nil { // want "retry\\.Do: left alone: the package marks errors for other calls, which are left alone"
		return err
	}
	return retry.Do(ctx, retry.WithMaxRetries(3, b), func(ctx context.Context) error { return nil }) // want "retry\\.Do: left alone: its backoff comes from elsewhere"
}

func s5(d time.Duration, percent uint64) time.Duration {
	b := retry.WithJitterPercent(percent, retry.WithJitter(d, retry.NewFibonacci(d)))
	wait, _ := b.Next() // want "Next: can be rewritten; the delays are those of an adapt\\.Sequence"
	return wait
}
