// Package errfacts reads what errors report about themselves, through methods
// and well-known types, without importing the libraries that they come from.
package errfacts

import (
	"context"
	"io"
	"slices"
	"time"
)

// Facts are what an error and the errors it wraps report. If several of them report a
// status, a code or the like, the outermost counts.
type Facts struct {
	Err      error   // what the facts are about
	Verdict  Verdict // what the error's methods report about retrying
	Status   int     // HTTP
	Code     string  // the error code of a service such as AWS
	Message  string
	SQLState string
	Redis    string // an error reply
	Canceled bool   // by the caller
	Lost     bool   // no connection was made, or the error reports itself as temporary
	Kind     Kind

	// Only retry.DefaultClassifier uses the rest: the AWS SDKs have no such errors.
	Class        Class // the class that a library or server reports
	Fallback     Class // the class to use if nothing else is known
	Unrepeatable bool  // the operation may have taken effect
	Methods      bool  // an error in the chain has one of the methods below
	Overtime     bool  // the attempt exceeded its time limit
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
)

// Read returns the facts about err, which may be nil.
func Read(err error) Facts {
	f := Facts{Err: err}
	f.read(err)
	return f
}

// Interfaces for methods of errors; other packages also use these interfaces.
type (
	Unwrapper     interface{ Unwrap() error }
	TreeUnwrapper interface{ Unwrap() []error }
	Timeouter     interface{ Timeout() bool }
)

// These types are named so that one (cached) type switch skips errors that have none of
// the methods.
type (
	statusCoder   interface{ HTTPStatusCode() int }
	httpCoder     interface{ HTTPCode() int }
	errorCoder    interface{ ErrorCode() string }
	messager      interface{ ErrorMessage() string }
	sqlStater     interface{ SQLState() string }
	redisError    interface{ RedisError() }
	labeler       interface{ HasErrorLabel(string) bool }
	nonRetriable  interface{ NonRetriable() }
	retryableErr  interface{ RetryableError() bool }
	retryable     interface{ Retryable() bool }
	safeToRetry   interface{ SafeToRetry() bool }
	canceledErr   interface{ CanceledError() bool }
	connectionErr interface{ ConnectionError() bool }
	temporary     interface{ Temporary() bool }
	retryAfterer  interface{ RetryAfter() time.Duration }
	mongoErr      interface{ ErrorCodes() []int }
)

// Guarded calls a method of a foreign error and reports whether it returned.
// Several such methods panic on half-built values, for example that of smithy's
// ResponseError without a response.
func Guarded[T any](method func() T) (v T, ok bool) {
	defer func() {
		if !ok {
			_ = recover()
		}
	}()
	return method(), true
}

// A Walk visits an error and the errors it wraps, in the order of errors.As. It
// keeps a list instead of recursing, so that a long chain does not grow the stack.
type Walk struct{ rest []error }

// Next returns the error to visit after err, or nil at the end.
func (w *Walk) Next(err error) error {
	switch e := err.(type) {
	case Unwrapper:
		inner, _ := Guarded(e.Unwrap)
		return w.Instead(inner)
	case TreeUnwrapper:
		branches, _ := Guarded(e.Unwrap)
		for _, branch := range slices.Backward(branches) {
			if branch != nil {
				w.rest = append(w.rest, branch)
			}
		}
	}
	return w.Instead(nil)
}

// Instead returns err as the error to visit next, in place of the errors that the
// previous error wraps. If err is nil, it returns the error that follows them.
func (w *Walk) Instead(err error) error {
	if err != nil || len(w.rest) == 0 {
		return err
	}
	last := len(w.rest) - 1
	err = w.rest[last]
	w.rest = w.rest[:last]
	return err
}

func (f *Facts) read(err error) {
	var walk Walk
	for ; err != nil; err = walk.Next(err) {
		if _, ok := err.(*Overtime); ok {
			f.Overtime, f.Methods, f.Kind = true, true, Timeout
			continue
		}
		f.readTransport(err)
		switch err.(type) {
		case statusCoder, httpCoder, errorCoder, messager, sqlStater, redisError, labeler, nonRetriable,
			retryableErr, retryable, safeToRetry, canceledErr, connectionErr, temporary, Timeouter, mongoErr:
			f.readMethods(err)
		}
	}
	f.Canceled = f.Canceled && !f.Overtime // by the time limit
}

// IsResponse reports whether the error is a server's response, that is, has a status
// or a code. A query that the caller canceled does not count, although PostgreSQL
// has a code for it.
func (f *Facts) IsResponse() bool {
	return f.Status != 0 || f.Code != "" || f.SQLState != "" && f.SQLState != "57014" || f.Redis != "" || f.Class != Unknown
}

func (f *Facts) readTransport(err error) {
	k := NoKind
	switch {
	case err == context.Canceled: // the operation's own context: Do checks the caller's
		f.Canceled = true
	case err == io.EOF:
		k = Closed
	case err == io.ErrUnexpectedEOF:
		k = Truncated
	case isConnectionErrno(err):
		k = Connection
	default:
		k = f.readType(err)
	}
	f.Kind = max(f.Kind, k)
}

// readMethods calls the methods of err.
func (f *Facts) readMethods(err error) {
	f.Methods = true
	var v verdict
	for next := 0; next < methodCount; {
		f.readMethodsFrom(err, &next, &v)
	}
	switch {
	case f.Verdict != None:
	case v.no:
		f.Verdict = No
	case v.yes:
		f.Verdict = Yes
	}
}

// verdict is what the methods of one error report about retrying.
type verdict struct{ yes, no bool }

func (v *verdict) add(yes bool) { v.yes, v.no = v.yes || yes, v.no || !yes }

const methodCount = 16

// readMethodsFrom calls the methods of err, beginning with method number *next, until one
// panics. A single recover for all methods is faster than one for each.
func (f *Facts) readMethodsFrom(err error, next *int, v *verdict) {
	defer func() { _ = recover() }()
	for *next < methodCount {
		*next++
		switch *next - 1 {
		case 0:
			if e, ok := err.(statusCoder); ok && f.Status == 0 {
				f.Status = e.HTTPStatusCode()
			}
		case 1:
			if e, ok := err.(httpCoder); ok && f.Status == 0 {
				f.Status = e.HTTPCode()
			}
		case 2:
			if e, ok := err.(errorCoder); ok && f.Code == "" {
				f.Code = e.ErrorCode()
			}
		case 3:
			if e, ok := err.(messager); ok && f.Message == "" {
				f.Message = e.ErrorMessage()
			}
		case 4:
			if e, ok := err.(sqlStater); ok && f.SQLState == "" {
				f.SQLState = e.SQLState()
			}
		case 5:
			if _, ok := err.(redisError); ok && f.Redis == "" {
				f.Redis = err.Error()
			}
		case 6:
			if e, ok := err.(connectionErr); ok && e.ConnectionError() {
				f.Kind, f.Lost = max(f.Kind, Connection), true
			}
		case 7:
			if e, ok := err.(temporary); ok && e.Temporary() {
				f.Lost = true
			}
		case 8:
			if e, ok := err.(Timeouter); ok && e.Timeout() {
				f.Kind = max(f.Kind, Timeout)
			}
		case 9:
			if e, ok := err.(canceledErr); ok && e.CanceledError() {
				f.Canceled = true
			}
		case 10:
			if e, ok := err.(retryable); ok {
				v.add(e.Retryable())
			}
		case 11:
			if e, ok := err.(retryableErr); ok {
				v.add(e.RetryableError())
			}
		case 12:
			if _, ok := err.(nonRetriable); ok {
				v.no = true
			}
		case 13:
			if e, ok := err.(safeToRetry); ok && e.SafeToRetry() {
				v.yes = true
			}
		case 14:
			if e, ok := err.(labeler); ok {
				f.readLabels(e, v)
			}
		case 15:
			if e, ok := err.(mongoErr); ok {
				for _, code := range e.ErrorCodes() {
					f.report(ofMongo(int64(code)), false)
				}
			}
		}
	}
}

// readLabels reads the labels of MongoDB. A commit with an unknown result may be
// repeated, but the transaction may not, and only the caller knows which of the two a
// retry would repeat.
func (f *Facts) readLabels(e labeler, v *verdict) {
	if e.HasErrorLabel("SystemOverloadedError") {
		f.report(Throttled, false)
	}
	if e.HasErrorLabel("UnknownTransactionCommitResult") {
		f.report(Transient, true)
	}
	v.yes = v.yes || e.HasErrorLabel("TransientTransactionError") || e.HasErrorLabel("RetryableWriteError")
}

// Reports reports whether method returns true.
func Reports(method func() bool) bool {
	word, _ := Guarded(method)
	return word
}

// IsThrottlingCode reports whether code means throttling to the AWS SDKs.
func IsThrottlingCode(code string) bool {
	switch code {
	case "Throttling", "ThrottlingException", "ThrottledException", "RequestThrottledException",
		"TooManyRequestsException", "ProvisionedThroughputExceededException", "TransactionInProgressException",
		"RequestLimitExceeded", "BandwidthLimitExceeded", "LimitExceededException", "RequestThrottled",
		"SlowDown", "PriorRequestNotComplete", "EC2ThrottledException":
		return true
	}
	return false
}
