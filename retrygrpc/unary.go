package retrygrpc

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/gobackoff/retry"
)

func unaryInterceptor(connection retry.Policy) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoker grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		var (
			trailer  metadata.MD
			previous int
			last     error
		)
		attemptOpts := append(opts[:len(opts):len(opts)], grpc.Trailer(&trailer))
		err := retry.Do(ctx, *policyOf(opts, &connection), func(ctx context.Context) error {
			trailer = nil
			last = invoker(withAttempts(ctx, previous), method, req, reply, cc, attemptOpts...)
			if last == nil {
				return nil
			}
			previous++
			return withHint(last, trailer)
		})
		return outcome(ctx, err, last)
	}
}
