package retry

import (
	"strconv"
	"time"
)

// An Attempt is what is known about one call of the operation.
type Attempt struct {
	// With one more field, an Attempt and a rule with three fields would not both
	// fit into registers, which would double the time of Delay.
	Number       int           // 1 for the first attempt
	Waited       time.Duration // the wait before this attempt; 0 for the first
	Err          error         // the failure; nil before the attempt ends, and if it succeeded
	Class        Class         // how Err was classified
	Unrepeatable bool          // Err forbids a retry: see [Unrepeatable]
	Hint         time.Duration // the wait that the server asked for; 0: none
}

// retriesBefore returns the number of retries before the one that may follow the
// attempt with that number: n in the formulas.
func retriesBefore(number int) int { return max(1, number) - 1 }

// A Class says what an error means for retrying.
type Class uint8

const (
	ClassUnknown   Class = iota // no opinion: the next classifier decides; if none does, transient
	ClassPermanent              // the same call would fail again: no retry
	ClassTransient              // the same call may succeed later
	ClassTimeout                // no response in time; the outcome is unknown
	ClassThrottled              // the server is overloaded, or limits the caller's rate
)

var classNames = [...]string{"unknown", "permanent", "transient", "timeout", "throttled"}

// String returns the name of the class in lower case.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return "class(" + strconv.Itoa(int(c)) + ")"
}
