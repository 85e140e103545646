package recipes

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrytest"
)

// fleet simulates processes that make a call every 3 to 4 seconds, each with its own
// budget and up to four attempts. Before the outage, individual attempts fail; during
// it, all do.
type fleet struct {
	processes    int
	calm, outage time.Duration
	blips        float64 // share of attempts that fail before the outage
}

// run returns the share of calls that succeed before the outage, and the attempts per
// call during it.
func (f fleet) run(budget func(retry.Clock) retry.Budget) (success, load float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	var calls, succeeded, lost, attempts int
	for range f.processes {
		start := time.Unix(0, 0)
		clock := &retrytest.Clock{Start: start}
		policy := retry.Policy{
			Backoff: retry.FullJitter{Base: 50 * time.Millisecond}, MaxAttempts: 4, Budget: budget(clock),
			Rand: rng.Float64, Clock: clock,
		}
		clock.Advance(time.Duration(rng.Int64N(int64(3500 * time.Millisecond))))
		for clock.Now().Sub(start) < f.calm+f.outage {
			calm := clock.Now().Sub(start) < f.calm
			err := retry.Do(context.Background(), policy, func(context.Context) error {
				if !calm {
					attempts++
				}
				if !calm || rng.Float64() < f.blips {
					return errOp
				}
				return nil
			})
			clock.Advance(3*time.Second + time.Duration(rng.Int64N(int64(time.Second))))
			switch {
			case !calm:
				lost++
			case err == nil:
				succeeded++
				fallthrough
			default:
				calls++
			}
		}
	}
	return float64(succeeded) / float64(calls), float64(attempts) / float64(lost)
}

// TestReserve: in a large fleet, the free retries of each process determine how well a
// budget works.
func TestReserve(t *testing.T) {
	f := fleet{processes: 3000, calm: 2 * time.Minute, blips: 0.02}
	if testing.Short() {
		f.processes = 1000
	}
	for _, tt := range []struct {
		name        string
		budget      func(retry.Clock) retry.Budget
		short, long float64 // load during an outage of 7 s, and of a minute
		success     float64
	}{
		{"none", func(retry.Clock) retry.Budget { return nil }, 4, 4, 1},
		{"TokenBudget{}", func(retry.Clock) retry.Budget { return &awspreset.TokenBudget{} }, 4, 3.1, 1},
		{"SharedBudget{}", func(c retry.Clock) retry.Budget { return &retry.SharedBudget{Clock: c} }, 3.5, 1.29, 1},
		{"SharedBudget{Reserve: 1}", func(c retry.Clock) retry.Budget { return &retry.SharedBudget{Reserve: 1, Clock: c} }, 1.5, 1.06, 0.9995},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f.outage = 7 * time.Second
			success, short := f.run(tt.budget)
			f.outage = time.Minute
			_, long := f.run(tt.budget)
			t.Logf("load in 7 s %.3f ×, in a minute %.3f ×, success before %.3f %%", short, long, 100*success)
			assert.InDelta(t, tt.short, short, 0.05)
			assert.InDelta(t, tt.long, long, 0.05)
			assert.InDelta(t, tt.success, success, 0.0005)
		})
	}
}
