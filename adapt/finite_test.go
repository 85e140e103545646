package adapt_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry/adapt"
)

// ring is an error that wraps itself.
type ring struct{ first error }

func (*ring) Error() string     { return "ring" }
func (r *ring) Unwrap() []error { return []error{r.first, r} }

// A convertible has a method As.
type convertible struct{ error }

func (convertible) As(target any) bool {
	path, ok := target.(**fs.PathError)
	if ok {
		*path = &fs.PathError{Op: "converted"}
	}
	return ok
}

// TestFinite: what errors.Is and errors.As find, in errors that they would never finish with, too.
func TestFinite(t *testing.T) {
	path := &fs.PathError{Op: "open", Err: context.Canceled}
	many := slices.Repeat([]error{errOp}, 300)
	for name, tt := range map[string]struct {
		err      error
		same     bool // Finite returns err itself
		canceled bool
		op       string // of the PathError
	}{
		"nil":                  {nil, true, false, ""},
		"plain":                {errOp, true, false, ""},
		"wrapped":              {fmt.Errorf("read: %w", path), true, true, "open"},
		"a ring":               {&ring{errOp}, false, false, ""},
		"a ring with another":  {fmt.Errorf("read: %w", &ring{path}), false, true, "open"},
		"a ring that converts": {&ring{convertible{errOp}}, false, false, "converted"},
		"after a ring":         {errors.Join(&ring{errOp}, path), false, false, ""},
		"many, known at first": {errors.Join(append([]error{path}, many...)...), false, true, "open"},
		"many, known at last":  {errors.Join(append(many[:299:299], path)...), false, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			finite := adapt.Finite(tt.err)
			assert.Equal(t, tt.same, finite == tt.err)
			assert.Equal(t, tt.canceled, errors.Is(finite, context.Canceled))
			found := &fs.PathError{}
			assert.Equal(t, tt.op != "", errors.As(finite, &found))
			assert.Equal(t, tt.op, found.Op)
			if tt.err != nil {
				assert.Equal(t, tt.err.Error(), finite.Error())
			}
		})
	}
}
