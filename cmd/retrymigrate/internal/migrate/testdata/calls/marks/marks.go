// Package marks marks errors, and all its calls are rewritten.
package marks

import (
	"errors"
	"time"

	"github.com/cenkalti/backoff/v4" // want "1 of 1 calls can be rewritten"
)

func ping() error { return backoff.Permanent(errors.New("no")) }

func call() error { return backoff.Retry(ping, backoff.NewConstantBackOff(time.Second)) } // want "backoff\\.Retry: can be rewritten; the call has no context: pass one to end it early"

func stopped(t *backoff.Ticker, d time.Duration) bool {
	defer t.Stop()
	return d == backoff.Stop
}

func last(waits []time.Duration) time.Duration {
	wait := backoff.Stop
	for _, wait = range waits {
	}
	return wait
}
