package retry

import (
	"fmt"
	"slices"

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

func (f firstOf) Classify(err error) Class { return alone(f.judge(err)) }

func (f firstOf) judge(err error) (class Class, unrepeatable bool) {
	for _, c := range f {
		if class, unrepeatable = judge(c, err); class != ClassUnknown {
			return class, unrepeatable
		}
	}
	return ClassUnknown, false
}

// judge returns the class of err according to c, and whether the operation may
// have taken effect, which only a [DefaultClassifier] can report.
func judge(c Classifier, err error) (class Class, unrepeatable bool) {
	switch c := c.(type) {
	case nil:
		return ClassUnknown, false // Validate reports it
	case interface{ judge(error) (Class, bool) }:
		return c.judge(err)
	}
	return c.Classify(err), false
}

// alone returns one class for both results of judge: [ClassPermanent] if the
// operation may have taken effect.
func alone(class Class, unrepeatable bool) Class {
	if unrepeatable {
		return ClassPermanent
	}
	return class
}

// Validate reports classifiers that are nil or invalid.
func (f firstOf) Validate() error {
	var faults []string
	for i, c := range f {
		faults = append(faults, neededFaults(fmt.Sprintf("FirstOf[%d]", i), c)...)
	}
	return invalid("classifier", faults)
}

// OnlyIf returns a Classifier that retries only the errors for which retryable
// returns true. Their class is that of [DefaultClassifier], or transient if that is
// permanent or unknown.
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

// classify sets the fields that depend on Err. Every policy has the same order: first
// markers, then an inner call's give-up, which is permanent, then the time limit of the
// attempt, then the Classifier. An error of unknown class is transient. classify reports
// whether Err is marked with Progress.
func (a *Attempt) classify(c Classifier, overtime bool) (progress bool) {
	if c == nil && errfacts.IsPlain(a.Err) && a.Err != ErrInvalid && !overtime {
		a.Class = ClassTransient // the result of the rules below, 10 ns faster
		return false
	}
	return a.classifyByRules(c, overtime)
}

// classifyByRules is a function of its own because its stack frame is large.
func (a *Attempt) classifyByRules(c Classifier, overtime bool) (progress bool) {
	var m mark
	m.read(a.Err, overtime)
	if m.class == ClassUnknown {
		if c == nil {
			c = DefaultClassifier{}
		}
		if overtime && !isResponse(a.Err) {
			m.class = ClassTimeout
		} else {
			class, unrepeatable := judge(c, a.Err)
			m.class, m.unrepeatable = class, m.unrepeatable || unrepeatable && !m.after
		}
		if m.class == ClassUnknown || m.class == ClassPermanent && m.after {
			m.class = ClassTransient
		}
	}
	a.Class, a.Unrepeatable, a.Hint = m.class, m.unrepeatable, m.hint
	return m.progress
}

// final reports whether the failure is returned even if the context is done: a
// marker, or the error's own status or code, makes it permanent.
func (a *Attempt) final() bool {
	if a.Class != ClassPermanent {
		return false
	}
	var m mark
	m.read(a.Err, false)
	if m.class != ClassUnknown {
		return !m.gaveUp
	}
	return isResponse(a.Err)
}

// isResponse reports whether err has a status or a code, so that a response has
// arrived.
func isResponse(err error) bool {
	f := errfacts.Read(err)
	return f.IsResponse()
}

// DefaultClassifier reads what errors report through methods, fields and well-known
// types, so that it understands the errors of many libraries without importing them.
// It knows, in order of precedence:
//
//   - methods that forbid a retry: RetryableError() bool, Retryable() bool,
//     NonRetriable() and CanceledError() bool;
//   - throttling: status 429, ErrorCode() string with a throttling code of AWS, and
//     what other libraries report as throttling;
//   - methods that allow a retry: RetryableError, Retryable, SafeToRetry() bool, and
//     the labels of MongoDB;
//   - HTTP statuses, as HTTPStatusCode() int or HTTPCode() int: 408 is a timeout, 425
//     and all of 5xx but 501 and 505 are transient, the rest of 4xx, 501 and 505 are
//     permanent;
//   - SQLState() string, and the replies of Redis;
//   - errors of gRPC, Connect, Kubernetes, Google, MySQL, SQL Server, SQLite and
//     MongoDB, and of any type with a field StatusCode, HTTPStatusCode or Response;
//   - Timeout() bool and ConnectionError() bool, the errors of package net, and
//     io.EOF: timeouts, broken connections and unknown host names are retried, failed
//     TLS handshakes and invalid certificates are not;
//   - local failures that a retry does not repair: fs.ErrNotExist, exec.ErrNotFound,
//     sql.ErrNoRows, and errors of JSON.
//
// The table in docs/errors.md has each error. In some cases the operation may have
// taken effect, such as a MySQL statement whose connection was lost: those errors are
// unrepeatable, see [Unrepeatable]. For any other error it returns [ClassUnknown].
// [Do] checks its own context, so a context.Canceled that reaches the classifier is
// the operation's own, and permanent. Methods that panic on half-built values are
// treated as absent.
type DefaultClassifier struct{}

// Classify returns the class of err. A Class alone cannot say that a retryable
// failure must not be repeated: Classify returns [ClassPermanent] for it, while [Do]
// keeps the class and sets Attempt.Unrepeatable.
func (c DefaultClassifier) Classify(err error) Class {
	return alone(c.judge(err))
}

func (DefaultClassifier) judge(err error) (class Class, unrepeatable bool) {
	c, unrepeatable := errfacts.Classify(err)
	return Class(c), unrepeatable
}
