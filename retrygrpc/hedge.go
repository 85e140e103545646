package retrygrpc

import (
	"context"
	"errors"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhedge"
)

// hedge makes an attempt, and copies of it if that takes too long.
func (u *unary) hedge(ctx context.Context, p *retry.Policy) error {
	req, isMessage := u.req.(proto.Message)
	reply, ok := u.reply.(proto.Message)
	if u.Hedge == nil || !isMessage || !ok || !u.mayRepeat(u.method) {
		return u.invoke(ctx)
	}
	var mu sync.Mutex // guards over and, until then, req
	over, failed := false, u.failed
	won, done, err := retryhedge.Open(ctx, u.Hedge, u.method, func(ctx context.Context, copy int) (*unary, error) {
		if copy == 0 {
			return u, u.failure(p, u.invoke(ctx))
		}
		if p.Limiter != nil && p.Limiter.Wait(ctx) != nil {
			return nil, errOther
		}
		c := &unary{call: call{connection: u.connection, policy: p, method: u.method, failed: failed},
			reply: reply.ProtoReflect().New().Interface(), cc: u.cc, invoker: u.invoker}
		c.setOptions(append(withoutResults(u.opts), grpc.Peer(&c.peer)))
		mu.Lock()
		if over { // the caller may change req
			mu.Unlock()
			return nil, errOther
		}
		c.req = proto.Clone(req)
		mu.Unlock()
		return c, c.failure(p, c.invoke(ctx))
	}, nil)
	mu.Lock()
	over = true
	mu.Unlock()
	if done(); won == nil { // the Hedge is invalid
		return err
	}
	if won != u {
		u.use(won)
	}
	return u.err
}

func (u *unary) use(won *unary) {
	u.latest, u.header, u.trailer, u.err = won.latest, won.header, won.trailer, won.err
	if reply := u.reply.(proto.Message); won.err == nil {
		proto.Reset(reply)
		proto.Merge(reply, won.reply.(proto.Message))
	}
	for _, o := range u.opts {
		switch o := o.(type) {
		case grpc.HeaderCallOption:
			*o.HeaderAddr = won.header
		case grpc.TrailerCallOption:
			*o.TrailerAddr = won.trailer
		case grpc.PeerCallOption:
			*o.PeerAddr = won.peer
		}
	}
}

// withoutResults removes the options that receive something at the end of a call.
func withoutResults(opts []grpc.CallOption) (rest []grpc.CallOption) {
	for _, o := range opts {
		switch o.(type) {
		case grpc.HeaderCallOption, grpc.TrailerCallOption, grpc.PeerCallOption:
		default:
			rest = append(rest, o)
		}
	}
	return rest
}

// errOther is marked because to a Classifier, any error may be permanent.
var errOther = retry.Transient(errors.New("the result may be that of another copy"))

// failure returns nil or a permanent error if err decides the call. The failure of a method
// that changes something does not, because another copy may be the reason.
func (u *unary) failure(p *retry.Policy, err error) error {
	wait, pushed := u.pushback()
	v := p.Classify(err)
	switch {
	case err == nil:
		return nil
	case pushed, v.Class == retry.ClassThrottled:
		return retry.Throttled(&hinted{err, max(0, wait)})
	case v.Class == retry.ClassPermanent && levelOf(strings.TrimPrefix(u.method, "/")) == descriptorpb.MethodOptions_NO_SIDE_EFFECTS:
		return retry.Permanent(err)
	}
	return errOther
}
