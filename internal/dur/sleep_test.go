package dur_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry/internal/dur"
)

// TestSleep: how long a wait takes if the wall clock jumps after 80 s.
func TestSleep(t *testing.T) {
	for name, tt := range map[string]struct {
		wait, jump, want time.Duration
	}{
		"no jump":                           {10 * time.Minute, 0, 10 * time.Minute},
		"suspended for an hour":             {10 * time.Minute, time.Hour, 90 * time.Second},
		"suspended for a minute":            {10 * time.Minute, time.Minute, 9 * time.Minute},
		"another length, another end":       {10*time.Minute + 7*time.Second, time.Hour, 97 * time.Second},
		"suspended near the end":            {85 * time.Second, time.Hour, 85 * time.Second},
		"set back by an hour":               {10 * time.Minute, -time.Hour, 10 * time.Minute},
		"shorter than a slice":              {7 * time.Second, time.Hour, 7 * time.Second},
		"a slice":                           {dur.Slice, 0, dur.Slice},
		"nothing":                           {0, 0, 0},
		"negative":                          {-time.Second, 0, 0},
		"as long as can be, and suspended":  {math.MaxInt64, math.MaxInt64, math.MaxInt64%dur.Slice + 90*time.Second},
		"longer than suspended, to the end": {time.Hour, 59 * time.Minute, 90 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				now := func() time.Time {
					if time.Since(begun) >= 80*time.Second {
						return time.Now().Add(tt.jump)
					}
					return time.Now()
				}
				assert.NoError(t, dur.Sleep(t.Context(), tt.wait, now))
				assert.Equal(t, tt.want, time.Since(begun))
			})
		})
	}
}

// TestSleepIsCanceled: the end of the context ends a wait at once, in each of its slices.
func TestSleepIsCanceled(t *testing.T) {
	for _, after := range []time.Duration{time.Second, 100 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), after)
			defer cancel()
			begun := time.Now()
			assert.ErrorIs(t, dur.Sleep(ctx, time.Hour, time.Now), context.DeadlineExceeded)
			assert.Equal(t, after, time.Since(begun))
		})
	}
}
