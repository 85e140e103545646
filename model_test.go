package retry_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

var modelScenarios = flag.Int("model.scenarios", 2000, "random scenarios that are compared with the model")

// A scenario is a call whose operation follows the steps.
type scenario struct {
	attempts         int           // 0: 3, or no bound if elapsed is set
	elapsed, limit   time.Duration // MaxElapsed, AttemptTimeout; 0: none
	cancel, deadline time.Duration // when the context is canceled, and its deadline; 0: never; below 0: before the call
	hook             int           // the attempt whose OnAttempt cancels the context; 0: none
	tokens           float64       // of a budget whose retries cost 1; below 0: no budget
	steps            []step        // the last one repeats
}

type step struct {
	takes    time.Duration
	kind     string // ok, fail, permanent, unrepeatable, progress, hint, inner
	obedient bool   // returns when its context ends, with a plain error
	attempts int    // of an inner call that always fails at once and waits takes; such a call is obedient
}

// The policy's constant delay, the wait that a hint asks for, and half a tenth more, because
// the random number is 0.5.
const (
	modelDelay = 10 * time.Second
	modelHint  = 24 * time.Second
	hintWait   = modelHint + modelHint/20
)

func randomScenario(rng *rand.Rand) scenario {
	some := func(most time.Duration) time.Duration {
		if rng.IntN(3) > 0 {
			return 0
		}
		return time.Duration(1+rng.IntN(int(most/time.Second)))*time.Second + 500*ms
	}
	s := scenario{
		attempts: rng.IntN(6), elapsed: some(90 * time.Second), limit: some(8 * time.Second),
		cancel: some(90 * time.Second), deadline: some(90 * time.Second), tokens: float64(rng.IntN(5) - 2),
	}
	if s.cancel > 0 {
		s.cancel += 137 * ms // never at the same time as another event, because their order is undefined
	}
	switch rng.IntN(12) {
	case 0:
		s.cancel = -1
	case 1:
		s.deadline = -1
	case 2:
		s.hook = 1 + rng.IntN(3)
	}
	kinds := []string{"fail", "fail", "fail", "fail", "hint", "progress", "inner", "inner", "ok", "permanent", "unrepeatable"}
	for range 1 + rng.IntN(8) {
		s.steps = append(s.steps, step{time.Duration(rng.IntN(10)) * time.Second, kinds[rng.IntN(len(kinds))], rng.IntN(2) == 0, 1 + rng.IntN(4)})
	}
	// A call that only fails or makes progress must end.
	s.steps = append(s.steps, step{kind: []string{"ok", "permanent"}[rng.IntN(2)]})
	return s
}

// deadAt reports whether the context has ended at that time.
func (s scenario) deadAt(now time.Duration) bool {
	return s.cancel != 0 && now >= s.cancel || s.deadline != 0 && now >= s.deadline
}

// sooner returns the earlier of two times, of which 0 means never.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// outcome returns how and when an attempt that begins now ends, and whether the
// context ends at the same time.
func (s scenario) outcome(st step, now time.Duration) (kind string, ends time.Duration, tie bool) {
	if st.kind == "inner" {
		kind, ends = s.inner(st, now)
		return kind, ends, false
	}
	kind, ends = st.kind, now+st.takes
	if ends == s.deadline {
		return "", 0, true
	}
	if st.obedient && s.limit > 0 && now+s.limit <= ends {
		kind, ends = "fail", now+s.limit
		if ends == s.deadline {
			return "", 0, true
		}
	}
	if end := sooner(s.cancel, s.deadline); st.obedient && end > 0 && end < ends {
		kind, ends = "fail", end
	}
	return kind, ends, false
}

// inner returns how and when an inner call ends that begins now.
func (s scenario) inner(st step, now time.Duration) (kind string, ends time.Duration) {
	var limit time.Duration
	if s.limit > 0 {
		limit = now + s.limit
	}
	for number := 1; ; number++ {
		if number == st.attempts {
			return "permanent", now
		}
		after := now + st.takes
		if end := sooner(limit, s.deadline); end > 0 && after >= end {
			if limit > 0 && after >= limit && (s.deadline == 0 || after < s.deadline) {
				return "fail", now
			}
			return "permanent", now
		}
		if s.cancel > 0 && s.cancel < after {
			return "permanent", s.cancel // but then the outer call's context has ended
		}
		now = after
	}
}

// model computes when the attempts of a call begin, and when and why the call ends. It
// follows the documentation of Do.
func (s scenario) model() (begins []time.Duration, now time.Duration, end string) {
	var origin time.Duration
	sleep := func(d time.Duration) bool { // false if the context ends first
		if end := sooner(s.cancel, s.deadline); end != 0 && now+d >= end {
			now = max(now, end)
			return false
		}
		now += d
		return true
	}
	if s.deadAt(now) {
		return nil, now, "context"
	}
	tokens, paid := s.tokens, false
	number := 0
	for i := 0; ; i++ {
		if s.hook == i+1 {
			return begins, now, "context"
		}
		number++
		begins = append(begins, now)
		kind, ends, tie := s.outcome(s.steps[min(i, len(s.steps)-1)], now)
		if tie {
			return begins, now, "tie" // the order is undefined
		}
		now = ends
		most := s.attempts
		if most == 0 && s.elapsed == 0 {
			most = 3
		} else if most == 0 {
			most = math.MaxInt
		}
		if kind == "ok" {
			return begins, now, "ok"
		}
		if kind == "progress" {
			if paid {
				tokens = min(tokens+1, s.tokens)
			}
			paid = false
		}
		inner := s.steps[min(i, len(s.steps)-1)].kind == "inner"
		if s.deadAt(now) && (kind != "permanent" || inner) {
			return begins, now, "context"
		}
		if kind == "permanent" {
			return begins, now, "permanent"
		}
		if kind == "progress" {
			number, origin = 1, now
		}
		wait := modelDelay
		if kind == "hint" {
			wait = hintWait
			if room := s.room(now-origin, now); wait > room {
				wait = max(modelHint, room)
			}
		}
		switch {
		case kind == "unrepeatable":
			return begins, now, "unrepeatable"
		case number >= most:
			return begins, now, "attempts"
		case s.deadline > 0 && wait >= s.deadline-now:
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

// room returns how long a wait may be, given the time since the call began, or made
// progress.
func (s scenario) room(elapsed, now time.Duration) time.Duration {
	room := time.Duration(math.MaxInt64)
	if s.elapsed > 0 {
		room = s.elapsed - elapsed
	}
	if s.deadline > 0 {
		room = min(room, s.deadline-now-1)
	}
	return room
}

// context returns the scenario's context and a function that cancels it.
func (s scenario) context(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if s.deadline != 0 {
		limited, stop := context.WithTimeoutCause(ctx, s.deadline, errCause)
		context.AfterFunc(limited, stop) // not ctx: stop could then come before the cause
		ctx = limited
	}
	switch {
	case s.cancel > 0:
		time.AfterFunc(s.cancel, func() { cancel(errCause) })
	case s.cancel < 0:
		cancel(errCause)
	}
	return ctx, cancel
}

func (s scenario) play(ctx context.Context) (begins []time.Duration, end string) {
	p := retry.Policy{
		Backoff: retry.Constant(modelDelay), MaxAttempts: s.attempts, MaxElapsed: s.elapsed, AttemptTimeout: s.limit,
		Rand: func() float64 { return 0.5 },
	}
	if s.tokens >= 0 {
		// A Capacity of 0 would mean the default, so an empty budget has a deficit of
		// all tokens.
		p.Budget = &awspreset.TokenBudget{Capacity: max(1, s.tokens), Deficit: max(1, s.tokens) - s.tokens, Success: 1e-9, Costs: awspreset.TokenCosts{Transient: 1, Timeout: 1, Throttled: 1}}
	}
	ctx, cancel := s.context(ctx)
	defer cancel(nil)
	attempts := 0
	p.OnAttempt = func(ctx context.Context, _ retry.Attempt) (context.Context, func(retry.Attempt)) {
		if attempts++; attempts == s.hook {
			cancel(errCause)
		}
		return ctx, nil
	}
	start := time.Now()
	err := retry.Do(ctx, p, func(ctx context.Context) error {
		st := s.steps[min(len(begins), len(s.steps)-1)]
		begins = append(begins, time.Since(start))
		return st.run(ctx)
	})
	return begins, endOf(ctx, err)
}

func (st step) run(ctx context.Context) error {
	switch {
	case st.kind == "inner":
		inner := retry.Policy{Backoff: retry.Constant(st.takes), MaxAttempts: st.attempts}
		return fmt.Errorf("inner: %w", retry.Do(ctx, inner, fails))
	case st.obedient:
		select {
		case <-time.After(st.takes):
		case <-ctx.Done():
			return errors.New("signal: killed")
		}
	default:
		time.Sleep(st.takes)
	}
	return map[string]error{
		"fail": errOp, "permanent": retry.Permanent(errOp), "unrepeatable": retry.Unrepeatable(errOp),
		"progress": retry.Progress(errOp), "hint": retry.After(errOp, modelHint),
	}[st.kind]
}

// endOf returns the model's name of how a call ended. The reason must match the cause of a
// context that has ended.
func endOf(ctx context.Context, err error) string {
	e, gaveUp := err.(*retry.Error)
	switch {
	case err == nil:
		return "ok"
	case !gaveUp:
		return "permanent"
	case errors.Is(e.Reason, context.Canceled), errors.Is(e.Reason, context.DeadlineExceeded):
		if ctx.Err() != nil && !(errors.Is(e.Reason, ctx.Err()) && errors.Is(e.Reason, errCause)) {
			return fmt.Sprintf("context, but %v", e.Reason)
		}
		return "context"
	}
	return map[error]string{
		retry.ErrMaxAttempts: "attempts", retry.ErrMaxElapsed: "elapsed", retry.ErrBudget: "budget",
		retry.ErrUnrepeatable: "unrepeatable",
	}[e.Reason]
}

// TestModel compares random scenarios with the model.
func TestModel(t *testing.T) {
	ends := map[string]int{}
	for seed := range uint64(*modelScenarios) {
		s := randomScenario(rand.New(rand.NewPCG(seed, 11)))
		begins, took, end := s.model()
		if end == "tie" {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			got, gotEnd := s.play(t.Context())
			if !assert.Equal(t, fmt.Sprint(begins, took, end), fmt.Sprint(got, time.Since(start), gotEnd), "seed %d: %+v", seed, s) {
				t.FailNow()
			}
			ends[end]++
		})
	}
	assert.Len(t, ends, 7, "every end is reached: %v", ends)
}
