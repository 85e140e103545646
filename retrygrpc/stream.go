package retrygrpc

import (
	"context"
	"io"
	"math"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/gobackoff/retry"
)

func streamInterceptor(connection retry.Policy) grpc.StreamClientInterceptor {
	return func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
		policy := *policyOf(opts, &connection)
		timeout := policy.AttemptTimeout
		policy.AttemptTimeout = 0 // it would end an open stream
		open := func(ctx context.Context, previous int) (grpc.ClientStream, error) {
			return streamer(withAttempts(ctx, previous), desc, cc, method, opts...)
		}
		if desc.ClientStreams {
			return openStream(ctx, policy, open)
		}
		return &serverStream{
			ctx: ctx, policy: policy, timeout: timeout, open: open,
			target: make(chan any), settled: make(chan struct{}),
		}, nil
	}
}

type opener func(ctx context.Context, previous int) (grpc.ClientStream, error)

func openStream(ctx context.Context, p retry.Policy, open opener) (grpc.ClientStream, error) {
	var last error
	previous := 0
	stream, err := retry.DoValue(ctx, p, func(ctx context.Context) (grpc.ClientStream, error) {
		var s grpc.ClientStream
		if s, last = open(ctx, previous); last != nil {
			previous++
			return nil, withHint(last, nil)
		}
		return s, nil
	})
	if err != nil {
		return nil, outcome(ctx, err, last)
	}
	return stream, nil
}

// A serverStream is a stream with one request. It is retried until its first message
// arrives. A separate goroutine makes the attempts, so the server gets the request when
// CloseSend is called, not when the caller first receives.
type serverStream struct {
	ctx     context.Context
	policy  retry.Policy
	timeout time.Duration // for the first message
	open    opener

	requests []any    // the arguments of SendMsg
	begun    bool     // CloseSend was called
	target   chan any // the message for the first RecvMsg to fill, or nil to stop retrying

	asked   bool // a message or nil was received from target
	message any
	cancel  context.CancelFunc // cancels the current attempt

	settled  chan struct{} // closed when the attempts are over and the fields below are set
	stream   grpc.ClientStream
	first    error // of the first RecvMsg: nil or io.EOF
	err      error // the call's error, if no stream could be used
	panicked any   // the value with which a function of the policy panicked
}

func (s *serverStream) SendMsg(m any) error {
	if s.begun {
		return status.Error(codes.Internal, "SendMsg called after CloseSend")
	}
	s.requests = append(s.requests, m)
	return nil
}

func (s *serverStream) CloseSend() error {
	if !s.begun {
		s.begun = true
		go s.run()
	}
	return nil
}

func (s *serverStream) RecvMsg(m any) error {
	_ = s.CloseSend()
	select {
	case s.target <- m:
		if err := s.settle(); err != nil {
			return err
		}
		return s.first
	case <-s.settled:
	}
	if err := s.settle(); err != nil {
		return err
	}
	err := s.stream.RecvMsg(m)
	if err != nil {
		s.cancel()
	}
	return err
}

// Header ends the retries: it commits to the current attempt.
func (s *serverStream) Header() (metadata.MD, error) {
	_ = s.CloseSend()
	select {
	case s.target <- nil:
	case <-s.settled:
	}
	if err := s.settle(); err != nil {
		return nil, err
	}
	return s.stream.Header()
}

func (s *serverStream) Trailer() metadata.MD {
	select {
	case <-s.settled:
		if s.stream != nil {
			return s.stream.Trailer()
		}
	default:
	}
	return nil
}

func (s *serverStream) Context() context.Context {
	select {
	case <-s.settled:
		if s.err == nil {
			return s.stream.Context()
		}
	default:
	}
	return s.ctx
}

// settle waits until the attempts end. A panic in a function of the policy continues
// here, where the caller can recover.
func (s *serverStream) settle() error {
	<-s.settled
	if s.panicked != nil {
		panic(s.panicked)
	}
	return s.err
}

func (s *serverStream) run() {
	defer close(s.settled)
	defer func() { s.panicked = recover() }()
	var last error
	previous := 0
	err := retry.Do(s.ctx, s.policy, func(ctx context.Context) error {
		var trailer metadata.MD
		if last = s.attempt(ctx, previous); last == nil {
			return nil
		}
		if s.stream != nil {
			trailer = s.stream.Trailer()
		}
		previous++
		return withHint(last, trailer)
	})
	s.err = outcome(s.ctx, err, last)
}

func (s *serverStream) attempt(ctx context.Context, previous int) (err error) {
	ctx, s.cancel = context.WithCancel(ctx)
	limit := time.AfterFunc(s.limit(), s.cancel)
	if s.stream, err = s.begin(ctx, previous); err == nil && !s.asked {
		inTime := limit.Stop() // the time until the caller calls RecvMsg does not count
		select {
		case s.message = <-s.target:
			s.asked = true
		case <-ctx.Done():
			err = status.FromContextError(ctx.Err()).Err()
		}
		if inTime {
			limit.Reset(s.limit())
		}
	}
	if err == nil && s.message != nil {
		err = s.receive(s.message)
	}
	if !limit.Stop() && err != nil {
		err = status.Error(codes.DeadlineExceeded, "no message within the policy's AttemptTimeout")
	}
	if err != nil || s.first != nil {
		s.cancel()
	}
	return err
}

func (s *serverStream) limit() time.Duration {
	if s.timeout == 0 {
		return math.MaxInt64
	}
	return s.timeout
}

func (s *serverStream) begin(ctx context.Context, previous int) (grpc.ClientStream, error) {
	stream, err := s.open(ctx, previous)
	if err != nil {
		return nil, err
	}
	for _, m := range s.requests {
		if err := stream.SendMsg(m); err == io.EOF {
			break // RecvMsg returns the reason
		} else if err != nil {
			return stream, err
		}
	}
	return stream, stream.CloseSend()
}

// receive receives the first message. A stream that ends without a message is a success.
func (s *serverStream) receive(m any) error {
	s.first = s.stream.RecvMsg(m)
	if s.first == io.EOF {
		return nil
	}
	return s.first
}
