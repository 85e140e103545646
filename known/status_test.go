package known

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/gobackoff/retry"
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
		{"numbers of SMTP", smtpError{Code: 404}, retry.ClassUnknown},

		{"text with a status code", errors.New("unexpected status code: 404"), retry.ClassPermanent},
		{"text with a phrase", errors.New("GET /x: 403 Forbidden"), retry.ClassPermanent},
		{"text with HTTP", errors.New("x: HTTP 429: slow"), retry.ClassThrottled},
		{"text that invites a retry", errors.New("status code: 412, temporarily unavailable"), retry.ClassUnknown},
		{"text with a number", errors.New("expected 500 bytes and got 404"), retry.ClassUnknown},
		{"text with a path", errors.New("cannot read /status/404"), retry.ClassUnknown},
		{"text of gRPC", errors.New("rpc error: code = NotFound desc = no"), retry.ClassPermanent},
		{"status 400 with a limit", &fields{Status: 400, text: "Throttling.User"}, retry.ClassThrottled},
		{"code of a registry", errors.New("denied: no"), retry.ClassPermanent},
		{"text of a limit", errors.New("x: too many requests"), retry.ClassThrottled},
		{"text with a code", errors.New("x: PERMISSION_DENIED - no"), retry.ClassPermanent},
		{"text with a code about a server", errors.New("x: leader_not_found"), retry.ClassUnknown},
		{"wrapped with a status", fmt.Errorf("request failed with status 400: %w", errors.New("x")), retry.ClassPermanent},
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
