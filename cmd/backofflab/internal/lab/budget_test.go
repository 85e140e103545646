package lab

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrytest"
)

func TestBudgetTexts(t *testing.T) {
	costs := func(transient, timeout, throttled float64) awspreset.TokenCosts {
		return awspreset.TokenCosts{Transient: transient, Timeout: timeout, Throttled: throttled}
	}
	clock := &retrytest.Clock{}
	for text, want := range map[string]retry.Budget{
		"shared":                               &retry.SharedBudget{Clock: clock},
		"shared(reserve=1)":                    &retry.SharedBudget{Reserve: 1, Clock: clock},
		"none":                                 retry.NoBudget{},
		"token":                                &awspreset.TokenBudget{Costs: costs(14, 14, 5)},
		"token(capacity=100)":                  &awspreset.TokenBudget{Capacity: 100, Costs: costs(14, 14, 5)},
		"token(cost=5 timeout=10)":             &awspreset.TokenBudget{Costs: costs(5, 10, 5)},
		"token(cost=5 throttled=0)":            &awspreset.TokenBudget{Costs: costs(5, 5, 0)},
		"token(capacity=1 cost=1 success=0.1)": &awspreset.TokenBudget{Capacity: 1, Costs: costs(1, 1, 1), Success: 0.1},
		"throttle":                             &ThrottleBudget{},
		"throttle(maxtokens=100)":              &ThrottleBudget{MaxTokens: 100},
		"ratio(ratio=0.1 floor=-1)":            &RatioBudget{Ratio: 0.1, Floor: -1, Clock: clock},
	} {
		c := contender(t, "no-delay budget="+text+" attempts=3")
		assert.Equal(t, "no-delay attempts=3 budget="+text, c.Name)
		assert.Equal(t, want, c.Policy(clock).Budget)
	}
	for text, want := range map[string]string{
		"budget=ratio(ratio=x)":        "ratio=x is not a number",
		"budget=ratio(rate=1)":         `unknown key "rate"; valid: ratio, floor`,
		"budget=ratio(ratio=0)":        "would mean the default",
		"budget=token(capacity=-1)":    "is negative",
		"budget=ratio budget=token":    "given twice",
		"budget=ratio budget=shared":   "given twice",
		"budget=fair":                  `unknown budget "fair"`,
		"budget=shared(reserve=0.5)":   "Reserve 0.5 is below 1",
		"budget=throttle(maxtokens=1e": "throttle",
	} {
		_, err := ParseContender(text)
		assert.ErrorContains(t, err, want, text)
	}
}

func granted(b retry.Budget, n, number int) (granted int) {
	for range n {
		if b.TryWithdraw(retry.Attempt{Number: number}) {
			granted++
		}
	}
	return granted
}

func TestRatioBudget(t *testing.T) {
	clock := &retrytest.Clock{Start: time.Unix(1e9, 0)}
	t.Run("the floor", func(t *testing.T) {
		b := &RatioBudget{Clock: clock}
		assert.Equal(t, 100., b.Balance(), "10 a second over 10 seconds")
		assert.Equal(t, 100, granted(b, 500, 2))
		assert.Zero(t, b.Balance())
	})
	t.Run("the ratio", func(t *testing.T) {
		b := &RatioBudget{Ratio: 0.1, Floor: -1, Clock: clock}
		assert.Zero(t, granted(b, 10, 2))
		for range 1000 {
			b.Deposit(retry.Attempt{}, nil)
		}
		assert.Equal(t, 100, granted(b, 500, 2))
	})
	t.Run("a fifth by default", func(t *testing.T) {
		b := &RatioBudget{Floor: -1, Clock: clock}
		for range 5 {
			assert.Zero(t, granted(b, 1, 2))
			b.Deposit(retry.Attempt{}, nil)
		}
		assert.Equal(t, 1., b.Balance())
	})
	t.Run("a call counts once", func(t *testing.T) {
		b := &RatioBudget{Ratio: 1, Floor: -1, Clock: clock}
		assert.Equal(t, 1, granted(b, 1, 1), "the call is counted at its first failure")
		assert.Equal(t, 0, granted(b, 1, 2), "the call is not counted again at its second failure")
		b.Deposit(retry.Attempt{Number: 1}, nil)
		assert.Zero(t, b.Balance(), "the call is not counted again at its success")
		b.Deposit(retry.Attempt{}, errors.New("failed"))
		assert.Equal(t, 1., b.Balance(), "a call without a retry is counted at its end")
	})
	t.Run("at full failure retries are the ratio", func(t *testing.T) {
		b := &RatioBudget{Ratio: 0.2, Floor: -1, Clock: clock}
		assert.Equal(t, 200, granted(b, 1000, 1))
	})
	t.Run("a slot saturates", func(t *testing.T) {
		b := &RatioBudget{Ratio: 1e12, Floor: -1, Clock: clock}
		for range 10 {
			b.Deposit(retry.Attempt{}, nil)
		}
		assert.Equal(t, (1<<50)/1000., b.Balance())
	})
	t.Run("on the system clock", func(t *testing.T) {
		assert.True(t, new(RatioBudget).TryWithdraw(retry.Attempt{Number: 1}))
	})
}

// TestRatioBudgetWindow: calls and retries older than the Window no longer count.
func TestRatioBudgetWindow(t *testing.T) {
	clock := &retrytest.Clock{Start: time.Unix(1e9, 0)}
	t.Run("10 seconds", func(t *testing.T) {
		b := &RatioBudget{Ratio: 1, Floor: 1, Clock: clock}
		for range 50 {
			b.Deposit(retry.Attempt{}, nil)
		}
		assert.Equal(t, 60., b.Balance())
		clock.Advance(5 * time.Second)
		assert.Equal(t, 20, granted(b, 20, 2))
		assert.Equal(t, 40., b.Balance())
		clock.Advance(5 * time.Second)
		assert.Equal(t, 0., b.Balance(), "the calls no longer count, but the retries still do")
		clock.Advance(5 * time.Second)
		assert.Equal(t, 10., b.Balance())
		clock.Advance(1000 * time.Hour)
		assert.Equal(t, 10., b.Balance())
	})
	t.Run("a minute", func(t *testing.T) {
		b := &RatioBudget{Ratio: 1, Floor: 1, Window: time.Minute, Clock: clock}
		assert.Equal(t, 60, granted(b, 100, 2))
		clock.Advance(time.Minute)
		assert.Equal(t, 60, granted(b, 100, 2))
	})
}

// TestRatioBudgetClock: the clock may start at any time. If it goes backward, time stands
// still for the budget until the clock catches up.
func TestRatioBudgetClock(t *testing.T) {
	for _, back := range []time.Duration{time.Second, 10 * time.Second, 20 * time.Second, time.Minute} {
		clock := &retrytest.Clock{Start: time.Unix(1.7e9, 0)}
		b := &RatioBudget{Clock: clock}
		assert.Equal(t, 100, granted(b, 500, 2))
		clock.Advance(-back)
		assert.Zero(t, granted(b, 500, 2), "%v back", back)
		clock.Advance(back)
		assert.Zero(t, granted(b, 500, 2), "%v back and forth", back)
		clock.Advance(10 * time.Second)
		assert.Equal(t, 100, granted(b, 500, 2), "a window later")
	}
	for _, back := range []time.Duration{time.Second, 5 * time.Second, 10 * time.Second, time.Minute, time.Hour, 24 * 365 * time.Hour} {
		clock := &retrytest.Clock{Start: time.Unix(1.7e9, 0)}
		b := &RatioBudget{Clock: clock}
		for range 20 {
			granted(b, 500, 2)
			clock.Advance(time.Second)
		}
		clock.Advance(-back)
		total := 0
		for range 20 {
			total += granted(b, 500, 2)
			clock.Advance(time.Second)
		}
		// Two windows allow 200 retries. A budget that lost its count may allow some
		// more, but not all 10,000.
		assert.LessOrEqual(t, total, 1300, "%v back", back)
	}
	for _, start := range []int64{0, 1, -1e9, 1 << 31, 3.5e9, 1<<32 - 1, 1 << 32, 9e9} {
		clock := &retrytest.Clock{Start: time.Unix(start, 0)}
		b := &RatioBudget{Ratio: 1, Floor: -1, Clock: clock}
		for range 15 {
			b.Deposit(retry.Attempt{}, nil)
			clock.Advance(time.Second)
		}
		assert.Equal(t, 9., b.Balance(), "start %d", start)
	}
}
