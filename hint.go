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
// If the wait is a hint, [Do] and [Policy.Next] make it up to a tenth longer, at random, so
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

// Wait returns max(delay, hint), or false if hint is above Max.
func (r HintOrGiveUp) Wait(delay, hint time.Duration) (time.Duration, bool) {
	return max(delay, hint), hint <= hintOrMax(r.Max)
}

// Validate reports a negative Max.
func (r HintOrGiveUp) Validate() error {
	return invalid("hint rule", within("HintOrGiveUp", durationFaults("Max", r.Max)))
}

// HintWindow waits for max(delay, min(hint, delay + Width)), as the AWS SDKs do for
// x-amz-retry-after since November 2026.
type HintWindow struct {
	Width time.Duration // 0 or less: 5 s
}

// Wait implements [HintRule].
func (r HintWindow) Wait(delay, hint time.Duration) (time.Duration, bool) {
	width := r.Width
	if width <= 0 {
		width = 5 * time.Second
	}
	return max(delay, min(hint, dur.Add(delay, width))), true
}

// Validate reports a negative Width.
func (r HintWindow) Validate() error {
	return invalid("hint rule", within("HintWindow", durationFaults("Width", r.Width)))
}

// HintIgnore waits for the delay alone, as most AWS SDKs did before 2026.
type HintIgnore struct{}

// Wait implements [HintRule].
func (HintIgnore) Wait(delay, _ time.Duration) (time.Duration, bool) { return delay, true }

// spread returns a wait with what [Do] adds to it, given the delay and a uniform random
// number. Only a wait that is longer than the delay is a hint.
func spread(rule HintRule, delay, wait time.Duration, u float64) time.Duration {
	exact := true
	switch r := rule.(type) {
	case nil:
		exact = false
	case HintAtLeast:
		exact = r.Exact
	case HintOrGiveUp:
		exact = r.Exact
	}
	if exact || wait <= delay {
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
