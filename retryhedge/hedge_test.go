package retryhedge_test

import (
	"context"
	"math"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryhedge"
)

func TestValidate(t *testing.T) {
	for name, test := range map[string]struct {
		hedge *retryhedge.Hedge
		fault string
	}{
		"zero":                       {&retryhedge.Hedge{}, ""},
		"98 % and 5 %":               {&retryhedge.Hedge{Quantile: 0.98, Share: 0.05}, ""},
		"95 % and 10 %":              {&retryhedge.Hedge{Quantile: 0.95, Share: 0.1}, ""},
		"no room":                    {&retryhedge.Hedge{Quantile: 0.95, Share: 0.05}, "Share 0.05 is less than twice the 0.05"},
		"no room for the default":    {&retryhedge.Hedge{Quantile: 0.9}, "Share 0.1 is less than twice the 0.1"},
		"a fixed time":               {&retryhedge.Hedge{After: time.Second, Share: 0.01}, ""},
		"the Budget of the retries":  {&retryhedge.Hedge{Quantile: 0.9, Budget: &awspreset.TokenBudget{}}, ""},
		"a quantile above 1":         {&retryhedge.Hedge{Quantile: 95}, "Quantile is 95"},
		"a quantile of 1":            {&retryhedge.Hedge{Quantile: 1}, "Quantile is 1"},
		"a quantile below 0":         {&retryhedge.Hedge{Quantile: -0.5}, "Quantile is -0.5"},
		"a quantile that is NaN":     {&retryhedge.Hedge{Quantile: math.NaN()}, "Quantile is NaN"},
		"a share above 1":            {&retryhedge.Hedge{Share: 1.5}, "Share is 1.5"},
		"a share below 0":            {&retryhedge.Hedge{Share: -1}, "Share is -1"},
		"a share that is NaN":        {&retryhedge.Hedge{Share: math.NaN()}, "Share is NaN"},
		"a wait below 0":             {&retryhedge.Hedge{After: -1}, "After or MaxCopies is negative"},
		"a number of copies below 0": {&retryhedge.Hedge{MaxCopies: -1}, "After or MaxCopies is negative"},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.hedge.Validate()
			_, _, opened := retryhedge.Open(t.Context(), test.hedge, "", once, nil)
			assert.Equal(t, err, opened)
			if test.fault == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorIs(t, err, retry.ErrInvalid)
			assert.ErrorContains(t, err, test.fault)
		})
	}
}

// TestManyKeys: of more keys than a Hedge knows, most get their copies, and an event says that
// others are forgotten.
func TestManyKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const keys = 1100
		var mu sync.Mutex
		events := map[retryhedge.EventKind]int{}
		h := &retryhedge.Hedge{OnEvent: func(_ context.Context, e retryhedge.Event) {
			mu.Lock()
			defer mu.Unlock()
			events[e.Kind]++
		}}
		rotate := func(d time.Duration) {
			for key := range keys {
				_, err := retryhedge.Do(t.Context(), h, strconv.Itoa(key), func(ctx context.Context) (int, error) {
					if d == 0 {
						return 0, nil
					}
					return 0, after(ctx, d)
				})
				require.NoError(t, err)
			}
		}
		for range 140 {
			rotate(0)
		}
		rotate(100 * ms)
		synctest.Wait()
		assert.Greater(t, events[retryhedge.Started], 900, "copies")
		assert.NotZero(t, events[retryhedge.Forgotten])
	})
}

// TestFewKeys: nothing is forgotten.
func TestFewKeys(t *testing.T) {
	h := &retryhedge.Hedge{OnEvent: func(context.Context, retryhedge.Event) { t.Error("an event") }}
	for range 3 {
		for key := range 1024 {
			_, err := retryhedge.Do(t.Context(), h, strconv.Itoa(key), func(context.Context) (int, error) { return 0, nil })
			require.NoError(t, err)
		}
	}
}
