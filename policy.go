package retry

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"time"

	"github.com/gobackoff/retry/internal/dur"
)

// A Policy says when to retry. The zero Policy makes at most three attempts and waits at
// most 150 ms in all, or 3 s after throttling. It has no time limit and no budget. Use it only
// where few calls run at the same time.
//
// For other calls, ask whether somebody waits for them. If so, calls arrive whatever happens
// to the server: keep the number of attempts small, and set a [SharedBudget] for each server,
// so that retries do not hold down a server that is overloaded. If a fixed number of workers
// makes the calls, their own waits bound the load: set MaxElapsed and AttemptTimeout and no
// Budget, and have no more workers than the server answers requests in a second.
//
// A Policy holds no per-call state, so it can be copied, and it can be used
// concurrently as long as it is not changed. Copies share the Budget and the Limiter,
// which belong to the called resource.
//
// Package retryconfig reads and writes policies in configuration files and flags.
type Policy struct {
	// Backoff computes the delays. nil means full jitter with a base of 50 ms, or 1 s
	// after throttling, and a cap of 20 s, as in the AWS SDKs since November 2026.
	Backoff Backoff

	// MaxAttempts bounds the number of attempts, including the first. [NoRetry] (1) means
	// one attempt, and [Unlimited] means no bound. 0 means the default, which depends on the
	// rest of the Policy:
	//
	//   - If Backoff is a [Schedule] or contains one, the default is one attempt more than the
	//     schedule has delays. If Backoff contains several schedules, the longest counts. A
	//     pointer to a Schedule counts as one, and so does a type that embeds one.
	//   - Otherwise, if there is a MaxElapsed, there is no bound.
	//   - Otherwise, the default is 3.
	MaxAttempts int

	// MaxElapsed limits the time since the start of the call: if the next wait would end
	// later, the call gives up at once. 0 means no limit. MaxElapsed does not interrupt an
	// attempt; AttemptTimeout and the context do.
	//
	// If MaxAttempts is 0, a call may make any number of attempts in that time. With the
	// default Backoff, these are about 14 in a minute if the attempts fail at once. If the
	// Backoff does not wait, the third attempt is the last.
	MaxElapsed time.Duration

	// AttemptTimeout limits each attempt through the operation's context. The error of
	// an attempt that exceeds it is wrapped in one that has Timeout() bool. The context of an
	// attempt ends with the attempt: what it returned (rows, a body, a stream) ends with it,
	// so the operation must read a response to its end before it returns. 0 means no limit,
	// and then the operation has the context of the call.
	AttemptTimeout time.Duration

	Classifier Classifier // nil: DefaultClassifier{}
	Hint       HintRule   // nil: HintAtLeast{}
	Budget     Budget     // nil: no bound, as with NoBudget; retryhttp has a default for nil
	Limiter    Limiter    // nil: no delay
	Clock      Clock      // nil: SystemClock{}

	// Rand returns a uniform random number in [0, 1) for each delay. It must be safe
	// for concurrent use if the Policy is shared. nil means math/rand/v2.Float64.
	Rand func() float64

	// Hooks observe the calls. [Policy.With] adds more.
	Hooks
}

// Unlimited, as MaxAttempts, means no bound.
const Unlimited = math.MaxInt

// NoRetry, as MaxAttempts, means one attempt. (0 means the default, which is more.)
const NoRetry = 1

const defaultMaxAttempts = 3

// With returns a copy of the Policy with additional hooks. Existing hooks run first;
// the contexts and callbacks of the new ones are nested in theirs.
func (p Policy) With(h Hooks) Policy {
	p.Hooks = p.Hooks.and(h)
	return p
}

// Validate checks the Policy and each part that has a method Validate() error, such as a Backoff
// with fields. The error lists everything that is wrong and matches [ErrInvalid]. Do checks only
// the Policy's own numbers.
func (p Policy) Validate() error { return invalid("policy", p.faults()) }

func (p *Policy) faults() []string {
	faults := append(p.ownFaults(), unitFaults("MaxElapsed", p.MaxElapsed)...)
	faults = append(faults, unitFaults("AttemptTimeout", p.AttemptTimeout)...)
	for _, part := range []struct {
		path  string
		value any
	}{
		{"Backoff", p.Backoff}, {"Classifier", p.Classifier}, {"Hint", p.Hint}, {"Budget", p.Budget},
		{"Limiter", p.Limiter}, {"Clock", p.Clock},
	} {
		faults = append(faults, partFaults(part.path, part.value)...)
	}
	if len(faults) == 0 {
		faults = p.waitFaults()
	}
	return faults
}

// waitFaults reports waits and limits that do not fit together, if each of them is right.
func (p *Policy) waitFaults() []string {
	var faults []string
	if p.MaxElapsed == 0 && p.maxAttempts() == Unlimited && growsForever(p.Backoff) {
		faults = append(faults, "Backoff grows without a Cap, and neither MaxAttempts nor MaxElapsed ends it")
	}
	if p.MaxElapsed == 0 && p.maxAttempts() != Unlimited {
		faults = append(faults, p.longFaults()...)
	}
	if p.MaxElapsed == 0 || p.maxAttempts() == 1 {
		return faults
	}
	if p.AttemptTimeout >= p.MaxElapsed {
		faults = append(faults, fmt.Sprintf("AttemptTimeout %v is at least MaxElapsed %v, so an attempt that times out is never retried", p.AttemptTimeout, p.MaxElapsed))
	}
	first := Attempt{Number: 1, Verdict: Verdict{Class: ClassTransient}}
	shortest := orDefault(p.Backoff).Delay(first, 0)
	if shortest > p.MaxElapsed {
		faults = append(faults, fmt.Sprintf("the first wait, %v, is above MaxElapsed %v, so there is no retry", shortest, p.MaxElapsed))
	}
	return faults
}

// longFaults reports a wait of more than a year between the attempts that the Policy allows.
func (p *Policy) longFaults() []string {
	const most, year, enough = 1 - 0x1p-53, 365 * 24 * time.Hour, 128
	a := Attempt{Verdict: Verdict{Class: ClassTransient}}
	for a.Number = 1; a.Number < min(p.maxAttempts(), enough); a.Number++ {
		a.Waited = orDefault(p.Backoff).Delay(a, most)
		if a.Waited > year {
			return []string{fmt.Sprintf("the wait before attempt %d is more than a year: set a Cap, fewer attempts, or a MaxElapsed", a.Number+1)}
		}
	}
	return nil
}

// growsForever reports whether a rule waits for years in the end, but not at first.
func growsForever(b Backoff) bool {
	const late, most = 1000, 1 - 0x1p-53
	first, last := Attempt{Number: 1}, Attempt{Number: late, Waited: math.MaxInt64 / 8}
	delay := orDefault(b).Delay(last, most)
	return delay >= math.MaxInt64/4 && delay > orDefault(b).Delay(first, most)
}

// mustRefuse reports whether a call must not start; refusal says why.
func (p *Policy) mustRefuse(ctx context.Context, hasOp bool) bool {
	return ctx == nil || !hasOp || p.MaxAttempts < 0 || p.MaxElapsed < 0 || p.AttemptTimeout < 0
}

func (p *Policy) refusal(ctx context.Context, hasOp bool) error {
	return invalid("call", p.callFaults(ctx, hasOp))
}

func (p *Policy) callFaults(ctx context.Context, hasOp bool) []string {
	faults := p.ownFaults()
	if ctx == nil {
		faults = append(faults, "the context is nil")
	}
	if !hasOp {
		faults = append(faults, "the operation is nil")
	}
	return faults
}

func (p *Policy) ownFaults() []string {
	var faults []string
	if p.MaxAttempts < 0 {
		faults = append(faults, fmt.Sprintf("MaxAttempts is negative (%d)", p.MaxAttempts))
	}
	if p.MaxElapsed < 0 {
		faults = append(faults, fmt.Sprintf("MaxElapsed is negative (%v)", p.MaxElapsed))
	}
	if p.AttemptTimeout < 0 {
		faults = append(faults, fmt.Sprintf("AttemptTimeout is negative (%v)", p.AttemptTimeout))
	}
	return faults
}

// needsNoLoop reports whether the first attempt can be made without the loop.
func (p *Policy) needsNoLoop() bool {
	return p.Limiter == nil && p.Budget == nil && p.OnAttempt == nil && p.AttemptTimeout == 0 && p.MaxElapsed == 0
}

func (p *Policy) maxAttempts() int {
	if p.MaxAttempts != 0 {
		return p.MaxAttempts
	}
	if delays, ok := scheduled(p.Backoff); ok {
		return delays + 1
	}
	if p.MaxElapsed != 0 {
		return Unlimited
	}
	return defaultMaxAttempts
}

// neverWaited reports whether a call that only MaxElapsed bounds does not wait, so that it would
// make millions of attempts.
func (p *Policy) neverWaited(a *Attempt, wait time.Duration) bool {
	return wait == 0 && a.Waited == 0 && a.Number >= defaultMaxAttempts && p.MaxAttempts == 0 && p.maxAttempts() == Unlimited
}

// Classify returns the verdict of [Do] on err. A nil err gives a zero Verdict.
func (p Policy) Classify(err error) (v Verdict) {
	if err == nil {
		return Verdict{}
	}
	v.judgeError(p.Classifier, err)
	return v
}

// Attempts returns the most attempts that a call makes: MaxAttempts or, if that is 0, its
// default, which may be [Unlimited]. If only MaxElapsed bounds the calls and Backoff never
// waits, Attempts returns 3. A call then makes more attempts only if the server asks for waits.
func (p Policy) Attempts() int {
	most := p.maxAttempts()
	if p.MaxAttempts == 0 && most == Unlimited && neverWaits(p.Backoff) {
		return defaultMaxAttempts
	}
	return most
}

// Delays draws the waits of a call whose attempts all fail immediately with transient
// errors. There is one wait less than attempts, because nothing is waited for after the last.
// Delays stops at MaxElapsed and ignores hints, budgets, limiters and deadlines. Each range
// loop draws new waits; it may be endless if MaxAttempts is Unlimited and there is no
// MaxElapsed.
func (p Policy) Delays() iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		a := Attempt{Verdict: Verdict{Class: ClassTransient}}
		var elapsed time.Duration
		for a.Number = 1; a.Number < p.maxAttempts(); a.Number++ {
			wait := orDefault(p.Backoff).Delay(a, p.random())
			if wait < 0 || p.neverWaited(&a, wait) || p.MaxElapsed > 0 && wait > p.MaxElapsed-elapsed || !yield(wait) {
				return
			}
			a.Waited, elapsed = wait, dur.Add(elapsed, wait)
		}
	}
}

func (p *Policy) random() float64 {
	if p.Rand == nil {
		return rand.Float64()
	}
	return p.Rand()
}
