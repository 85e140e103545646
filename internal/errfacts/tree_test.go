package errfacts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestFanOuts: of the errors of several operations, one that is no cancellation decides, whether
// anything is known about it or not. Of an error and its reason, the cancellation decides unless
// something is known about the other one.
func TestFanOuts(t *testing.T) {
	var (
		shard    = errors.New("shard 3")
		canceled = context.Canceled
		stopped  = fmt.Errorf("shard 4: %w", canceled)
		reason   = fmt.Errorf("%w: %w", shard, canceled)
	)
	for _, tt := range []struct {
		name string
		err  error
		want Class
	}{
		{"one failed", errors.Join(shard, canceled), Unknown},
		{"the last one failed", errors.Join(canceled, stopped, shard), Unknown},
		{"one failed with what is known", errors.Join(canceled, io.EOF), Transient},
		{"none failed", errors.Join(canceled, stopped), Permanent},
		{"only one", errors.Join(canceled), Permanent},
		{"only a failure", errors.Join(shard), Unknown},
		{"a list", errorList{canceled, shard}, Unknown},
		{"a list of cancellations", errorList{canceled, nil, stopped}, Permanent},
		{"another package's", severalErrors{canceled, shard}, Unknown},
		{"a client's word for it", errors.Join(shard, aborted{shard}), Unknown},
		{"only a client's word for it", errors.Join(canceled, aborted{shard}), Permanent},
		{"wrapped", fmt.Errorf("all: %w", errors.Join(shard, canceled)), Unknown},

		{"an error and its reason", reason, Permanent},
		{"the reason first", fmt.Errorf("%w: %w", canceled, shard), Permanent},
		{"a known error and its reason", fmt.Errorf("%w: %w", io.EOF, canceled), Transient},
		{"an error without a cancellation", fmt.Errorf("%w: %w", shard, shard), Unknown},
		{"operations that were stopped, each with its reason", errors.Join(reason, reason), Permanent},
		{"one failed, one was stopped with its reason", errors.Join(reason, shard), Unknown},
		{"a fan-out and its reason", fmt.Errorf("%w: %w", shard, errors.Join(stopped, canceled)), Permanent},
		{"a fan-out that failed", fmt.Errorf("%w: %w", shard, errors.Join(stopped, shard)), Unknown},
		{"a fan-out, then its name", fmt.Errorf("%w: %w", errors.Join(stopped, canceled), shard), Permanent},
		{"fan-outs in a fan-out", errors.Join(errors.Join(canceled, stopped), errors.Join(canceled)), Permanent},
		{"a failure in a fan-out in a fan-out", errors.Join(errors.Join(canceled, shard), canceled), Unknown},
		{"a cancellation around a fan-out", aborted{errors.Join(shard)}, Permanent},
		{"nothing", errors.Join(errorList{}, errorList{}), Unknown},
	} {
		c, _ := Classify(tt.err)
		assert.Equal(t, tt.want, c, tt.name)
	}
}

// TestDeepFanOuts: however deep trees are nested, the first 256 errors decide.
func TestDeepFanOuts(t *testing.T) {
	nested := func(err error, depth int) error {
		for range depth {
			err = errors.Join(err, context.Canceled)
		}
		return err
	}
	c, _ := Classify(nested(context.Canceled, 100))
	assert.Equal(t, Permanent, c)
	c, _ = Classify(nested(errors.New("shard 3"), 100))
	assert.Equal(t, Unknown, c)
	c, _ = Classify(nested(errors.New("shard 3"), 10_000))
	assert.Equal(t, Unknown, c)
}
