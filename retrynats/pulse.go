package retrynats

import (
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// pulse tells the server at intervals that a message is being worked on, for as long as the
// context of the attempt has not ended: a function that ignores its time limit loses the
// message to another worker.
type pulse struct {
	msg   jetstream.Msg
	every time.Duration
	timer *time.Timer

	mu      sync.Mutex
	ctx     context.Context
	stopped bool
}

func startPulse(ctx context.Context, msg jetstream.Msg, every time.Duration) *pulse {
	p := &pulse{msg: msg, every: every, ctx: ctx}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(every, p.beat)
	return p
}

func (p *pulse) beat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return
	}
	if p.ctx.Err() == nil {
		_ = p.msg.InProgress() // without a connection it would fail: the next one may not
	}
	p.timer.Reset(p.every)
}

// follow changes the context that the signs of life end with.
func (p *pulse) follow(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ctx = ctx
}

// stop returns when no further sign of life can be sent.
func (p *pulse) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	p.timer.Stop()
}
