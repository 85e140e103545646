package retry

import (
	"strconv"
	"time"
)

// An Attempt describes one call of the operation.
type Attempt struct {
	Number  int           // 1 for the first attempt
	Waited  time.Duration // the wait before this attempt; 0 for the first
	Err     error         // nil until the attempt fails
	Verdict               // what Err means
}

// A Verdict is what an error means for retrying.
type Verdict struct {
	Class        Class // ClassUnknown counts as transient
	Unrepeatable bool  // a retry could apply the operation twice: see [Unrepeatable]
	Progress     bool  // the attempt did useful work: see [Progress]

	// GaveUp means that a retry loop inside the operation has given up: an inner call of
	// Do, or the loop of another library. Do does not retry the error, because the inner
	// loop has. The other fields describe the last failure of the inner loop. If that failure is
	// neither permanent nor unrepeatable, another server may succeed, or this one after some
	// minutes.
	GaveUp bool

	Hint time.Duration // the wait that the server asks for; 0: the error's own, if any
}

// ends reports whether the failure ends a call, which then returns the operation's error.
func (v *Verdict) ends() bool { return v.Class == ClassPermanent || v.GaveUp }

// retriesBefore returns the n of the formulas: the number of retries up to and including
// the attempt with the given number.
func retriesBefore(number int) int { return max(1, number) - 1 }

// A Class is what an error means for retrying.
type Class uint8

const (
	ClassUnknown   Class = iota // no rule knows the error; it is retried like a transient one
	ClassPermanent              // would fail again: not retried
	ClassTransient              // may succeed later
	ClassTimeout                // no response in time; the outcome is unknown
	ClassThrottled              // the server is overloaded or limits the caller's rate
)

var classNames = [...]string{"unknown", "permanent", "transient", "timeout", "throttled"}

// String returns the class in lower case.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return "class(" + strconv.Itoa(int(c)) + ")"
}
