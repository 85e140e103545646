package retry_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrytest"
)

// Attempts that fail without a hint, and throttled with one.
var (
	blind   = retry.Attempt{Number: 1, Verdict: retry.Verdict{Class: retry.ClassTimeout}}
	invited = retry.Attempt{Number: 1, Verdict: retry.Verdict{Class: retry.ClassThrottled, Hint: time.Second}}
	reasked = retry.Attempt{Number: 2, Verdict: retry.Verdict{Class: retry.ClassThrottled, Hint: time.Second}}
	early   = retry.Attempt{Number: 1, Verdict: retry.Verdict{Class: retry.ClassTransient, Hint: time.Second}}
	none    retry.Attempt
)

// TestSharedBudget: the rules of the comment, one after the other.
func TestSharedBudget(t *testing.T) {
	type step struct {
		do      string // withdraw, refuse, deposit, or a time that passes
		a       retry.Attempt
		err     error
		times   int
		balance float64
	}
	for name, test := range map[string]struct {
		reserve float64
		steps   []step
	}{
		"a retry takes a token": {0, []step{{"withdraw", blind, nil, 5, 0}, {"refuse", blind, nil, 3, 0}}},
		"a success earns a half": {0, []step{
			{"withdraw", blind, nil, 5, 0}, {"deposit", none, nil, 1, 0.5}, {"refuse", blind, nil, 1, 0.5},
			{"deposit", none, nil, 1, 1}, {"withdraw", blind, nil, 1, 0},
		}},
		"and returns the last token": {0, []step{
			{"withdraw", blind, nil, 5, 0}, {"deposit", blind, nil, 1, 1.5}, {"deposit", reasked, nil, 1, 3},
		}},
		"the first retry that a throttling server asked for is free": {0, []step{
			{"withdraw", invited, nil, 100, 5}, {"withdraw", blind, nil, 4, 1}, {"withdraw", invited, nil, 100, 1},
			{"deposit", invited, nil, 1, 1.5}, {"withdraw", blind, nil, 1, 0.5}, {"refuse", invited, nil, 1, 0.5},
		}},
		"the second is not":                 {0, []step{{"withdraw", reasked, nil, 5, 0}, {"refuse", reasked, nil, 1, 0}}},
		"nor one after a failure like 503":  {0, []step{{"withdraw", early, nil, 5, 0}, {"refuse", early, nil, 1, 0}}},
		"an answer counts as a success":     {0, []step{{"withdraw", blind, nil, 5, 0}, {"deposit", blind, statusedError(404), 1, 1.5}}},
		"marked, too":                       {0, []step{{"withdraw", blind, nil, 5, 0}, {"deposit", blind, retry.Permanent(statusedError(404)), 1, 1.5}}},
		"another failure does not":          {0, []step{{"withdraw", blind, nil, 5, 0}, {"deposit", blind, retry.Permanent(errOp), 9, 0}}},
		"a marked 503 does not":             {0, []step{{"withdraw", blind, nil, 5, 0}, {"deposit", blind, retry.Permanent(statusedError(503)), 9, 0}}},
		"a cancellation does not":           {0, []step{{"withdraw", blind, nil, 5, 0}, {"deposit", blind, context.Canceled, 9, 0}}},
		"time adds nothing":                 {0, []step{{"withdraw", blind, nil, 5, 0}, {"1h", none, nil, 1, 0}}},
		"a fifth of this second's is kept":  {0, []step{{"deposit", none, nil, 100, 25}}},
		"until the end of the next second":  {0, []step{{"deposit", none, nil, 100, 25}, {"1999ms", none, nil, 1, 25}, {"1ms", none, nil, 1, 5}}},
		"whichever second has more of them": {0, []step{{"deposit", none, nil, 100, 25}, {"1s", none, nil, 1, 25}, {"deposit", none, nil, 200, 45}, {"1s", none, nil, 1, 45}, {"deposit", none, nil, 50, 45}, {"1s", none, nil, 1, 15}}},
		"what is above that is lost":        {0, []step{{"deposit", none, nil, 100, 25}, {"withdraw", blind, nil, 10, 15}, {"2s", none, nil, 1, 5}, {"deposit", blind, nil, 1, 5.2}}},
		"a smaller reserve":                 {1, []step{{"withdraw", blind, nil, 1, 0}, {"refuse", blind, nil, 1, 0}, {"deposit", none, nil, 4, 1.8}}},
		"a larger one":                      {100, []step{{"withdraw", blind, nil, 100, 0}, {"refuse", blind, nil, 1, 0}}},
		"an invalid one":                    {math.NaN(), []step{{"refuse", blind, nil, 1, 0}}},
	} {
		t.Run(name, func(t *testing.T) {
			clock := &retrytest.Clock{}
			b := &retry.SharedBudget{Reserve: test.reserve, Clock: clock}
			assert.InDelta(t, b.Reserve, test.reserve, 0)
			for i, s := range test.steps {
				for range s.times {
					switch s.do {
					case "withdraw":
						require.True(t, b.TryWithdraw(s.a), "step %d", i)
					case "refuse":
						require.False(t, b.TryWithdraw(s.a), "step %d", i)
					case "deposit":
						b.Deposit(s.a, s.err)
					default:
						passed, err := time.ParseDuration(s.do)
						require.NoError(t, err)
						clock.Advance(passed)
					}
				}
				require.InDelta(t, s.balance, b.Balance(), 1e-9, "step %d", i)
			}
		})
	}
}

// parts returns n parts.
func parts(b *retry.SharedBudget, n int) (list []*retry.Part) {
	for i := range n {
		list = append(list, b.Part(fmt.Sprint("GET /", i)))
	}
	return list
}

// allowed counts the retries in a row that b allows.
func allowed(b retry.Budget, a retry.Attempt) (n int) {
	for n < 1000 && b.TryWithdraw(a) {
		n++
	}
	return n
}

func TestPart(t *testing.T) {
	t.Run("the only one", func(t *testing.T) {
		b := &retry.SharedBudget{Clock: &retrytest.Clock{}}
		p := b.Part("GET /")
		assert.Same(t, p, b.Part("GET /"))
		assert.Equal(t, 5, allowed(p, blind))
		assert.Zero(t, b.Balance())
	})
	t.Run("half for each", func(t *testing.T) {
		b := &retry.SharedBudget{Reserve: 8, Clock: &retrytest.Clock{}}
		p := parts(b, 3)
		assert.Equal(t, 4, allowed(p[0], blind))
		assert.Equal(t, 0., p[0].Balance())
		assert.Equal(t, 4., p[1].Balance())
		assert.Equal(t, 0, allowed(p[0], invited), "a free retry is refused as one that takes a token")
		p[1].Deposit(none, nil)
		assert.InDelta(t, 4.1, p[1].Balance(), 1e-9, "the healthy one has all that it could owe")
		for range 6 {
			p[1].Deposit(none, nil)
		}
		assert.Equal(t, 0, allowed(p[0], blind), "the others earn nothing for a broken one")
		p[0].Deposit(blind, nil)
		assert.Equal(t, 2, allowed(p[0], blind), "1.5 tokens of debt less, and a debt of 0.8 more")
		assert.Equal(t, 7, allowed(b, blind), "what is no part's is not limited")
		assert.Zero(t, p[2].Balance())
	})
	t.Run("at least one token", func(t *testing.T) {
		b := &retry.SharedBudget{Reserve: 1, Clock: &retrytest.Clock{}}
		p := parts(b, 2)
		assert.Equal(t, 1, allowed(p[0], blind))
		p[1].Deposit(none, nil)
		p[1].Deposit(none, nil)
		assert.Equal(t, 0, allowed(p[0], blind))
		assert.Equal(t, 1, allowed(p[1], blind))
	})
	t.Run("a debt above half is forgiven", func(t *testing.T) {
		clock := &retrytest.Clock{}
		b := &retry.SharedBudget{Clock: clock}
		p := parts(b, 2)
		for range 1000 {
			p[0].Deposit(none, nil)
		}
		assert.Equal(t, 102, allowed(p[0], blind))
		clock.Advance(2 * time.Second)
		assert.Equal(t, 0, allowed(p[0], blind))
		p[0].Deposit(none, nil)
		p[0].Deposit(none, nil)
		assert.Equal(t, 1, allowed(p[0], blind))
	})
	t.Run("names", func(t *testing.T) {
		b := &retry.SharedBudget{}
		for range b.Parts() {
			t.Error("a part that nobody asked for")
		}
		list := parts(b, 256)
		var names []string
		for name, p := range b.Parts() {
			assert.Same(t, p, b.Part(name))
			names = append(names, name)
		}
		assert.Len(t, names, 256)
		assert.Equal(t, "GET /0", names[0])
		assert.Same(t, list[255], b.Part(names[255]))
	})
}

// TestPartsOfRoutes: the broken one of many routes takes the retries of none of the others.
func TestPartsOfRoutes(t *testing.T) {
	for broken := range 200 {
		b := &retry.SharedBudget{Reserve: 1000, Clock: &retrytest.Clock{}}
		list := parts(b, 200)
		assert.Equal(t, 500, allowed(list[broken], blind))
		for i, p := range list {
			if i != broken {
				require.Equal(t, 500., p.Balance(), "%d is broken, %d is not", broken, i)
			}
		}
	}
}

// TestDroppedPart: names that are used once take the place of each other, and the debt of a
// broken route stays known.
func TestDroppedPart(t *testing.T) {
	named := func(b *retry.SharedBudget) map[string]*retry.Part { return maps.Collect(b.Parts()) }
	names := func(b *retry.SharedBudget, n int) {
		for i := range n {
			b.Part(fmt.Sprint("POST /", i)).Deposit(none, nil)
		}
	}
	t.Run("without a debt, the least used goes", func(t *testing.T) {
		b := &retry.SharedBudget{Clock: &retrytest.Clock{}}
		often := b.Part("GET /often")
		for range 5 {
			b.Part("GET /often").Deposit(none, nil)
		}
		names(b, 10_000)
		assert.Len(t, named(b), 256)
		assert.Same(t, often, named(b)["GET /often"])
	})
	t.Run("what was used often long ago goes", func(t *testing.T) {
		clock := &retrytest.Clock{}
		b := &retry.SharedBudget{Clock: clock}
		for range 100 {
			b.Part("GET /old").Deposit(none, nil)
		}
		for range 10 {
			clock.Advance(time.Second)
			b.Balance()
		}
		names(b, 300)
		assert.NotContains(t, named(b), "GET /old")
	})
	t.Run("a debt stays", func(t *testing.T) {
		b := &retry.SharedBudget{Reserve: 10, Clock: &retrytest.Clock{}}
		names(b, 2)
		broken := b.Part("GET /broken")
		assert.Equal(t, 5, allowed(broken, blind))
		names(b, 10_000)
		assert.Same(t, broken, b.Part("GET /broken"))
	})
	t.Run("among debts, the least used goes", func(t *testing.T) {
		b := &retry.SharedBudget{Reserve: 1000, Clock: &retrytest.Clock{}}
		broken := b.Part("GET /broken")
		for range 10 {
			broken.TryWithdraw(blind)
		}
		for i := range 700 {
			b.Part(fmt.Sprint("POST /", i)).TryWithdraw(blind)
		}
		assert.Len(t, named(b), 256)
		assert.Same(t, broken, named(b)["GET /broken"])
	})
	t.Run("a dropped one returns", func(t *testing.T) {
		b := &retry.SharedBudget{Clock: &retrytest.Clock{}}
		dropped := b.Part("GET /dropped")
		names(b, 1000)
		require.NotContains(t, named(b), "GET /dropped")
		dropped.Deposit(none, nil)
		assert.Same(t, dropped, named(b)["GET /dropped"])
		assert.Len(t, named(b), 256)
	})
	t.Run("its successor has the debt", func(t *testing.T) {
		b := &retry.SharedBudget{Reserve: 10, Clock: &retrytest.Clock{}}
		dropped := b.Part("GET /dropped")
		names(b, 1000)
		successor := b.Part("GET /dropped")
		assert.NotSame(t, dropped, successor)
		assert.True(t, dropped.TryWithdraw(blind))
		assert.Less(t, successor.Balance(), b.Part("GET /other").Balance())
	})
}

// A ledger is a SharedBudget with its parts as the comments say, for calls one after the other.
type ledger struct {
	reserve   float64
	tokens    float64
	successes map[int]float64 // by second
	debts     map[int]float64 // by part
}

func (l *ledger) settle(second int) (most float64) {
	most = l.reserve + max(l.successes[second], l.successes[second-1])/5
	l.tokens = min(l.tokens, most)
	for part, debt := range l.debts {
		l.debts[part] = min(debt, max(1, most/2))
	}
	return most
}

func (l *ledger) retry(second, part int, free bool) bool {
	most := l.settle(second)
	if l.tokens < 1-1e-9 || part >= 0 && l.debts[part]+1 > max(1, most/2)+1e-9 {
		return false
	}
	if !free {
		l.tokens--
		if part >= 0 {
			l.debts[part]++
		}
	}
	return true
}

func (l *ledger) success(second, part int, returned float64) {
	l.settle(second)
	l.successes[second]++
	l.tokens += 0.5 + returned
	if part >= 0 {
		l.debts[part] = max(0, l.debts[part]-0.5-returned)
	}
	l.settle(second)
}

// TestSharedBudgetModel: for random histories, a SharedBudget does what its comments say.
func TestSharedBudgetModel(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		clock := &retrytest.Clock{}
		reserve := float64(1 + random.IntN(9))
		b := &retry.SharedBudget{Reserve: reserve, Clock: clock}
		list := parts(b, 3)
		model := &ledger{reserve: reserve, tokens: reserve, successes: map[int]float64{}, debts: map[int]float64{}}
		b.Balance() // the first use
		now := time.Duration(0)
		for step := range 500 {
			if random.IntN(20) == 0 {
				passed := time.Duration(random.Int64N(int64(1500 * time.Millisecond)))
				now += passed
				clock.Advance(passed)
			}
			second, part := int(now/time.Second), random.IntN(4)-1
			var one retry.Budget = b
			if part >= 0 {
				one = list[part]
			}
			failed := []retry.Attempt{blind, invited, reasked, early}[random.IntN(4)]
			switch random.IntN(5) {
			case 0, 1:
				free := failed == invited
				require.Equal(t, model.retry(second, part, free), one.TryWithdraw(failed), "seed %d, step %d", seed, step)
			case 2:
				one.Deposit(retry.Attempt{}, nil)
				model.success(second, part, 0)
			case 3:
				one.Deposit(failed, nil)
				returned := 1.
				if failed == invited {
					returned = 0
				}
				model.success(second, part, returned)
			case 4:
				one.Deposit(failed, context.Canceled)
			}
			model.settle(second)
			require.InDelta(t, model.tokens, b.Balance(), 1e-6, "seed %d, step %d", seed, step)
		}
	}
}

// TestBrokenRoute: a route that only fails, and makes a tenth or half of the calls, takes no
// retries from another one.
func TestBrokenRoute(t *testing.T) {
	for _, every := range []int{2, 10} {
		clock := &retrytest.Clock{}
		b := &retry.SharedBudget{Clock: clock}
		p := parts(b, 2)
		policy := func(i int) retry.Policy { return retry.Policy{Budget: p[i], Backoff: retry.NoDelay{}, Clock: clock} }
		lost, retries := 0, 0
		for i := range 10_000 {
			clock.Advance(10 * time.Millisecond)
			if i%every == 0 {
				_ = retry.Do(t.Context(), policy(0), func(context.Context) error { retries++; return errOp })
				retries--
				continue
			}
			op := retrytest.Script()
			if i%50 == 1 {
				op = retrytest.Fail(1, errOp)
			}
			if retry.Do(t.Context(), policy(1), op.Run) != nil {
				lost++
			}
		}
		assert.Zero(t, lost, "calls of the healthy route")
		assert.Less(t, retries, 20, "retries of the broken one")
	}
}

// TestFailuresOfTheClient: failures that never reached the server earn nothing, so a server
// that is down gets no retries because of them.
func TestFailuresOfTheClient(t *testing.T) {
	p := retry.Policy{Budget: &retry.SharedBudget{Clock: &retrytest.Clock{}}, Clock: &retrytest.Clock{}}
	requests := 0
	for i := range 2800 {
		_ = retry.Do(t.Context(), p, func(context.Context) error {
			if i%14 != 0 {
				return retry.Permanent(errors.New("bad input"))
			}
			requests++
			return errors.New("down")
		})
	}
	assert.Equal(t, 200+5, requests)
}

// TestAnswers: a service that answers 404 keeps its retries.
func TestAnswers(t *testing.T) {
	p := retry.Policy{Budget: &retry.SharedBudget{Clock: &retrytest.Clock{}}, Clock: &retrytest.Clock{}}
	for i := range 20_000 {
		op := retrytest.Script(statusedError(404))
		if i%20 == 0 {
			op = retrytest.Script(errOp, statusedError(404))
		}
		require.Equal(t, statusedError(404), retry.Do(t.Context(), p, op.Run))
	}
}

func TestValidateSharedBudget(t *testing.T) {
	for want, reserve := range map[string]float64{
		"Reserve -1 is not a number of at least 0":           -1,
		"Reserve NaN is not a number of at least 0":          math.NaN(),
		"Reserve +Inf is not a number of at least 0":         math.Inf(1),
		"Reserve 0.5 is below 1, so there would be no retry": 0.5,
	} {
		err := retry.Policy{Budget: &retry.SharedBudget{Reserve: reserve}}.Validate()
		assert.EqualError(t, err, "invalid retry policy: Budget: "+want)
	}
}

// TestBudgetsConcurrently: a budget grants concurrent callers exactly what it has.
func TestBudgetsConcurrently(t *testing.T) {
	b := &retry.SharedBudget{Reserve: 1000, Clock: &retrytest.Clock{}}
	list := parts(b, 3)
	var granted atomic.Int64
	var wg sync.WaitGroup
	for i := range 90 {
		wg.Go(func() {
			for range 50 {
				if list[i%3].TryWithdraw(blind) {
					granted.Add(1)
				}
				if b.TryWithdraw(blind) {
					b.Deposit(blind, context.Canceled)
					granted.Add(1)
				}
				_ = b.Part(fmt.Sprint(i)).Balance()
			}
		})
	}
	wg.Wait()
	assert.EqualValues(t, 1000, granted.Load())
}

func TestNoBudget(t *testing.T) {
	op := retrytest.Fail(99, errOp)
	p := retry.Policy{Budget: retry.NoBudget{}, MaxAttempts: 100, Clock: &retrytest.Clock{}}
	require.NoError(t, retry.Do(t.Context(), p, op.Run))
	require.NoError(t, p.Validate())
}

// TestBudgetInDo: Do calls TryWithdraw after all other checks, and Deposit at the end of
// a call.
func TestBudgetInDo(t *testing.T) {
	bucket := &awspreset.TokenBudget{}
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

func TestBudgetRefills(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // no time passes
		p := retry.Policy{Backoff: retry.NoDelay{}, Budget: new(retry.SharedBudget)}
		refused := func() bool { return errors.Is(retry.Do(t.Context(), p, fails), retry.ErrBudget) }
		for i := 0; !refused(); i++ {
			require.Less(t, i, 100, "it never refuses")
		}
		assert.True(t, refused(), "it stays empty")
		for range 2 {
			require.NoError(t, retry.Do(t.Context(), p, succeed))
		}
		op := retrytest.Fail(1, errOp)
		assert.NoError(t, retry.Do(t.Context(), p, op.Run), "the budget does not refill")
		assert.Equal(t, 2, op.Calls())
	})
}

// TestBudgetOfASystemClock: without a Clock, too, the budget keeps what successes have earned only
// as long as they go on.
func TestBudgetOfASystemClock(t *testing.T) {
	for name, clock := range map[string]retry.Clock{"nil": nil, "SystemClock": retry.SystemClock{}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &retry.SharedBudget{Reserve: 2, Clock: clock}
				p := retry.Policy{Budget: b}
				for range 500 {
					require.NoError(t, retry.Do(t.Context(), p, succeed))
				}
				earned := b.Balance()
				assert.Greater(t, earned, 20.0)
				time.Sleep(time.Second)
				assert.Equal(t, earned, b.Balance(), "the last second counts")
				time.Sleep(time.Second)
				assert.Equal(t, 2.0, b.Balance(), "only the Reserve is left after it")
			})
		})
	}
}

func BenchmarkBudget(b *testing.B) {
	shared := &retry.SharedBudget{}
	for name, budget := range map[string]retry.Budget{
		"none": nil, "token": &awspreset.TokenBudget{}, "shared": shared, "part": shared.Part("GET /"),
	} {
		p := retry.Policy{Budget: budget}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_ = retry.Do(context.Background(), p, succeed)
			}
		})
		b.Run(name+", parallel", func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					_ = retry.Do(context.Background(), p, succeed)
				}
			})
		})
	}
}
