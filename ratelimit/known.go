package ratelimit

import (
	"context"
	"errors"
	"slices"
	"time"
)

// A Limit is what a server allows, if you know it. Rate is the number of calls in a second, or of
// units of [WithCost], even if the server counts those of a minute. Burst is how many may begin at
// once. A Rate of 0 or less means no Limit. A Burst below 1 means 1.
type Limit struct{ Rate, Burst float64 }

// A Store shares a [Limit] with other processes. [Redis] is one. It must be safe for concurrent
// use. A call waits at most 250 ms for the Store. If the Store has not answered by then, fails
// or panics, no call asks it again for one second. Meanwhile, each process uses an equal share
// of the Limit.
type Store interface {
	// Take reserves n units of the limit of a key. It returns how long it takes until all of
	// them are available (0 or less means now), and how many processes have called Take in the
	// last ten seconds. If n is below 0, Take returns units that were not used.
	Take(ctx context.Context, key string, l Limit, n float64) (wait time.Duration, processes int, err error)

	// Empty makes all units unavailable for the time d, because the server has refused a call.
	Empty(ctx context.Context, key string, l Limit, d time.Duration) error
}

// patience is how long a Store may take to answer, and pause how long it is not asked afterwards.
const (
	patience = 250 * time.Millisecond
	pause    = time.Second
)

// A reserve is what a Limiter knows about its Limit. One call asks the Store for all that came
// since the last question:
//
//	in line ── nobody asks ──▶ asks ── answer, or 250 ms ──▶ all in line know their waits
//	   └────── another asks ──▶ waits for it, then one of the next asks
type reserve struct {
	line      []*taker
	asking    bool
	busy      bool      // the Store has not answered, perhaps never
	processes int       // that share the limit
	full      time.Time // when all would be available again to this process
	blocked   time.Time // nothing begins before
	down      time.Time // the Store is not asked before
	back      float64   // units to return
	waiting   int       // calls
}

type taker struct {
	cost float64
	turn chan time.Duration // below 0: it asks next
}

// keep waits until the Limit allows a call, unless that would be too late.
func (l *Limiter) keep(ctx context.Context, c *caller) error {
	if l.Limit.Rate <= 0 || l.plenty(c) {
		return nil
	}
	t := &taker{cost: c.cost, turn: make(chan time.Duration, 1)}
	l.mu.Lock()
	if l.waiting() >= l.maxLine() {
		l.mu.Unlock()
		return nil
	}
	l.reserve.waiting++
	defer l.stopWaiting()
	l.reserve.line = append(l.reserve.line, t)
	asks := !l.reserve.asking
	l.reserve.asking = true
	l.mu.Unlock()
	wait := time.Duration(-1)
	if !asks {
		wait = <-t.turn // within the Store's patience
	}
	if wait < 0 {
		wait = l.ask(t)
	}
	if wait > 0 && !l.now().Add(wait).After(c.due) { // as without a Limiter, if it is too late
		if err := l.sleep(ctx, c, wait); err != nil {
			l.giveBack(c.cost)
			return err
		}
	}
	counted(ctx, l)
	return nil
}

func (l *Limiter) stopWaiting() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reserve.waiting--
}

// giveBack returns units with the next question.
func (l *Limiter) giveBack(units float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reserve.back += units
}

// plenty reports whether the server says that more than a quarter of each limit is left. Then it
// knows better than the Limit.
func (l *Limiter) plenty(c *caller) bool {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	known := false
	for _, d := range c.by.levels {
		if !d.known || d.wrong {
			continue
		}
		known = true
		if !d.plenty(now, c.cost) {
			return false
		}
	}
	return known
}

// ask asks the Store once for all that are in line, and passes the turn to ask to the next.
func (l *Limiter) ask(me *taker) time.Duration {
	r := &l.reserve
	l.mu.Lock()
	all, units := r.line, -r.back
	r.line, r.back = nil, 0
	l.mu.Unlock()
	waits := make([]time.Duration, len(all))
	defer func() { // also if the Clock panics
		l.mu.Lock()
		defer l.mu.Unlock()
		for i, t := range all {
			t.turn <- waits[i]
		}
		r.asking = len(r.line) > 0
		if r.asking {
			r.line[0].turn <- -1
		}
	}()
	for _, t := range all {
		units += t.cost
	}
	wait, rate := l.reserved(units)
	now := l.now()
	l.mu.Lock()
	blocked := r.blocked.Sub(now)
	l.mu.Unlock()
	mine := time.Duration(0)
	after := 0.0 // units of those behind
	for i, t := range slices.Backward(all) {
		waits[i] = max(0, blocked, wait-duration(after/rate)) // the last one begins when all are available
		after += t.cost
		if t == me {
			mine = waits[i]
		}
	}
	return mine
}

// reserved reserves units, in the Store or else in this process's share. It returns after how
// long all of them are available, and the rate at which they become available.
func (l *Limiter) reserved(units float64) (wait time.Duration, rate float64) {
	r := &l.reserve
	now := l.now()
	l.mu.Lock()
	ask := l.Store != nil && !r.busy && !now.Before(r.down)
	l.mu.Unlock()
	var processes int
	err := errNoStore
	if ask {
		wait, processes, err = l.take(units)
	}
	now = l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil:
		r.processes = max(1, processes)
	case ask:
		r.down = now.Add(pause)
	}
	rate = l.Limit.Rate / float64(max(1, r.processes)) // of this process
	r.full = later(r.full, now).Add(duration(units / rate))
	burst := duration(max(1, l.Limit.Burst) / l.Limit.Rate)
	if err == nil {
		// What this process has used beyond its share, others have left.
		r.full = earlier(r.full, now.Add(wait).Add(burst))
		return wait, l.Limit.Rate
	}
	return r.full.Sub(now) - burst, rate
}

var errNoStore = errors.New("ratelimit: no Store")

// take calls Store.Take. It does not wait for a Store that ignores its context.
func (l *Limiter) take(units float64) (wait time.Duration, processes int, err error) {
	type answer struct {
		wait      time.Duration
		processes int
		err       error
	}
	answers := make(chan answer, 1)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	l.mu.Lock()
	l.reserve.busy = true
	l.mu.Unlock()
	go func() {
		a := answer{err: errNoStore}
		defer func() {
			_ = recover() // of the Store: nobody must wait for it
			l.mu.Lock()
			l.reserve.busy = false
			l.mu.Unlock()
			answers <- a
		}()
		a.wait, a.processes, a.err = l.Store.Take(ctx, l.Key, l.Limit, units)
	}()
	select {
	case a := <-answers:
		return a.wait, a.processes, a.err
	case <-ctx.Done():
		return 0, 0, ctx.Err()
	}
}

// block lets nothing begin for a time, because the server has refused a call although the Limit
// allowed it. l.mu is held.
func (l *Limiter) block(now time.Time, hint time.Duration) {
	r := &l.reserve
	until := now.Add(min(hint, l.maxWait()))
	if l.Limit.Rate <= 0 || !until.After(r.blocked.Add(slot)) {
		return
	}
	r.blocked = until
	if l.Store == nil || r.busy || now.Before(r.down) {
		return
	}
	go func() {
		defer func() { _ = recover() }()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_ = l.Store.Empty(ctx, l.Key, l.Limit, until.Sub(now)) // it only spares others a refusal
	}()
}
