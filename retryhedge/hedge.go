package retryhedge

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gobackoff/retry"
)

// A Hedge decides when to start a copy. With the zero value, it is when a call takes longer
// than 95 % of the recent calls with the same key, for at most 10 % of the calls.
//
// It knows 1,024 keys. A further key takes the place of the one that was used least, and the
// event Forgotten says so: a key that is forgotten has no copies until it was learned again. So
// a key should be a kind of call, such as a host, and not contain an ID.
//
// A Hedge is safe for concurrent use. It must not be copied, nor its fields changed, after
// first use.
type Hedge struct {
	// Quantile is the share of the recent calls that take less than the wait for a copy. The
	// wait is 1.6 % longer than that, at least 1.5 times the median, and at least 1 ms. It is
	// taken from the last 512 calls; before the first 128, there are no copies. 0: 0.95.
	Quantile float64

	// After is a fixed wait for a copy instead, if it is not 0. If more calls are slower than
	// the budget has copies, most of them get none: see Event.Slow.
	After time.Duration

	// MaxCopies is the maximum number of copies of a call. Before each further copy, the call
	// waits once more for as long as before the first. 0: 1.
	MaxCopies int

	// Share is the maximum number of copies per call that succeeds. A Hedge begins with no
	// copies, and saves up to 10. Share must be at least twice the share of the calls above the
	// Quantile, so that there are copies left when more calls are slow. 0: 0.1, or 0.05 with
	// After.
	Share float64

	// Budget replaces Share: the Budget of the retries around the calls, which then bounds
	// retries and copies together. A copy costs what a retry after a timeout costs. Only the
	// retries refill it; without them, leave Budget nil.
	Budget retry.Budget

	// Classifier recognizes permanent failures, which end a call, and throttling, after which
	// there are no copies for a second, or as long as the server asks for, up to a minute.
	// nil: retry.DefaultClassifier.
	Classifier retry.Classifier

	// OnEvent, if not nil, is called when a copy is started, wins, is refused by the budget, or
	// panics after the call has ended, and when a key is forgotten. It must be safe for
	// concurrent use and should not block. Without it, such a panic is written to the standard
	// logger.
	OnEvent func(context.Context, Event)

	mu    sync.Mutex
	lanes map[string]*lane
	calls int // since the uses of the lanes were halved
}

// An Event is about a copy.
type Event struct {
	Kind EventKind     // Started, Won, Refused, Panicked or Forgotten
	Key  string        // of the call, or the one that is forgotten
	Copy int           // its number: 1 for the first copy
	Wait time.Duration // after which it was due

	// Slow is the share of the recent calls with the same key that took longer than Wait; 0
	// before 128 calls. If it is above what the budget allows, a longer wait helps more calls.
	Slow float64

	Panic *PanicError // of Panicked
}

// A PanicError is the panic of a copy. It is a permanent failure of the call if that is
// still running.
type PanicError struct {
	Value any    // of the panic
	Stack []byte // of the copy's goroutine, as text
}

// Error returns the value as text, without the stack.
func (e *PanicError) Error() string { return fmt.Sprint("retryhedge: a copy panicked: ", e.Value) }

// Unwrap returns the value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// EventKind is the kind of an [Event].
type EventKind string

// The kinds of events. Started is followed by Won if the copy's result is used.
const (
	Started  EventKind = "started"
	Won      EventKind = "won"
	Refused  EventKind = "refused"
	Panicked EventKind = "panicked"

	// Forgotten means that there are more keys than a Hedge knows: the fields Copy and Wait
	// are 0.
	Forgotten EventKind = "forgotten"
)

func (h *Hedge) quantile() float64 { return cmp.Or(h.Quantile, 0.95) }

func (h *Hedge) share() float64 {
	if h.After != 0 {
		return cmp.Or(h.Share, 0.05)
	}
	return cmp.Or(h.Share, 0.1)
}

// Validate reports an invalid field in an error that matches [retry.ErrInvalid].
func (h *Hedge) Validate() error {
	fault, q, share := "", h.quantile(), h.share()
	switch {
	case !(q > 0 && q < 1):
		fault = fmt.Sprintf("Quantile is %v, not between 0 and 1", q)
	case !(share > 0 && share <= 1):
		fault = fmt.Sprintf("Share is %v, not above 0 and at most 1", share)
	case h.Budget == nil && h.After == 0 && share < 1.999*(1-q):
		fault = fmt.Sprintf("Share %v is less than twice the %.3g of the calls above Quantile", share, 1-q)
	case h.After < 0 || h.MaxCopies < 0:
		fault = "After or MaxCopies is negative"
	default:
		return nil
	}
	return fmt.Errorf("retryhedge: %w Hedge: %s", retry.ErrInvalid, fault)
}

// maxLanes bounds the memory of a Hedge: a lane has 4 KiB of durations.
const maxLanes = 1024

// lane returns the lane for key, and the one that is forgotten for it, or nil.
func (h *Hedge) lane(key string) (l, forgotten *lane) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls++
	if h.calls == 16*maxLanes { // what was used long ago counts less
		h.calls = 0
		for _, l := range h.lanes {
			l.uses /= 2
		}
	}
	l = h.lanes[key]
	if l == nil {
		forgotten = h.makeRoom()
		l = &lane{hedge: h, key: key, budget: h.Budget, own: h.Budget == nil, after: h.After}
		if l.own {
			l.budget = &copies{share: h.share()}
		}
		h.lanes[key] = l
	}
	l.uses++
	return l, forgotten
}

// makeRoom removes the lane that was used least if there are too many for another one, and
// returns it.
func (h *Hedge) makeRoom() (least *lane) {
	if h.lanes == nil {
		h.lanes = map[string]*lane{}
	}
	if len(h.lanes) < maxLanes {
		return nil
	}
	for _, l := range h.lanes {
		if least == nil || l.uses < least.uses {
			least = l
		}
	}
	delete(h.lanes, least.key)
	return least
}
