package marks

import (
	"testing"

	"github.com/cenkalti/backoff/v4" // want "1 of 1 calls can be rewritten"
)

func TestCall(t *testing.T) {
	if err := backoff.Retry(func() error { return call() }, &backoff.StopBackOff{}); err == nil { // want "backoff\\.Retry: can be rewritten; the call has no context: pass one to end it early"
		t.Error("no error")
	}
}
