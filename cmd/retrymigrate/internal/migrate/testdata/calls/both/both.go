package both

import (
	"errors"

	avast "github.com/avast/retry-go/v4" // want "1 of 1 calls can be rewritten"
	"github.com/cenkalti/backoff/v4"     // want "1 of 1 calls can be rewritten"
)

func ping() error { return avast.Unrecoverable(errors.New("no")) }

func both() (error, bool) {
	if err := backoff.Retry(ping, &backoff.ZeroBackOff{}); err != nil { // want "backoff\\.Retry: can be rewritten; the call has no context: pass one to end it early"
		return err, avast.IsRecoverable(err)
	}
	return avast.Do(ping, avast.LastErrorOnly(true)), true // want "retry\\.Do: can be rewritten; the call has no context: pass one to end it early"
}
