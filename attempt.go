package retry

import (
	"strconv"
	"time"
)

// An Attempt is what is known about one call of the operation.
type Attempt struct {
	// One more field would not fit into the registers beside a rule of three, and
	// would double the time of its Delay.
	Number       int           // 1 for the first attempt
	Waited       time.Duration // the wait before this attempt; 0 for the first
	Err          error         // the failure; nil before the attempt ends, and if it succeeded
	Class        Class         // how Err was classified
	Unrepeatable bool          // Err forbids a retry: see [Unrepeatable]
	Hint         time.Duration // the wait that the server asked for; 0: none
}

// retriesBefore returns how many retries came before the one that may follow
// the attempt of that number: the n of the formulas.
func retriesBefore(number int) int { return max(1, number) - 1 }

// A Class says what an error means for retrying.
type Class uint8

const (
	ClassUnknown   Class = iota // no opinion: the next classifier is asked; in the end it means transient
	ClassPermanent              // the same call would fail again: no retry
	ClassTransient              // may pass without a change
	ClassTimeout                // no response in time; what happened is not known
	ClassThrottled              // the server is overloaded, or limits the caller's rate
)

var classNames = [...]string{"unknown", "permanent", "transient", "timeout", "throttled"}

// String returns the lower-case word for the class.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return "class(" + strconv.Itoa(int(c)) + ")"
}
