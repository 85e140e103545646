package errfacts

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

type forbidden struct{ error }

func (forbidden) RetryableError() bool { return false }

type aborted struct{ error }

func (aborted) CanceledError() bool { return true }

// TestOvertime: that an attempt exceeded its time limit explains a cancellation, but does
// not override an error that forbids a retry.
func TestOvertime(t *testing.T) {
	failed := errors.New("failed")
	for name, tt := range map[string]struct {
		err  error
		want Class
	}{
		"any error":         {failed, TimedOut},
		"context canceled":  {context.Canceled, TimedOut},
		"canceled":          {aborted{failed}, TimedOut},
		"forbids a retry":   {forbidden{failed}, Permanent},
		"permanent reply":   {mysqlReply(1062, "23000"), Permanent},
		"forbids, canceled": {errors.Join(forbidden{failed}, context.Canceled), Permanent},
	} {
		c, _ := Classify(&Overtime{Err: tt.err, Limit: time.Second})
		assert.Equal(t, tt.want, c, name)
	}
}

// severalErrors is like go-multierror's Error, whose Unwrap returns a chain of a type that
// errors.As sees through, but that unwraps only itself.
type severalErrors []error

func (severalErrors) Error() string            { return "several" }
func (s severalErrors) Unwrap() error          { return errors.New("chain") }
func (s severalErrors) WrappedErrors() []error { return s }

func TestWrappedErrors(t *testing.T) {
	c, _ := Classify(severalErrors{errors.New("other"), mysqlReply(1062, "23000")})
	assert.Equal(t, Permanent, c)
	c, _ = Classify(severalErrors{mysqlReply(1213, "40001"), context.Canceled})
	assert.Equal(t, Transient, c)
}

type (
	kubernetesReply struct {
		ErrStatus struct {
			Code   int32
			Reason string
		}
	}
	ociReply struct {
		StatusCode int
		Code       string
	}
	awsReply struct {
		error
		code string
	}
)

func (kubernetesReply) Error() string { return "kubernetes" }
func (ociReply) Error() string        { return "oci" }
func (awsReply) HTTPStatusCode() int  { return 409 }
func (e awsReply) ErrorCode() string  { return e.code }

// TestConflicts: status 409 means what the client's own retry code makes of it.
func TestConflicts(t *testing.T) {
	kubernetes := func(reason string) (r kubernetesReply) {
		r.ErrStatus.Code, r.ErrStatus.Reason = 409, reason
		return r
	}
	for _, tt := range []struct {
		origin
		field string
		word  string
		reply error
		want  Class
	}{
		{kubernetesStatus, "ErrStatus.Code", "ErrStatus.Reason", kubernetes("Conflict"), Transient},
		{kubernetesStatus, "ErrStatus.Code", "ErrStatus.Reason", kubernetes("AlreadyExists"), Permanent},
		{ociStatus, "StatusCode", "Code", ociReply{409, "IncorrectState"}, Transient},
		{ociStatus, "StatusCode", "Code", ociReply{409, "LimitExceeded"}, Permanent},
		{ociStatus, "StatusCode", "Code", ociReply{400, "IncorrectState"}, Permanent},
		{sdkStatus, "StatusCode", "Code", ociReply{409, ""}, Transient},
		{withStatus, "StatusCode", "Code", ociReply{409, "OperationAborted"}, Permanent},
	} {
		info := typeInfo{typeRow: typeRow{origin: tt.origin, field: tt.field, word: tt.word}}
		var s said
		s.gather(&info, tt.reply, reflect.ValueOf(tt.reply))
		c, _ := s.classOf(tt.origin)
		assert.Equal(t, tt.want, c, "%+v", tt.reply)
	}
	for code, want := range map[string]Class{
		"ConflictException": Transient, "ResourceConflictException": Transient, "ConcurrentModificationException": Transient, "OperationAborted": Transient,
		"ReplicatedWriteConflictException": Transient, "ResourceInUseException": Permanent, "EntityAlreadyExists": Permanent, "": Permanent,
	} {
		c, _ := Classify(awsReply{errors.New("no"), code})
		assert.Equal(t, want, c, code)
	}
}

type (
	// streamError has the fields of a generated SDK's error in a stream that began well.
	streamError struct {
		StatusCode int
		raw        string
	}
	quotaError struct {
		Code           any
		HTTPStatusCode int
	}
	imapError struct{ Code, Text string }
	reason    struct{ Code *string }
	// canceledTransaction has the fields of DynamoDB's error.
	canceledTransaction struct {
		CancellationReasons []reason
	}
	within struct {
		status int
		error
	}
)

func (streamError) Error() string         { return "stream" }
func (e streamError) RawJSON() string     { return e.raw }
func (quotaError) Error() string          { return "quota" }
func (imapError) Error() string           { return "imap" }
func (canceledTransaction) Error() string { return "canceled" }
func (e within) HTTPStatusCode() int      { return e.status }
func (e within) Unwrap() error            { return e.error }

// TestCodesBesideStatuses: what a status leaves open, the error's own code or type says.
func TestCodesBesideStatuses(t *testing.T) {
	event := func(status int, kind string) error {
		return streamError{status, `{ "type" : "error", "error" : { "type" : "` + kind + `", "message": "x" } }`}
	}
	canceled := func(codes ...string) error {
		e := canceledTransaction{}
		for _, code := range codes {
			e.CancellationReasons = append(e.CancellationReasons, reason{&code})
		}
		return within{400, e}
	}
	for _, tt := range []struct {
		err  error
		want Class
	}{
		{event(200, "overloaded_error"), Throttled},
		{event(200, "rate_limit_error"), Throttled},
		{event(200, "invalid_request_error"), Permanent},
		{event(200, "authentication_error"), Permanent},
		{event(200, "permission_error"), Permanent},
		{event(200, "not_found_error"), Permanent},
		{event(200, "billing_error"), Permanent},
		{event(200, "timeout_error"), TimedOut},
		{event(200, "api_error"), Transient},
		{event(200, "other_error"), Unknown},
		{event(200, ""), Unknown},
		{event(503, "other_error"), Transient},
		{event(401, "overloaded_error"), Throttled},
		{streamError{200, `"type`}, Unknown},
		{streamError{200, `{"type":`}, Unknown},
		{streamError{200, `{"type":5}`}, Unknown},

		{quotaError{"insufficient_quota", 429}, Permanent},
		{quotaError{"rate_limit_exceeded", 429}, Throttled},
		{quotaError{nil, 429}, Throttled},
		{quotaError{429, 429}, Throttled},

		{imapError{"AUTHENTICATIONFAILED", "no"}, Permanent},
		{imapError{"UNAVAILABLE", "later"}, Transient},
		{errors.New("ssh: unable to authenticate, attempted methods [none password], no supported methods remain"), Permanent},
		{errors.New("ssh: handshake failed: EOF"), Unknown},

		{canceled("None", "TransactionConflict"), Transient},
		{canceled("None", "ThrottlingError"), Throttled},
		{canceled("ProvisionedThroughputExceeded", "TransactionConflict"), Throttled},
		{canceled("TransactionConflict", "ConditionalCheckFailed"), Permanent},
		{canceled("ValidationError"), Permanent},
		{canceled("None"), Permanent}, // as its status
		{canceled(), Permanent},
	} {
		c, _ := Classify(tt.err)
		assert.Equal(t, tt.want, c, "%#v", tt.err)
	}
}

type errorList []error

func (errorList) Error() string { return "several" }

// TestListOfErrors: a slice of errors is read as a tree.
func TestListOfErrors(t *testing.T) {
	for _, tt := range []struct {
		err  errorList
		want Class
	}{
		{errorList{nil, mysqlReply(1062, "23000")}, Permanent},
		{errorList{context.Canceled, mysqlReply(1213, "40001")}, Transient},
		{errorList{errors.New("x")}, Unknown},
		{nil, Unknown},
	} {
		c, _ := Classify(tt.err)
		assert.Equal(t, tt.want, c)
	}
	loop := errorList{nil}
	loop[0] = loop
	c, _ := Classify(loop)
	assert.Equal(t, Unknown, c)
}

// TestHintOfResponse: the header of a response in a field is read with its status, whether
// the field is exported or not.
func TestHintOfResponse(t *testing.T) {
	respond := func(status int, header string) *http.Response {
		return &http.Response{StatusCode: status, Header: http.Header{"Retry-After": {header}, "Date": {"Mon, 02 Nov 2026 12:00:00 GMT"}}}
	}
	for _, tt := range []struct {
		err  error
		want time.Duration
	}{
		{response{respond(503, "7")}, 7 * time.Second},
		{response{respond(429, "Mon, 02 Nov 2026 12:00:09 GMT")}, 9 * time.Second},
		{response{respond(200, "7")}, 0},
		{response{respond(503, "soon")}, 0},
		{response{&http.Response{StatusCode: 503}}, 0},
		{response{}, 0},
	} {
		wait, gaveUp := Advice(tt.err)
		assert.Equal(t, tt.want, wait)
		assert.False(t, gaveUp)
	}
}
