package lab

// The conflict error, and backoff rules that use its details.

import (
	"errors"
	"math"
	"slices"
	"time"

	"github.com/gobackoff/retry"
)

// A Conflict is the error of an attempt in a [Contention]. It contains information that a
// real client could have. A custom Backoff finds it in Attempt.Err; the errors of your own
// operations can pass information in the same way.
type Conflict struct {
	Contenders int           // clients that have not succeeded yet, including this one
	Commits    int           // commits by others between this client's last two reads
	Between    time.Duration // time between these reads; 0 before the second
	RoundTrip  time.Duration // mean time from this client's reads to its writes
	Window     time.Duration // last result of the rule's optional method Next(*Conflict) time.Duration; 0 at first

	version int   // at the last read
	read    int64 // time of the last read
	hint    time.Duration
}

// Error returns "conflict".
func (*Conflict) Error() string { return "conflict" }

// RetryAfter returns the server's hint.
func (c *Conflict) RetryAfter() time.Duration { return c.hint }

// KnownContenders is a rule for clients that know how many they are, such as the workers of
// a pool. The delay is u · Each · Contenders, and 0 outside a [Contention]. A good Each is a
// third to a half of the round trip from a read to the write.
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

// versionSeen is a rule for clients that see how much the row's version has changed
// between their reads. From that it computes x, the number of commits by others per round
// trip. The window starts at Base, and each conflict multiplies it by (x / 0.94)², but by
// no less than 0.1 and no more than 2. The delay is u · window.
type versionSeen struct {
	Base time.Duration
}

func (b versionSeen) Delay(a retry.Attempt, u float64) time.Duration {
	window := b.Base
	if c, ok := errors.AsType[*Conflict](a.Err); ok {
		window = b.Next(c)
	}
	return scale(window, u)
}

// Next returns the window after c.
func (b versionSeen) Next(c *Conflict) time.Duration {
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

// errConflict is the error of every conflict if the rule does not use details.
var errConflict = &Conflict{}

func (c *client) learn(w *write) {
	commits, k := c.crowd.commits, &c.known
	version, _ := slices.BinarySearchFunc(commits, w.read, func(at, read int64) int {
		if at <= read {
			return -1
		}
		return 1
	})
	c.trips += c.crowd.now - w.read
	k.RoundTrip = time.Duration(c.trips / int64(w.attempt))
	k.Contenders = max(1, len(c.crowd.clients)-len(commits))
	if w.attempt > 1 {
		k.Commits, k.Between = version-k.version, time.Duration(w.read-k.read)
	}
	k.version, k.read = version, w.read
}
