package sethvargo

import (
	"context"
	"time"

	"github.com/sethvargo/go-retry" // want "3 of 3 calls can be rewritten"
)

func s1(ctx context.Context) error {
	b := retry.NewFibonacci(time.Second)
	b = retry.WithMaxRetries(3, b)
	return retry.Do(ctx, b, func(ctx context.Context) error { // want "retry\\.Do: can be rewritten"
		return retry.RetryableError(ctx.Err())
	})
}

func s2(ctx context.Context) error {
	b := retry.WithMaxDuration(time.Minute, retry.WithCappedDuration(time.Second, retry.WithJitterPercent(5, retry.NewExponential(time.Millisecond))))
	return retry.Do(ctx, retry.WithMaxRetries(3, b), func(ctx context.Context) error { return nil }) // want "retry\\.Do: can be rewritten"
}
func s3(ctx context.Context) error {
	return retry.Exponential(ctx, time.Second, func(ctx context.Context) error { return nil }) // want "retry\\.Exponential: can be rewritten"
}
