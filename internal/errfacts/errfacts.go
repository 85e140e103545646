// Package errfacts reads what errors report about themselves, through methods
// and well-known types, without importing the libraries that they come from.
package errfacts

import (
	"context"
	"errors"
	"io"
	"reflect"
	"slices"
	"time"
)

// Facts are what an error and all that it wraps report, the outermost
// statement of each sort.
type Facts struct {
	Err      error   // what the facts are about
	Verdict  Verdict // what the error itself says about retrying
	Status   int     // HTTP
	Code     string  // of a service, as AWS has them
	Message  string
	SQLState string
	Redis    string // an error reply
	Canceled bool   // by the caller
	Lost     bool   // no connection was made, or the error calls itself temporary
	Kind     Kind
	Methods  bool // an error in the chain has one of the methods
}

// Verdict is what an error says about retrying, with methods such as Retryable.
type Verdict uint8

// The verdicts. Where an error says two things, No outweighs Yes.
const (
	None Verdict = iota
	Yes
	No
)

// Kind is the sort of failure that a transport reports. A later one is more
// specific: of all in an error's chain the highest counts.
type Kind uint8

// The kinds.
const (
	NoKind     Kind = iota
	Request         // of package net/http, which does not say more
	Connection      // refused, reset, unreachable
	Closed          // ended before a response: io.EOF
	Truncated       // ended within a response: io.ErrUnexpectedEOF
	Timeout
	NotFound // DNS knows no such name
	TLS      // certificate or handshake
)

// Read returns the facts about err, which may be nil.
func Read(err error) Facts {
	f := Facts{Err: err}
	f.read(err)
	return f
}

// The methods that errors are read by.
type (
	Unwrapper     interface{ Unwrap() error }
	TreeUnwrapper interface{ Unwrap() []error }
	RetryAfterer  interface{ RetryAfter() time.Duration }
	Timeouter     interface{ Timeout() bool }
)

// Named types, so that one (cached) type switch skips errors that have none of
// them.
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
)

// Guarded calls a method of a foreign error and reports whether it returned.
// Several panic on half-built values, for example smithy's ResponseError
// without a response.
func Guarded[T any](method func() T) (v T, ok bool) {
	defer func() {
		if !ok {
			_ = recover()
		}
	}()
	return method(), true
}

// A Walk visits an error and all that it wraps, in the order of errors.As. It keeps
// a list instead of recursing, so that a long chain costs no stack.
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

// Instead returns the error to visit next if it is err, and not what the last
// one wraps; for a nil err the one after that.
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
		f.readTransport(err)
		switch err.(type) {
		case statusCoder, httpCoder, errorCoder, messager, sqlStater, redisError, labeler, nonRetriable,
			retryableErr, retryable, safeToRetry, canceledErr, connectionErr, temporary, Timeouter:
			f.readMethods(err)
		}
	}
}

// IsResponse reports whether the error is what a server responded, as its status or
// code shows. A query that the caller canceled is not, although PostgreSQL has a
// code for it.
func (f *Facts) IsResponse() bool {
	return f.Status != 0 || f.Code != "" || f.SQLState != "" && f.SQLState != "57014" || f.Redis != ""
}

func (f *Facts) readTransport(err error) {
	k := NoKind
	switch {
	case err == context.Canceled: // the operation's own context: Do looks at the caller's
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

// plainError is the most common type of error, whose package need not be looked up.
var plainError = reflect.TypeOf(errors.New(""))

// IsPlain reports whether err comes from errors.New and has nothing but a text.
func IsPlain(err error) bool {
	return reflect.TypeOf(err) == plainError && err != io.EOF && err != io.ErrUnexpectedEOF && err != context.Canceled
}

// readType knows types by name, so that the packages they come from need not be
// linked: package net alone would add 107 kB and, with cgo, make the binary
// dynamic. Not every error of crypto/tls is TLS: it wraps those of the network in
// a type of its own.
func (f *Facts) readType(err error) Kind {
	t := reflect.TypeOf(err)
	if t == plainError {
		return NoKind
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.PkgPath() {
	case "net":
		switch t.Name() {
		case "OpError":
			f.Lost = f.Lost || field(err, "Op").String() == "dial"
			return Connection
		case "DNSError":
			if found := field(err, "IsNotFound"); found.Kind() == reflect.Bool && found.Bool() {
				return NotFound
			}
			return Connection
		}
	case "crypto/x509":
		return TLS
	case "crypto/tls":
		switch t.Name() {
		case "CertificateVerificationError", "RecordHeaderError", "ECHRejectionError", "AlertError", "alert":
			return TLS
		}
	case "net/url":
		if t.Name() == "Error" {
			return Request
		}
	}
	return NoKind
}

// field returns the exported field of that name of a struct that v is or points
// to, or the zero Value. A loop over the fields costs an importer 8 kB less than
// FieldByName.
func field(v any, name string) reflect.Value {
	s := reflect.ValueOf(v)
	if s.Kind() == reflect.Pointer {
		s = s.Elem()
	}
	if s.Kind() == reflect.Struct {
		for i := range s.NumField() {
			if t := s.Type().Field(i); t.Name == name && t.IsExported() {
				return s.Field(i)
			}
		}
	}
	return reflect.Value{}
}

func (f *Facts) readMethods(err error) {
	f.Methods = true
	if e, ok := err.(statusCoder); ok && f.Status == 0 {
		f.Status, _ = Guarded(e.HTTPStatusCode)
	}
	if e, ok := err.(httpCoder); ok && f.Status == 0 {
		f.Status, _ = Guarded(e.HTTPCode)
	}
	if e, ok := err.(errorCoder); ok && f.Code == "" {
		f.Code, _ = Guarded(e.ErrorCode)
	}
	if e, ok := err.(messager); ok && f.Message == "" {
		f.Message, _ = Guarded(e.ErrorMessage)
	}
	if e, ok := err.(sqlStater); ok && f.SQLState == "" {
		f.SQLState, _ = Guarded(e.SQLState)
	}
	if _, ok := err.(redisError); ok && f.Redis == "" {
		f.Redis, _ = Guarded(err.Error)
	}
	if e, ok := err.(connectionErr); ok && Reports(e.ConnectionError) {
		f.Kind, f.Lost = max(f.Kind, Connection), true
	}
	if e, ok := err.(temporary); ok && Reports(e.Temporary) {
		f.Lost = true
	}
	if e, ok := err.(Timeouter); ok && Reports(e.Timeout) {
		f.Kind = max(f.Kind, Timeout)
	}
	if e, ok := err.(canceledErr); ok && Reports(e.CanceledError) {
		f.Canceled = true
	}
	if f.Verdict == None {
		f.Verdict = verdict(err)
	}
}

// verdict returns what the methods of err say about retrying.
func verdict(err error) Verdict {
	yes, no := false, false
	said := func(method func() bool) {
		if word, ok := Guarded(method); ok {
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
		yes = yes || Reports(e.SafeToRetry)
	}
	if e, ok := err.(labeler); ok {
		yes = yes || Reports(func() bool {
			return e.HasErrorLabel("TransientTransactionError") || e.HasErrorLabel("RetryableWriteError")
		})
	}
	switch {
	case no:
		return No
	case yes:
		return Yes
	}
	return None
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
