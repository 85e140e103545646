package retryhedge

import (
	"slices"
	"sync"
	"time"

	"github.com/gobackoff/retry"
)

// A lane is what a Hedge knows about the calls with one key.
type lane struct {
	own *retry.TokenBudget // used if the Hedge has no Budget

	mu      sync.Mutex
	recent  [512]time.Duration // how long the first copy of each call took, or more
	seen    int
	typical time.Duration // the wait for a copy by the quantile; 0: unknown
	paused  time.Time     // there are no copies until then
}

const (
	minSeen  = 128
	refresh  = 32 // calls between two looks at recent
	minWait  = time.Millisecond
	minPause = time.Second
	maxPause = time.Minute
)

// wait returns the wait for a copy, or 0 for none.
func (l *lane) wait(h *Hedge, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case now.Before(l.paused):
		return 0
	case h.After > 0:
		return h.After
	}
	return l.typical
}

// add notes that the first copy of a call has taken d. If it failed or was canceled, it
// would have taken longer, which says something only about calls slower than all the rest.
func (l *lane) add(d time.Duration, ended bool, quantile float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !ended && (l.typical == 0 || d < l.typical) {
		return
	}
	l.recent[l.seen%len(l.recent)] = d
	l.seen++
	if l.seen < minSeen || l.seen%refresh != 0 {
		return
	}
	sorted := l.recent
	n := min(l.seen, len(sorted))
	slices.Sort(sorted[:n])
	// A copy takes about as long as the median. It would be too late for a call that is only
	// a little slower than that.
	l.typical = max(sorted[int(quantile*float64(n))], sorted[n/2]*3/2, minWait)
}

// slow returns the share of the recent calls that took longer than wait.
func (l *lane) slow(wait time.Duration) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, slow := min(l.seen, len(l.recent)), 0
	for _, d := range l.recent[:n] {
		if d > wait {
			slow++
		}
	}
	return float64(slow) / float64(max(1, n))
}

// judge reports whether a result ends its call, and notes what it says about the server.
func (l *lane) judge(h *Hedge, err error) (ends bool) {
	if err == nil {
		l.own.Deposit(retry.Attempt{}, true)
		return true
	}
	v := retry.Policy{Classifier: h.Classifier}.Classify(err)
	if v.Class == retry.ClassThrottled {
		until := time.Now().Add(min(max(v.Hint, minPause), maxPause))
		l.mu.Lock()
		if until.After(l.paused) {
			l.paused = until
		}
		l.mu.Unlock()
	}
	return v.Class == retry.ClassPermanent
}

// pay takes the price of a copy from the budget.
func (l *lane) pay(h *Hedge, e Event) bool {
	// With Number 1, a RatioBudget would add its share, which it does for the call anyway.
	a := retry.Attempt{Number: e.Copy + 1, Waited: e.Wait, Err: errSlow, Verdict: retry.Verdict{Class: retry.ClassTimeout}}
	if h.Budget != nil {
		return h.Budget.TryWithdraw(a)
	}
	return l.own.TryWithdraw(a)
}
