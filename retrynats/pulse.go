package retrynats

import (
	"context"
	"slices"
	"sync"
	"time"
)

// pulse tells the server at intervals which messages are being worked on. All messages of
// a handler share its timer, which runs only while there are any: most messages end long
// before it would fire, and a timer of their own would be most of their cost.
type pulse struct {
	every time.Duration

	mu      sync.Mutex
	beats   int  // so far
	running bool // the timer is
	working []*delivery
}

// start adds a message. Its first sign of life is sent one or two intervals later.
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
		// A function that ignores the end of its context loses the message to another worker.
		if d.begun < p.beats-1 && d.alive.Err() == nil {
			_ = d.msg.InProgress() // it fails without a connection: the next one may not
		}
	}
	if p.running = len(p.working) > 0; p.running {
		time.AfterFunc(p.every, p.beat)
	}
}

// follow says with which context the message's signs of life end.
func (p *pulse) follow(d *delivery, ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d.alive = ctx
}

// stop removes a message. When it returns, no further sign of life can be sent.
func (p *pulse) stop(d *delivery) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.working, d); i >= 0 {
		p.working = slices.Delete(p.working, i, i+1)
	}
}
