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
				assert.NotPanics(t, func() {
					var s said
					s.gather(&info, errors.New("x"), reflect.ValueOf(v))
					s.classOf(o)
				}, "%d: %T", o, v)
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
		for _, wrapped := range []error{err, fmt.Errorf("outer: %w", err), fmt.Errorf("%w: %w", errors.New("other"), err)} {
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
	assert.Equal(t, Yes, f.Said)
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

type (
	asked   struct{ yes bool }
	firm    asked // has IsPermanent
	passing asked // has IsTransient
	worth   asked // has ShouldRetry
	// problem is a problem of RFC 9457.
	problem struct {
		Type, Title, Detail string
		Status              int
	}
	detail struct {
		Detail string
		Status int
	}
	// quotaReply has the fields of genai's error.
	quotaReply struct {
		Code    int
		Message string
		Details []map[string]any
	}
)

func (firm) Error() string          { return "firm" }
func (f firm) IsPermanent() bool    { return f.yes }
func (passing) Error() string       { return "passing" }
func (p passing) IsTransient() bool { return p.yes }
func (worth) Error() string         { return "worth" }
func (w worth) ShouldRetry() bool   { return w.yes }
func (problem) Error() string       { return "problem" }
func (detail) Error() string        { return "detail" }
func (quotaReply) Error() string    { return "quota" }

// TestForms: what says in a form for machines whether a retry helps.
func TestForms(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want Class
	}{
		{firm{true}, Permanent},
		{firm{false}, Unknown},
		{passing{true}, Transient},
		{passing{false}, Unknown},
		{worth{true}, Transient},
		{worth{false}, Permanent},
		{problem{Title: "Out of stock", Status: 409}, Permanent},
		{&problem{Status: 503}, Transient},
		{problem{Status: 429}, Throttled},
		{problem{Title: "no status"}, Unknown},
		{detail{"gone", 410}, Permanent},
		{coded("QueueDoesNotExist"), Permanent},
		{coded("CROSSSLOT"), Permanent},
	} {
		got, _ := Classify(tt.err)
		assert.Equal(t, tt.want, got, "%T %v", tt.err, tt.err)
	}
}

// TestRows: each row belongs to a type of a library, by the end of its full name.
func TestRows(t *testing.T) {
	for name, want := range map[string]origin{
		"golang.org/x/crypto/ssh.ServerAuthError": localError, "golang.org/x/crypto/ssh/knownhosts.KeyError": localError,
		"golang.org/x/crypto/ssh.OpenChannelError": sshError, "github.com/jackc/pgx.ScanArgError": localError,
		"github.com/aws/smithy-go.SerializationError": localError, "github.com/aws/smithy-go.InvalidParamsError": localError,
		"github.com/aws/aws-sdk-go-v2/aws.MissingRegionError": localError, "github.com/hashicorp/consul/api.StatusError": withStatus,
		"go.temporal.io/api/serviceerror.WorkflowExecutionAlreadyStarted": permanent, "google.golang.org/genai.APIError": withStatus,
		"example.com/pgx.ScanArgError": foreign, "example.com/api.StatusError": foreign,
	} {
		row, _ := findRow("/" + name)
		assert.Equal(t, want, row.origin, name)
	}
	for reason, want := range map[int64]Class{1: Permanent, 2: Transient, 3: Permanent, 4: Throttled} {
		assert.Equal(t, want, replyOf(sshError, reason).class, reason)
	}
	assert.True(t, isFull("grpc: received message larger than max (5 vs. 4)"))
	assert.False(t, isFull("quota"))
}

// TestHintInJSON: the RetryInfo among details that were read from JSON.
func TestHintInJSON(t *testing.T) {
	info := map[string]any{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}
	for _, tt := range []struct {
		details []map[string]any
		want    time.Duration
	}{
		{[]map[string]any{{"@type": "type.googleapis.com/google.rpc.QuotaFailure"}, info}, 34500 * time.Millisecond},
		{[]map[string]any{{"@type": info["@type"], "retryDelay": 5}}, 0},
		{[]map[string]any{{"@type": info["@type"], "retryDelay": "-5s"}}, 0},
		{[]map[string]any{{"@type": info["@type"]}, nil}, 0},
		{append(make([]map[string]any, maxDetails), info), 0},
		{nil, 0},
	} {
		wait, _ := Advice(quotaReply{Code: 429, Details: tt.details})
		assert.Equal(t, tt.want, wait, "%v", tt.details)
		f := Read(quotaReply{Code: 429, Details: tt.details})
		assert.Equal(t, tt.want, f.Hint)
		class, _ := f.Verdict()
		assert.Equal(t, Throttled, class)
	}
}
