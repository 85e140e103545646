package retry_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
)

var modelScenarios = flag.Int("model.scenarios", 2000, "random scenarios that are compared with the model")

// A scenario is a call whose operation follows the steps.
type scenario struct {
	attempts               int           // 0: 3
	elapsed, limit, cancel time.Duration // MaxElapsed, AttemptTimeout, and the time when the context ends; 0: never
	deadline               bool          // the context ends by its deadline
	stagger                time.Duration
	tokens                 float64 // of a budget whose retries cost 1; below 0: no budget
	steps                  []step  // the last one repeats
}

type step struct {
	takes    time.Duration
	kind     string // ok, fail, permanent, unrepeatable, progress, hint
	obedient bool   // returns when its context ends, with a plain error
}

const modelDelay = 10 * time.Second // the policy's constant delay; a hint asks for 25 s

func randomScenario(rng *rand.Rand) scenario {
	some := func(most time.Duration) time.Duration {
		if rng.IntN(3) > 0 {
			return 0
		}
		return time.Duration(1+rng.IntN(int(most/time.Second)))*time.Second + 500*ms
	}
	s := scenario{
		attempts: rng.IntN(6), elapsed: some(90 * time.Second), limit: some(8 * time.Second),
		cancel: some(90 * time.Second), deadline: rng.IntN(2) == 0, stagger: some(20 * time.Second), tokens: float64(rng.IntN(5) - 2),
	}
	if !s.deadline && s.cancel > 0 {
		s.cancel += 137 * ms // never at the same time as another event, because their order is undefined
	}
	kinds := []string{"fail", "fail", "fail", "fail", "hint", "progress", "ok", "permanent", "unrepeatable"}
	for range 1 + rng.IntN(8) {
		s.steps = append(s.steps, step{time.Duration(rng.IntN(10)) * time.Second, kinds[rng.IntN(len(kinds))], rng.IntN(2) == 0})
	}
	// A call that only fails or makes progress must end.
	s.steps = append(s.steps, step{kind: []string{"ok", "permanent"}[rng.IntN(2)]})
	return s
}

// outcome returns how and when an attempt that begins now ends, and whether the
// context ends at the same time.
func (s scenario) outcome(st step, now time.Duration) (kind string, ends time.Duration, tie bool) {
	kind, ends = st.kind, now+st.takes
	if ends == s.cancel {
		return "", 0, true
	}
	if st.obedient && s.limit > 0 && now+s.limit <= ends {
		kind, ends = "fail", now+s.limit
		if ends == s.cancel {
			return "", 0, true
		}
	}
	if st.obedient && s.cancel > 0 && s.cancel < ends {
		kind, ends = "fail", s.cancel
	}
	return kind, ends, false
}

// model computes when the attempts of a call begin, and when and why the call ends. It
// follows the documentation of Do.
func (s scenario) model() (begins []time.Duration, now time.Duration, end string) {
	var origin time.Duration
	dead := func() bool { return s.cancel > 0 && now >= s.cancel }
	sleep := func(d time.Duration) bool { // false if the context ends first
		if s.cancel > 0 && now+d >= s.cancel {
			now = max(now, s.cancel)
			return false
		}
		now += d
		return true
	}
	if s.stagger > 0 {
		if s.cancel > 0 && s.deadline && s.stagger/2 >= s.cancel {
			return nil, now, "context"
		}
		if !sleep(s.stagger / 2) {
			return nil, now, "context"
		}
	}
	tokens, paid := s.tokens, false
	number := 0
	for i := 0; ; i++ {
		number++
		begins = append(begins, now)
		kind, ends, tie := s.outcome(s.steps[min(i, len(s.steps)-1)], now)
		if tie {
			return begins, now, "tie" // the order is undefined
		}
		now = ends
		most := s.attempts
		if most == 0 {
			most = 3
		}
		deposit := func() {
			if paid {
				tokens = min(tokens+1, s.tokens)
			}
			paid = false
		}
		switch kind {
		case "ok":
			return begins, now, "ok"
		case "permanent":
			return begins, now, "permanent"
		}
		if kind == "progress" {
			deposit()
		}
		if dead() {
			return begins, now, "context"
		}
		if kind == "progress" {
			number, origin = 1, now
		}
		wait := modelDelay
		if kind == "hint" {
			wait = 25 * time.Second
		}
		switch {
		case kind == "unrepeatable":
			return begins, now, "unrepeatable"
		case number >= most:
			return begins, now, "attempts"
		case s.deadline && s.cancel > 0 && wait >= s.cancel-now:
			return begins, now, "context"
		case s.elapsed > 0 && wait > s.elapsed-(now-origin):
			return begins, now, "elapsed"
		case s.tokens >= 0 && tokens < 1:
			return begins, now, "budget"
		}
		if s.tokens >= 0 {
			tokens, paid = tokens-1, true
		}
		if !sleep(wait) {
			return begins, now, "context"
		}
	}
}

func (s scenario) play(ctx context.Context, do doer) (begins []time.Duration, end string) {
	p := retry.Policy{
		Backoff: retry.Constant(modelDelay), MaxAttempts: s.attempts, MaxElapsed: s.elapsed, AttemptTimeout: s.limit,
		Stagger: s.stagger, Rand: func() float64 { return 0.5 },
	}
	if s.tokens >= 0 {
		// A Capacity of 0 would mean the default, so an empty budget has a deficit of
		// all tokens.
		p.Budget = &retry.TokenBudget{Capacity: max(1, s.tokens), Deficit: max(1, s.tokens) - s.tokens, Success: 1e-9, Costs: retry.TokenCosts{Transient: 1, Timeout: 1, Throttled: 1}}
	}
	start := time.Now()
	if s.cancel > 0 {
		var cancel context.CancelFunc
		if s.deadline {
			ctx, cancel = context.WithTimeout(ctx, s.cancel)
		} else {
			ctx, cancel = context.WithCancel(ctx)
			time.AfterFunc(s.cancel, cancel)
		}
		defer cancel()
	}
	err := do(ctx, p, func(ctx context.Context) error {
		st := s.steps[min(len(begins), len(s.steps)-1)]
		begins = append(begins, time.Since(start))
		if st.obedient {
			select {
			case <-time.After(st.takes):
			case <-ctx.Done():
				return errors.New("signal: killed")
			}
		} else {
			time.Sleep(st.takes)
		}
		return map[string]error{
			"fail": errOp, "permanent": retry.Permanent(errOp), "unrepeatable": retry.Unrepeatable(errOp),
			"progress": retry.Progress(errOp), "hint": retry.After(errOp, 25*time.Second),
		}[st.kind]
	})
	for reason, name := range map[error]string{
		retry.ErrMaxAttempts: "attempts", retry.ErrMaxElapsed: "elapsed", retry.ErrBudget: "budget",
		retry.ErrUnrepeatable: "unrepeatable",
	} {
		if errors.Is(err, reason) {
			return begins, name
		}
	}
	if e, ok := errors.AsType[*retry.Error](err); ok && (errors.Is(e.Reason, context.Canceled) || errors.Is(e.Reason, context.DeadlineExceeded)) {
		return begins, "context"
	}
	if err != nil {
		return begins, "permanent"
	}
	return begins, "ok"
}

// TestModel compares random scenarios with the model, for Do and a Group.
func TestModel(t *testing.T) {
	bothWays(t, func(t *testing.T, do doer) {
		ends := map[string]int{}
		for seed := range uint64(*modelScenarios) {
			s := randomScenario(rand.New(rand.NewPCG(seed, 11)))
			begins, took, end := s.model()
			if end == "tie" {
				continue
			}
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				got, gotEnd := s.play(t.Context(), do)
				if !assert.Equal(t, fmt.Sprint(begins, took, end), fmt.Sprint(got, time.Since(start), gotEnd), "seed %d: %+v", seed, s) {
					t.FailNow()
				}
				ends[end]++
			})
		}
		assert.Len(t, ends, 7, "every end is reached: %v", ends)
	})
}
