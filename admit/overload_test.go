package admit

import (
	"flag"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

var long = flag.Bool("admit.long", false, "run the scenarios of overload at length")

func exponential(mean time.Duration) func(time.Duration) time.Duration {
	r := rand.New(rand.NewPCG(3, 4))
	return func(time.Duration) time.Duration { return time.Duration(r.ExpFloat64() * float64(mean)) }
}

func always(d time.Duration) func(time.Duration) time.Duration {
	return func(time.Duration) time.Duration { return d }
}

// From 5 s on, a dependency is slow.
func slower(before, after time.Duration) func(time.Duration) time.Duration {
	return func(at time.Duration) time.Duration {
		if at > 5*time.Second {
			return after
		}
		return before
	}
}

func twoKinds(share float64, fast, slow time.Duration) func(time.Duration) time.Duration {
	r := rand.New(rand.NewPCG(5, 6))
	return func(time.Duration) time.Duration {
		if r.Float64() < share {
			return fast
		}
		return slow
	}
}

const unlimited = 100_000 // slots

// TestOverload: what a Gate does to the calls of real clients, in virtual time. Four
// slots of 10 ms serve 400 requests a second.
func TestOverload(t *testing.T) {
	ms, sec := time.Millisecond, time.Second
	busy := load{slots: 4, service: always(10 * ms), rate: 280, length: 25 * sec, timeout: sec}
	with := func(change func(*load)) load { l := busy; change(&l); return l }
	for _, test := range []struct {
		name  string
		load  load
		least float64 // percent of the calls that succeed
	}{
		{"steady load", busy, 100},
		{"stall of 2 s", with(func(l *load) { l.stall = [2]time.Duration{5 * sec, 7 * sec} }), 99},
		{"stall of 10 s", with(func(l *load) { l.stall = [2]time.Duration{5 * sec, 15 * sec}; l.length = 40 * sec }), 80},
		{"brown-out to 50 %", with(func(l *load) { l.service, l.length = slower(10*ms, 20*ms), 15*sec }), 80},
		{"always 700 ms", with(func(l *load) { l.slots, l.service = unlimited, always(700*ms) }), 100},
		{"60 % fast, the rest slow", with(func(l *load) { l.slots, l.service = unlimited, twoKinds(0.6, 5*ms, 900*ms) }), 99.5},
		{"slow dependency of 400 ms", with(func(l *load) { l.slots, l.service = unlimited, slower(20*ms, 400*ms) }), 99},
		{"slow dependency of 700 ms", with(func(l *load) { l.slots, l.service = unlimited, slower(20*ms, 700*ms) }), 99},
		{"one slot", with(func(l *load) {
			l.slots, l.service, l.rate = 1, always(70*ms), 10
			l.stall, l.length = [2]time.Duration{30 * sec, 32 * sec}, 180*sec
		}), 85},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := test.load
				l.gate = new(Gate)
				if *long {
					l.length *= 4
				}
				out := l.run(t)
				t.Logf("%.1f %% of %d calls, %d of %d served in vain", out.percent(), out.calls[0], out.wasted, out.served)
				assert.GreaterOrEqual(t, out.percent(), test.least)
				assert.Zero(t, out.inFlight)
			})
		})
	}
}

// TestInitialLimit: a wrong limit at the start is corrected.
func TestInitialLimit(t *testing.T) {
	for _, limit := range []float64{1, 10, 400, 4000} {
		synctest.Test(t, func(t *testing.T) {
			l := load{slots: 4, service: exponential(10 * time.Millisecond), rate: 280, length: 25 * time.Second,
				timeout: time.Second, stall: [2]time.Duration{5 * time.Second, 7 * time.Second}, gate: new(Gate)}
			l.gate.limiter.limit = limit
			out := l.run(t)
			assert.GreaterOrEqual(t, out.percent(), 99.0, "initial limit %v", limit)
		})
	}
}

// TestShare: at 1.4 times the capacity, the half that may use the whole limit succeeds,
// and the server is neither idle nor busy in vain.
func TestShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := load{slots: 4, service: always(10 * time.Millisecond), rate: 560, length: 20 * time.Second, timeout: time.Second,
			gate: new(Gate), share: func(call int) float64 { return []float64{1, 0.75}[call%2] }}
		out := l.run(t)
		share := float64(out.good[0]) / float64(out.calls[0])
		goodput := float64(out.onTime) / 400 / 20
		t.Logf("%.1f %% of the important calls, goodput %.0f %% of the capacity, %d of %d served in vain",
			100*share, 100*goodput, out.wasted, out.served)
		assert.GreaterOrEqual(t, share, 0.99)
		assert.GreaterOrEqual(t, goodput, 0.93)
		assert.LessOrEqual(t, float64(out.wasted), 0.03*float64(out.served))
	})
}

// TestBurst: idle servers admit bursts, and what they refuse at first succeeds later.
func TestBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := load{slots: 1000, service: always(50 * time.Millisecond), rate: 5, length: 10 * time.Second, timeout: time.Second, gate: new(Gate)}
		l.burst = 300
		out := l.run(t)
		assert.Equal(t, 100.0, out.percent())
	})
}
