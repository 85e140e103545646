package main

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// A benchmark's name is a list of /key=value pairs. The last pair names the library.
// table.go turns the names into rows and columns.

func each(b *testing.B, has func(library) bool, f func(*testing.B, library)) {
	b.Helper()
	for _, l := range libraries {
		if has(l) {
			b.Run("by="+l.name, func(b *testing.B) { f(b, l) })
		}
	}
}

func all(library) bool         { return true }
func hasFresh(l library) bool  { return l.fresh != nil }
func hasHook(l library) bool   { return l.hooks }
func hasBudget(l library) bool { return l.budgets }

func repeat(b *testing.B, c call) {
	b.ReportAllocs()
	for b.Loop() {
		_ = c()
	}
}

// cancellable returns a context with a Done channel, such as the context of a request.
func cancellable(b *testing.B) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	b.Cleanup(cancel)
	return ctx
}

func BenchmarkSuccess(b *testing.B) {
	ctx := cancellable(b)
	b.Run("policy=shared", func(b *testing.B) {
		each(b, all, func(b *testing.B, l library) { repeat(b, l.build(ctx, usual)(failing(0))) })
	})
	b.Run("policy=built", func(b *testing.B) {
		each(b, hasFresh, func(b *testing.B, l library) { repeat(b, l.fresh(ctx, usual)(failing(0))) })
	})
}

// BenchmarkValue is BenchmarkSuccess for an operation that returns a value.
func BenchmarkValue(b *testing.B) {
	ctx := cancellable(b)
	each(b, all, func(b *testing.B, l library) {
		b.ReportAllocs()
		c := l.value(ctx, usual)(failing(0))
		for b.Loop() {
			_, _ = c()
		}
	})
}

// BenchmarkThreeRetries waits 1 ns on the real clock before each retry, so it measures
// the loop, the timer and the goroutine switches.
func BenchmarkThreeRetries(b *testing.B) {
	ctx := cancellable(b)
	deadline, cancel := context.WithDeadline(ctx, time.Now().Add(24*time.Hour))
	b.Cleanup(cancel)
	retries := 0
	for _, w := range []struct {
		with string
		ctx  context.Context
		plan plan
		has  func(library) bool
	}{
		{"cancel", ctx, plan{}, all},
		{"hook", ctx, plan{hook: func() { retries++ }}, hasHook},
		{"deadline", deadline, plan{}, all},
		{"budget", ctx, plan{budget: true}, hasBudget},
	} {
		w.plan.attempts, w.plan.wait = 4, 1
		b.Run("with="+w.with, func(b *testing.B) {
			each(b, w.has, func(b *testing.B, l library) { repeat(b, l.build(w.ctx, w.plan)(failing(3))) })
		})
	}
}

// BenchmarkGiveUp measures a call that fails without waiting. Some libraries start a
// timer even so.
func BenchmarkGiveUp(b *testing.B) {
	ctx := cancellable(b)
	for _, attempts := range []int{1, 3} {
		b.Run(fmt.Sprint("attempts=", attempts), func(b *testing.B) {
			each(b, all, func(b *testing.B, l library) {
				repeat(b, l.build(ctx, plan{attempts: attempts})(hopeless(flaky)))
			})
		})
	}
}

var strategies = []string{
	constant, exponential, fullJitter, partJitter, equalJitter, decorrelated, linear, fibonacci, schedule,
}

// BenchmarkDelay computes one delay, including its random number and its share of what the
// strategy costs once per call.
func BenchmarkDelay(b *testing.B) {
	for _, of := range strategies {
		b.Run("of="+of, func(b *testing.B) {
			has := func(l library) bool { return l.delays[of] != nil }
			each(b, has, func(b *testing.B, l library) {
				b.ReportAllocs()
				next := l.delays[of]()
				for b.Loop() {
					next()
				}
			})
		})
	}
}

// BenchmarkShared makes calls with one policy on all processors. The calls do not wait,
// because timers would hide contention. Their context has no lock, because requests do not
// share contexts and therefore do not contend for one.
func BenchmarkShared(b *testing.B) {
	for _, w := range []struct {
		name     string
		failures int
		budget   bool
		has      func(library) bool
	}{
		{"op=succeeds/budget=no", 0, false, all},
		{"op=succeeds/budget=yes", 0, true, hasBudget},
		{"op=retries/budget=no", 3, false, all},
		{"op=retries/budget=yes", 3, true, hasBudget},
	} {
		b.Run(w.name, func(b *testing.B) {
			each(b, w.has, func(b *testing.B, l library) {
				b.ReportAllocs()
				shared := l.build(context.Background(), plan{attempts: 4, budget: w.budget})
				b.RunParallel(func(pb *testing.PB) {
					c := shared(failing(w.failures))
					for pb.Next() {
						_ = c()
					}
				})
			})
		})
	}
}
