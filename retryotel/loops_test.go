package retryotel_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrybatch"
	"github.com/gobackoff/retry/retrykeep"
)

func TestInstrumentKeeper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tel := newTelemetry()
		phases := 0
		k := &retrykeep.Keeper{OnChange: func(context.Context, retrykeep.State) { phases++ }}
		tel.InstrumentKeeper(k, "fetch page")
		lives := []time.Duration{-1, time.Second, time.Hour, -1, 2 * time.Hour, 0}
		n := 0
		err := k.Run(t.Context(), func(_ context.Context, up func()) error {
			n++
			if n == len(lives) {
				return retry.Permanent(errOp)
			}
			if lives[n-1] > 0 {
				up()
				time.Sleep(lives[n-1])
			}
			return errOp
		})
		assert.ErrorIs(t, err, errOp)
		metrics := tel.metrics(t)
		assert.Equal(t, map[string]int64{"connected": 3, "short": 1, "ended": 2, "failed": 3}, counts(t, metrics["retry.connections"], "retry.connection.event"))
		assert.Equal(t, 6+3+6, phases)
	})
}

// TestInstrumentKeeperPanic: a session's panic passes through, and its connection is counted.
func TestInstrumentKeeperPanic(t *testing.T) {
	tel := newTelemetry()
	k := &retrykeep.Keeper{}
	tel.InstrumentKeeper(k, "fetch page")
	assert.PanicsWithValue(t, "x", func() {
		_ = k.Run(t.Context(), func(context.Context, func()) error { panic("x") })
	})
	assert.Equal(t, map[string]int64{"failed": 1}, counts(t, tel.metrics(t)["retry.connections"], "retry.connection.event"))
}

func TestCountItems(t *testing.T) {
	tel := newTelemetry()
	batch := retrybatch.Batch[int]{MaxItems: 2, Policy: retry.Policy{MaxAttempts: 1}, OnItems: tel.CountItems("fetch page")}
	_, err := retrybatch.Do(t.Context(), batch, make([]int, 7), func(_ context.Context, items []int) (map[int]error, error) {
		return map[int]error{0: retry.Permanent(errors.New("bad"))}, nil
	})
	assert.Error(t, err)
	_, err = retrybatch.Do(t.Context(), batch, make([]int, 3), func(_ context.Context, items []int) (map[int]error, error) {
		return map[int]error{0: retry.Throttled(errors.New("busy")), 1: retry.Throttled(errors.New("busy"))}, nil
	})
	assert.Error(t, err)
	assert.Equal(t, map[string]int64{"accepted": 3, "refused": 4, "given_up": 2, "not_sent": 1}, counts(t, tel.metrics(t)["retry.items"], "retry.fate"))
}
