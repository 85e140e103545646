package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"
)

// awsSDK is the SDK's retry middleware around a handler that only calls the operation.
// It includes hooks for traces and metrics, unused here, but none for retries.
var awsSDK = library{
	name: "aws",
	build: func(ctx context.Context, p plan) policy {
		attempt := awsMiddleware(p)
		return func(o *operation) call {
			handler := awsHandler(o)
			return func() error {
				_, _, err := attempt.HandleFinalize(ctx, middleware.FinalizeInput{}, handler)
				return err
			}
		}
	},
	fresh: func(ctx context.Context, p plan) policy {
		return func(o *operation) call {
			handler := awsHandler(o)
			return func() error {
				_, _, err := awsMiddleware(p).HandleFinalize(ctx, middleware.FinalizeInput{}, handler)
				return err
			}
		}
	},
	value: func(ctx context.Context, p plan) func(*operation) valueCall {
		attempt := awsMiddleware(p)
		return func(o *operation) valueCall {
			handler := awsHandler(o)
			return func() (int, error) {
				out, _, err := attempt.HandleFinalize(ctx, middleware.FinalizeInput{}, handler)
				v, _ := out.Result.(int)
				return v, err
			}
		}
	},
	budgets: true,
	delays: map[string]func() func() time.Duration{
		// In the SDK's default mode, the delay starts at 1 s, and its random numbers
		// come from crypto/rand.
		fullJitter: func() func() time.Duration {
			standard, n := retry.NewStandard(), 0
			return cycle(func() { n = 0 }, func() time.Duration {
				n++
				delay, _ := standard.RetryDelay(n-1, errFlaky)
				return delay
			})
		},
	},
}

func awsHandler(o *operation) middleware.FinalizeHandler {
	return middleware.FinalizeHandlerFunc(func(context.Context, middleware.FinalizeInput) (out middleware.FinalizeOutput, _ middleware.Metadata, err error) {
		out.Result = 1
		return out, middleware.Metadata{}, o.try()
	})
}

func awsMiddleware(p plan) *retry.Attempt {
	standard := retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = p.attempts
		// Errors that the SDK does not recognize are retried, as in the other libraries.
		o.Retryables = append(o.Retryables, retry.IsErrorRetryableFunc(func(error) aws.Ternary { return aws.TrueTernary }))
		if !p.usual {
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return p.wait, nil })
		}
		if p.budget {
			o.RateLimiter = ratelimit.NewTokenRateLimit(plenty)
		} else {
			o.RateLimiter = ratelimit.None
		}
	})
	return retry.NewAttemptMiddleware(standard, func(request any) any { return request })
}
