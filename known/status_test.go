package known

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	otherhttp "github.com/gobackoff/retry/known/testdata/http"
)

// TestResponses: the response of a server is found in the errors of clients that neither
// the tables nor DefaultClassifier know.
func TestResponses(t *testing.T) {
	response := func(status int) *http.Response { return &http.Response{StatusCode: status} }
	check(t, []errorCase{
		{"method Status", statusError(404), retry.ClassPermanent},
		{"method Status, 503", statusError(503), retry.ClassTransient},
		{"method Status of something else", statusError(7), retry.ClassUnknown},
		{"marker method", missing{}, retry.ClassPermanent},
		{"field Status", &fields{Status: 401}, retry.ClassPermanent},
		{"field Code", &fields{Code: 404}, retry.ClassPermanent},
		{"field Code of something else", &fields{Code: 426}, retry.ClassUnknown},
		{"field of text", &fields{HTTPCode: "403 Forbidden"}, retry.ClassPermanent},
		{"response under another name", &fields{raw: response(422)}, retry.ClassPermanent},
		{"response within", &fields{Inner: struct{ Resp *http.Response }{response(429)}}, retry.ClassThrottled},
		{"list within", &fields{Inner: []any{&fields{Status: 400}}}, retry.ClassPermanent},
		{"error that is not wrapped", &fields{Inner: retryable(502)}, retry.ClassTransient},
		{"code of JSON-RPC", &fields{Code: -32601}, retry.ClassPermanent},
		{"code of JSON-RPC that is the server's", &fields{Code: -32603}, retry.ClassUnknown},
		{"status 423", &fields{Status: 423}, retry.ClassTransient},
		{"numbers of SMTP", smtpError{Code: 404}, retry.ClassUnknown},
	})
}

type statusError int

func (statusError) Error() string { return "no" }
func (e statusError) Status() int { return int(e) }

type missing struct{}

func (missing) Error() string { return "no" }
func (missing) NotFound()     {}

type fields struct {
	Status   int
	Code     int
	HTTPCode string
	text     string
	raw      *http.Response
	Inner    any
}

func (e *fields) Error() string { return e.text }

type smtpError struct{ Code int }

func (smtpError) Error() string { return "no" }

type retryable int

func (retryable) Error() string         { return "no" }
func (e retryable) HTTPStatusCode() int { return int(e) }

// no is an error without anything but a text.
type no struct{}

func (no) Error() string { return "no" }

// Each of these has one of the methods by which clients return a status.
type (
	httpStatus1 struct{ no }
	httpStatus2 struct{ no }
	httpStatus3 struct{ no }
	httpStatus4 struct{ no }
	httpStatus5 struct{ no }
	httpStatus6 struct{ no }
	httpStatus7 struct{ no }
	httpStatus8 struct{ no }
	httpStatus9 struct{ no }
	isMissing1  struct{ no }
	exhausted   struct{ no }
	unavailable struct{ no }
	missingPtr  struct{ found bool }
)

func (httpStatus1) HTTPStatus() int        { return 404 }
func (httpStatus2) HttpStatus() int        { return 404 }
func (httpStatus3) HttpStatusCode() int    { return 404 }
func (httpStatus4) HttpCode() int          { return 404 }
func (httpStatus5) GetStatus() int         { return 404 }
func (httpStatus6) GetStatusCode() int     { return 404 }
func (httpStatus7) GetHTTPStatusCode() int { return 404 }
func (httpStatus8) GetHttpStatusCode() int { return 404 }
func (httpStatus9) ResponseCode() int      { return 404 }
func (isMissing1) IsNotFound() bool        { return true }
func (exhausted) ResourceExhausted()       {}
func (unavailable) Unavailable()           {}
func (*missingPtr) Error() string          { return "no" }
func (m *missingPtr) IsNotFound() bool     { return !m.found }

// TestCycle: a value that contains itself has an end.
func TestCycle(t *testing.T) {
	list := make([]any, 1)
	list[0] = list
	assert.Equal(t, retry.ClassUnknown, Classifier{}.Classify(&fields{Inner: list}).Class)
}

func TestResponseMethods(t *testing.T) {
	for _, err := range []error{
		httpStatus1{}, httpStatus2{}, httpStatus3{}, httpStatus4{}, httpStatus5{}, httpStatus6{}, httpStatus7{}, httpStatus8{}, httpStatus9{},
		isMissing1{}, &missingPtr{},
	} {
		check(t, []errorCase{{fmt.Sprintf("%T", err), err, retry.ClassPermanent}})
	}
	check(t, []errorCase{
		{"another answer", &missingPtr{found: true}, retry.ClassUnknown},
		{"a method that panics", (*missingPtr)(nil), retry.ClassUnknown},
		{"exhausted", exhausted{}, retry.ClassThrottled},
		{"unavailable", unavailable{}, retry.ClassTransient},
		{"an unsigned number", &unsigned{Status: 404}, retry.ClassPermanent},
		{"a pointer to a number", &pointing{Status: new(404)}, retry.ClassPermanent},
		{"no number", &pointing{}, retry.ClassUnknown},
		{"another package's http.Response", &fields{Inner: &otherhttp.Response{}}, retry.ClassUnknown},
		{"something deep", &fields{Inner: struct{ A any }{struct{ B any }{struct{ C any }{struct{ D any }{&fields{Status: 404}}}}}}, retry.ClassUnknown},
	})
}

type (
	unsigned struct {
		no
		Status uint16
	}
	pointing struct {
		no
		Status *int
	}
)
