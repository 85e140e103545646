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

func connectVerdict(err error) (v retry.Verdict) {
	switch connect.CodeOf(err) {
	case connect.CodeResourceExhausted:
		v.Class = retry.ClassThrottled
	case connect.CodeDeadlineExceeded:
		v.Class = retry.ClassTimeout
	case connect.CodeUnavailable, connect.CodeAborted, connect.CodeInternal:
		v.Class = retry.ClassTransient
	case connect.CodeUnknown:
		v.Class = retry.ClassUnknown
	default:
		v.Class = retry.ClassPermanent
	}
	return v
}
