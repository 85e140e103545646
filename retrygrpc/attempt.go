package retrygrpc

import (
	"context"
	"math"
	"sync/atomic"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
)

// An attempt is the context of an attempt. It counts the HTTP/2 streams that grpc-go creates
// for the attempt, even if an interceptor does not pass the call options on.
type attempt struct {
	context.Context
	connection *connection
	strays     int64        // of the connection when the attempt began
	streams    atomic.Int64 // that were created, or may yet be; below 0: the attempt has ended, and no stream may be created
}

// Value returns the attempt itself for its connection.
func (a *attempt) Value(key any) any {
	if key == a.connection {
		return a
	}
	return a.Context.Value(key)
}

// unsent reports whether no stream was created. If so, none will be.
func (a *attempt) unsent() bool {
	return a.streams.CompareAndSwap(0, math.MinInt64) && a.connection.strays.Load() == a.strays
}

// GetRequestMetadata implements credentials.PerRPCCredentials. grpc-go calls it just before
// it creates a stream, with a context that is derived from the attempt's, unless an
// interceptor or grpc-go, for a health check, has replaced that: then the stream is a stray,
// which may belong to any attempt.
func (c *connection) GetRequestMetadata(ctx context.Context, _ ...string) (map[string]string, error) {
	a, ok := ctx.Value(c).(*attempt)
	switch {
	case !ok:
		c.strays.Add(1)
		return nil, nil
	case a.streams.Add(1) < 0:
		return nil, status.Error(codes.Canceled, "retrygrpc: the attempt has ended")
	}
	if n, ok := ctx.Value(creationKey{c}).(*creation); ok {
		n.counted.Store(true)
	}
	return nil, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials.
func (c *connection) RequireTransportSecurity() bool { return false }

// A creation is the context in which grpc-go creates an HTTP/2 stream, or fails to: after the
// connection has been asked for credentials, other credentials may fail, or the deadline may pass
// while the server allows no further stream. Then nothing was sent.
type creation struct {
	context.Context
	connection *connection
	counted    atomic.Bool // in attempt.streams
	succeeded  atomic.Bool
}

type creationKey struct{ *connection }

// Value returns the creation itself for its connection.
func (n *creation) Value(key any) any {
	if key == (creationKey{n.connection}) {
		return n
	}
	return n.Context.Value(key)
}

// TagRPC implements stats.Handler.
func (c *connection) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context {
	return &creation{Context: ctx, connection: c}
}

// HandleRPC implements stats.Handler. grpc-go reports the header of a request once its stream has
// been created, and the end of each request, whether it had a stream or not.
func (c *connection) HandleRPC(ctx context.Context, event stats.RPCStats) {
	n, ok := ctx.Value(creationKey{c}).(*creation)
	if !ok {
		return
	}
	switch event.(type) {
	case *stats.OutHeader:
		n.succeeded.Store(true)
	case *stats.End:
		a, ok := ctx.Value(c).(*attempt)
		if ok && n.counted.Load() && !n.succeeded.Load() {
			a.streams.Add(-1)
		}
	}
}

// TagConn implements stats.Handler.
func (c *connection) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn implements stats.Handler.
func (c *connection) HandleConn(context.Context, stats.ConnStats) {}
