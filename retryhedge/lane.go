package retryhedge

import (
	"context"
	"errors"
	"log"
	"slices"
	"sync"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
)

// A lane is what a Hedge knows about the calls with one key.
type lane struct {
	hedge  *Hedge
	key    string
	budget retry.Budget
	own    bool // no retries refill the budget
	uses   int  // guarded by Hedge.mu

	mu     sync.Mutex
	recent [512]time.Duration // how long the first copy of each call took, or more
	seen   int64
	after  time.Duration // the wait for a copy; 0: unknown
	slow   float64       // the share of the recent calls that took longer
	paused time.Time     // there are no copies until then
}

// wait returns the wait for a copy, or 0 for none.
func (l *lane) wait() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Now().Before(l.paused) {
		return 0
	}
	return l.after
}

// add notes that the first copy of a call has taken d. If it failed or was canceled, it
// would have taken longer, which is known anyway unless it is slower than most.
func (l *lane) add(d time.Duration, succeeded bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !succeeded && (l.after == 0 || d < l.after) {
		return
	}
	l.recent[l.seen%int64(len(l.recent))] = d
	l.seen++
	if l.seen < 128 || l.seen%32 != 0 {
		return
	}
	n, sorted := int(min(l.seen, int64(len(l.recent)))), l.recent
	slices.Sort(sorted[:n])
	if l.hedge.After == 0 {
		// Many calls may take equally long, so the wait is a little longer than the quantile.
		// A copy takes about as long as the median, too late for a call that is hardly slower.
		l.after = max(sorted[int(l.hedge.quantile()*float64(n))]*65/64, sorted[n/2]*3/2, time.Millisecond)
	}
	faster, _ := slices.BinarySearch(sorted[:n], l.after+1)
	l.slow = 1 - float64(faster)/float64(n)
}

// judge reports whether a result ends its call, and notes what it says about the server.
func (l *lane) judge(err error) (ends bool) {
	var v retry.Verdict
	if err != nil {
		v = retry.Policy{Classifier: l.hedge.Classifier}.Classify(err)
	}
	ends = err == nil || v.Class == retry.ClassPermanent || v.GaveUp
	if ends && l.own && (err == nil || !errfacts.Read(err).Canceled) { // by the caller: the server has not answered
		l.budget.Deposit(retry.Attempt{}, err)
	}
	if v.Class == retry.ClassThrottled {
		l.mu.Lock()
		l.paused = time.Now().Add(min(max(v.Hint, time.Second), time.Minute))
		l.mu.Unlock()
	}
	return ends
}

var errSlow = errors.New("retryhedge: slower than most calls")

// pay takes the price of a copy from the budget. Number 1 would be the call's own first retry.
func (l *lane) pay(copy int) bool {
	return l.budget.TryWithdraw(retry.Attempt{Number: copy + 1, Err: errSlow, Verdict: retry.Verdict{Class: retry.ClassTimeout}})
}

func (l *lane) event(ctx context.Context, kind EventKind, copy int, wait time.Duration, panicked *PanicError) {
	on := l.hedge.OnEvent
	switch {
	case on != nil:
		l.mu.Lock()
		slow := l.slow
		l.mu.Unlock()
		on(ctx, Event{Kind: kind, Key: l.key, Copy: copy, Wait: wait, Slow: slow, Panic: panicked})
	case panicked != nil:
		log.Printf("%v\n%s", panicked, panicked.Stack)
	}
}
