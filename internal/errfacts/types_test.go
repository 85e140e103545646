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
	retriableErr asked // has Retriable
	able         asked // has CanRetry
	final        asked // has Permanent
	moment       asked // has Transient
	// undecided is not permanent, and says that a retry does not help.
	undecided struct{}
	pointers  struct {
		Title  *string
		Status *int32
	}
	embedding        struct{ problem }
	embeddingPointer struct{ *problem }
	named            struct{ Problem problem }
	gatewayStatus    struct {
		HTTPStatus int
		Err        error
	}
	lowerStatus struct{ httpStatusCode int }
	httpError   struct{ Code int }
	swagger     struct{ n int }
	getter      struct{ n int }
	// GenericOpenAPIError is the error that OpenAPI Generator makes.
	GenericOpenAPIError struct{ error string }
	callFailure         struct {
		Code    int64
		Message string
	}
	// hubReply has the fields of go-gh's error.
	hubReply struct {
		StatusCode int
		Message    string
		Headers    http.Header
	}
	// quotaReply has the fields of genai's error.
	quotaReply struct {
		Code    int
		Message string
		Details []map[string]any
	}
)

func (retriableErr) Error() string          { return "retriable" }
func (r retriableErr) Retriable() bool      { return r.yes }
func (able) Error() string                  { return "able" }
func (a able) CanRetry() bool               { return a.yes }
func (final) Error() string                 { return "final" }
func (f final) Permanent() bool             { return f.yes }
func (moment) Error() string                { return "moment" }
func (m moment) Transient() bool            { return m.yes }
func (undecided) Error() string             { return "undecided" }
func (undecided) IsPermanent() bool         { return false }
func (undecided) Retryable() bool           { return false }
func (pointers) Error() string              { return "pointers" }
func (embedding) Error() string             { return "embedding" }
func (embeddingPointer) Error() string      { return "embedding" }
func (named) Error() string                 { return "named" }
func (gatewayStatus) Error() string         { return "gateway" }
func (lowerStatus) Error() string           { return "lower" }
func (httpError) Error() string             { return "http" }
func (swagger) Error() string               { return "swagger" }
func (s swagger) Code() int                 { return s.n }
func (s swagger) IsClientError() bool       { return s.n/100 == 4 }
func (s swagger) IsServerError() bool       { return s.n/100 == 5 }
func (getter) Error() string                { return "getter" }
func (g getter) GetStatusCode() int         { return g.n }
func (e GenericOpenAPIError) Error() string { return e.error }
func (callFailure) Error() string           { return "call" }
func (hubReply) Error() string              { return "hub" }

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
		{retriableErr{true}, Transient},
		{retriableErr{false}, Permanent},
		{able{false}, Permanent},
		{final{true}, Permanent},
		{final{false}, Unknown},
		{moment{true}, Transient},
		{moment{false}, Unknown},
		{undecided{}, Permanent},
		{pointers{Title: new("gone"), Status: new(int32(410))}, Permanent},
		{pointers{Title: new("gone")}, Unknown},
		{embedding{problem{Title: "gone", Status: 410}}, Permanent},
		{embeddingPointer{&problem{Title: "gone", Status: 410}}, Permanent},
		{embeddingPointer{}, Unknown},
		{named{problem{Title: "gone", Status: 410}}, Unknown},
		{gatewayStatus{HTTPStatus: 404}, Permanent},
		{gatewayStatus{}, Unknown},
		{lowerStatus{429}, Throttled},
		{httpError{404}, Permanent},
		{swagger{404}, Permanent},
		{&swagger{503}, Transient},
		{getter{404}, Permanent},
		{GenericOpenAPIError{error: "404 Not Found"}, Permanent},
		{&GenericOpenAPIError{error: "503 Service Unavailable"}, Transient},
		{GenericOpenAPIError{error: "undefined response type"}, Unknown},
		{GenericOpenAPIError{}, Unknown},
		{hubReply{StatusCode: 403, Message: "no permission"}, Permanent},
		{hubReply{StatusCode: 403, Message: "You have exceeded a secondary rate limit."}, Throttled},
		{hubReply{StatusCode: 404, Message: "You have exceeded a secondary rate limit."}, Permanent},
		{errors.New("too many rows in result set"), Permanent},
		{callFailure{-32601, "method not found"}, Permanent},
		{&callFailure{-32603, "internal error"}, Transient},
		{callFailure{-32005, "limit exceeded"}, Throttled},
		{callFailure{-32000, "own"}, Unknown},
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
		"github.com/google/go-github/github.AbuseRateLimitError": secondaryStatus, "golang.org/x/crypto/ssh.PassphraseMissingError": localError,
		"example.com/pgx.ScanArgError": foreign, "example.com/api.StatusError": foreign,
	} {
		row, _ := findRow("/" + name)
		assert.Equal(t, want, row.origin, name)
	}
	for reason, want := range map[int64]Class{1: Permanent, 2: Transient, 3: Permanent, 4: Throttled} {
		assert.Equal(t, want, replyOf(sshError, reason).class, reason)
	}
	assert.True(t, isFull("grpc: received message larger than max (5 vs. 4)"))
	assert.True(t, isFull("message size 5 is larger than configured max 4"))
	for path, want := range map[string]bool{
		"google.golang.org/grpc/codes": true, "example.com/fork/grpc/codes": true, "connectrpc.com/connect": true, "github.com/bufbuild/connect-go": true,
		"example.com/connect": false, "example.com/codes": false,
	} {
		assert.Equal(t, want, isRPC(path), path)
	}
	for text, want := range map[string]int64{"404 Not Found": 404, "client error: 429": 429, "503": 503, "200 OK": 0, "no": 0, "": 0, "40404 x": 0} {
		assert.Equal(t, want, statusIn(text), text)
	}
	assert.False(t, isFull("quota"))
}

// TestHintInHeader: the wait in a header beside the status, and the minute of GitHub's secondary limit.
func TestHintInHeader(t *testing.T) {
	const limit = "You have exceeded a secondary rate limit."
	for _, tt := range []struct {
		err  error
		want time.Duration
	}{
		{hubReply{503, "later", http.Header{"Retry-After": {"7"}}}, 7 * time.Second},
		{hubReply{200, "now", http.Header{"Retry-After": {"7"}}}, 0},
		{hubReply{503, "later", nil}, 0},
		{hubReply{403, limit, nil}, time.Minute},
		{hubReply{403, limit, http.Header{"Retry-After": {"7"}}}, 7 * time.Second},
		{hubReply{429, limit, http.Header{"X-Ratelimit-Remaining": {"4000"}, "X-Ratelimit-Reset": {"3000"}}}, time.Minute},
		{hubReply{403, limit, http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"90"}}}, 90 * time.Second},
	} {
		wait, _ := Advice(tt.err)
		assert.Equal(t, tt.want, wait, "%+v", tt.err)
		f := Read(tt.err)
		assert.Equal(t, tt.want, f.Hint, "%+v", tt.err)
	}
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
