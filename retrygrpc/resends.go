package retrygrpc

import (
	"context"
	"sync/atomic"

	"google.golang.org/grpc/stats"
)

// Resends counts grpc-go's transparent retries: requests sent again at once, because
// their stream was not created, or because the server reported that it had not processed
// it. They belong to an attempt, cost the policy nothing, and happen with and without this
// package.
//
//	var resends retrygrpc.Resends
//	options = append(options, grpc.WithStatsHandler(&resends))
type Resends struct{ n atomic.Int64 }

// Count returns the number so far.
func (r *Resends) Count() int64 { return r.n.Load() }

// HandleRPC implements stats.Handler.
func (r *Resends) HandleRPC(_ context.Context, s stats.RPCStats) {
	if begin, ok := s.(*stats.Begin); ok && begin.IsTransparentRetryAttempt {
		r.n.Add(1)
	}
}

// TagRPC implements stats.Handler.
func (r *Resends) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// TagConn implements stats.Handler.
func (r *Resends) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn implements stats.Handler.
func (r *Resends) HandleConn(context.Context, stats.ConnStats) {}
