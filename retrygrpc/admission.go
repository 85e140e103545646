package retrygrpc

import (
	"context"
	"strconv"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gobackoff/retry/admit"
)

// An Admission protects a gRPC server from overload: see package admit. Its fields must
// not be changed after first use.
//
// A refused call gets a status with the time to come back in the metadata key
// grpc-retry-pushback-ms, which clients with a retryPolicy in their service config honor,
// and in RetryInfo, which others read. Nothing of the call has run: clients of this
// package repeat it if they set Client.TrustPushback. The deadline of a call counts as
// announced.
//
// A stream is refused like a unary call, but counts as in progress only until its handler
// sends the first message.
type Admission struct {
	Gate *admit.Gate // decides about calls

	// Code is the code of a refusal. OK, the zero value, means UNAVAILABLE, which most
	// service configs retry. RESOURCE_EXHAUSTED counts as throttling in [Classifier].
	Code codes.Code

	// Share returns the share of the limit for a call: see [admit.Caller]. nil means 1.
	Share func(ctx context.Context, fullMethod string) float64

	// Skip reports whether a method, such as a health check, bypasses the Gate. nil
	// means none.
	Skip func(fullMethod string) bool
}

// ServerOptions returns options for grpc.NewServer. Interceptors in later options run only
// for admitted calls.
func (a *Admission) ServerOptions() []grpc.ServerOption {
	return []grpc.ServerOption{grpc.ChainUnaryInterceptor(a.unary), grpc.ChainStreamInterceptor(a.stream)}
}

func (a *Admission) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if a.Skip != nil && a.Skip(info.FullMethod) {
		return handler(ctx, req)
	}
	ticket, err := a.enter(ctx, info.FullMethod, func(md metadata.MD) { grpc.SetTrailer(ctx, md) })
	if err != nil {
		return nil, err
	}
	defer a.Gate.Leave(ticket)
	return handler(ctx, req)
}

func (a *Admission) stream(srv any, s grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if a.Skip != nil && a.Skip(info.FullMethod) {
		return handler(srv, s)
	}
	ticket, err := a.enter(s.Context(), info.FullMethod, s.SetTrailer)
	if err != nil {
		return err
	}
	admitted := &admittedStream{ServerStream: s, leave: sync.OnceFunc(func() { a.Gate.Leave(ticket) })}
	defer admitted.leave()
	return handler(srv, admitted)
}

// enter returns a status if the Gate refuses the call.
func (a *Admission) enter(ctx context.Context, method string, trailer func(metadata.MD)) (admit.Ticket, error) {
	var caller admit.Caller
	if a.Share != nil {
		caller.Share = a.Share(ctx, method)
	}
	if deadline, ok := ctx.Deadline(); ok {
		caller.Patience = time.Until(deadline)
	}
	ticket, err := a.Gate.Enter(caller)
	refused, ok := err.(admit.Refused)
	if !ok {
		return ticket, err
	}
	after := refused.RetryAfter()
	trailer(metadata.Pairs(pushbackKey, strconv.FormatInt(after.Milliseconds(), 10)))
	code := a.Code
	if code == codes.OK {
		code = codes.Unavailable
	}
	s := status.New(code, refused.Error())
	if detailed, err := s.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(after)}); err == nil {
		s = detailed
	}
	return ticket, s.Err()
}

type admittedStream struct {
	grpc.ServerStream
	leave func()
}

func (s *admittedStream) SendMsg(m any) error {
	err := s.ServerStream.SendMsg(m)
	s.leave()
	return err
}
