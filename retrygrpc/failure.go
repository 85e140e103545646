package retrygrpc

import (
	"context"
	"strconv"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/gobackoff/retry"
)

// The metadata keys defined in gRPC proposal A6.
const (
	pushbackKey = "grpc-retry-pushback-ms"
	attemptsKey = "grpc-previous-rpc-attempts"
)

func withAttempts(ctx context.Context, previous int) context.Context {
	if previous == 0 {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, attemptsKey, strconv.Itoa(previous))
}

// hinted is an attempt's error with the wait requested by the server.
type hinted struct {
	error
	wait time.Duration
}

func (h *hinted) Unwrap() error             { return h.error }
func (h *hinted) RetryAfter() time.Duration { return h.wait }

func withHint(err error, trailer metadata.MD) error {
	if pushback := trailer[pushbackKey]; len(pushback) > 0 {
		ms, e := strconv.ParseInt(pushback[0], 10, 32) // an int32 in A6
		if e != nil || ms < 0 || len(pushback) > 1 {
			return retry.Permanent(err)
		}
		return &hinted{err, time.Duration(ms) * time.Millisecond}
	}
	if s, ok := status.FromError(err); ok {
		for _, detail := range s.Details() {
			if info, ok := detail.(*errdetails.RetryInfo); ok {
				return &hinted{err, info.GetRetryDelay().AsDuration()}
			}
		}
	}
	return err
}

type gaveUp struct {
	err  *retry.Error
	code codes.Code
}

func (e *gaveUp) Error() string { return e.err.Error() }
func (e *gaveUp) Unwrap() error { return e.err }

// GRPCStatus returns the status that package status finds in the error.
func (e *gaveUp) GRPCStatus() *status.Status {
	last := status.Convert(e.err.Err)
	if last.Code() != e.code {
		return status.New(e.code, e.Error())
	}
	s := last.Proto() // with its details
	s.Message = e.Error()
	return status.FromProto(s)
}

// outcome returns the error of a call, given the errors returned by Do and by the last
// attempt.
func outcome(ctx context.Context, err, last error) error {
	e, isGiveUp := err.(*retry.Error) // from this Do, not from a nested one
	switch {
	case !isGiveUp && last != nil:
		return last // permanent, without this package's marks
	case !isGiveUp:
		return err // success, or an invalid policy
	}
	code := codes.Unavailable // for a Limiter that refused the first attempt
	switch {
	case ctx.Err() == context.Canceled:
		code = codes.Canceled
	case ctx.Err() != nil || e.Err == nil && e.ReasonLabel() == "deadline":
		code = codes.DeadlineExceeded
	case e.Err != nil:
		code = status.Code(e.Err)
	}
	return &gaveUp{e, code}
}
