package retrynats_test

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
)

// ring is an error that wraps itself. It counts the steps of those who look into it, and ends after
// far too many, so that a test fails instead of hanging.
type ring struct{ steps int }

func (*ring) Error() string { return "ring" }

func (r *ring) Unwrap() error {
	r.steps++
	if r.steps > 100_000 {
		return nil
	}
	return r
}

// TestEndlessErrors: the errors of the function, of a message and of a JetStream may wrap themselves.
func TestEndlessErrors(t *testing.T) {
	endless := &ring{}
	s, w := deadLetters()
	s.err = endless
	reported := 0
	w.OnError = func(jetstream.Msg, error) { reported++ }
	msg := delivered(4)
	msg.sendErr = endless
	handle(t, w, msg, returning(retry.Permanent(endless)))
	assert.Equal(t, 2, reported, "the letter and the outcome")
	w.JetStream = unreachable{err: endless}
	_, err := w.Handle(t.Context(), consumer(good), returning(nil))
	assert.Same(t, endless, err)
	assert.Less(t, endless.steps, 10_000)
}
