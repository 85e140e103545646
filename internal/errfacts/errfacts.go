// Package errfacts reads what errors report about themselves, through methods
// and well-known types, without importing the libraries that they come from.
package errfacts

import "time"

// Facts are what an error and the errors it wraps report. If several of them report a
// status, a code or the like, the outermost counts.
type Facts struct {
	Err      error   // what the facts are about
	Said     Verdict // what the error's methods report about retrying
	Status   int     // HTTP
	Code     string  // the error code of a service such as AWS
	Message  string
	Redis    string // an error reply
	Canceled bool   // by the caller; a cancellation beside another failure does not count
	Lost     bool   // no connection was made, or the error reports itself as temporary
	Unsent   bool   // nothing of the request was sent
	Broken   bool   // the connection was lost, or could not be made
	Kind     Kind
	Hint     time.Duration // the wait that the error asks for

	// Only retry.DefaultClassifier uses the rest: the AWS SDKs have no such errors.
	Class        Class // the class that a library or server reports
	Reasons      Class // what the reasons of a canceled transaction mean
	Fallback     Class // the class to use if nothing else is known
	Unrepeatable bool  // the operation may have taken effect
	Overtime     bool  // the attempt exceeded its time limit
	Renewed      bool  // the library renews the credentials that expired

	now         outcome // what the current error says
	unprocessed bool    // the status in a field says so
}

// Overtime is the failure of an attempt that exceeded its time limit.
type Overtime struct {
	Err   error
	Limit time.Duration
}

func (e *Overtime) Error() string {
	return "attempt exceeded " + e.Limit.String() + ": " + e.Err.Error()
}

// Unwrap returns the operation's error.
func (e *Overtime) Unwrap() error { return e.Err }

// Timeout returns true.
func (*Overtime) Timeout() bool { return true }

// Verdict is what an error reports about retrying, with methods such as Retryable.
type Verdict uint8

// The verdicts. If an error reports both, No wins.
const (
	None Verdict = iota
	Yes
	No
)

// Kind is the kind of failure that a transport reports. Higher values are more
// specific, and the highest in an error's chain counts.
type Kind uint8

// The kinds.
const (
	NoKind     Kind = iota
	Request         // of package net/http, without further detail
	Connection      // refused, reset, unreachable
	Closed          // ended before a response: io.EOF
	Truncated       // ended within a response: io.ErrUnexpectedEOF
	Timeout
	NotFound // no such host name in DNS
	TLS      // certificate or handshake
	Invalid  // address or request
)

// Read returns the facts about err, which may be nil.
func Read(err error) Facts {
	f := Facts{Err: err}
	f.read(err)
	return f
}

// read collects the facts about err and the errors that it wraps.
func (f *Facts) read(err error) {
	var walk Walk
	for err != nil {
		f.Learn(err)
		err = f.Step(&walk, err)
	}
	f.Conclude(&walk)
}

// Step returns the error to learn from after err, or nil at the end.
func (f *Facts) Step(walk *Walk, err error) error {
	f.Canceled = f.Canceled || f.now.canceled && len(walk.trees) == 0
	walk.said.canceled = walk.said.canceled || f.now.canceled
	walk.said.unsent = walk.said.unsent || f.now.unsent
	f.now = outcome{}
	return walk.Next(err)
}

// Conclude decides what only all of the errors together say. In a tree, a cancellation does not
// count beside an error about which something is known.
func (f *Facts) Conclude(walk *Walk) {
	f.Canceled = f.Canceled || walk.said.canceled && !f.isKnown()
	f.Canceled = f.Canceled && !f.Overtime // by the time limit
	f.Unsent = walk.said.unsent
	f.Broken = f.Broken || f.Kind == Connection || f.Kind == Closed || f.Kind == Truncated
}

// cancel records that the caller canceled the operation.
func (f *Facts) cancel() { f.now.canceled = true }

// isKnown reports whether anything but a cancellation is known about the error.
func (f *Facts) isKnown() bool {
	return f.IsResponse() || f.Said != None || f.Fallback != Unknown || f.Kind > Request
}

// IsResponse reports whether the error is a server's response, that is, has a status
// or a code. A query that the caller canceled does not count, although PostgreSQL
// has a code for it.
func (f *Facts) IsResponse() bool {
	return f.Status != 0 || f.Code != "" || f.Redis != "" || f.Class != Unknown || f.Reasons != Unknown
}
