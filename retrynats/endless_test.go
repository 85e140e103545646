package retrynats_test

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/test/cyclic"
)

// TestEndlessErrors: the errors of the function, of a message and of a JetStream may wrap themselves.
func TestEndlessErrors(t *testing.T) {
	ring := &cyclic.Error{}
	s, w := deadLetters()
	s.err = ring
	reported := 0
	w.OnError = func(jetstream.Msg, error) { reported++ }
	msg := delivered(4)
	msg.sendErr = ring
	handle(t, w, msg, returning(retry.Permanent(ring)))
	assert.Equal(t, 2, reported, "the letter and the outcome")
	w.JetStream = unreachable{err: ring}
	_, err := w.Handle(t.Context(), consumer(good), returning(nil))
	assert.Same(t, ring, err)
	assert.Less(t, ring.Steps, 10_000)
}
