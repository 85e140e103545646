// Package errfacts reads what errors report about themselves, through methods
// and well-known types, without importing the libraries that they come from.
package errfacts

import "time"

// Facts are what an error and the errors it wraps report. If several of them report a
// status, a code or the like, the outermost counts.
type Facts struct {
	Err      error   // what the facts are about
	Verdict  Verdict // what the error's methods report about retrying
	Status   int     // HTTP
	Code     string  // the error code of a service such as AWS
	Message  string
	Redis    string // an error reply
	Canceled bool   // by the caller; a cancellation beside another failure does not count
	Lost     bool   // no connection was made, or the error reports itself as temporary
	Kind     Kind

	// Only retry.DefaultClassifier uses the rest: the AWS SDKs have no such errors.
	Class        Class // the class that a library or server reports
	Reasons      Class // what the reasons of a canceled transaction mean
	Fallback     Class // the class to use if nothing else is known
	Unrepeatable bool  // the operation may have taken effect
	Overtime     bool  // the attempt exceeded its time limit
	Renewed      bool  // the library renews the credentials that expired

	inTree         bool // the current error is in a tree
	canceledBranch bool // of a tree
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
		f.inTree = walk.branched
		f.readOne(err)
		err = walk.Next(err)
	}
	f.Canceled = (f.Canceled || f.canceledBranch && !f.isKnown()) && !f.Overtime // by the time limit
}

// readOne reads err, ignoring the errors that it wraps.
func (f *Facts) readOne(err error) {
	info := infoOf(err)
	switch {
	case info.blank:
	case info.origin == plain:
		f.readVariable(err)
	default:
		f.readType(err, info)
		if info.methods {
			f.readMethods(info.receiver(err))
		}
	}
}

// readVariable reads an error created by errors.New.
func (f *Facts) readVariable(err error) {
	v := OfVariable(err)
	if v.Class == Canceled {
		f.cancel()
		return
	}
	f.Kind = max(f.Kind, v.Kind)
	f.Fallback = max(f.Fallback, v.Class)
	f.Unrepeatable = f.Unrepeatable || v.Unrepeatable && f.Verdict != Yes
	if f.Kind == Request && isInvalidRequest(err.Error()) {
		f.Kind = Invalid
	}
}

// cancel records that the caller canceled the operation. In a tree, such as the errors of
// a fan-out that ends with the first failure, the other errors decide.
func (f *Facts) cancel() {
	if f.inTree {
		f.canceledBranch = true
	} else {
		f.Canceled = true
	}
}

// isKnown reports whether anything but a cancellation is known about the error.
func (f *Facts) isKnown() bool {
	return f.IsResponse() || f.Verdict != None || f.Fallback != Unknown || f.Kind > Request
}

// IsResponse reports whether the error is a server's response, that is, has a status
// or a code. A query that the caller canceled does not count, although PostgreSQL
// has a code for it.
func (f *Facts) IsResponse() bool {
	return f.Status != 0 || f.Code != "" || f.Redis != "" || f.Class != Unknown || f.Reasons != Unknown
}
