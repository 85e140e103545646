package retrygrpc

import (
	"context"
	"math"
	"sync/atomic"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
)

// An attempt is the context of an attempt. It counts the HTTP/2 streams that grpc-go creates
// for the attempt, even if an interceptor does not pass the call options on.
type attempt struct {
	context.Context
	connection *connection
	strays     int64        // of the connection when the attempt began
	streams    atomic.Int64 // below 0: the attempt has ended, and no stream may be created
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
	case a.streams.Add(1) < 0:
		return nil, status.Error(codes.Canceled, "retrygrpc: the attempt has ended")
	}
	return nil, nil
}

// callCredentials are those that a call's options have. grpc-go asks them after the connection,
// which has already counted the stream. If they fail, there is none.
type callCredentials struct {
	credentials.PerRPCCredentials
	connection *connection
}

func (c callCredentials) GetRequestMetadata(ctx context.Context, uri ...string) (map[string]string, error) {
	md, err := c.PerRPCCredentials.GetRequestMetadata(ctx, uri...)
	if a, ok := ctx.Value(c.connection).(*attempt); ok && err != nil {
		a.streams.Add(-1)
	}
	return md, err
}

// RequireTransportSecurity implements credentials.PerRPCCredentials.
func (c *connection) RequireTransportSecurity() bool { return false }
