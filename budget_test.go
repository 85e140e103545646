package retry_test

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrytest"
)

func TestTokenBudget(t *testing.T) {
	const (
		none      = retry.ClassUnknown
		transient = retry.ClassTransient
		timeout   = retry.ClassTimeout
		throttled = retry.ClassThrottled
	)
	type step struct {
		do      string // withdraw, refuse, success, permanent
		class   retry.Class
		balance float64
	}
	botocore := func() *retry.TokenBudget {
		return &retry.TokenBudget{Capacity: 500, Costs: retry.TokenCosts{Transient: 5, Timeout: 10, Throttled: 5}, SuccessOnly: true}
	}
	tests := []struct {
		name   string
		bucket *retry.TokenBudget
		steps  []step
	}{
		{"the zero value is the standard quota", &retry.TokenBudget{}, []step{
			{"withdraw", transient, 486}, {"withdraw", throttled, 481}, {"withdraw", timeout, 467},
			{"success", timeout, 481}, {"success", none, 482},
		}},
		{"never above capacity", &retry.TokenBudget{}, []step{{"success", none, 500}, {"success", transient, 500}}},
		{"a success refunds the last retry only", botocore(), []step{
			{"withdraw", timeout, 490}, {"withdraw", transient, 485}, {"success", transient, 490}, {"success", none, 491},
		}},
		{"a permanent failure counts as a response", &retry.TokenBudget{}, []step{
			{"withdraw", transient, 486}, {"withdraw", transient, 472}, {"permanent", transient, 486}, {"permanent", none, 487},
		}},
		{"a permanent failure, as in the AWS SDKs", botocore(), []step{{"withdraw", transient, 495}, {"permanent", transient, 495}}},
		{"empty and full again", &retry.TokenBudget{Capacity: 14}, []step{
			{"withdraw", transient, 0}, {"refuse", transient, 0}, {"refuse", throttled, 0},
			{"success", none, 1}, {"refuse", throttled, 1}, {"success", transient, 14}, {"withdraw", transient, 0},
		}},
		{"not enough is not taken", &retry.TokenBudget{Capacity: 13}, []step{{"refuse", transient, 13}, {"withdraw", throttled, 8}}},
		{"nothing for a success", &retry.TokenBudget{Success: -1}, []step{
			{"withdraw", transient, 486}, {"success", none, 486}, {"success", transient, 500},
		}},
		{"free of cost", &retry.TokenBudget{Capacity: 5, Costs: retry.TokenCosts{Transient: 5}}, []step{
			{"withdraw", transient, 0}, {"withdraw", throttled, 0}, {"success", throttled, 1},
		}},
		{"starting empty", &retry.TokenBudget{Capacity: 10, Deficit: 10, Costs: retry.TokenCosts{Transient: 1}, Success: 0.1, NoRefund: true}, []step{
			{"refuse", transient, 0}, {"success", none, 0.1}, {"success", transient, 0.2}, {"refuse", transient, 0.2},
		}},
		{"starting empty, filling up", &retry.TokenBudget{Capacity: 2, Deficit: 2, Costs: retry.TokenCosts{Transient: 1}, Success: 1.5}, []step{
			{"success", none, 1.5}, {"success", none, 2}, {"withdraw", transient, 1},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for i, s := range tt.steps {
				switch s.do {
				case "withdraw":
					require.True(t, tt.bucket.TryWithdraw(failedWith(s.class)), "step %d", i)
				case "refuse":
					require.False(t, tt.bucket.TryWithdraw(failedWith(s.class)), "step %d", i)
				default:
					paid := failedWith(s.class)
					if s.class == none {
						paid = retry.Attempt{}
					}
					var err error
					if s.do != "success" {
						err = errOp
					}
					tt.bucket.Deposit(paid, err)
				}
				require.Equal(t, s.balance, tt.bucket.Balance(), "step %d", i)
			}
		})
	}
}

// TestThrottleBudget: with the 10 tokens and the ratio of 0.1 of gRPC's proposal A6,
// five failures stop retries, and ten successes allow one more.
func TestThrottleBudget(t *testing.T) {
	b := &retry.ThrottleBudget{}
	for i := range 4 {
		require.True(t, b.TryWithdraw(failedWith(retry.ClassTransient)), "failure %d", i)
	}
	require.False(t, b.TryWithdraw(failedWith(retry.ClassTransient)), "half of the tokens is not more than half")
	for range 9 {
		require.False(t, b.TryWithdraw(failedWith(retry.ClassTransient)))
	}
	assert.Zero(t, b.Balance(), "refused failures count, and the balance is never below 0")
	b.Deposit(retry.Attempt{}, errOp)
	assert.Zero(t, b.Balance(), "only successes count")
	for range 61 {
		b.Deposit(retry.Attempt{}, nil)
	}
	assert.InDelta(t, 6.1, b.Balance(), 1e-9)
	require.True(t, b.TryWithdraw(failedWith(retry.ClassTransient)))
	for range 1000 {
		b.Deposit(retry.Attempt{}, nil)
	}
	assert.Equal(t, 10., b.Balance())

	small := &retry.ThrottleBudget{MaxTokens: 4, TokenRatio: 1}
	require.True(t, small.TryWithdraw(failedWith(retry.ClassTransient)))
	require.False(t, small.TryWithdraw(failedWith(retry.ClassTransient)))
	small.Deposit(failedWith(retry.ClassTransient), nil)
	assert.Equal(t, 3., small.Balance())
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
		b := &retry.RatioBudget{Clock: clock}
		assert.Equal(t, 100., b.Balance(), "10 a second over 10 seconds")
		assert.Equal(t, 100, granted(b, 500, 2))
		assert.Zero(t, b.Balance())
	})
	t.Run("the ratio", func(t *testing.T) {
		b := &retry.RatioBudget{Ratio: 0.1, Floor: -1, Clock: clock}
		assert.Zero(t, granted(b, 10, 2))
		for range 1000 {
			b.Deposit(retry.Attempt{}, nil)
		}
		assert.Equal(t, 100, granted(b, 500, 2))
	})
	t.Run("a fifth by default", func(t *testing.T) {
		b := &retry.RatioBudget{Floor: -1, Clock: clock}
		for range 5 {
			assert.Zero(t, granted(b, 1, 2))
			b.Deposit(retry.Attempt{}, nil)
		}
		assert.Equal(t, 1., b.Balance())
	})
	t.Run("a call counts once", func(t *testing.T) {
		b := &retry.RatioBudget{Ratio: 1, Floor: -1, Clock: clock}
		assert.Equal(t, 1, granted(b, 1, 1), "the call is counted at its first failure")
		assert.Equal(t, 0, granted(b, 1, 2), "the call is not counted again at its second failure")
		b.Deposit(failedWith(retry.ClassTransient), nil)
		assert.Zero(t, b.Balance(), "the call is not counted again at its success")
		b.Deposit(retry.Attempt{}, errOp)
		assert.Equal(t, 1., b.Balance(), "a call without a retry is counted at its end")
	})
	t.Run("at full failure retries are the ratio", func(t *testing.T) {
		b := &retry.RatioBudget{Ratio: 0.2, Floor: -1, Clock: clock}
		assert.Equal(t, 200, granted(b, 1000, 1))
	})
	t.Run("a slot saturates", func(t *testing.T) {
		b := &retry.RatioBudget{Ratio: 1e12, Floor: -1, Clock: clock}
		for range 10 {
			b.Deposit(retry.Attempt{}, nil)
		}
		assert.Equal(t, (1<<50)/1000., b.Balance())
	})
	t.Run("on the system clock", func(t *testing.T) {
		assert.True(t, new(retry.RatioBudget).TryWithdraw(failedWith(retry.ClassTransient)))
	})
}

// TestRatioBudgetWindow: calls and retries older than the Window no longer count.
func TestRatioBudgetWindow(t *testing.T) {
	clock := &retrytest.Clock{Start: time.Unix(1e9, 0)}
	t.Run("10 seconds", func(t *testing.T) {
		b := &retry.RatioBudget{Ratio: 1, Floor: 1, Clock: clock}
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
		b := &retry.RatioBudget{Ratio: 1, Floor: 1, Window: time.Minute, Clock: clock}
		assert.Equal(t, 60, granted(b, 100, 2))
		clock.Advance(time.Minute)
		assert.Equal(t, 60, granted(b, 100, 2))
	})
}

// TestRatioBudgetShortWindow: slots last at least a nanosecond.
func TestRatioBudgetShortWindow(t *testing.T) {
	clock := &retrytest.Clock{Start: time.Unix(1e9, 0)}
	assert.Zero(t, (&retry.RatioBudget{Window: 1, Clock: clock}).Balance(), "10 a second over a nanosecond")
	b := &retry.RatioBudget{Ratio: 1, Floor: -1, Window: 10, Clock: clock}
	b.Deposit(retry.Attempt{}, nil)
	clock.Advance(9)
	assert.Equal(t, 1., b.Balance())
	clock.Advance(1)
	assert.Zero(t, b.Balance())
}

// TestRatioBudgetClock: the clock may start at any time. If it goes backward, time stands
// still for the budget until the clock catches up.
func TestRatioBudgetClock(t *testing.T) {
	for _, back := range []time.Duration{time.Second, 10 * time.Second, 20 * time.Second, time.Minute} {
		clock := &retrytest.Clock{Start: time.Unix(1.7e9, 0)}
		b := &retry.RatioBudget{Clock: clock}
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
		b := &retry.RatioBudget{Clock: clock}
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
		b := &retry.RatioBudget{Ratio: 1, Floor: -1, Clock: clock}
		for range 15 {
			b.Deposit(retry.Attempt{}, nil)
			clock.Advance(time.Second)
		}
		assert.Equal(t, 9., b.Balance(), "start %d", start)
	}
}

// TestBudgetsConcurrently: no budget grants concurrent callers more than it has.
func TestBudgetsConcurrently(t *testing.T) {
	clock := &retrytest.Clock{}
	tests := map[string]struct {
		budget retry.Budget
		most   int64
		least  int64
	}{
		"TokenBudget":    {&retry.TokenBudget{Capacity: 1000, Costs: retry.TokenCosts{Transient: 1}}, 1000, 1000},
		"ThrottleBudget": {&retry.ThrottleBudget{MaxTokens: 1000}, 499, 499},
		"RatioBudget":    {&retry.RatioBudget{Floor: 100, Clock: clock}, 1000, 1000},
		"InvitedBudget":  {&retry.InvitedBudget{Budget: retry.FleetBudget()}, 1, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var granted atomic.Int64
			var wg sync.WaitGroup
			for range 100 {
				wg.Go(func() {
					for range 50 {
						if tt.budget.TryWithdraw(retry.Attempt{Number: 2, Verdict: retry.Verdict{Class: retry.ClassTransient}}) {
							granted.Add(1)
						}
					}
				})
			}
			wg.Wait()
			assert.LessOrEqual(t, granted.Load(), tt.most)
			assert.GreaterOrEqual(t, granted.Load(), tt.least)
		})
	}
	t.Run("deposits equal withdrawals", func(t *testing.T) {
		b := &retry.TokenBudget{Capacity: 1e6, Costs: retry.TokenCosts{Transient: 3}}
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				for range 100 {
					if b.TryWithdraw(failedWith(retry.ClassTransient)) {
						b.Deposit(failedWith(retry.ClassTransient), nil)
					}
				}
			})
		}
		wg.Wait()
		assert.Equal(t, 1e6, b.Balance())
	})
}

// TestBudgetInDo: Do calls TryWithdraw after all other checks, and Deposit at the end of
// a call.
func TestBudgetInDo(t *testing.T) {
	bucket := &retry.TokenBudget{}
	p, _ := onClock(3)
	p.Budget = bucket
	balance := func(want float64, op *retrytest.Op) {
		t.Helper()
		_ = retry.Do(t.Context(), p, op.Run)
		assert.Equal(t, want, bucket.Balance())
	}
	balance(472, retrytest.Script(errOp)) // two retries; the failure that is not retried costs nothing
	balance(473, retrytest.Script())
	balance(473, retrytest.Fail(1, errOp))
	balance(459, retrytest.Fail(2, errOp)) // the second retry is refunded
	balance(459, retrytest.Script(errOp, retry.Permanent(errOp)))
	balance(460, retrytest.Script(retry.Permanent(errOp)))

	ctx, cancel := context.WithCancel(t.Context())
	_ = retry.Do(ctx, p, func(context.Context) error { cancel(); return retry.Permanent(errOp) })
	assert.Equal(t, 461., bucket.Balance(), "a permanent failure is a response, although the context has ended")
	_ = retry.Do(ctx, p, func(context.Context) error { return errOp })
	p.MaxElapsed = time.Second / 2
	balance(461, retrytest.Script(errOp)) // the wait does not fit, so nothing is withdrawn
	p.MaxElapsed, p.MaxAttempts = 0, 1
	balance(461, retrytest.Script(errOp))
}

// TestFleetBudget: a FleetBudget allows one retry, and another after ten successes.
func TestFleetBudget(t *testing.T) {
	b := retry.FleetBudget()
	assert.NoError(t, b.Validate())
	assert.True(t, b.TryWithdraw(failedWith(retry.ClassTransient)))
	assert.False(t, b.TryWithdraw(failedWith(retry.ClassThrottled)))
	for range 9 {
		b.Deposit(retry.Attempt{}, nil)
	}
	assert.False(t, b.TryWithdraw(failedWith(retry.ClassTransient)))
	b.Deposit(retry.Attempt{}, nil)
	assert.True(t, b.TryWithdraw(failedWith(retry.ClassTimeout)))
}

func TestBudgetRefills(t *testing.T) {
	for name, budget := range map[string]retry.Budget{
		"token":               new(retry.TokenBudget),
		"token, success only": &retry.TokenBudget{SuccessOnly: true, NoRefund: true},
		"token, from empty":   &retry.TokenBudget{Deficit: 500},
		"throttle":            new(retry.ThrottleBudget),
		"ratio":               &retry.RatioBudget{Floor: -1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // no time passes
				p := retry.Policy{Backoff: retry.NoDelay{}, Budget: budget}
				refused := func() bool { return errors.Is(retry.Do(t.Context(), p, fails), retry.ErrBudget) }
				for i := 0; !refused(); i++ {
					require.Less(t, i, 100, "it never refuses")
				}
				assert.True(t, refused(), "it stays empty")
				for range 100 {
					require.NoError(t, retry.Do(t.Context(), p, succeed))
				}
				op := retrytest.Fail(1, errOp)
				assert.NoError(t, retry.Do(t.Context(), p, op.Run), "the budget does not refill")
				assert.Equal(t, 2, op.Calls())
			})
		})
	}
	t.Run("by time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := retry.Policy{Backoff: retry.NoDelay{}, Budget: &retry.RatioBudget{Ratio: -1, Floor: 0.2}, MaxAttempts: retry.Unlimited}
			for range 2 {
				op := retrytest.Script(errOp)
				assert.ErrorIs(t, retry.Do(t.Context(), p, op.Run), retry.ErrBudget)
				assert.Equal(t, 3, op.Calls(), "0.2 a second for 10 s are 2 retries")
				time.Sleep(11 * time.Second)
			}
		})
	})
}

// TestPermanentFailureRefunds: a permanent failure refunds the last retry, because the
// resource has responded.
func TestPermanentFailureRefunds(t *testing.T) {
	for name, tt := range map[string]struct {
		bucket   *retry.TokenBudget
		outcomes []error
		balance  float64
	}{
		"404 after a failure":      {&retry.TokenBudget{}, []error{errOp, statusedError(404)}, 500},
		"404 after throttling":     {&retry.TokenBudget{}, []error{statusedError(429), statusedError(404)}, 500},
		"marked, after a failure":  {&retry.TokenBudget{}, []error{errOp, retry.Permanent(errOp)}, 500},
		"404 after two retries":    {&retry.TokenBudget{}, []error{errOp, errOp, statusedError(404)}, 500 - 14},
		"success":                  {&retry.TokenBudget{}, []error{errOp, nil}, 500},
		"gave up":                  {&retry.TokenBudget{}, []error{errOp}, 500 - 2*14},
		"404, only success counts": {&retry.TokenBudget{SuccessOnly: true}, []error{errOp, statusedError(404)}, 500 - 14},
	} {
		_, _, _ = play(t, retry.Policy{Budget: tt.bucket}, tt.outcomes...)
		assert.InDelta(t, tt.balance, tt.bucket.Balance(), 1e-9, name)
	}
	// One retry's worth of tokens suffices for any number of such calls.
	p := retry.Policy{Budget: &retry.TokenBudget{Capacity: 14}}
	for range 100 {
		calls, _, err := play(t, p, errOp, statusedError(404))
		require.Equal(t, 2, calls)
		require.Equal(t, statusedError(404), err)
	}
}

func TestInvitedBudget(t *testing.T) {
	type step struct {
		do      string // failure (without a hint), hint (429, of 2 s), 503 (likewise), success, permanent, or a time that passes
		times   int
		allowed bool    // the retry
		balance float64 // of the Budget
	}
	for _, test := range []struct {
		name    string
		trusted bool
		number  int // of the failed attempts
		steps   []step
	}{
		{"hints are not refused", false, 1, []step{{"hint", 1, true, 495}, {"hint", 99, true, 0}, {"hint", 1000, true, 0}}},
		{"up to the third retry", false, 3, []step{{"hint", 1000, true, 0}}},
		{"the fourth is", false, 4, []step{{"hint", 100, true, 0}, {"hint", 1, false, 0}}},
		{"failures without a hint are", false, 1, []step{{"hint", 100, true, 0}, {"failure", 1, false, 0}}},
		{"a failure without a hint outweighs ten", false, 1, []step{
			{"failure", 35, true, 10}, {"hint", 2, true, 0}, {"hint", 347, false, 0}, {"hint", 1, true, 0},
		}},
		{"successes count like hints", false, 1, []step{
			{"hint", 101, true, 0}, {"failure", 12, false, 0}, {"hint", 1, false, 0}, {"success", 18, false, 18}, {"hint", 4, true, 3}, {"hint", 1, true, 3},
		}},
		{"permanent failures, too", false, 1, []step{
			{"hint", 101, true, 0}, {"failure", 12, false, 0}, {"hint", 1, false, 0}, {"permanent", 18, false, 18}, {"hint", 4, true, 3}, {"hint", 1, true, 3},
		}},
		{"at most a hundred are ahead", false, 1, []step{
			{"hint", 1000, true, 0}, {"failure", 10, false, 0}, {"hint", 1, true, 0}, {"failure", 10, false, 0}, {"hint", 1, false, 0},
		}},
		{"at most a thousand are to be made up", false, 1, []step{
			{"failure", 1000, false, 10}, {"hint", 2, true, 0}, {"hint", 997, false, 0}, {"hint", 1, true, 0},
		}},
		{"nothing succeeds for five hints", false, 1, []step{
			{"hint", 101, true, 0}, {"10s", 1, true, 0}, {"503", 1, true, 0}, {"1ns", 1, true, 0}, {"503", 1, false, 0},
			{"success", 1, false, 1}, {"503", 1, true, 1},
		}},
		{"for half of that after a second attempt", false, 2, []step{
			{"hint", 101, true, 0}, {"5s", 1, true, 0}, {"503", 1, true, 0}, {"1ns", 1, true, 0}, {"503", 1, false, 0},
		}},
		{"ten minutes later", false, 1, []step{
			{"hint", 101, true, 0}, {"10m10s", 1, true, 0}, {"503", 1, false, 0}, {"1ns", 1, false, 0}, {"503", 1, true, 0},
			{"11s", 1, true, 0}, {"503", 1, false, 0},
		}},
		{"throttling counts for ever", false, 3, []step{{"503", 36, true, 10}, {"9m", 1, true, 10}, {"503", 1, false, 10}, {"hint", 3, true, 0}}},
		{"trusted", true, 1, []step{{"failure", 35, true, 10}, {"hint", 1000, true, 0}, {"1m", 1, true, 0}, {"hint", 1, true, 0}, {"failure", 1, false, 0}}},
		{"trusted, the fourth", true, 4, []step{{"hint", 100, true, 0}, {"hint", 1, false, 0}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			clock := &retrytest.Clock{}
			budget := &retry.InvitedBudget{Budget: &retry.TokenBudget{}, Trusted: test.trusted, Clock: clock}
			allowed := true
			for i, step := range test.steps {
				for range step.times {
					failed := retry.Attempt{Number: test.number, Verdict: retry.Verdict{Class: retry.ClassTransient}}
					switch step.do {
					case "hint":
						failed.Class, failed.Hint = retry.ClassThrottled, 2*time.Second
						allowed = budget.TryWithdraw(failed)
					case "503":
						failed.Hint = 2 * time.Second
						allowed = budget.TryWithdraw(failed)
					case "failure":
						allowed = budget.TryWithdraw(failed)
					case "success":
						budget.Deposit(retry.Attempt{}, nil)
					case "permanent":
						budget.Deposit(retry.Attempt{}, errors.New("not found"))
					default:
						passed, err := time.ParseDuration(step.do)
						require.NoError(t, err)
						clock.Advance(passed)
					}
				}
				assert.Equal(t, step.allowed, allowed, "step %d", i+1)
				assert.Equal(t, step.balance, budget.Balance(), "step %d", i+1)
			}
		})
	}
}

// TestInvitedBudgetHints: a hint counts as at least a second and at most an hour.
func TestInvitedBudgetHints(t *testing.T) {
	for hint, counts := range map[time.Duration]time.Duration{
		1: 5 * time.Second, time.Second: 5 * time.Second, 2 * time.Second: 10 * time.Second,
		time.Hour: 5 * time.Hour, math.MaxInt64: 5 * time.Hour,
	} {
		clock := &retrytest.Clock{}
		budget := &retry.InvitedBudget{Budget: &retry.TokenBudget{Deficit: 500}, Clock: clock}
		invited := retry.Attempt{Number: 1, Verdict: retry.Verdict{Class: retry.ClassTransient, Hint: hint}}
		require.True(t, budget.TryWithdraw(invited))
		clock.Advance(counts)
		assert.True(t, budget.TryWithdraw(invited), hint)
		clock.Advance(1)
		assert.False(t, budget.TryWithdraw(invited), hint)
	}
}

// TestInvitedBudgetRefund: an invited retry costs and refunds as any other.
func TestInvitedBudgetRefund(t *testing.T) {
	tokens := &retry.TokenBudget{Deficit: 100}
	budget := &retry.InvitedBudget{Budget: tokens}
	invited := retry.Attempt{Number: 1, Verdict: retry.Verdict{Class: retry.ClassThrottled, Hint: time.Second}}
	require.True(t, budget.TryWithdraw(invited))
	assert.Equal(t, 395., tokens.Balance())
	for range 4 {
		require.True(t, budget.TryWithdraw(retry.Attempt{Number: 1}))
	}
	budget.Deposit(invited, nil)
	assert.Equal(t, 400-4*14., tokens.Balance())
}

// TestInvitedBudgetWithout: without a Budget, all retries are allowed, and the balance is
// infinite.
func TestInvitedBudgetWithout(t *testing.T) {
	var budget retry.InvitedBudget
	assert.True(t, budget.TryWithdraw(retry.Attempt{Number: 1}))
	budget.Deposit(retry.Attempt{}, nil)
	assert.Equal(t, math.Inf(1), budget.Balance())
	require.NoError(t, retry.Policy{Budget: &budget}.Validate())
	budget.Budget = &retry.TokenBudget{Capacity: -1}
	assert.ErrorContains(t, retry.Policy{Budget: &budget}.Validate(), "Capacity")
}
