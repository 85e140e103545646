package retry

import (
	"slices"
	"strconv"

	"github.com/gobackoff/retry/internal/errfacts"
)

// A Classifier decides what an error means for retrying. It is called at most once for
// each failed attempt. err is not nil. A zero Verdict means that the Classifier does not know
// the error, which is then retried. It must be safe for concurrent use.
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
//
// The result has a method Unwrap() []Classifier, like that of [Codes].
func FirstOf(classifiers ...Classifier) Classifier { return firstOf(slices.Clone(classifiers)) }

type firstOf []Classifier

func (f firstOf) Classify(err error) Verdict {
	r := readFacts(err)
	return f.classify(&r)
}

func (f firstOf) classify(r *reading) Verdict {
	var all Verdict
	for _, c := range f {
		if c == nil {
			continue // Validate reports it
		}
		v := r.classify(c)
		all.Class = v.Class
		all.Unrepeatable = all.Unrepeatable || v.Unrepeatable
		all.Progress = all.Progress || v.Progress
		all.GaveUp = all.GaveUp || v.GaveUp
		if all.Hint <= 0 {
			all.Hint = v.Hint
		}
		if v.Class != ClassUnknown {
			break
		}
	}
	return all
}

// Unwrap returns the classifiers. See Codes.Unwrap.
func (f firstOf) Unwrap() []Classifier { return slices.Clone(f) }

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
func OnlyIf(retryable func(error) bool) Classifier { return onlyIf{retryable} }

type onlyIf struct{ retryable func(error) bool }

func (f onlyIf) Classify(err error) Verdict {
	r := readFacts(err)
	return f.classify(&r)
}

func (f onlyIf) classify(r *reading) Verdict {
	if f.retryable != nil && !f.retryable(r.err) {
		return Verdict{Class: ClassPermanent}
	}
	v := r.byFacts()
	if v.Class == ClassPermanent || v.Class == ClassUnknown {
		v.Class = ClassTransient
	}
	return v
}

// judgeError sets v to what err means. The most common error wraps nothing, so it has no marks and
// needs no walk. Nothing here returns a Verdict on the way, because to copy one whose fields have
// just been set takes as long as half a walk.
func (v *Verdict) judgeError(c Classifier, err error) {
	if c == nil && errfacts.IsPlain(err) && err != ErrInvalid {
		class, unrepeatable := errfacts.Classify(err)
		*v = Verdict{Class: Class(class), Unrepeatable: unrepeatable}
		return
	}
	var r reading
	r.readError(err)
	r.decideVerdict(v, c)
}

// decideVerdict sets v to what the error that r has read means. Marks precede the Classifier. If an
// inner loop gave up, the Classifier is asked about that loop's last failure.
func (r *reading) decideVerdict(v *Verdict, c Classifier) {
	v.Class, v.Unrepeatable, v.Progress, v.GaveUp, v.Hint = r.Class, r.Unrepeatable, r.Progress, r.GaveUp, r.Hint
	if v.Class == ClassUnknown && r.err != nil && r.judged == nil {
		found := r.classify(c)
		v.Class = found.Class
		v.Unrepeatable = v.Unrepeatable || found.Unrepeatable
		v.GaveUp = v.GaveUp || found.GaveUp
		if !r.GaveUp {
			v.Progress = v.Progress || found.Progress
		}
		if !r.after {
			v.Hint = max(0, found.Hint)
		}
		if v.Class == ClassPermanent && (r.after || r.GaveUp && r.facts.Canceled) {
			v.Class = ClassTransient // the cancellation ended the inner loop, and says nothing about the operation
		}
	}
	if v.Hint == 0 && !r.after {
		v.Hint = r.facts.Hint
	}
}

// classify asks c about the error. Those Classifiers of this package that cannot be embedded
// decide by what r has read already; all others read the error themselves.
func (r *reading) classify(c Classifier) Verdict {
	switch own := c.(type) {
	case nil, DefaultClassifier:
		return r.byFacts()
	case firstOf:
		return own.classify(r)
	case onlyIf:
		return own.classify(r)
	case permanentIf:
		return own.classify(r)
	}
	return c.Classify(r.err)
}

// byFacts returns what [DefaultClassifier] says.
func (r *reading) byFacts() Verdict {
	c, unrepeatable := r.facts.Verdict()
	return Verdict{Class: Class(c), Unrepeatable: unrepeatable}
}

// readFacts reads err for a Classifier that is called directly. It ignores markers.
func readFacts(err error) reading { return reading{err: err, facts: errfacts.Read(err)} }

// isAnswer reports whether a permanent err is one even if the context is done, because a
// marker, or the error's own status or code, says so.
func isAnswer(err error) bool {
	var r reading
	r.readError(err)
	switch {
	case r.GaveUp:
		return false
	case r.judged != nil:
		return isAnswer(r.judged)
	case r.Class != ClassUnknown:
		return r.Class == ClassPermanent
	}
	return r.facts.IsResponse()
}

// DefaultClassifier inspects the methods, fields, types and identity of errors, so it
// understands the errors of many libraries without importing them. The first match counts:
//
//	error                                                               class
//	marked with Permanent, Transient, Throttled, …                      as marked
//	inner Do, or another library's loop, that gave up                   as its last failure; not retried
//	another library's permanent marker                                  permanent
//	listed in PermanentIf, by errors.Is                                 permanent
//	context.Canceled, not joined with another failure                   permanent
//	method Retryable() bool, NonRetriable(), SafeToRetry() bool, …      as it says
//	code insufficient_quota, billing_…                                  permanent
//	status 420, 429, 430, 529; throttling code; type …RateLimitError    throttled
//	409 Conflict of Kubernetes or AWS; 409 of clients that retry it     transient
//	status 501, 505, 506, 508, 510, 511, 525, 526                       permanent
//	status 408, 421, 423, 425; other status from 500 to 529             transient
//	other status from 400 to 431                                        permanent
//	code of gRPC, Connect, SQL, Redis, Kafka, AMQP, SMTP, …             as the vendor says
//	connection lost after a statement or COMMIT was sent                unrepeatable
//	timeout; connection refused, reset; EOF; unknown host               transient
//	bad certificate, address, request; type of a package encoding/…     permanent
//	fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, exec.ErrNotFound     permanent
//	known variable, such as "sql: no rows in result set", "redis: nil"  permanent
//	anything else, such as errors.New("order not found")                unknown, so retried
//
// docs/reference/errors.md lists the errors of each library.
//
//   - These methods say whether a retry helps: RetryableError() bool, Retryable() bool,
//     Retriable() bool, IsRetryable() bool, CanRetry() bool, ShouldRetry() bool, NonRetriable() and
//     CanceledError() bool. NonRetryable() bool, Permanent() bool, IsPermanent() bool,
//     Transient() bool, IsTransient() bool, SafeToRetry() bool and MongoDB's labels count only
//     if they return true.
//   - A status comes from a method HTTPStatusCode() int, HTTPCode() int, StatusCode() int or
//     GetStatusCode() int, from a field of type *http.Response, or from a number in a field
//     StatusCode, HTTPStatusCode, HTTPStatus, HTTPCode or ResponseStatusCode, in upper or lower case.
//   - A code comes from a method ErrorCode() string or SQLState() string, or from a field. The
//     code of gRPC or Connect also comes from a field of type *status.Status, codes.Code or
//     connect.Code.
//   - The fields of a struct that an error embeds are read as its own.
//   - A field Status is an HTTP status if a field Title or Detail is beside it (RFC 9457).
//   - Timeout() bool and ConnectionError() bool report timeouts and lost connections.
//     Temporary() bool counts only if it returns true, and only if no rule knows more.
//   - A conflict is transient for [Do], whose operation reads the object again.
//   - If the status is below 400, the error was reported after the response began, and its
//     own code or type decides.
//   - Methods that belong to a pointer are called even if a program returns the value.
//   - Of the errors that an error wraps, the first 256 count, in the order of errors.As.
//     Methods that panic are ignored.
type DefaultClassifier struct{}

// Classify implements [Classifier]. It ignores markers; [Policy.Classify] does not.
func (DefaultClassifier) Classify(err error) Verdict {
	c, unrepeatable := errfacts.Classify(err)
	return Verdict{Class: Class(c), Unrepeatable: unrepeatable}
}

// PermanentIf returns a Classifier for which an error is permanent if errors.Is finds one of
// errs in it. All other errors have the verdict of [DefaultClassifier]. An unrepeatable error
// stays unrepeatable. errs must have at least one error, and none that is nil.
//
//	retry.PermanentIf(sql.ErrNoRows, ErrGone)
func PermanentIf(errs ...error) Classifier { return permanentIf(slices.Clone(errs)) }

type permanentIf []error

func (p permanentIf) Classify(err error) Verdict {
	r := readFacts(err)
	return p.classify(&r)
}

func (p permanentIf) classify(r *reading) Verdict {
	v := r.byFacts()
	for _, listed := range p {
		if errfacts.Is(r.err, listed) {
			v.Class = ClassPermanent
		}
	}
	return v
}

func (p permanentIf) Validate() error {
	var faults []string
	if len(p) == 0 {
		faults = append(faults, "PermanentIf has no error")
	}
	for i, err := range p {
		faults = append(faults, neededFaults("PermanentIf["+strconv.Itoa(i)+"]", err)...)
	}
	return invalid("classifier", faults)
}
