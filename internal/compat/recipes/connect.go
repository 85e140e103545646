package recipes

import (
	"context"

	"connectrpc.com/connect"

	"github.com/gobackoff/retry"
)

// RetryInterceptor retries the unary calls of a Connect client.
func RetryInterceptor(policy retry.Policy) connect.UnaryInterceptorFunc {
	return func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
			if !req.Spec().IsClient {
				return next(ctx, req)
			}
			return retry.DoValue(ctx, policy, func(ctx context.Context) (connect.AnyResponse, error) {
				return next(ctx, req)
			})
		}
	}
}

func connectClass(err error) retry.Class {
	switch connect.CodeOf(err) {
	case connect.CodeResourceExhausted:
		return retry.ClassThrottled
	case connect.CodeDeadlineExceeded:
		return retry.ClassTimeout
	case connect.CodeUnavailable, connect.CodeAborted, connect.CodeInternal:
		return retry.ClassTransient
	case connect.CodeUnknown:
		return retry.ClassUnknown
	}
	return retry.ClassPermanent
}
