package errfacts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestHalfBuilt: reading an error of a known type does not panic, whatever its fields
// contain.
func TestHalfBuilt(t *testing.T) {
	values := []any{
		struct{}{}, &struct{}{}, (*struct{ Code int })(nil), 5, "text", []error{}, map[string]int{}, (func())(nil),
		struct {
			s *struct{ s *struct{ Code int32 } }
		}{},
		struct {
			ErrStatus struct {
				Details *struct{ RetryAfterSeconds int32 }
			}
		}{},
		struct{ Errors []struct{ Reason int } }{make([]struct{ Reason int }, 2)},
		struct{ StatusCode, Number, Code, code, status any }{StatusCode: "x", Code: 5, status: &notFound},
		struct{ Response *struct{ StatusCode string } }{&struct{ StatusCode string }{"x"}},
		struct{ RetryAfter *time.Duration }{},
	}
	for _, v := range values {
		for o := withStatus; o <= sftpError; o++ {
			for _, field := range []string{"StatusCode", "Code", "s.s.Code", "ErrStatus.Code"} {
				info := typeInfo{typeRow: typeRow{origin: o, field: field}}
				assert.NotPanics(t, func() { info.classOf(reflect.ValueOf(v)) }, "%d: %T", o, v)
			}
		}
		for _, path := range []string{"", ".", "Code", "Code.Code", "s.s.Code", "ErrStatus.Details.RetryAfterSeconds", "RetryAfter"} {
			assert.Zero(t, number(reflect.ValueOf(v), path+"x"))
			assert.NotPanics(t, func() { number(reflect.ValueOf(v), path) }, "%s: %T", path, v)
			assert.NotPanics(t, func() { text(reflect.ValueOf(v), path) }, "%s: %T", path, v)
		}
	}
}

var notFound = struct{ StatusCode int }{404}

// TestVariables: variables of the standard library are recognized by identity, alone and
// within others, and errors with their text are not.
func TestVariables(t *testing.T) {
	for err, want := range map[error]Class{
		io.EOF: Transient, io.ErrUnexpectedEOF: Transient, context.Canceled: Permanent, context.DeadlineExceeded: TimedOut,
		fs.ErrNotExist: Permanent, fs.ErrExist: Permanent, fs.ErrPermission: Permanent, fs.ErrClosed: Permanent, fs.ErrInvalid: Permanent,
		errors.ErrUnsupported: Permanent,
	} {
		for _, wrapped := range []error{err, fmt.Errorf("outer: %w", err), errors.Join(errors.New("other"), err)} {
			c, _ := Classify(wrapped)
			assert.Equal(t, want, c, "%v", wrapped)
		}
		c, _ := Classify(errors.New(err.Error()))
		assert.Equal(t, Unknown, c, "text of %v", err)
	}
}

func TestPanickingMethods(t *testing.T) {
	f := Read(panicking{})
	assert.Equal(t, Transient, f.Class)
	assert.Equal(t, Yes, f.Verdict)
	assert.Zero(t, f.Status)
}

type panicking struct{}

func (panicking) Error() string        { panic("error") }
func (panicking) HTTPStatusCode() int  { panic("status") }
func (panicking) ErrorCode() string    { panic("code") }
func (panicking) SQLState() string     { return "40001" }
func (panicking) RedisError()          {}
func (panicking) Retryable() bool      { panic("retryable") }
func (panicking) RetryableError() bool { return true }
func (panicking) SafeToRetry() bool    { panic("safe") }

// TestAllocations: classification does not allocate.
func TestAllocations(t *testing.T) {
	for name, err := range map[string]error{
		"plain": errors.New("x"), "wrapped": fmt.Errorf("outer: %w", errors.New("x")), "field": &withField{StatusCode: 503}, "EOF": io.EOF,
	} {
		assert.Zero(t, testing.AllocsPerRun(100, func() {
			Classify(err)
			Advice(err)
		}), name)
	}
}

type withField struct {
	Text       string
	StatusCode int
}

func (e *withField) Error() string { return e.Text }

type (
	ownCode   struct{ Code int }
	ownStatus struct{ Status int32 }
	httpCode  struct{ StatusCode int }
	response  struct{ raw *http.Response }
	apiCode   struct {
		Code    int
		Message string
	}
	cloudError struct {
		Code       string
		StatusCode int
	}
	NotFoundError struct{} // errfacts knows the name from other packages
)

func (ownCode) Error() string       { return "own code" }
func (ownStatus) Error() string     { return "own status" }
func (httpCode) Error() string      { return "status" }
func (response) Error() string      { return "response" }
func (apiCode) Error() string       { return "code" }
func (cloudError) Error() string    { return "code" }
func (NotFoundError) Error() string { return "replica not found yet" }

// TestOwnNumbers: fields and names that may mean something else in an unknown library
// allow a retry, but never forbid one.
func TestOwnNumbers(t *testing.T) {
	for _, test := range []struct {
		err  error
		want Class
	}{
		{ownCode{404}, Unknown},
		{ownCode{501}, Unknown},
		{&ownCode{429}, Throttled},
		{apiCode{Code: 404}, Permanent},
		{apiCode{Code: 450}, Unknown},
		{response{&http.Response{StatusCode: 422}}, Permanent},
		{response{}, Unknown},
		{cloudError{"Throttling.User", 400}, Throttled},
		{cloudError{"InvalidParameter", 400}, Permanent},
		{cloudError{"RequestExpired", 403}, Transient},
		{cloudError{"RequestTimeTooSkewed", 403}, Transient},
		{cloudError{"RequestTimeout", 400}, TimedOut},
		{cloudError{"RequestTimeout", 503}, TimedOut},
		{cloudError{"SlowDown", 400}, Throttled},
		{cloudError{"Conflict", 409}, Permanent}, // minio-go's, which does not retry it
		{ownStatus{404}, Unknown},
		{ownStatus{503}, Transient},
		{httpCode{404}, Permanent},
		{NotFoundError{}, Unknown},
	} {
		got, unrepeatable := Classify(test.err)
		assert.Equal(t, test.want, got, "%T %v", test.err, test.err)
		assert.False(t, unrepeatable)
	}
}

type (
	HTTPError struct{ Status int }
	coded     string // with a code of AWS
)

func (HTTPError) Error() string   { return "status" }
func (coded) Error() string       { return "code" }
func (e coded) ErrorCode() string { return string(e) }

// TestNames: a name with HTTP in it says what the number of the error is.
func TestNames(t *testing.T) {
	for err, want := range map[error]Class{
		HTTPError{404}:                           Permanent,
		HTTPError{480}:                           Unknown,
		coded("NoSuchBucket"):                    Permanent,
		coded("ConditionalCheckFailedException"): Permanent,
		coded("InternalError"):                   Transient,
		coded("SlowDown"):                        Throttled,
		coded("Other"):                           Unknown,
	} {
		got, _ := Classify(err)
		assert.Equal(t, want, got, "%T %v", err, err)
	}
}

// requestFailure has the methods of the RequestFailure of aws-sdk-go v1.
type requestFailure struct{ code string }

func (requestFailure) Error() string   { return "request failure" }
func (e requestFailure) Code() string  { return e.code }
func (requestFailure) StatusCode() int { return 400 }

func TestStatusCodeMethod(t *testing.T) {
	for code, want := range map[string]Class{"Throttling": Throttled, "RequestTimeout": TimedOut, "ValidationError": Permanent, "ExpiredToken": Transient} {
		got, _ := Classify(requestFailure{code})
		assert.Equal(t, want, got, code)
	}
}

// TestOtherReplies: the numbers of FTP and others are no HTTP statuses.
func TestOtherReplies(t *testing.T) {
	for path, want := range map[string]bool{"github.com/secsy/goftp": true, "net/smtp": true, "example.com/api": false} {
		assert.Equal(t, want, hasOtherReplies(path), path)
	}
}
