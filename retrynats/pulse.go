package retrynats

import (
	"context"
	"slices"
	"sync"
	"time"
)

// pulse sends InProgress at intervals for the messages that are being handled. All messages
// of a handler share one timer: most are done long before it fires, and a timer for each
// message would account for most of the cost of handling it.
type pulse struct {
	every time.Duration

	mu      sync.Mutex
	beats   int  // how often the timer has fired
	running bool // the timer is set
	working []*delivery
}

// start adds a message, whose first InProgress is sent one or two intervals later.
func (p *pulse) start(d *delivery) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d.begun = p.beats
	p.working = append(p.working, d)
	if !p.running {
		p.running = true
		time.AfterFunc(p.every, p.beat)
	}
}

func (p *pulse) beat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.beats++
	for _, d := range p.working {
		if d.begun < p.beats-1 && d.alive.Err() == nil {
			_ = d.msg.InProgress() // if this fails, the next InProgress may succeed
		}
	}
	if p.running = len(p.working) > 0; p.running {
		time.AfterFunc(p.every, p.beat)
	}
}

// follow sets the context of a message. When the context ends, InProgress is no longer
// sent for the message.
func (p *pulse) follow(d *delivery, ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d.alive = ctx
}

// stop removes a message. After it returns, no InProgress is sent.
func (p *pulse) stop(d *delivery) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.working, d); i >= 0 {
		p.working = slices.Delete(p.working, i, i+1)
	}
}
