package retry

import (
	"errors"
	"io"
	"net"
	"reflect"
	"strings"
	"time"
)

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
	var f facts
	f.read(err)
	if !f.spoken && f.kind == kindNone {
		return ClassUnknown
	}
	throttled := f.status == 429 || isAWSThrottling(f.code)
	switch {
	case f.canceled || f.word == ClassPermanent:
		return ClassPermanent
	case throttled:
		return ClassThrottled
	case f.word != ClassUnknown:
		return f.word
	case f.code == "RequestTimeout" || f.code == "RequestTimeoutException":
		return ClassTimeout
	case f.status >= 400:
		return classOfStatus(f.status)
	case f.sqlState != "":
		return classOfSQLState(f.sqlState)
	case f.redis != "":
		return classOfRedis(f.redis)
	}
	switch f.kind {
	case kindTimeout:
		return ClassTimeout
	case kindNotFound, kindTLS:
		return ClassPermanent
	case kindConnection, kindClosed, kindTruncated:
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

// facts is what an error and all that it wraps say of themselves, the
// outermost statement of each sort.
type facts struct {
	err      error // what the facts are about
	word     Class // the error's own word on retrying
	status   int   // HTTP
	code     string
	message  string
	sqlState string
	redis    string // an error reply
	canceled bool   // the caller's doing
	lost     bool   // there was no connection, or it failed for the moment, in the words of Go
	kind     kind
	spoken   bool // something in the chain has one of the methods
}

// kind is the sort of failure that a transport reports. A later one is the
// more telling: of all in an error's chain the highest counts.
type kind uint8

const (
	kindNone       kind = iota
	kindRequest         // of package net/http, which does not say more
	kindConnection      // refused, reset, unreachable
	kindClosed          // ended before an answer: io.EOF
	kindTruncated       // ended within an answer: io.ErrUnexpectedEOF
	kindTimeout
	kindNotFound // DNS knows no such name
	kindTLS      // certificate or handshake
)

// The methods that errors are asked for. Named so that one type switch, which
// the runtime answers from a cache, tells whether there is anything to ask.
type (
	unwrapper     interface{ Unwrap() error }
	treeUnwrapper interface{ Unwrap() []error }
	retryAfterer  interface{ RetryAfter() time.Duration }
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
	timeouter     interface{ Timeout() bool }
)

// guarded calls a method of a foreign error and reports whether it returned.
// Several panic on half-built values, for example smithy's ResponseError
// without a response.
func guarded[T any](method func() T) (v T, ok bool) {
	defer func() {
		if !ok {
			_ = recover()
		}
	}()
	return method(), true
}

// unwrap returns what err wraps, if it is one error.
func unwrap(err error) error {
	if w, ok := err.(unwrapper); ok {
		inner, _ := guarded(w.Unwrap)
		return inner
	}
	return nil
}

func (f *facts) read(err error) {
	for err != nil {
		f.readTransport(err)
		switch err.(type) {
		case statusCoder, httpCoder, errorCoder, messager, sqlStater, redisError, labeler, nonRetriable,
			retryableErr, retryable, safeToRetry, canceledErr, connectionErr, temporary, timeouter:
			f.readMethods(err)
		}
		switch e := err.(type) {
		case unwrapper:
			err, _ = guarded(e.Unwrap)
		case treeUnwrapper:
			branches, _ := guarded(e.Unwrap)
			for _, branch := range branches {
				f.read(branch)
			}
			return
		default:
			return
		}
	}
}

func (f *facts) readTransport(err error) {
	k := kindNone
	switch e := err.(type) {
	case *net.OpError:
		k = kindConnection
		f.lost = f.lost || e != nil && e.Op == "dial"
	case *net.DNSError:
		if k = kindConnection; e != nil && e.IsNotFound {
			k = kindNotFound
		}
	default:
		switch {
		case err == io.EOF:
			k = kindClosed
		case err == io.ErrUnexpectedEOF:
			k = kindTruncated
		case isConnectionErrno(err):
			k = kindConnection
		default:
			k = kindOfType(err)
		}
	}
	f.kind = max(f.kind, k)
}

// plainError is the commonest type of error, whose package need not be looked up.
var plainError = reflect.TypeOf(errors.New(""))

// isMute reports whether err is one of errors.New that says nothing of itself but
// its text.
func isMute(err error) bool {
	return reflect.TypeOf(err) == plainError && err != io.EOF && err != io.ErrUnexpectedEOF
}

// kindOfType knows types of packages that not every program uses: it asks
// reflection so that they need not be linked. Not every error of crypto/tls is
// kindTLS: it wraps those of the network in a type of its own.
func kindOfType(err error) kind {
	t := reflect.TypeOf(err)
	if t == plainError {
		return kindNone
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.PkgPath() {
	case "crypto/x509":
		return kindTLS
	case "crypto/tls":
		switch t.Name() {
		case "CertificateVerificationError", "RecordHeaderError", "ECHRejectionError", "AlertError", "alert":
			return kindTLS
		}
	case "net/url":
		if t.Name() == "Error" {
			return kindRequest
		}
	}
	return kindNone
}

func (f *facts) readMethods(err error) {
	f.spoken = true
	if e, ok := err.(statusCoder); ok && f.status == 0 {
		f.status, _ = guarded(e.HTTPStatusCode)
	}
	if e, ok := err.(httpCoder); ok && f.status == 0 {
		f.status, _ = guarded(e.HTTPCode)
	}
	if e, ok := err.(errorCoder); ok && f.code == "" {
		f.code, _ = guarded(e.ErrorCode)
	}
	if e, ok := err.(messager); ok && f.message == "" {
		f.message, _ = guarded(e.ErrorMessage)
	}
	if e, ok := err.(sqlStater); ok && f.sqlState == "" {
		f.sqlState, _ = guarded(e.SQLState)
	}
	if _, ok := err.(redisError); ok && f.redis == "" {
		f.redis, _ = guarded(err.Error)
	}
	if e, ok := err.(connectionErr); ok && says(e.ConnectionError) {
		f.kind, f.lost = max(f.kind, kindConnection), true
	}
	if e, ok := err.(temporary); ok && says(e.Temporary) {
		f.lost = true
	}
	if e, ok := err.(timeouter); ok && says(e.Timeout) {
		f.kind = max(f.kind, kindTimeout)
	}
	if e, ok := err.(canceledErr); ok && says(e.CanceledError) {
		f.canceled = true
	}
	if f.word == ClassUnknown {
		f.word = ownWord(err)
	}
}

// ownWord returns what err says of retrying in so many words. Where it says
// two things, no outweighs yes.
func ownWord(err error) Class {
	yes, no := false, false
	said := func(method func() bool) {
		if word, ok := guarded(method); ok {
			yes, no = yes || word, no || !word
		}
	}
	if e, ok := err.(retryable); ok {
		said(e.Retryable)
	}
	if e, ok := err.(retryableErr); ok {
		said(e.RetryableError)
	}
	if _, ok := err.(nonRetriable); ok {
		no = true
	}
	if e, ok := err.(safeToRetry); ok {
		yes = yes || says(e.SafeToRetry)
	}
	if e, ok := err.(labeler); ok {
		yes = yes || says(func() bool {
			return e.HasErrorLabel("TransientTransactionError") || e.HasErrorLabel("RetryableWriteError")
		})
	}
	switch {
	case no:
		return ClassPermanent
	case yes:
		return ClassTransient
	}
	return ClassUnknown
}

// says reports whether method returns true.
func says(method func() bool) bool {
	word, _ := guarded(method)
	return word
}
