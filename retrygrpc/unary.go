package retrygrpc

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"

	"github.com/gobackoff/retry"
)

func (c *connection) unary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoker grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if c.fault != nil {
		return c.fault
	}
	call := struct { // one allocation
		call
		peer peer.Peer
	}{call: call{connection: c, method: method}}
	attemptOpts := append(opts[:len(opts):len(opts)], grpc.Peer(&call.peer), grpc.Trailer(&call.trailer))
	if c.TrustPushback {
		attemptOpts = append(attemptOpts, grpc.Header(&call.header))
	}
	err := retry.Do(ctx, *c.policyOf(opts), func(ctx context.Context) error {
		call.peer.Addr = noStream{}
		err := invoker(call.begin(ctx), method, req, reply, cc, attemptOpts...)
		call.sent = call.peer.Addr != noStream{} // grpc sets the peer as soon as an HTTP/2 stream exists
		return call.end(err)
	})
	return call.outcome(ctx, err)
}

// noStream is the address of a peer that grpc has not set. It is not nil, which is what a
// net.Conn may return.
type noStream struct{}

func (noStream) Network() string { return "" }
func (noStream) String() string  { return "" }
