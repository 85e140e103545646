package retry

import (
	"time"

	"github.com/gobackoff/retry/internal/dur"
)

// A HintRule combines the delay of a [Backoff] with a hint, which is the wait that a server
// asks for. Wait is called only if there is a hint, so hint is above 0. It returns the wait,
// or false to give up at once.
//
// If an error has several hints, the first of these counts:
//
//   - that of the marker [After],
//   - that of the Classifier's [Verdict],
//   - that of the outermost error in the chain that has a method RetryAfter() time.Duration
//     or is an error of a known library.
//
// A hint does not make a permanent error retryable, except that of After.
//
// The rules of this package limit hints: servers that send a date instead of a number of
// seconds have asked for waits of 55 years.
type HintRule interface {
	Wait(delay, hint time.Duration) (wait time.Duration, ok bool)
}

const defaultMaxHint = time.Hour

// HintAtLeast waits for the longer of the delay and the hint. It is the default.
//
// If the wait is a hint, [Do] and [Call.Failed] make it up to a tenth longer, at random, so
// that clients that were given the same hint do not return together. They add less if the
// call would otherwise run out of time. The method Wait adds nothing.
type HintAtLeast struct {
	Max   time.Duration // a longer hint counts as Max; 0 or less: an hour
	Exact bool          // do not add to the hint
}

// Wait implements [HintRule].
func (r HintAtLeast) Wait(delay, hint time.Duration) (time.Duration, bool) {
	return max(delay, min(hint, hintOrMax(r.Max))), true
}

// Validate reports a negative Max.
func (r HintAtLeast) Validate() error {
	return invalid("hint rule", within("HintAtLeast", durationFaults("Max", r.Max)))
}

// HintOrGiveUp is [HintAtLeast] for callers that cannot wait for long: a hint above
// Max ends the call with [ErrHint].
type HintOrGiveUp struct {
	Max   time.Duration // the longest hint to follow; 0 or less: an hour
	Exact bool          // do not add to the hint
}

// Wait returns the longer of delay and hint, and true. If hint is above Max, it returns false.
func (r HintOrGiveUp) Wait(delay, hint time.Duration) (time.Duration, bool) {
	return max(delay, hint), hint <= hintOrMax(r.Max)
}

// Validate reports a negative Max.
func (r HintOrGiveUp) Validate() error {
	return invalid("hint rule", within("HintOrGiveUp", durationFaults("Max", r.Max)))
}

// HintIgnore waits for the delay alone, as most AWS SDKs did before 2026.
type HintIgnore struct{}

// Wait implements [HintRule].
func (HintIgnore) Wait(delay, _ time.Duration) (time.Duration, bool) { return delay, true }

// A spreader is a rule that says whether [Do] may add to a wait that is a hint. As with a
// scheduler, a pointer to a rule, or a type that embeds one, is the same rule.
type spreader interface {
	spreads() bool
}

func (r HintAtLeast) spreads() bool  { return !r.Exact }
func (r HintOrGiveUp) spreads() bool { return !r.Exact }

func spreads(rule HintRule) bool {
	if rule == nil {
		return true
	}
	s, ok := rule.(spreader)
	return ok && s.spreads()
}

// spread returns a wait with what [Do] adds to it, given the delay and a uniform random
// number. Only a wait that is longer than the delay is a hint.
func spread(rule HintRule, delay, wait time.Duration, u float64) time.Duration {
	if wait <= delay || !spreads(rule) {
		return wait
	}
	return dur.Add(wait, time.Duration(dur.Unit(u)*float64(wait/10)))
}

func hintOrMax(limit time.Duration) time.Duration {
	if limit <= 0 {
		return defaultMaxHint
	}
	return limit
}
