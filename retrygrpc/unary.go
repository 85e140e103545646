package retrygrpc

import (
	"context"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"

	"github.com/gobackoff/retry"
)

func (c *connection) unary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoker grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if err := c.fault(); err != nil {
		return err
	}
	p, finish, opts := c.split(opts)
	u := &unary{call: call{connection: c, policy: p, method: method}, req: req, reply: reply, cc: cc, invoker: invoker}
	u.setOptions(opts)
	err := retry.Do(ctx, forMethod(*p, method), func(ctx context.Context) error { return u.end(u.hedge(ctx, p)) })
	err = u.outcome(ctx, err)
	finish(err)
	return err
}

// A unary is a unary call, or a copy of one.
type unary struct {
	call
	req, reply any
	cc         *grpc.ClientConn
	invoker    grpc.UnaryInvoker
	opts       []grpc.CallOption
	peer       peer.Peer // of a copy
	err        error     // of the latest attempt
}

// setOptions adds options that receive what an attempt ends with.
func (u *unary) setOptions(opts []grpc.CallOption) {
	opts = append(opts, grpc.Trailer(&u.trailer))
	if u.TrustPushback || u.Hedge != nil {
		opts = append(opts, grpc.Header(&u.header))
	}
	u.opts = slices.Clip(opts)
}

// invoke sends the call once.
func (u *unary) invoke(ctx context.Context) error {
	u.err = u.invoker(u.begin(ctx), u.method, u.req, u.reply, u.cc, u.opts...)
	return u.err
}
