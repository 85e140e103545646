package retrygrpc

import (
	"cmp"
	"context"
	"io"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/gobackoff/retry"
)

func (c *connection) stream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	if err := c.fault(); err != nil {
		return nil, err
	}
	p, finish, opts := c.split(opts)
	s := &clientStream{
		call: call{connection: c, policy: p, method: method}, ctx: ctx, loop: forMethod(*p, method), finish: finish, single: !desc.ServerStreams,
		requests: requests{many: desc.ClientStreams},
		target:   make(chan any), settled: make(chan struct{}),
	}
	s.timeout, s.loop.AttemptTimeout = cmp.Or(p.AttemptTimeout, math.MaxInt64), 0 // it would end an open stream
	s.open = func(ctx context.Context) (grpc.ClientStream, error) {
		s.ending = new(ending)
		return streamer(ctx, desc, cc, method, append(slices.Clip(opts), grpc.OnFinish(s.ending.end))...)
	}
	s.changed.L = &s.mu
	if !desc.ClientStreams {
		return s, nil
	}
	if c.TrustPushback || c.mayRepeat(method) {
		s.requests.limit = cmp.Or(c.MaxBuffer, 256<<10)
	}
	if err := s.start(); err != nil {
		return nil, err
	}
	return s, nil
}

// A clientStream is retried until its first message or its headers arrive. A separate
// goroutine makes the attempts, so the server gets the only request of a stream when
// CloseSend is called, not when the caller first receives.
type clientStream struct {
	call
	ctx     context.Context
	loop    retry.Policy  // of Do
	timeout time.Duration // Policy.AttemptTimeout, or MaxInt64
	open    func(context.Context) (grpc.ClientStream, error)
	finish  func(error) // called once, when the call is finished
	single  bool        // the server sends one message, which ends the stream
	target  chan any    // the message for the first RecvMsg to fill, or nil to receive the headers

	mu       sync.Mutex // held while a request is sent
	changed  sync.Cond  // current was set, or the attempts are over
	requests requests
	current  grpc.ClientStream // the attempt that has got all requests, or nil
	broken   chan struct{}     // closed if SendMsg finds that current has ended

	// Used by the goroutine that makes the attempts.
	asked   bool // a message or nil was received from target
	message any
	cancel  context.CancelFunc // cancels the current attempt
	ending  *ending            // of the current attempt

	settled  chan struct{} // closed when the attempts are over and the fields below are set
	chosen   grpc.ClientStream
	first    error // of the first RecvMsg: nil or io.EOF
	err      error // the call's error, if no stream could be used
	panicked any   // the value with which a function of the policy panicked
}

func (s *clientStream) SendMsg(m any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.requests.closed {
		return status.Error(codes.Internal, "SendMsg called after CloseSend")
	}
	kept := s.requests.keep(m)
	for {
		switch {
		case s.isSettled() && s.err != nil:
			return io.EOF // RecvMsg returns the reason
		case s.isSettled():
			return s.chosen.SendMsg(m)
		case s.current == nil && kept:
			return nil // sent by the next attempt
		case s.current == nil:
			s.changed.Wait()
			continue
		}
		err := s.current.SendMsg(m)
		ended := err == io.EOF && !s.requests.dropped
		switch {
		case ended && s.drop():
			continue
		case ended && kept:
			return nil // the first RecvMsg decides
		case !kept:
			s.requests.forget()
		}
		return err
	}
}

// drop gives up the current attempt, which has ended. It does not if the attempt has
// headers: a message may have arrived, too.
func (s *clientStream) drop() bool {
	if header, _ := s.current.Header(); header != nil {
		return false
	}
	s.current = nil
	close(s.broken)
	return true
}

func (s *clientStream) CloseSend() error {
	if !s.requests.many {
		if !s.requests.closed {
			s.requests.closed = true
			go s.run()
		}
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests.closed = true
	switch {
	case s.isSettled() && s.err == nil:
		return s.chosen.CloseSend()
	case s.current != nil:
		return s.current.CloseSend()
	}
	return nil
}

// start opens a stream of requests.
func (s *clientStream) start() error {
	go s.run()
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.current == nil && !s.isSettled() {
		s.changed.Wait()
	}
	if s.isSettled() {
		return s.settle()
	}
	return nil
}

func (s *clientStream) RecvMsg(m any) error {
	if s.ask(m) {
		if err := s.settle(); err != nil {
			return err
		}
		return s.first
	}
	if err := s.settle(); err != nil {
		return err
	}
	err := s.chosen.RecvMsg(m)
	if err != nil || s.single {
		s.cancel()
	}
	return err
}

// Header ends the retries if the current attempt has headers.
func (s *clientStream) Header() (metadata.MD, error) {
	s.ask(nil)
	if err := s.settle(); err != nil {
		return nil, err
	}
	return s.chosen.Header()
}

// ask asks for a message or, if m is nil, for the headers. It reports false if the attempts
// are over.
func (s *clientStream) ask(m any) bool {
	if !s.requests.many {
		_ = s.CloseSend()
	}
	select {
	case s.target <- m:
		return true
	case <-s.settled:
		return false
	}
}

func (s *clientStream) Trailer() metadata.MD {
	if s.isSettled() && s.chosen != nil {
		return s.chosen.Trailer()
	}
	return nil
}

func (s *clientStream) Context() context.Context {
	if s.isSettled() && s.err == nil {
		return s.chosen.Context()
	}
	return s.ctx
}

func (s *clientStream) isSettled() bool {
	select {
	case <-s.settled:
		return true
	default:
		return false
	}
}

// settle waits until the attempts end. A panic in a function of the policy continues
// here, where the caller can recover.
func (s *clientStream) settle() error {
	<-s.settled
	if s.panicked != nil {
		panic(s.panicked)
	}
	return s.err
}

func (s *clientStream) run() {
	defer s.conclude()
	err := retry.Do(s.ctx, s.loop, func(ctx context.Context) error {
		return s.end(s.attempt(s.begin(ctx)))
	})
	s.err = s.outcome(s.ctx, err)
}

// conclude lets RecvMsg continue at once, because SendMsg may hold the lock until the
// server's messages have been received.
func (s *clientStream) conclude() {
	if s.panicked = recover(); s.panicked != nil {
		s.err = status.Error(codes.Internal, "a function of the policy panicked")
	}
	if s.err != nil {
		s.finish(s.err)
	} else {
		s.ending.then(s.finish)
	}
	close(s.settled)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests.forget()
	s.changed.Broadcast()
}

// end is that of the call, but nothing is sent again that was not kept.
func (s *clientStream) end(err error) error {
	if err == nil || s.chosen == nil {
		return s.call.end(err)
	}
	s.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = nil
	s.header, _ = s.chosen.Header()
	s.trailer = s.chosen.Trailer()
	err = s.call.end(err)
	if s.requests.dropped && s.advice == "" {
		s.advice = "its messages were not kept: see Client.MaxBuffer"
		return retry.Unrepeatable(err)
	}
	return err
}

func (s *clientStream) attempt(ctx context.Context) (err error) {
	ctx, s.cancel = context.WithCancel(ctx)
	var late atomic.Bool
	limit := time.AfterFunc(s.timeout, func() {
		late.Store(true)
		s.cancel()
	})
	defer limit.Stop()
	if err = s.send(ctx); err == nil && (s.requests.many || !s.asked) {
		inTime := limit.Stop() // the time until the caller calls RecvMsg does not count
		err = s.await(ctx)
		if inTime && !s.requests.many {
			limit.Reset(s.timeout)
		}
	}
	if err == nil {
		err = s.receive()
	}
	if late.Load() && err != nil {
		err = status.Error(codes.DeadlineExceeded, "no message within the policy's AttemptTimeout")
	}
	if err != nil || s.first != nil || s.single && s.message != nil {
		s.cancel()
	}
	return err
}

// send opens the stream and sends the requests so far.
func (s *clientStream) send(ctx context.Context) (err error) {
	s.chosen = nil
	stream, err := s.open(ctx)
	if err != nil {
		return err
	}
	s.chosen = stream
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.requests.sendTo(stream); err != nil {
		return err
	}
	s.current, s.broken = stream, make(chan struct{})
	s.changed.Broadcast()
	return nil
}

// await waits until the caller asks for the first message or the headers.
func (s *clientStream) await(ctx context.Context) error {
	if s.asked {
		return nil
	}
	select {
	case s.message = <-s.target:
		s.asked = true
		return nil
	case <-s.broken:
		return s.chosen.RecvMsg(&emptypb.Empty{}) // no message, because there are no headers
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
}

// receive receives the first message or the headers. A stream that ends without a message
// is a success.
func (s *clientStream) receive() error {
	s.first = nil
	m := s.message
	if m == nil {
		if header, _ := s.chosen.Header(); header != nil {
			return nil
		}
		m = &emptypb.Empty{} // no message, because there are no headers
	}
	s.first = s.chosen.RecvMsg(m)
	if s.first == io.EOF {
		return nil
	}
	return s.first
}

// An ending passes the error with which grpc-go finishes a stream to a function.
type ending struct {
	mu    sync.Mutex
	ended bool
	err   error
	f     func(error)
}

func (e *ending) end(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended, e.err = true, err; e.f != nil {
		e.f(err)
		e.f = nil // an interceptor may use more than one stream
	}
}

func (e *ending) then(f func(error)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.f = f; e.ended {
		f(e.err)
		e.f = nil
	}
}
