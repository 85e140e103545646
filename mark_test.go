package retry_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrytest"
)

// Errors with each pair of the methods that markers are read by.
type (
	hintedTree struct {
		hint     time.Duration
		branches []error
	}
	plainTree struct{ branches []error }
)

func (hintedTree) Error() string               { return "later" }
func (e hintedTree) Unwrap() []error           { return e.branches }
func (e hintedTree) RetryAfter() time.Duration { return e.hint }
func (plainTree) Error() string                { return "several" }
func (e plainTree) Unwrap() []error            { return e.branches }

// TestMarkBehindAnything: a marker counts behind every kind of error, and so do the hint
// of the outer one and a second branch.
func TestMarkBehindAnything(t *testing.T) {
	const s = time.Second
	for shape, around := range map[string]func(error) error{
		"Unwrap() error":                  func(err error) error { return fmt.Errorf("x: %w", err) },
		"Unwrap() []error":                func(err error) error { return plainTree{[]error{err}} },
		"second of Unwrap() []error":      func(err error) error { return plainTree{[]error{errOp, nil, err}} },
		"RetryAfter and Unwrap() error":   func(err error) error { return hintedError{s, err} },
		"RetryAfter and Unwrap() []error": func(err error) error { return hintedTree{s, []error{errOp, err}} },
		"a second branch of a second":     func(err error) error { return errors.Join(errOp, errors.Join(errOp, err)) },
		"below another mark":              func(err error) error { return retry.Progress(err) },
	} {
		t.Run(shape, func(t *testing.T) {
			for name, tt := range map[string]struct {
				err  error
				want retry.Attempt
			}{
				"permanent":    {retry.Permanent(errOp), retry.Attempt{Class: retry.ClassPermanent}},
				"throttled":    {retry.Throttled(errOp), retry.Attempt{Class: retry.ClassThrottled}},
				"unrepeatable": {retry.Unrepeatable(errOp), retry.Attempt{Class: retry.ClassTransient, Unrepeatable: true}},
				"progress":     {retry.Progress(errOp), retry.Attempt{Class: retry.ClassTransient, Number: 1}},
			} {
				a := retry.Policy{}.Classify(around(tt.err))
				assert.Equal(t, tt.want.Class, a.Class, name)
				assert.Equal(t, tt.want.Unrepeatable, a.Unrepeatable, name)
				assert.Equal(t, tt.want.Number == 1 || shape == "below another mark", a.Number == 1, name)
			}
			op := retrytest.Script(around(retry.Unrepeatable(errOp)))
			assert.ErrorIs(t, retry.Do(t.Context(), retry.Policy{Backoff: retry.NoDelay{}}, op.Run), retry.ErrUnrepeatable)
			assert.Equal(t, 1, op.Calls())
		})
	}
}

// TestMarkDeepInside: a long chain is read without recursion.
func TestMarkDeepInside(t *testing.T) {
	err := retry.Unrepeatable(errOp)
	for range 1_000_000 {
		err = errors.Join(err)
	}
	a := retry.Policy{}.Classify(errors.Join(errOp, err))
	assert.True(t, a.Unrepeatable)
	assert.Equal(t, retry.ClassTransient, a.Class)
}

// TestRefusedInside: a call that was refused would be refused again.
func TestRefusedInside(t *testing.T) {
	calls := 0
	err := retry.Do(t.Context(), retry.Policy{Backoff: retry.NoDelay{}}, func(ctx context.Context) error {
		calls++
		return fmt.Errorf("inner: %w", retry.Do(ctx, retry.Policy{MaxAttempts: -1}, retrytest.Script().Run))
	})
	assert.ErrorIs(t, err, retry.ErrInvalid)
	assert.Equal(t, 1, calls)
	_, invalid := retry.ParsePolicy("ful")
	assert.Equal(t, retry.ClassPermanent, retry.Policy{}.Classify(invalid).Class)
}
