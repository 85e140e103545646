package lab

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gobackoff/retry"
)

// A Conflict is the failure of an attempt in a [Contention], and what the client
// could know of it. A Backoff finds it in the Err of the Attempt, unless it is one
// of package retry, which do not look: the same way is open to the errors of your
// own operations.
type Conflict struct {
	Contenders int           // clients that have not got through, this one included
	Commits    int           // by others between this client's last two reads
	Between    time.Duration // the time between these reads; 0 before the second
	RoundTrip  time.Duration // from this client's read to its write
	Window     time.Duration // what the rule's method Next(*Conflict) returned of the last one, if it has that; 0 at first

	version int           // at the last read
	read    int64         // when that was
	hint    time.Duration // of the server
}

// Error returns a word.
func (*Conflict) Error() string { return "conflict" }

// RetryAfter returns the hint of the server.
func (c *Conflict) RetryAfter() time.Duration { return c.hint }

// KnownContenders is a rule for those who know how many they are, such as the
// workers of a pool: u · Each · the number of contenders. Outside of a
// [Contention] it does not wait.
//
// A good Each is a third to a half of the round trip from a read to the write.
type KnownContenders struct {
	Each time.Duration
}

// Delay returns u · Each · Contenders.
func (b KnownContenders) Delay(a retry.Attempt, u float64) time.Duration {
	c, ok := errors.AsType[*Conflict](a.Err)
	if !ok {
		return 0
	}
	return scale(b.Each, u*float64(c.Contenders))
}

// VersionSeen is a rule for those who see the row's version grow between their
// own reads, which tells how busy the row is: x, the commits of others in the
// time of one round trip. The window begins at Base, and from conflict to
// conflict it is multiplied by (x / 0.94)², at least by 0.1 and at most by 2. The
// delay is u · window. Outside of a [Contention] the window stays Base.
type VersionSeen struct {
	Base time.Duration
}

// Delay returns u · window.
func (b VersionSeen) Delay(a retry.Attempt, u float64) time.Duration {
	window := b.Base
	if c, ok := errors.AsType[*Conflict](a.Err); ok {
		window = b.Next(c)
	}
	return scale(window, u)
}

// Next returns the window after c.
func (b VersionSeen) Next(c *Conflict) time.Duration {
	if c.Between <= 0 || c.Window == 0 {
		return b.Base
	}
	x := float64(c.Commits) * float64(c.RoundTrip) / float64(c.Between) / 0.94
	return scale(c.Window, min(max(0.1, x*x), 2))
}

// scale multiplies d by a factor of 0 or more, saturating.
func scale(d time.Duration, factor float64) time.Duration {
	ns := float64(d) * factor
	if ns >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(max(0, ns))
}

// informedRule reads a rule of this package from text, if it is one.
func informedRule(text string) (rule retry.Backoff, ok bool, err error) {
	name, rest, _ := strings.Cut(text, " ")
	var key string
	switch name {
	case "known":
		key = "each"
	case "version":
		key = "base"
	default:
		return nil, false, nil
	}
	value, found := strings.CutPrefix(strings.TrimSpace(rest), key+"=")
	if !found || strings.Contains(value, " ") {
		return nil, false, fmt.Errorf("%s takes one key, %s=DURATION", name, key)
	}
	d, err := durationOf(value)
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", key, err)
	}
	if name == "known" {
		return KnownContenders{Each: d}, true, nil
	}
	return VersionSeen{Base: d}, true, nil
}

// informed is what clients of a trial learn, and remember, and what the server
// advises.
type informed struct {
	policy  retry.Policy
	clients []Conflict
	commits []int64 // when they were
	slots   time.Duration
	slot    int64 // the next that is free
}

// reset returns what the clients of a trial know at its start, or nil if they
// neither ask nor are told. It uses the memory of in, which may be nil.
func (in *informed) reset(cell *cell) *informed {
	if !cell.curious {
		return nil
	}
	if in == nil {
		in = &informed{}
	}
	if cap(in.clients) < cell.Clients {
		in.clients = make([]Conflict, cell.Clients)
	}
	in.clients = in.clients[:cell.Clients]
	clear(in.clients)
	in.policy, in.slots = cell.policy, cell.contender.Slots
	in.commits, in.slot = in.commits[:0], 0
	return in
}

// curious reports whether a rule may look at the error of an attempt. Those of
// package retry do not, and they are those that have a text.
func curious(rule retry.Backoff) bool {
	_, err := retry.Policy{Backoff: rule}.MarshalText()
	return err != nil
}

// committed notes a commit.
func (m *model) committed(e *event) {
	if m.informed != nil {
		m.informed.commits = append(m.informed.commits, e.at)
	}
}

// wait returns the wait after the conflict e.
func (in *informed) wait(m *model, e *event, u float64) time.Duration {
	c := &in.clients[e.client]
	in.learn(c, e)
	a := retry.Attempt{Number: int(e.attempt), Waited: e.delay, Err: c, Class: m.class, Hint: c.hint}
	delay := max(0, m.backoff.Delay(a, u))
	if rule, ok := m.backoff.(interface {
		Next(*Conflict) time.Duration
	}); ok {
		c.Window = rule.Next(c)
	}
	if c.hint == 0 {
		return delay
	}
	rule := in.policy.Hint
	if rule == nil {
		rule = retry.HintAtLeast{}
	}
	wait, ok := rule.Wait(delay, c.hint)
	if !ok {
		return math.MaxInt64 // gives up
	}
	return max(0, wait)
}

// learn brings c up to what a client knows after e.
func (in *informed) learn(c *Conflict, e *event) {
	version, _ := slices.BinarySearchFunc(in.commits, e.read, func(at, read int64) int {
		if at <= read {
			return -1
		}
		return 1
	})
	c.Contenders = len(in.clients) - len(in.commits)
	c.RoundTrip = time.Duration(e.at - e.read)
	if e.attempt > 1 {
		c.Commits, c.Between = version-c.version, time.Duration(e.read-c.read)
	}
	c.version, c.read = version, e.read
	if in.slots > 0 {
		in.slot = max(in.slot, e.at) + int64(in.slots)
		c.hint = time.Duration(in.slot - e.at)
	}
}
