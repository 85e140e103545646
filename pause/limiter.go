package pause

import (
	"cmp"
	"container/list"
	"context"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
)

// A Limiter is a [retry.Limiter] that makes calls wait while the server asks for it. The
// zero value is ready to use. Share a Limiter by pointer; it is safe for concurrent use,
// starts no goroutine, and must not be copied or changed once in use.
type Limiter struct {
	// MaxHint is the longest hint that counts, and so the longest pause. A failure with a
	// longer one is ignored. 0 or less means a minute.
	MaxHint time.Duration

	// Strict is for servers that punish requests during a limit. No call begins during a
	// pause, not even one a second, so a wrong hint is followed to its end. A call whose
	// deadline comes first fails at once; the error matches [context.DeadlineExceeded].
	Strict bool

	Clock retry.Clock // nil: the system's

	state atomic.Int32 // calm, alert or closed

	mu       sync.Mutex
	row      int       // failures with a hint since the last success, less 10 for each without
	since    time.Time // the first of them
	earliest time.Time // end of a hint that is not over
	until    time.Time // end of the latest pause
	probe    time.Time // when a call may begin in spite of it
	left     int       // calls that left the line after it
	line     list.List // of *caller, in order of arrival
}

const (
	calm   int32 = iota // no failure since the last success
	alert               // but no pause
	closed              // a pause, or calls in line
)

const slot = 100 * time.Millisecond // of calls that leave the line

// longestLine bounds the calls in line, and so the memory that a server which only refuses can
// make a client use.
const longestLine = 10_000

var errFull = fmt.Errorf("pause: %d calls already wait", longestLine)

var errLate = fmt.Errorf("pause: the server asks for a wait beyond the deadline: %w", context.DeadlineExceeded)

type caller struct {
	place *list.Element // nil: not in line
	ahead int           // at most, calls before it
	last  time.Time     // when it begins if its deadline comes before its turn; zero: at once
	wake  context.CancelFunc
}

// Wait waits until an attempt may begin. It returns an error if ctx ends or the Clock fails
// while it waits, or if Strict is set and the deadline of ctx comes first. If 10,000 calls
// already wait, it returns at once: nil, or an error if Strict is set.
func (l *Limiter) Wait(ctx context.Context) error {
	if l.state.Load() != closed {
		return nil
	}
	c := &caller{}
	defer func() {
		if c.place != nil { // the Clock panicked; the calls behind must not wait for this one
			l.mu.Lock()
			defer l.mu.Unlock()
			l.line.Remove(c.place)
		}
	}()
	var ended error
	for {
		woken, wake := context.WithCancel(ctx)
		wait, err := l.turn(ctx, c, wake, ended)
		if wait == 0 {
			wake()
			return err
		}
		if ended = l.clock().Sleep(woken, wait); woken.Err() != nil {
			ended = ctx.Err() // nil if only woken
		}
		wake()
	}
}

// Observe notes the outcome of an attempt. [retry.Do] calls it; other callers of Wait must
// call it, too. A permanent failure without a hint counts as a success, unless the caller
// canceled the attempt: then the server has not answered, and nothing is noted.
func (l *Limiter) Observe(a retry.Attempt) {
	answered := a.Err == nil || a.Class == retry.ClassPermanent && a.Hint <= 0
	if answered && l.state.Load() == calm || a.Hint > l.maxHint() {
		return
	}
	if answered && a.Err != nil && errfacts.Read(a.Err).Canceled {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock().Now()
	switch end := now.Add(a.Hint); {
	case answered:
		l.row, l.until = 0, earlier(l.until, now)
	case a.Hint <= 0:
		l.row = max(-1000, l.row-10)
	default:
		if l.row++; l.row == 1 {
			l.since, l.earliest = now, end
		} else if l.earliest = earlier(l.earliest, end); !l.earliest.After(now) {
			l.earliest = end
		}
		if l.until.After(now) {
			l.until = l.earliest
		} else if l.row >= 20 && now.Sub(l.since) >= 100*time.Millisecond {
			l.until, l.left = l.earliest, 0
			l.probe = l.next(now)
			for e, n := l.line.Front(), 0; e != nil; e, n = e.Next(), n+1 {
				c := e.Value.(*caller)
				c.ahead = n
				c.wake() // its deadline may come first now
			}
		}
	}
	l.changed(now)
}

// turn returns how long a call waits before it asks again; 0: it begins, or ends with the
// error.
func (l *Limiter) turn(ctx context.Context, c *caller, wake context.CancelFunc, ended error) (time.Duration, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, first := l.clock().Now(), c.place == nil
	l.until = earlier(l.until, now.Add(l.maxHint())) // it is later if the Clock went back
	if first && l.line.Len() >= longestLine {
		if l.Strict {
			return 0, errFull
		}
		return 0, nil
	}
	c.wake = wake
	if first {
		c.ahead, c.place = l.line.Len(), l.line.PushBack(c)
	}
	front := l.line.Front() == c.place
	if front {
		c.ahead = 0
	}
	next, paused := l.due(c.ahead), l.until.After(now)
	deadline, ok := ctx.Deadline()
	late := ok && !next.Before(deadline)
	if late {
		if c.last.IsZero() && !first {
			c.last = now.Add(deadline.Sub(now) * 3 / 4)
		}
		next = earlier(next, c.last) // zero: at once
	}
	if front && paused && !l.Strict {
		next = earlier(next, l.probe)
	}
	switch {
	case ended != nil:
	case late && paused && l.Strict:
		ended = errLate
	case next.After(now):
		return next.Sub(now), nil
	case late && next.Equal(c.last):
	case !front: // changed wakes it; more often, many calls would keep it from its turn
		return time.Second, nil
	case paused:
		l.probe = l.next(now)
	default:
		l.left++
	}
	l.line.Remove(c.place)
	c.place = nil
	l.changed(now)
	return 0, ended
}

// next returns when the next call begins in spite of the pause.
func (l *Limiter) next(now time.Time) time.Time {
	if last := l.until.Add(-time.Second); last.After(now) {
		return earlier(now.Add(time.Second), last)
	}
	return now.Add(2 * slot)
}

// due returns when a call leaves the line after the pause: ten in the first slot, and twice
// as many in each slot after.
func (l *Limiter) due(ahead int) time.Time {
	n := l.left + ahead
	k := bits.Len(uint(n/10+1)) - 1 // slots before
	n -= 10 * (1<<k - 1)            // calls before in this slot
	return l.until.Add(time.Duration(k)*slot + time.Duration(n)*slot/time.Duration(10<<k))
}

// changed sets the state, and wakes the call at the front, whose turn may have come.
func (l *Limiter) changed(now time.Time) {
	state := calm
	switch front := l.line.Front(); {
	case front != nil:
		front.Value.(*caller).wake()
		state = closed
	case l.until.After(now):
		state = closed
	case l.row != 0:
		state = alert
	}
	l.state.Store(state)
}

func (l *Limiter) maxHint() time.Duration { return cmp.Or(max(0, l.MaxHint), time.Minute) }

func (l *Limiter) clock() retry.Clock { return cmp.Or[retry.Clock](l.Clock, retry.SystemClock{}) }

func earlier(a, b time.Time) time.Time { return slices.MinFunc([]time.Time{a, b}, time.Time.Compare) }
