package wire

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
)

// loopError is an error that wraps itself.
type loopError struct{}

func (*loopError) Error() string   { return "loop" }
func (l *loopError) Unwrap() error { return l }

// TestEndlessErrors: an error of a Base that wraps itself does not make a Transport hang, whatever
// is asked of it.
func TestEndlessErrors(t *testing.T) {
	for _, err := range []error{&loopError{}, errors.Join(&loopError{}, &loopError{})} {
		assert.Equal(t, notKnown, meaningOf(err))
		assert.False(t, isUnsent(err))
		assert.Same(t, err, legible(err))
	}
}
