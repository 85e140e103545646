package awspreset_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"reflect"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryconfig"
)

const (
	ms      = time.Millisecond
	almost1 = 1 - 0x1p-53
)

var errOp = errors.New("operation failed")

func succeed(context.Context) error { return nil }

func failedWith(class retry.Class) retry.Attempt {
	return retry.Attempt{Number: 1, Err: errOp, Verdict: retry.Verdict{Class: class}}
}

type (
	statusedError int
	codedError    struct{ code string }
)

func (e statusedError) Error() string { return fmt.Sprint("status ", int(e)) }

func (e statusedError) HTTPStatusCode() int { return int(e) }

func (e codedError) Error() string { return e.code }

func (e codedError) ErrorCode() string { return e.code }

func mustBe[T comparable](what string, got, want T) error {
	if got != want {
		return fmt.Errorf("%s is %v, want %v", what, got, want)
	}
	return nil
}

// These types are parts of service errors. An error must not have methods for fields that
// its case lacks, because classifiers look for methods.
type (
	scripted   struct{}
	hasStatus  struct{ status int }
	hasCode    struct{ code string }
	hasMessage struct{ message string }
	canceled   struct{ scripted }
)

func (scripted) Error() string          { return "failure by script" }
func (e hasStatus) HTTPStatusCode() int { return e.status }
func (e hasCode) ErrorCode() string     { return e.code }
func (e hasMessage) ErrorMessage() string {
	return e.message
}
func (canceled) CanceledError() bool { return true }

func serviceError(status *int, code *string, message string) error {
	switch {
	case status != nil && code != nil && message != "":
		return &struct {
			scripted
			hasStatus
			hasCode
			hasMessage
		}{hasStatus: hasStatus{*status}, hasCode: hasCode{*code}, hasMessage: hasMessage{message}}
	case status != nil && code != nil:
		return &struct {
			scripted
			hasStatus
			hasCode
		}{hasStatus: hasStatus{*status}, hasCode: hasCode{*code}}
	case status != nil:
		return &struct {
			scripted
			hasStatus
		}{hasStatus: hasStatus{*status}}
	case code != nil:
		return &struct {
			scripted
			hasCode
		}{hasCode: hasCode{*code}}
	}
	return errors.New("failure by script")
}

func errorOfCode(code string) error { return serviceError(nil, &code, "") }

func readError(err error) error { return &net.OpError{Op: "read", Net: "tcp", Err: err} }

func dialError(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }

func requestError(err error) error { return &url.Error{Op: "Post", URL: "https://service/", Err: err} }

// balance returns -1 if there is no quota, as the SDK does.
func balance(p retry.Policy) float64 {
	if b, ok := p.Budget.(interface{ Balance() float64 }); ok {
		return b.Balance()
	}
	return -1
}

func tokens(b retry.Budget) *awspreset.TokenBudget {
	if bucket, ok := b.(*awspreset.TokenBudget); ok {
		return bucket
	}
	return reflect.ValueOf(b).FieldByName("TokenBudget").Interface().(*awspreset.TokenBudget)
}

func textOf(p retry.Policy) string { return retryconfig.Policy{Policy: p}.String() }
