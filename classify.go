package retry

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gobackoff/retry/internal/errfacts"
)

// A Classifier decides what an error means for retrying. It is called once for
// every failed attempt, with an error that is not nil, and returns [ClassUnknown]
// where it has no opinion. It must be safe for concurrent use. Markers win over every
// Classifier: see [Permanent].
type Classifier interface {
	Classify(err error) Class
}

// A ClassifierFunc is a function used as a [Classifier].
type ClassifierFunc func(err error) Class

// Classify calls f.
func (f ClassifierFunc) Classify(err error) Class { return f(err) }

// FirstOf asks classifiers in order and returns the first result that is not
// [ClassUnknown]. Put your own rules before the default ones:
//
//	retry.FirstOf(mine, retry.DefaultClassifier{})
func FirstOf(classifiers ...Classifier) Classifier { return firstOf(slices.Clone(classifiers)) }

type firstOf []Classifier

func (f firstOf) Classify(err error) Class {
	for _, c := range f {
		if c == nil {
			continue // Validate reports it
		}
		if class := c.Classify(err); class != ClassUnknown {
			return class
		}
	}
	return ClassUnknown
}

// Validate reports classifiers that are nil or invalid.
func (f firstOf) Validate() error {
	var faults []string
	for i, c := range f {
		faults = append(faults, neededFaults(fmt.Sprintf("FirstOf[%d]", i), c)...)
	}
	return invalid("classifier", faults)
}

// OnlyIf retries only the errors for which retryable returns true: an allow-list.
// Their class is what [DefaultClassifier] says, or transient if it says that they are
// permanent or nothing.
func OnlyIf(retryable func(error) bool) Classifier { return onlyIf(retryable) }

type onlyIf func(error) bool

func (retryable onlyIf) Classify(err error) Class {
	if !retryable(err) {
		return ClassPermanent
	}
	if class := (DefaultClassifier{}).Classify(err); class != ClassPermanent {
		return max(class, ClassTransient)
	}
	return ClassTransient
}

// classify sets what Err says about retrying. It applies the rules that hold for
// every policy: markers first, then an inner call's give-up, which is
// permanent, then the time limit of the attempt, then the Classifier. What nothing knows
// is transient. It reports whether Err is marked with Progress.
func (a *Attempt) classify(c Classifier, overtime bool) (progress bool) {
	if c == nil && errfacts.IsPlain(a.Err) && a.Err != ErrInvalid && !overtime {
		a.Class = ClassTransient // as the rules below would have it, 10 ns sooner
		return false
	}
	var m mark
	m.read(a.Err, overtime)
	if m.class == ClassUnknown {
		switch {
		case overtime && !isAnswer(a.Err):
			m.class = ClassTimeout
		case c == nil:
			m.class = DefaultClassifier{}.Classify(a.Err)
		default:
			m.class = c.Classify(a.Err)
		}
		if m.class == ClassUnknown || m.class == ClassPermanent && m.after {
			m.class = ClassTransient
		}
	}
	a.Class, a.Unrepeatable, a.Hint = m.class, m.unrepeatable, m.hint
	return m.progress
}

// final reports whether the failure stands although the context has ended: it is
// permanent by a marker, or by a status or code of its own.
func (a *Attempt) final() bool {
	if a.Class != ClassPermanent {
		return false
	}
	var m mark
	m.read(a.Err, false)
	if m.class != ClassUnknown {
		return !m.gaveUp
	}
	return isAnswer(a.Err)
}

// isAnswer reports whether err has a status or a code: the response has arrived.
func isAnswer(err error) bool {
	f := errfacts.Read(err)
	return f.IsResponse()
}

// DefaultClassifier reads what errors say of themselves through methods and
// standard types, so that it understands the errors of many libraries without
// importing them. It knows, in order of precedence:
//
//   - an error's own no: RetryableError() bool, Retryable() bool,
//     NonRetriable() or CanceledError() bool;
//   - throttling: a throttling code of AWS, as ErrorCode() string, or status
//     429, as HTTPStatusCode() int or HTTPCode() int;
//   - an error's own yes: RetryableError, Retryable, SafeToRetry() bool, or the
//     labels TransientTransactionError and RetryableWriteError of
//     HasErrorLabel(string) bool;
//   - the timeout codes of AWS;
//   - other statuses: 408 is a timeout, 425 and all of 5xx but 501 and 505 are
//     transient, the rest of 4xx, 501 and 505 are permanent, others say nothing;
//   - SQLState() string: serialization failures, deadlocks, locks, lost
//     connections and shutdowns are transient, a lack of resources is
//     throttled, all other states are permanent, those whose outcome is not
//     known (40003, 08007) included;
//   - RedisError(): BUSY, LOADING, READONLY, MASTERDOWN, CLUSTERDOWN and
//     TRYAGAIN are transient, other replies are permanent;
//   - Timeout() bool and ConnectionError() bool, the errors of package net, and
//     io.EOF: timeouts and broken connections are worth a retry, a name that
//     DNS does not know and a failed TLS handshake or certificate are not.
//
// About anything else it has no opinion. Nothing here reads HTTP headers or
// bodies, and package net/http has no error for a status: the operation makes
// an error with such methods. A context's end is not its business:
// the call looks at its own context, and an attempt that ran into a time limit
// of its own is a timeout. Methods that panic on half-built values are treated
// as absent.
type DefaultClassifier struct{}

// Classify returns the class of err.
func (DefaultClassifier) Classify(err error) Class {
	f := errfacts.Read(err)
	if !f.Methods && !f.Canceled && f.Kind == errfacts.NoKind {
		return ClassUnknown
	}
	throttled := f.Status == 429 || errfacts.IsThrottlingCode(f.Code)
	switch {
	case f.Canceled || f.Verdict == errfacts.No:
		return ClassPermanent
	case throttled:
		return ClassThrottled
	case f.Verdict == errfacts.Yes:
		return ClassTransient
	case f.Code == "RequestTimeout" || f.Code == "RequestTimeoutException":
		return ClassTimeout
	case f.Status >= 400:
		return classOfStatus(f.Status)
	case f.SQLState != "":
		return classOfSQLState(f.SQLState)
	case f.Redis != "":
		return classOfRedis(f.Redis)
	}
	switch f.Kind {
	case errfacts.Timeout:
		return ClassTimeout
	case errfacts.NotFound, errfacts.TLS:
		return ClassPermanent
	case errfacts.Connection, errfacts.Closed, errfacts.Truncated:
		return ClassTransient
	}
	return ClassUnknown
}

func classOfStatus(status int) Class {
	switch {
	case status == 408:
		return ClassTimeout
	case status == 425, status >= 500 && status != 501 && status != 505:
		return ClassTransient
	}
	return ClassPermanent
}

// classOfSQLState follows the list in "PostgreSQL Error Codes", appendix A of
// its manual. 40001 and 40P01 mean that the whole transaction must run again,
// not the statement alone.
func classOfSQLState(state string) Class {
	switch state {
	case "40001", "40P01", "55P03", "55006", "57P01", "57P02", "57P03",
		"58000", "58030", "08000", "08001", "08003", "08004", "08006":
		return ClassTransient
	}
	if strings.HasPrefix(state, "53") {
		return ClassThrottled
	}
	return ClassPermanent
}

// classOfRedis reads the first word of an error reply.
func classOfRedis(reply string) Class {
	word, _, _ := strings.Cut(reply, " ")
	switch word {
	case "BUSY", "LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN":
		return ClassTransient
	}
	return ClassPermanent
}
