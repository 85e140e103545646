package retry

import (
	"fmt"
	"slices"

	"github.com/gobackoff/retry/internal/errfacts"
)

// A Classifier decides what an error means for retrying. It is called at most once for
// each failed attempt, with a non-nil error, and returns [ClassUnknown] if it has no
// opinion. It must be safe for concurrent use.
type Classifier interface {
	Classify(err error) Class
}

// A ClassifierFunc is a function used as a [Classifier].
type ClassifierFunc func(err error) Class

// Classify calls f.
func (f ClassifierFunc) Classify(err error) Class { return f(err) }

// FirstOf returns a Classifier that consults classifiers in order and returns the
// first class other than [ClassUnknown]. Put your own before the default one:
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

// judge classifies err with c. Only a [DefaultClassifier] can report that the
// operation may have taken effect.
func judge(c Classifier, err error) (class Class, unrepeatable bool) {
	switch c := c.(type) {
	case nil:
		return ClassUnknown, false // Validate reports it
	case interface{ judge(error) (Class, bool) }:
		return c.judge(err)
	}
	return c.Classify(err), false
}

// alone reduces the results of judge to a class.
func alone(class Class, unrepeatable bool) Class {
	if unrepeatable {
		return ClassPermanent
	}
	return class
}

func (f firstOf) Validate() error {
	var faults []string
	for i, c := range f {
		faults = append(faults, neededFaults(fmt.Sprintf("FirstOf[%d]", i), c)...)
	}
	return invalid("classifier", faults)
}

// OnlyIf returns a Classifier that retries only errors for which retryable returns true.
// Their class is what [DefaultClassifier] returns, or transient if that is permanent or
// unknown.
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

// classify sets the fields that depend on Err and reports whether Err is marked with
// Progress. In order of precedence, it considers markers, an inner call's give-up
// (which is permanent), the attempt's time limit, and the Classifier. An error of
// unknown class is transient.
func (a *Attempt) classify(c Classifier, overtime bool) (progress bool) {
	if c == nil && errfacts.IsPlain(a.Err) && a.Err != ErrInvalid && !overtime {
		a.Class = ClassTransient // the result of classifyByRules, 10 ns faster
		return false
	}
	return a.classifyByRules(c, overtime)
}

// classifyByRules is not part of classify because its stack frame is large.
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

// final reports whether the failure is returned even if the context is done, because a
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

// isResponse reports whether err has a status or a code, which means that a response
// has arrived.
func isResponse(err error) bool {
	f := errfacts.Read(err)
	return f.IsResponse()
}

// DefaultClassifier inspects the methods, fields and well-known types of errors, so it
// understands the errors of many libraries without importing them. In order of
// precedence, it considers
//
//   - methods that forbid a retry: RetryableError() bool, Retryable() bool,
//     NonRetriable() and CanceledError() bool;
//   - throttling: status 429, ErrorCode() string with a throttling code of AWS, and
//     what other libraries report as throttling;
//   - methods that allow a retry: RetryableError, Retryable, SafeToRetry() bool, and
//     MongoDB's labels;
//   - HTTP statuses, from HTTPStatusCode() int or HTTPCode() int: 408 is a timeout; 425
//     and 5xx except 501 and 505 are transient; the rest of 4xx and 5xx is permanent;
//   - SQLState() string and Redis replies;
//   - errors of gRPC, Connect, Kubernetes, Google, MySQL, SQL Server, SQLite and
//     MongoDB, and of any type with a field StatusCode, HTTPStatusCode or Response;
//   - Timeout() bool, ConnectionError() bool, the errors of package net, and io.EOF:
//     timeouts, broken connections and unknown host names are retried; failed TLS
//     handshakes and invalid certificates are not;
//   - local failures that a retry cannot fix: fs.ErrNotExist, exec.ErrNotFound,
//     sql.ErrNoRows, and JSON errors.
//
// docs/errors.md lists every error. A few, such as a connection lost during a MySQL
// statement, are unrepeatable because the operation may have taken effect: see
// [Unrepeatable]. Other lost connections and timeouts are retried. Any other error is
// [ClassUnknown]. [Do] checks its own context, so a context.Canceled that reaches the
// classifier is the operation's own, and permanent. Methods that panic are ignored.
type DefaultClassifier struct{}

// Classify returns the class of err. For an unrepeatable error it returns
// [ClassPermanent], while [Do] keeps the class and sets Attempt.Unrepeatable.
func (c DefaultClassifier) Classify(err error) Class {
	return alone(c.judge(err))
}

func (DefaultClassifier) judge(err error) (class Class, unrepeatable bool) {
	c, unrepeatable := errfacts.Classify(err)
	return Class(c), unrepeatable
}
