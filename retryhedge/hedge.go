package retryhedge

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gobackoff/retry"
)

// A Hedge decides when to start a copy. The zero value is ready to use: it starts one if
// a call takes longer than 95 % of the recent calls with the same key, and at least half as
// long again as their median, for at most 10 % of the calls.
//
// A Hedge is safe for concurrent use. It must not be copied, nor its fields changed, after
// first use.
type Hedge struct {
	// Quantile is the share of the recent calls that are faster than the wait for a copy.
	// It is taken from the last 512 calls; before the first 128, there are no copies.
	// 0 means 0.95.
	Quantile float64

	// After is a fixed wait for a copy, used instead of Quantile if it is above 0. If more
	// calls take longer than the Budget allows copies, most of them get none: see
	// Event.Slow.
	After time.Duration

	// MaxCopies is the maximum number of copies of a call, each after another wait. 0
	// means 1.
	MaxCopies int

	// Share is the maximum number of copies per successful call, with up to 10 at once. It
	// must be at least twice as high as the share of the calls that the Quantile makes
	// slow, so that there are copies left when more calls are slow. 0 means 0.1.
	Share float64

	// Budget replaces Share. It is the Budget of the retries around the hedged calls, which
	// it then bounds together with the copies. A copy costs as much as a retry after a
	// timeout. Only the retries refill the Budget; without them, leave it nil.
	Budget retry.Budget

	// Classifier recognizes permanent failures, which end a call, and throttling, after
	// which there are no copies for a second, or as long as the server asks for, up to a
	// minute. nil means [retry.DefaultClassifier].
	Classifier retry.Classifier

	// OnEvent, if not nil, is called when a copy is started, wins, or is refused by the
	// budget. It must be safe for concurrent use and should not block.
	OnEvent func(context.Context, Event)

	mu    sync.Mutex
	lanes map[string]*lane
}

// An Event is about a copy.
type Event struct {
	Kind EventKind     // Started, Won or Refused
	Key  string        // of the call
	Copy int           // the number of the copy: 1 for the first
	Wait time.Duration // after which it was due

	// Slow is the share of the recent calls that took longer than Wait, if Kind is Refused.
	// If that is more than the budget allows, a longer wait would serve more calls.
	Slow float64
}

// EventKind is the kind of an [Event].
type EventKind string

// The kinds of events. Started is followed by Won if the copy's result is used.
const (
	Started EventKind = "started"
	Won     EventKind = "won"
	Refused EventKind = "refused"
)

const (
	defaultQuantile = 0.95
	defaultShare    = 0.1
	burst           = 10 // tokens
	maxLanes        = 1024
)

// Validate reports all invalid fields in one error, which matches [retry.ErrInvalid].
func (h *Hedge) Validate() error {
	var faults []string
	if q := h.quantile(); !(q > 0 && q < 1) {
		faults = append(faults, fmt.Sprintf("Quantile is %v, not between 0 and 1", q))
	}
	if s := h.share(); !(s > 0 && s <= 1) {
		faults = append(faults, fmt.Sprintf("Share is %v, not above 0 and at most 1", s))
	} else if slow := 1 - h.quantile(); h.Budget == nil && h.After == 0 && slow > s/2+1e-9 {
		faults = append(faults, fmt.Sprintf("Share %v is less than twice the %.3g of the calls that are slower than Quantile", s, slow))
	}
	if h.After < 0 || h.MaxCopies < 0 {
		faults = append(faults, "After or MaxCopies is negative")
	}
	if faults == nil {
		return nil
	}
	return fmt.Errorf("retryhedge: %w Hedge: %s", retry.ErrInvalid, strings.Join(faults, "; "))
}

func (h *Hedge) quantile() float64 {
	if h.Quantile == 0 {
		return defaultQuantile
	}
	return h.Quantile
}

func (h *Hedge) share() float64 {
	if h.Share == 0 {
		return defaultShare
	}
	return h.Share
}

// lane returns the lane for key. If there are too many, all are forgotten.
func (h *Hedge) lane(key string) *lane {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.lanes[key]
	if l == nil {
		if h.lanes == nil || len(h.lanes) >= maxLanes {
			h.lanes = map[string]*lane{}
		}
		// It starts empty, and does not refill with time: a server that does not respond
		// gets no copies.
		l = &lane{own: &retry.TokenBudget{
			Capacity: burst, Deficit: burst, Costs: retry.TokenCosts{Transient: 1, Timeout: 1, Throttled: 1}, Success: h.share(),
		}}
		h.lanes[key] = l
	}
	return l
}

func (h *Hedge) event(ctx context.Context, e Event) {
	if h.OnEvent != nil {
		h.OnEvent(ctx, e)
	}
}
