package lab

import (
	"errors"
	"math"
	"slices"
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
	RoundTrip  time.Duration // from a read of this client to its write, the mean so far
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

// errConflict is what a client knows that knows no more than that it failed.
var errConflict = &Conflict{}

// learn brings what a client knows up to the failure of w.
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
