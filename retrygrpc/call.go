package retrygrpc

import (
	"context"
	"errors"
	"strconv"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

// The metadata keys defined in gRPC proposal A6.
const (
	pushbackKey = "grpc-retry-pushback-ms"
	attemptsKey = "grpc-previous-rpc-attempts"
)

// A call records how the attempts of a call end.
type call struct {
	*connection
	policy *retry.Policy
	method string
	failed int   // attempts
	last   error // of the latest attempt
	advice string

	latest          *attempt
	header, trailer metadata.MD // of the latest attempt
}

func (c *call) begin(ctx context.Context) context.Context {
	if c.failed > 0 {
		ctx = metadata.AppendToOutgoingContext(ctx, attemptsKey, strconv.Itoa(c.failed))
	}
	c.latest = &attempt{Context: ctx, connection: c.connection, strays: c.strays.Load()}
	c.header, c.trailer = nil, nil
	return c.latest
}

// end returns the error of an attempt for the policy: with the server's hint, and marked
// if the call must not be repeated.
func (c *call) end(err error) error {
	if c.last = err; err == nil {
		return nil
	}
	c.failed++
	wait, pushed := c.pushback()
	switch {
	case pushed && wait < 0:
		return retry.Permanent(err)
	case pushed && wait == 0:
		v := c.policy.Classify(err)
		v.Hint = 0 // not that of RetryInfo
		err = retry.WithVerdict(&hinted{err, 0}, v)
	case pushed:
		err = &hinted{err, wait}
	}
	unsent := c.latest.unsent()
	refused := pushed && len(c.header) == 0 && c.latest.streams.Load() == 1 // only one of several may be refused
	if unsent || refused && c.TrustPushback || c.mayRepeat(c.method) {
		return err
	}
	c.advice = "the server may have executed " + c.method + ": see Client.Repeatable"
	if refused {
		c.advice += " and Client.TrustPushback"
	}
	return retry.Unrepeatable(err)
}

// pushback returns the wait that the server asks for; below 0, no retry may follow.
func (c *call) pushback() (wait time.Duration, ok bool) {
	values := c.trailer[pushbackKey]
	if len(values) == 0 {
		return 0, false
	}
	ms, err := strconv.ParseInt(values[0], 10, 32) // an int32 in A6
	if err != nil || len(values) > 1 {
		ms = -1
	}
	return time.Duration(ms) * time.Millisecond, true
}

// hinted is an attempt's error with the wait requested by the server.
type hinted struct {
	error
	wait time.Duration
}

func (h *hinted) Unwrap() error             { return h.error }
func (h *hinted) RetryAfter() time.Duration { return h.wait }

// A pushed is a policy's Backoff. It does not wait if the server asks for a retry at once. If two
// retries in a row have been made at once, the next one waits, so that a server that always
// asks for it is not hammered. It embeds a rule of package retry to have the Schedule in it.
type pushed struct{ retry.Capped }

// Delay implements [retry.Backoff].
func (b pushed) Delay(a retry.Attempt, u float64) time.Duration {
	hint, ok := errors.AsType[*hinted](adapt.Finite(a.Err))
	atOnce := ok && hint.wait == 0
	repeatedAtOnce := a.Number > 2 && a.Waited == 0
	if atOnce && !repeatedAtOnce {
		return 0
	}
	return b.Capped.Delay(a, u)
}

type gaveUp struct {
	err    *retry.Error
	code   codes.Code
	advice string // what would allow another attempt, if anything
}

func (e *gaveUp) Error() string {
	if e.advice == "" {
		return e.err.Error()
	}
	return e.err.Error() + " (" + e.advice + ")"
}

func (e *gaveUp) Unwrap() error { return e.err }

// GRPCStatus returns the status that package status finds in the error.
func (e *gaveUp) GRPCStatus() *status.Status {
	last := status.Convert(adapt.Finite(e.err.Err))
	if last.Code() != e.code {
		return status.New(e.code, e.Error())
	}
	s := last.Proto() // with its details
	s.Message = e.Error()
	return status.FromProto(s)
}

// outcome returns the error of a call, given the error returned by Do.
func (c *call) outcome(ctx context.Context, err error) error {
	e, isGiveUp := err.(*retry.Error) // from this Do, not from a nested one
	switch {
	case !isGiveUp && c.last != nil:
		return c.last // permanent, without this package's marks
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
		code = status.Code(adapt.Finite(e.Err))
	}
	g := &gaveUp{err: e, code: code}
	if e.Reason == retry.ErrUnrepeatable {
		g.advice = c.advice
	}
	return g
}
