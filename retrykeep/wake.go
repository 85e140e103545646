package retrykeep

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gobackoff/retry/internal/errfacts"
)

const (
	look         = 5 * time.Second // between two looks at the wall clock
	suspended    = 5 * time.Second // the machine was suspended if the wall clock went this much further
	probeTimeout = 5 * time.Second
)

// Why a Keeper ends a session.
var (
	errReconnect = errors.New("retrykeep: Reconnect was called")
	errSilent    = errors.New("retrykeep: the probe took too long")
)

// Reconnect makes the connection again if it does not work any more. Call it when the network has
// changed or is back.
//
// If a connection is up, the Keeper calls the function that the session has passed to [Probe].
// The session goes on if that succeeds. Otherwise, and if the session has not called Probe, its
// context is canceled, and the next session begins without a wait. If that one is not useful, the
// next wait is that after a useful session: see [Keeper.Spread]. A session that is ended in this
// way counts as useful, and its failure is not final unless it is marked with [retry.Permanent].
//
// If no connection is up, Reconnect does what [Keeper.RetryNow] does. It returns at once.
// Networks report several changes in a row, so use Probe: without it, each of them ends a
// connection that works.
func (k *Keeper) Reconnect() {
	c := k.connected()
	if c == nil {
		k.RetryNow()
		return
	}
	if !c.ask() {
		c.leave(errReconnect)
	}
}

// Probe tells the Keeper how to find out whether the connection of a session works. ping asks the
// server, and returns nil when it has answered. The Keeper calls ping after [Keeper.Reconnect],
// and when the machine has been suspended, which it notices within five seconds after that. If
// ping fails or takes longer than five seconds, the Keeper ends the session as described there.
//
// The machine was suspended if the wall clock has gone more than five seconds further than a
// timer. A wall clock that is set forward looks the same, and costs one ping.
//
// ctx is the session's, or is derived from it. With any other context, and after the session has
// ended, Probe has no effect. A later call in the same session replaces ping, and a nil ping
// removes it. ping is called in a goroutine of its own, one call at a time, and only while the
// connection is up. It should return soon after its context has ended.
func Probe(ctx context.Context, ping func(context.Context) error) {
	if ctx == nil {
		return
	}
	c, ok := ctx.Value(connectionKey{}).(*connection)
	if !ok {
		return
	}
	c.run.keeper.mu.Lock()
	defer c.run.keeper.mu.Unlock()
	if c.asked == nil {
		c.asked = make(chan struct{}, 1)
		go c.answer()
		go c.watch()
	}
	c.ping = ping
}

// Invited marks the error of a session that the server has ended with the request to connect
// again at once, for example because it moves its clients to another node. After a useful session,
// the next one begins without a wait. A hint in the error still applies. If the next session is not
// useful, the wait that follows is that after a useful session: see [Keeper.Spread]. After a
// session that was not useful, Invited changes no wait. A failure that is marked with it is not
// final, unless it is marked with [retry.Permanent], too.
//
// Do not mark what a server tells all of its clients at the same moment, such as the close code
// 1012 of a WebSocket: they would all return at the same moment, too. If err is nil, Invited
// returns nil.
func Invited(err error) error {
	if err == nil {
		return nil
	}
	return &invited{err}
}

type invited struct{ err error }

func (e *invited) Error() string { return e.err.Error() }
func (e *invited) Unwrap() error { return e.err }

func isInvited(err error) bool {
	_, ok := errfacts.As[*invited](err)
	return ok
}

type connectionKey struct{}

// connected returns the connection, or nil if none is up.
func (k *Keeper) connected() *connection {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.current == nil || k.current.stage != opened {
		return nil
	}
	return k.current
}

// ask has the connection probed. It reports whether there is a probe.
func (c *connection) ask() bool {
	c.run.keeper.mu.Lock()
	defer c.run.keeper.mu.Unlock()
	if c.ping == nil {
		return false
	}
	select {
	case c.asked <- struct{}{}: // also during a probe, which may have left before the event
	default:
	}
	return true
}

// answer probes the connection whenever it is asked to, until the session ends.
func (c *connection) answer() {
	for {
		select {
		case <-c.session.Done():
			return
		case <-c.asked:
			c.probe()
		}
	}
}

// probe ends the session if the connection does not work.
func (c *connection) probe() {
	ping := c.pinger()
	if ping == nil {
		return
	}
	ctx, cancel := context.WithTimeout(c.session, probeTimeout)
	defer cancel()
	late := time.AfterFunc(probeTimeout, func() { c.leave(errSilent) }) // ping may not return
	defer late.Stop()
	err := ping(ctx)
	if err != nil {
		c.leave(fmt.Errorf("retrykeep: the probe failed: %w", err))
	}
}

// pinger returns the probe of a connection that is up, or nil.
func (c *connection) pinger() func(context.Context) error {
	c.run.keeper.mu.Lock()
	defer c.run.keeper.mu.Unlock()
	if c.stage != opened {
		return nil
	}
	return c.ping
}

// leave ends the session because of a reason.
func (c *connection) leave(why error) {
	c.run.keeper.mu.Lock()
	defer c.run.keeper.mu.Unlock()
	if c.stage != opened || c.left != nil || c.session.Err() != nil {
		return
	}
	c.left = why
	c.cancel(why)
}

// watch asks for a probe when the machine has been suspended, until the session ends. Its first
// step is random: if many machines are suspended together, they do not return together.
func (c *connection) watch() {
	step := 1 + rand.N(look)
	for {
		before := c.run.wall()
		select {
		case <-c.session.Done():
			return
		case <-time.After(step):
		}
		if c.run.wall().Sub(before) > step+suspended {
			c.ask()
		}
		step = look
	}
}

// wall returns the time without the monotonic clock, which may stand still while the machine is
// suspended.
func (r *run) wall() time.Time { return r.policy.Clock.Now().Round(0) }
