// Package found looks for errors that rewritten calls never return.
package found

import (
	"errors"

	"github.com/avast/retry-go/v4" // want "1 of 1 calls can be rewritten"
)

func call(n uint) (int, error) {
	err := retry.Do(func() error { return errors.New("no") }, retry.Attempts(n)) // want "retry\\.Do: can be rewritten; the error names the last failure, not all of them; the call has no context: pass one to end it early"
	var all retry.Error                                                          // want "retry\\.Error: left alone: rewritten calls never return it: their error after the last attempt is a \\*retry\\.Error of github\\.com/gobackoff/retry"
	if errors.As(err, &all) {
		return len(all), err
	}
	return 0, err
}
