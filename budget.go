package retry

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gobackoff/retry/internal/errfacts"
)

// A Budget bounds the retries of all calls to one resource. Share it by pointer among
// all policies for that resource. It must be safe for concurrent use and must not block.
// Use a [SharedBudget], unless a system has a budget of its own that you want to imitate.
type Budget interface {
	// TryWithdraw asks for a retry of the failed attempt and reports whether it may be
	// made. It is called after all other checks, so a retry follows unless the context
	// ends before.
	TryWithdraw(failed Attempt) bool

	// Deposit is called when a call ends. A nil err means that the call succeeded, or made
	// [Progress], after which it may go on. Any other err is a permanent failure. If the call
	// made retries, paid is the failed attempt for which the last one was withdrawn;
	// otherwise paid.Number is 0. A call that gives up or panics makes no Deposit.
	Deposit(paid Attempt, err error)
}

// NoBudget is a [Budget] that never refuses a retry. Use it where a nil Budget means a
// default, as in a Transport of package retryhttp.
type NoBudget struct{}

// TryWithdraw returns true.
func (NoBudget) TryWithdraw(Attempt) bool { return true }

// Deposit does nothing.
func (NoBudget) Deposit(Attempt, error) {}

// SharedBudget is the [Budget] to use for calls that somebody waits for. Make one for each
// server that you call, and share it by pointer. It must not be copied or changed after its
// first use.
//
// The budget holds tokens. These are its rules:
//
//   - A retry takes one token. If less than one token is left, the retry is refused.
//   - A call that succeeds earns half a token. If it made retries, it also returns the token
//     of the last one. The same happens when a call makes [Progress].
//   - The first retry of a call is free if the server throttled the call and said how long
//     to wait: the class is ClassThrottled, and there is a Hint. A free retry is also refused
//     if less than one token is left, but it takes no token, and its success returns none.
//   - A call that fails permanently counts as one that succeeds if the error has a status
//     or code of its own, such as 404, because the server works. A status or code that says
//     otherwise, such as 503, does not count, even if the error is marked with [Permanent].
//   - All other calls neither earn nor return anything: those that give up, those that are
//     canceled, and those that fail permanently without a status or code.
//   - At the start there are Reserve tokens. The budget never holds more than Reserve, plus a
//     fifth of the number of calls that succeeded in this second or in the one before it,
//     whichever number is larger. Seconds count from the first use. Tokens above that are
//     lost.
//
// Time alone adds no tokens: a server that only fails gets no more retries once the tokens
// are gone.
//
// Work that a fixed number of workers do needs no Budget: their own waits bound the load.
// Give their Policy a MaxElapsed.
type SharedBudget struct {
	// Reserve is the number of tokens at the start, and the most that are kept while calls
	// are rare. 0 means 5. In hundreds of processes that call the same server, use 1.
	Reserve float64

	Clock Clock // nil: the system clock

	mu     sync.Mutex
	tokens float64 // less Reserve, so that the zero value is full
	start  time.Time
	second int64   // since start
	recent float64 // successes in this second
	before float64 // successes in the second before
	parts  []*Part // at most maxParts, from the oldest
	named  map[string]*Part
}

const (
	// defaultReserve lets a process that has just started retry a few calls. A server
	// recovers the later the more tokens all processes have.
	defaultReserve = 5

	// earned is what a success earns. If half of all attempts fail at random, a call with
	// three attempts takes 0.75 tokens on average, and earns or gets back 0.81, so the retries
	// go on. If many more fail, they stop.
	earned = 0.5

	// kept is the share of a second's successes that a budget keeps as tokens, so that each
	// call may retry once that meets a brief failure of a fifth of a second. When a server
	// stalls, calls fail by their timeouts, and these tokens are gone by then.
	kept = 0.2

	// maxParts is enough for the routes of nearly all servers, and few enough for a search
	// among them whenever a name is new.
	maxParts = 256
)

// TryWithdraw implements [Budget].
func (b *SharedBudget) TryWithdraw(failed Attempt) bool { return b.withdraw(nil, &failed) }

// Deposit implements [Budget].
func (b *SharedBudget) Deposit(paid Attempt, err error) { b.deposit(nil, &paid, err) }

// Balance returns the tokens that are left.
func (b *SharedBudget) Balance() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.balance(nil)
}

// Validate reports an invalid Reserve.
func (b *SharedBudget) Validate() error {
	faults := amountFaults("Reserve", b.Reserve)
	if b.Reserve > 0 && b.Reserve < 1 {
		faults = append(faults, fmt.Sprintf("Reserve %v is below 1, so there would be no retry", b.Reserve))
	}
	return invalid("budget", faults)
}

// A Part is the [Budget] of some of the calls that share a [SharedBudget].
type Part struct {
	of      *SharedBudget
	name    string
	debt    float64
	uses    float64 // halved with each second
	dropped bool    // it is none of the parts of its budget
}

// Part returns the [Budget] for the calls of one kind, such as a route or a method, so that
// one broken route does not stop the retries of the others.
//
// All parts use the tokens of b, by the same rules. In addition, a Part has a debt: each token
// that its retries take adds to it, and each token that its calls earn or return reduces it.
// A retry that would raise the debt above a limit is refused. The limit is half of what the
// budget may hold at that time, and at least one token. When the limit falls below the debt,
// the Part owes only as much as the limit. A free retry is refused where one that takes a
// token would be. A Part that is the only one of its budget has no limit.
//
// Each name has a Part of its own. A budget keeps 256 of them, so that names which contain an
// ID cost little. A further name takes the place of the Part without a debt that was used
// least or, if all have a debt, of the one that was used least. A Part that has lost its place
// gets one again when it is used.
func (b *SharedBudget) Part(name string) *Part {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.named[name]
	if p == nil {
		p = &Part{of: b, name: strings.Clone(name)} // so that name may be on the stack
		b.keep(p)
	}
	p.uses++
	return p
}

// keep makes p one of the parts of b.
func (b *SharedBudget) keep(p *Part) {
	if len(b.parts) == maxParts {
		b.dropPart()
	}
	if b.named == nil {
		b.named = map[string]*Part{}
	}
	p.dropped = false
	b.named[p.name] = p
	b.parts = append(b.parts, p)
}

// dropPart drops the part that was used least, if possible one without a debt.
func (b *SharedBudget) dropPart() {
	least := 0
	for i, p := range b.parts {
		q := b.parts[least]
		owes, leastOwes := p.debt > 0, q.debt > 0
		if owes == leastOwes && p.uses < q.uses || !owes && leastOwes {
			least = i
		}
	}
	p := b.parts[least]
	p.dropped = true
	delete(b.named, p.name)
	b.parts = slices.Delete(b.parts, least, least+1)
}

// kept returns the Part that counts for p, which may have been dropped.
func (b *SharedBudget) kept(p *Part) *Part {
	if p.dropped {
		if successor := b.named[p.name]; successor != nil {
			p = successor
		} else {
			p.debt = min(p.debt, b.mostDebt())
			b.keep(p)
		}
	}
	p.uses++
	return p
}

// Parts returns the parts of b with their names, from the oldest.
func (b *SharedBudget) Parts() iter.Seq2[string, *Part] {
	return func(yield func(string, *Part) bool) {
		b.mu.Lock()
		parts := slices.Clone(b.parts)
		b.mu.Unlock()
		for _, p := range parts {
			if !yield(p.name, p) {
				return
			}
		}
	}
}

// TryWithdraw implements [Budget].
func (p *Part) TryWithdraw(failed Attempt) bool { return p.of.withdraw(p, &failed) }

// Deposit implements [Budget].
func (p *Part) Deposit(paid Attempt, err error) { p.of.deposit(p, &paid, err) }

// Balance returns the tokens that the retries of p may take now.
func (p *Part) Balance() float64 {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	return p.of.balance(p)
}

// isFree reports whether the retry after a takes no token.
func isFree(a *Attempt) bool {
	return a.Number == 1 && a.Class == ClassThrottled && a.Hint > 0
}

// withdraw is TryWithdraw. p is nil for the whole budget.
func (b *SharedBudget) withdraw(p *Part, failed *Attempt) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p != nil {
		p = b.kept(p)
	}
	const rounding = 1e-9 // fifths of a number may add up to slightly less than a whole one
	if b.balance(p) < 1-rounding {
		return false
	}
	if isFree(failed) {
		return true
	}
	b.tokens--
	if p != nil {
		p.debt = min(p.debt+1, b.mostDebt())
	}
	return true
}

// deposit is Deposit. p is nil for the whole budget.
func (b *SharedBudget) deposit(p *Part, paid *Attempt, err error) {
	if err != nil && !isAnswered(err) {
		return
	}
	gain := earned
	if paid.Number != 0 && !isFree(paid) {
		gain++
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tick()
	b.recent++
	b.tokens = min(b.tokens+gain, b.busy())
	if p != nil {
		p = b.kept(p)
		p.debt = max(0, p.debt-gain)
	}
}

// isAnswered reports whether a permanent failure shows that the server works: the error has
// a status or a code, and that does not say otherwise.
func isAnswered(err error) bool {
	f := errfacts.Read(err)
	if !f.IsResponse() || f.Canceled {
		return false
	}
	class, _ := errfacts.Classify(err)
	return class == errfacts.Permanent || class == errfacts.Unknown
}

// balance returns what the retries of p, or of the whole budget, may take now.
func (b *SharedBudget) balance(p *Part) float64 {
	b.tick()
	left := b.tokens + b.reserve()
	if p != nil && len(b.parts) > 1 {
		left = min(left, b.mostDebt()-p.debt)
	}
	return max(0, left) // it may be below by what rounding is worth
}

// tick moves on to the present second. Only then may the budget hold less than before, so it
// drops the tokens and forgives the debts that are too much. A clock that goes back stands
// still.
func (b *SharedBudget) tick() {
	if b.start.IsZero() {
		b.start = now(b.Clock)
	}
	var passed time.Duration
	if isSystem(b.Clock) {
		passed = time.Since(b.start) // half the cost of Now
	} else {
		passed = b.Clock.Now().Sub(b.start)
	}
	second := int64(passed / time.Second)
	if second <= b.second {
		return
	}
	b.before = 0
	if second == b.second+1 {
		b.before = b.recent
	}
	b.second, b.recent = second, 0
	b.tokens = min(b.tokens, b.busy())
	for _, p := range b.parts {
		p.debt = min(p.debt, b.mostDebt())
		p.uses /= 2
	}
}

// busy returns the tokens that are kept besides Reserve.
func (b *SharedBudget) busy() float64 { return kept * max(b.recent, b.before) }

// mostDebt returns the tokens that a Part may owe.
func (b *SharedBudget) mostDebt() float64 { return max(1, (b.reserve()+b.busy())/2) }

func (b *SharedBudget) reserve() float64 {
	switch {
	case b.Reserve == 0:
		return defaultReserve
	case b.Reserve > 0:
		return b.Reserve
	}
	return 0 // NaN, too: see Validate
}
