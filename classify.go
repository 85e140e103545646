package retry

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/gobackoff/retry/internal/errfacts"
)

// A Classifier decides what an error means for retrying. It is called at most once for
// each failed attempt, with a non-nil error; a zero Verdict means no opinion. It must be
// safe for concurrent use.
type Classifier interface {
	Classify(err error) Verdict
}

// A ClassifierFunc is a function used as a [Classifier].
type ClassifierFunc func(err error) Verdict

// Classify calls f.
func (f ClassifierFunc) Classify(err error) Verdict { return f(err) }

// FirstOf returns a Classifier that consults classifiers in order, up to the first
// class other than [ClassUnknown]. It keeps the other fields of earlier verdicts. Put
// your own before the default one:
//
//	retry.FirstOf(mine, retry.DefaultClassifier{})
func FirstOf(classifiers ...Classifier) Classifier { return firstOf(slices.Clone(classifiers)) }

type firstOf []Classifier

func (f firstOf) Classify(err error) Verdict {
	var all Verdict
	for _, c := range f {
		if c == nil {
			continue // Validate reports it
		}
		v := c.Classify(err)
		all.Class = v.Class
		all.Unrepeatable = all.Unrepeatable || v.Unrepeatable
		all.Progress = all.Progress || v.Progress
		if all.Hint <= 0 {
			all.Hint = v.Hint
		}
		if v.Class != ClassUnknown {
			break
		}
	}
	return all
}

func (f firstOf) Validate() error {
	var faults []string
	for i, c := range f {
		faults = append(faults, neededFaults("FirstOf["+strconv.Itoa(i)+"]", c)...)
	}
	return invalid("classifier", faults)
}

// OnlyIf retries only errors for which retryable returns true; nil means all errors. Their
// verdict is that of [DefaultClassifier], with a permanent or unknown class replaced by
// transient.
func OnlyIf(retryable func(error) bool) Classifier {
	return ClassifierFunc(func(err error) Verdict {
		if retryable != nil && !retryable(err) {
			return Verdict{Class: ClassPermanent}
		}
		v := DefaultClassifier{}.Classify(err)
		if v.Class == ClassPermanent || v.Class == ClassUnknown {
			v.Class = ClassTransient
		}
		return v
	})
}

// verdict returns what err means. In order of precedence, it considers markers, an inner
// call's give-up (which is permanent) and the Classifier. The class is never unknown.
func verdict(c Classifier, err error) Verdict {
	if c == nil {
		if class, unrepeatable, ok := errfacts.OfPlain(err); ok {
			return Verdict{Class: cmp.Or(Class(class), ClassTransient), Unrepeatable: unrepeatable} // as below, 10 ns faster
		}
		c = DefaultClassifier{}
	}
	var m marks
	m.read(err)
	v := m.Verdict
	if v.Class == ClassUnknown {
		found := c.Classify(err)
		v.Class = found.Class
		v.Unrepeatable = v.Unrepeatable || found.Unrepeatable
		v.Progress = v.Progress || found.Progress
		if !m.after {
			v.Hint = max(0, found.Hint)
		}
		if v.Class == ClassUnknown || v.Class == ClassPermanent && m.after {
			v.Class = ClassTransient
		}
	}
	if v.Hint == 0 && !m.after {
		v.Hint = m.own
	}
	return v
}

// isAnswer reports whether a permanent err is one even if the context is done, because a
// marker, or the error's own status or code, says so.
func isAnswer(err error) bool {
	var m marks
	m.read(err)
	if m.Class != ClassUnknown {
		return !m.gaveUp
	}
	f := errfacts.Read(err)
	return f.IsResponse()
}

// DefaultClassifier inspects the methods, fields and well-known types of errors, so it
// understands the errors of many libraries without importing them. In order of
// precedence, it considers
//
//   - methods that forbid a retry: RetryableError() bool, Retryable() bool,
//     IsRetryable() bool, NonRetriable(), NonRetryable() bool and CanceledError() bool;
//   - throttling: statuses 429 and 529, ErrorCode() string with a throttling code of AWS,
//     and what libraries report as throttling;
//   - methods that allow a retry: those, SafeToRetry() bool, MongoDB's labels;
//   - HTTP statuses, from HTTPStatusCode() int, HTTPCode() int or StatusCode() int: 408 is
//     a timeout; 421, 423, 425 and 500 to 529 are transient, except 501, 505, 506, 508, 510
//     and 511, permanent like other 4xx to 431;
//   - SQLState() string and Redis replies;
//   - codes of gRPC, databases, Kafka, AMQP, SMTP and others, and fields StatusCode,
//     HTTPStatusCode or Response with an HTTP status;
//   - Timeout() bool, ConnectionError() bool, the errors of package net, and io.EOF:
//     timeouts, broken connections and unknown host names are retried; failed TLS
//     handshakes, invalid certificates, addresses, requests are not;
//   - failures that a retry cannot fix: fs.ErrNotExist, exec.ErrNotFound, sql.ErrNoRows,
//     encoding errors, texts such as "key not found".
//
// docs/errors.md lists every error. A few, such as a connection lost during a MySQL
// statement, are unrepeatable: see [Unrepeatable]. Any other error is [ClassUnknown]. A
// context.Canceled is the operation's own, because [Do] checks its context, and permanent.
// Methods that panic are ignored.
type DefaultClassifier struct{}

// Classify implements [Classifier]. It ignores markers; [Policy.Classify] does not.
func (DefaultClassifier) Classify(err error) Verdict {
	c, unrepeatable := errfacts.Classify(err, nil)
	return Verdict{Class: Class(c), Unrepeatable: unrepeatable}
}
