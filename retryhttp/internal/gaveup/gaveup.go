// Package gaveup says that a Transport has given up on a response.
package gaveup

import (
	"fmt"
	"net/http"

	"github.com/gobackoff/retry"
)

// Key is the key of a *[retry.Error] in the context of a response's request.
type Key struct{}

// On returns why a Transport with several attempts returned resp although it is a failure that
// it would have retried; nil: it did not. Err is what a repetition lacked, or nil.
func On(resp *http.Response) *retry.Error {
	if resp.Request == nil {
		return nil
	}
	e, _ := resp.Request.Context().Value(Key{}).(*retry.Error)
	if e == nil || e.Attempts == 1 && e.Reason == retry.ErrMaxAttempts {
		return nil
	}
	return e
}

// With returns the error of a failure after which a Transport gave up. loop says why, and what a
// repetition lacked.
func With(loop *retry.Error, failure error) error {
	e := *loop
	e.Err = failure
	if loop.Err != nil {
		e.Err = fmt.Errorf("%w (%w)", failure, loop.Err)
	}
	return &e
}
