package errfacts

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

type forbidden struct{ error }

func (forbidden) RetryableError() bool { return false }

type aborted struct{ error }

func (aborted) CanceledError() bool { return true }

// TestOvertime: that an attempt exceeded its time limit explains a cancellation, but does
// not override an error that forbids a retry.
func TestOvertime(t *testing.T) {
	failed := errors.New("failed")
	for name, tt := range map[string]struct {
		err  error
		want Class
	}{
		"any error":         {failed, TimedOut},
		"context canceled":  {context.Canceled, TimedOut},
		"canceled":          {aborted{failed}, TimedOut},
		"forbids a retry":   {forbidden{failed}, Permanent},
		"permanent reply":   {mysqlReply(1062, "23000"), Permanent},
		"forbids, canceled": {errors.Join(forbidden{failed}, context.Canceled), Permanent},
	} {
		c, _ := Classify(&Overtime{Err: tt.err, Limit: time.Second})
		assert.Equal(t, tt.want, c, name)
	}
}
