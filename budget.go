package retry

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gobackoff/retry/internal/dur"
)

// A Budget bounds the retries of all calls to one resource. Share it by pointer among
// all policies for that resource. It must be safe for concurrent use and must not
// block. If in doubt, use a [TokenBudget], or above 100 processes a [FleetBudget]. The
// budgets of this package must not be copied or changed after first use.
//
// No Deposit follows a call that gives up or panics.
type Budget interface {
	// TryWithdraw takes the cost of retrying the failed attempt and reports whether the
	// budget sufficed. It is called after all other checks.
	TryWithdraw(failed Attempt) bool

	// Deposit reports that a call succeeded or made [Progress], if err is nil, or that it
	// failed permanently with err. paid is the failed attempt before the call's last retry,
	// with Number 0 if it made none.
	Deposit(paid Attempt, err error)
}

// A Balancer is a [Budget] that tells what is left in it: tokens, or retries allowed now.
type Balancer interface {
	Balance() float64
}

// TokenCosts are the tokens that a retry takes from a [TokenBudget], by the class of
// the failure. 0 is free; all 0 means the default costs.
type TokenCosts struct {
	Transient float64 // after ClassTransient and any other class
	Timeout   float64 // after ClassTimeout
	Throttled float64 // after ClassThrottled
}

func (c TokenCosts) of(class Class) float64 {
	switch class {
	case ClassTimeout:
		return c.Timeout
	case ClassThrottled:
		return c.Throttled
	}
	return c.Transient
}

// TokenBudget is a [Budget] of tokens that retries take and successes return. Time
// does not refill it: once it is empty, a resource that only fails gets no more
// retries.
//
// The zero value is the retry quota of the AWS SDKs as of November 2026.
type TokenBudget struct {
	Capacity float64    // maximum tokens; 0: 500
	Costs    TokenCosts // all zero: 14, or 5 after throttling
	Success  float64    // tokens returned by a success without a retry; 0: 1; below 0: none

	// NoRefund makes a success after retries return only Success tokens. Otherwise such
	// a success returns the cost of the last retry if that is more.
	NoRefund bool

	// SuccessOnly makes a permanent failure return nothing, as in the AWS SDKs.
	// Otherwise it counts as a success.
	SuccessOnly bool

	// Deficit is the number of tokens missing at the start. A process with few calls
	// should start empty.
	Deficit float64

	spent atomic.Int64 // in thousandths, net of deposits
}

const defaultCapacity = 500

var defaultCosts = TokenCosts{Transient: 14, Timeout: 14, Throttled: 5}

// FleetBudget returns a [TokenBudget] for many small processes. A retry takes its one
// token; ten successes return it, or one that needed a retry.
func FleetBudget() *TokenBudget {
	return &TokenBudget{Capacity: 1, Costs: TokenCosts{1, 1, 1}, Success: 0.1}
}

// TryWithdraw implements [Budget].
func (b *TokenBudget) TryWithdraw(a Attempt) bool {
	cost := thousandths(b.costs().of(a.Class))
	for {
		spent := b.spent.Load()
		if cost > b.full()-spent {
			return false
		}
		if b.spent.CompareAndSwap(spent, spent+cost) {
			return true
		}
	}
}

// Deposit implements [Budget].
func (b *TokenBudget) Deposit(paid Attempt, err error) {
	tokens := thousandths(b.gain(&paid, err))
	lowest := -thousandths(b.Deficit)
	for {
		spent := b.spent.Load()
		after := max(lowest, spent-tokens)
		if after == spent || b.spent.CompareAndSwap(spent, after) {
			return
		}
	}
}

func (b *TokenBudget) gain(paid *Attempt, err error) float64 {
	if err != nil && b.SuccessOnly {
		return 0
	}
	tokens := b.Success
	if tokens == 0 {
		tokens = 1
	}
	if paid.Number != 0 && !b.NoRefund {
		tokens = max(tokens, b.costs().of(paid.Class))
	}
	return tokens
}

// Validate reports invalid numbers.
func (b *TokenBudget) Validate() error {
	faults := slices.Concat(
		amountFaults("Capacity", b.Capacity), amountFaults("Success", max(0, b.Success)), amountFaults("Deficit", b.Deficit),
		amountFaults("Costs.Transient", b.Costs.Transient), amountFaults("Costs.Timeout", b.Costs.Timeout),
		amountFaults("Costs.Throttled", b.Costs.Throttled))
	if len(faults) == 0 && b.full() < 0 {
		faults = append(faults, "Deficit is above Capacity")
	}
	return invalid("budget", faults)
}

// Balance implements [Balancer].
func (b *TokenBudget) Balance() float64 { return float64(b.full()-b.spent.Load()) / 1000 }

// full returns the balance at the start, in thousandths.
func (b *TokenBudget) full() int64 {
	capacity := b.Capacity
	if capacity == 0 {
		capacity = defaultCapacity
	}
	return thousandths(capacity) - thousandths(b.Deficit)
}

func (b *TokenBudget) costs() TokenCosts {
	if b.Costs == (TokenCosts{}) {
		return defaultCosts
	}
	return b.Costs
}

// ThrottleBudget is a [Budget] modeled on gRPC's retry throttling (proposal A6): a
// retryable failure takes one token, and is retried only if more than half of the tokens
// are left. Failures whose retry is refused take a token too; unlike in gRPC, a failed
// last attempt does not.
type ThrottleBudget struct {
	MaxTokens  float64 // maximum and initial tokens; 0: 10
	TokenRatio float64 // tokens returned by a success; 0: 0.1

	missing atomic.Int64 // thousandths below MaxTokens
}

// TryWithdraw implements [Budget].
func (b *ThrottleBudget) TryWithdraw(Attempt) bool {
	full := b.full()
	missing := b.add(1000, full)
	return full-missing > full/2
}

// Deposit implements [Budget].
func (b *ThrottleBudget) Deposit(_ Attempt, err error) {
	ratio := b.TokenRatio
	if ratio == 0 {
		ratio = 0.1
	}
	if err == nil {
		b.add(-thousandths(ratio), b.full())
	}
}

// Validate reports invalid numbers.
func (b *ThrottleBudget) Validate() error {
	return invalid("budget", append(amountFaults("MaxTokens", b.MaxTokens), amountFaults("TokenRatio", b.TokenRatio)...))
}

// Balance implements [Balancer].
func (b *ThrottleBudget) Balance() float64 { return float64(b.full()-b.missing.Load()) / 1000 }

func (b *ThrottleBudget) full() int64 {
	if b.MaxTokens == 0 {
		return 10_000
	}
	return thousandths(b.MaxTokens)
}

// add adds delta to missing, within [0, full], and returns the result.
func (b *ThrottleBudget) add(delta, full int64) int64 {
	for {
		missing := b.missing.Load()
		after := min(max(0, missing+delta), full)
		if after == missing || b.missing.CompareAndSwap(missing, after) {
			return after
		}
	}
}

// RatioBudget is a [Budget] that allows retries in proportion to recent calls, plus a
// few per second in each process. It is modeled on Finagle's RetryBudget, defaults
// included.
type RatioBudget struct {
	Ratio  float64       // retries per call; 0: 0.2; below 0: none
	Floor  float64       // additional retries per second; 0: 10; below 0: none
	Window time.Duration // how far back calls and retries count; 0 or less: 10 s
	Clock  Clock         // nil: the system clock

	mu    sync.Mutex
	start time.Time         // of the first slot
	slot  int64             // the current one; it never decreases
	slots [ratioSlots]int64 // thousandths of a retry: what the calls of a slot allow, less its retries
}

// ratioSlots make a window.
const ratioSlots = 10

// TryWithdraw implements [Budget].
func (b *RatioBudget) TryWithdraw(a Attempt) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	current := b.current()
	if a.Number == 1 {
		b.count(current)
	}
	if b.sum() < 1000 {
		return false
	}
	*current -= 1000
	return true
}

// Deposit implements [Budget].
func (b *RatioBudget) Deposit(paid Attempt, _ error) {
	if paid.Number == 0 {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.count(b.current())
	}
}

// Validate reports invalid numbers.
func (b *RatioBudget) Validate() error {
	return invalid("budget", slices.Concat(
		finiteFaults("Ratio", b.Ratio), finiteFaults("Floor", b.Floor), durationFaults("Window", b.Window)))
}

// Balance implements [Balancer].
func (b *RatioBudget) Balance() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.current()
	return float64(max(0, b.sum())) / 1000
}

// count adds a call to a slot.
func (b *RatioBudget) count(slot *int64) {
	ratio := int64(200)
	if b.Ratio != 0 {
		ratio = thousandths(b.Ratio)
	}
	*slot = min(*slot+ratio, mostTokens)
}

func (b *RatioBudget) window() time.Duration {
	if b.Window <= 0 {
		return 10 * time.Second
	}
	return b.Window
}

// current returns the current slot and empties those that are a window old.
func (b *RatioBudget) current() *int64 {
	now := now(b.Clock)
	if b.start.IsZero() {
		b.start = now
	}
	slot := int64(now.Sub(b.start) / max(1, b.window()/ratioSlots))
	for passed := min(slot-b.slot, ratioSlots); passed > 0; passed-- {
		b.slots[(slot-passed+1)%ratioSlots] = 0
	}
	b.slot = max(b.slot, slot)
	return &b.slots[b.slot%ratioSlots]
}

// sum returns the balance of the window, including the floor.
func (b *RatioBudget) sum() int64 {
	floor := b.Floor
	if floor == 0 {
		floor = 10
	}
	total := thousandths(floor * b.window().Seconds())
	for _, balance := range b.slots {
		total += balance
	}
	return total
}

// InvitedBudget is a [Budget] that does not refuse a call three retries that a hint asked for,
// unless the server also fails without one, which outweighs ten hints or successes, or,
// except by throttling, nothing succeeds for 5/Number times the hint.
type InvitedBudget struct {
	Budget  Budget // nil: no bound
	Trusted bool   // hints always count, as from an admit.Gate
	Clock   Clock  // nil: the system's

	trust atomic.Int64
	dry   atomic.Pointer[[2]time.Time] // without a success, from and up to when hints count; nil: there was one
}

// TryWithdraw implements [Budget].
func (b *InvitedBudget) TryWithdraw(failed Attempt) bool {
	invited := b.invited(&failed)
	return b.Budget == nil || b.Budget.TryWithdraw(failed) || invited
}

// Deposit implements [Budget].
func (b *InvitedBudget) Deposit(paid Attempt, err error) {
	b.learn(1)
	if b.dry.Load() != nil {
		b.dry.Store(nil)
	}
	if b.Budget != nil {
		b.Budget.Deposit(paid, err) // refunds what it could not pay, too: at most up to its capacity
	}
}

// invited reports whether Budget cannot refuse the retry. After ten minutes in which hints
// did not count, they do again.
func (b *InvitedBudget) invited(failed *Attempt) bool {
	if failed.Hint <= 0 {
		b.learn(-10)
		return false
	}
	b.learn(1)
	now, dry := now(b.Clock), b.dry.Load()
	if dry == nil || now.Sub(dry[1]) > 10*time.Minute {
		dry = &[2]time.Time{now, now.Add(5 * min(max(time.Second, failed.Hint), defaultMaxHint))}
		b.dry.Store(dry)
	}
	// A server that throttles is not down, but a proxy's 503 may hide one that is.
	soon := failed.Class == ClassThrottled || time.Duration(failed.Number)*now.Sub(dry[0]) <= dry[1].Sub(dry[0])
	return failed.Number <= 3 && (b.Trusted || b.trust.Load() >= 0 && soon)
}

// learn changes the trust. Its bounds and weights were found by simulation: docs/overload.md.
func (b *InvitedBudget) learn(change int64) {
	for {
		trust := b.trust.Load()
		after := min(max(-1000, trust+change), 100)
		if after == trust || b.trust.CompareAndSwap(trust, after) {
			return
		}
	}
}

// Validate reports an invalid Budget.
func (b *InvitedBudget) Validate() error { return invalid("budget", partFaults("Budget", b.Budget)) }

// Balance returns that of Budget, or +Inf.
func (b *InvitedBudget) Balance() float64 {
	if inner, ok := b.Budget.(Balancer); ok {
		return inner.Balance()
	}
	return math.Inf(1)
}

const mostTokens = 1 << 50 // in thousandths; a window of such slots does not overflow

// thousandths maps NaN and negative numbers to 0.
func thousandths(tokens float64) int64 {
	return int64(dur.Saturate(math.Round(tokens*1000), mostTokens))
}
