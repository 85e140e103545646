package admit

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestSteps: whatever the handler's own time becomes, where nothing waits the Gate is open
// again after a minute or ten times that time.
func TestSteps(t *testing.T) {
	for _, slow := range []time.Duration{700 * ms, 1500 * ms, 2 * sec, 3 * sec, 5 * sec, 10 * sec, 30 * sec} {
		for _, rate := range []float64{20, 200, 1000} {
			if !*long && rate*slow.Seconds() > 1000 {
				continue
			}
			grace := max(time.Minute, 10*slow)
			for _, step := range []struct {
				name   string
				before time.Duration // of the step
				took   took
			}{
				{"up", time.Minute, from(time.Minute, 5*ms, slow)},
				{"down", grace, from(grace, slow, 5*ms)},
			} {
				t.Run(fmt.Sprintf("%s, %v, %v a second", step.name, slow, rate), func(t *testing.T) {
					var before, after share
					b := newBench(1)
					end := step.before + grace + time.Minute
					b.arrive(rate, end, func() {
						refused := &before
						if b.now > end-time.Minute {
							refused = &after
						}
						b.once(refused, step.took)
					})
					b.run(end)
					assert.Less(t, after.percent(), 5.0, "%+v", b.gate.Stats())
				})
			}
		}
	}
}

// TestMixtures: requests that take different times do not wait for each other.
func TestMixtures(t *testing.T) {
	rising := func(b *bench) time.Duration { // from 5 ms to 5 s within a minute
		return 5*ms + time.Duration(min(1, b.now.Minutes())*float64(5*sec-5*ms))
	}
	for _, test := range []struct {
		name  string
		took  took
		grace time.Duration
	}{
		{"45 % fast", either(0.45, always(5*ms), always(2*sec)), time.Minute},
		{"30 % fast", either(0.3, always(5*ms), always(2*sec)), time.Minute},
		{"80 % fast", either(0.8, always(5*ms), always(3*sec)), time.Minute},
		{"uploads", uniform(sec, 20*sec), 200 * sec},
		{"in turn", inTurn(10*sec, always(5*ms), always(3*sec)), time.Minute},
		{"in turn, slower", inTurn(30*sec, always(5*ms), always(10*sec)), 100 * sec},
		{"rising", rising, 2 * time.Minute},
	} {
		for _, rate := range []float64{50, 200} {
			t.Run(fmt.Sprintf("%s, %v a second", test.name, rate), func(t *testing.T) {
				var before, after share
				b := newBench(1)
				end := test.grace + 5*time.Minute
				b.arrive(rate, end, func() {
					refused := &before
					if b.now > test.grace {
						refused = &after
					}
					b.once(refused, test.took)
				})
				b.run(end)
				assert.Less(t, after.percent(), 5.0, "%+v", b.gate.Stats())
			})
		}
	}
}

// TestEndless: requests that do not end, or slowly, do not starve those of 5 ms, whether
// the Gate has learned or not.
func TestEndless(t *testing.T) {
	for _, rate := range []float64{20, 200, 1000} {
		for _, start := range []time.Duration{0, time.Minute} {
			for _, upload := range []time.Duration{0, 2 * sec, 10 * sec, time.Minute} {
				t.Run(fmt.Sprintf("%v a second, from %v, uploads of %v", rate, start, upload), func(t *testing.T) {
					b := newBench(1)
					end := start + time.Minute
					var before, after share
					b.arrive(rate, end, func() {
						refused := &before
						if b.now > start+10*sec {
							refused = &after
						}
						b.once(refused, always(5*ms))
					})
					if upload == 0 {
						for range 1000 {
							b.after(start+time.Duration(b.random.Float64()*1e9), b.stream)
						}
					} else {
						for range 100 {
							b.after(start, func() { b.upload(upload) })
						}
					}
					b.run(end)
					assert.Less(t, after.percent(), 5.0, "%+v", b.gate.Stats())
				})
			}
		}
	}
}

// stream never ends. Its client returns when it was asked to.
func (b *bench) stream() {
	if _, err := b.gate.Enter(Caller{}); err != nil {
		b.after(err.(Refused).RetryAfter(), b.stream)
	}
}

// upload repeats as soon as it ends, and every 10 ms while it is refused.
func (b *bench) upload(took time.Duration) {
	next := 10 * ms
	if ticket, err := b.gate.Enter(Caller{}); err == nil {
		next = time.Duration((0.9 + 0.2*b.random.Float64()) * float64(took))
		b.after(next, func() { b.gate.Leave(ticket) })
	}
	b.after(next, func() { b.upload(took) })
}

// TestQueues: requests that wait for each other. Without a Gate, at most 30 % of the calls
// in a row with a stall or too much load succeed.
func TestQueues(t *testing.T) {
	for _, test := range []struct {
		name   string
		slots  int
		took   took
		rate   float64
		stall  time.Duration // from 10 s on
		length time.Duration
		least  float64 // percent of the calls that succeed
	}{
		{"steady load", 4, always(10 * ms), 280, 0, 20 * sec, 100},
		{"stall of 2 s", 4, always(10 * ms), 280, 2 * sec, 40 * sec, 99},
		{"stall of 2 s at 90 % load", 4, always(10 * ms), 360, 2 * sec, 40 * sec, 99},
		{"stall of 10 s", 4, always(10 * ms), 280, 10 * sec, 40 * sec, 85},
		{"brown-out to 50 %", 4, inTurn(20*sec, always(10*ms), always(20*ms)), 280, 0, 40 * sec, 92},
		{"brown-out to 10 %", 4, inTurn(10*sec, always(10*ms), always(100*ms)), 280, 0, 20 * sec, 75},
		{"1.4 times the capacity", 4, always(10 * ms), 560, 0, 40 * sec, 78},
		{"2.5 times the capacity", 4, always(10 * ms), 1000, 0, 40 * sec, 45},
		{"40 slots, stall of 4 s", 40, always(100 * ms), 320, 4 * sec, 40 * sec, 95},
		{"one slot, stall of 2 s", 1, always(70 * ms), 10, 2 * sec, 100 * sec, 85},
		{"cheap and dear", 4, either(0.5, always(ms), always(19*ms)), 280, 2 * sec, 40 * sec, 99},
		{"always 700 ms", 0, always(700 * ms), 280, 0, 40 * sec, 100},
		{"dependency slows to 400 ms", 0, inTurn(10*sec, always(20*ms), always(400*ms)), 280, 0, 20 * sec, 99},
		{"dependency slows to 700 ms", 0, inTurn(10*sec, always(20*ms), always(700*ms)), 280, 0, 20 * sec, 99},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(1)
			b.slots, b.stall = test.slots, [2]time.Duration{10 * sec, 10*sec + test.stall}
			var c calls
			b.arrive(test.rate, test.length, func() { b.call(&c, test.took, Caller{}, sec) })
			b.run(test.length + time.Minute)
			t.Logf("%.1f %% succeed; %d of %d requests in vain", c.good.percent(), c.wasted, c.served)
			assert.GreaterOrEqual(t, c.good.percent(), test.least)
			assert.Zero(t, b.gate.Stats().InFlight)
		})
	}
}

// TestForgets: a queue is recognized although requests took 3 s before, without waiting.
func TestForgets(t *testing.T) {
	b := newBench(1)
	var refused share
	b.arrive(560, time.Minute, func() { b.once(&refused, inTurn(10*sec, always(5*ms), always(3*sec))) })
	b.run(time.Minute)
	b.slots = 4
	var before, after calls
	b.arrive(560, 3*time.Minute, func() {
		c := &before
		if b.now > 90*sec {
			c = &after
		}
		b.call(c, always(10*ms), Caller{}, sec)
	})
	b.run(4 * time.Minute)
	t.Logf("%.1f %%, then %.1f %% succeed", before.good.percent(), after.good.percent())
	assert.GreaterOrEqual(t, after.good.percent(), 65.0)
}

// TestInitialLimit: a wrong limit is corrected.
func TestInitialLimit(t *testing.T) {
	for _, limit := range []float64{1, 10, 400, 4000} {
		b := newBench(1)
		b.gate.limiter.limit = limit
		b.slots, b.stall = 4, [2]time.Duration{5 * sec, 7 * sec}
		var c calls
		b.arrive(280, 25*sec, func() { b.call(&c, always(10*ms), Caller{}, sec) })
		b.run(time.Minute)
		assert.GreaterOrEqual(t, c.good.percent(), 98.0, "initial limit %v", limit)
	}
}

// TestShare: at 1.4 times the capacity, the half that may use the whole limit succeeds,
// and the server is neither idle nor busy in vain.
func TestShare(t *testing.T) {
	b := newBench(1)
	b.slots = 4
	var high, low calls
	b.arrive(280, 25*sec, func() { b.call(&high, always(10*ms), Caller{}, sec) })
	b.arrive(280, 25*sec, func() { b.call(&low, always(10*ms), Caller{Share: 0.75}, sec) })
	b.run(25 * sec)
	assert.GreaterOrEqual(t, high.good.percent(), 99.0)
	assert.GreaterOrEqual(t, float64(high.served+low.served), 0.95*400*25)
	assert.LessOrEqual(t, float64(high.wasted+low.wasted), 0.03*float64(high.served+low.served))
}

// TestCapacityDoubles: a server that was too slow for its calls is full again at once.
func TestCapacityDoubles(t *testing.T) {
	b := newBench(1)
	b.slots = 4
	var before, after calls
	b.arrive(280, 30*sec, func() {
		c := &before
		if b.now > 15*sec {
			c = &after
		}
		b.call(c, from(5*sec, 20*ms, 10*ms), Caller{}, sec)
	})
	b.run(time.Minute)
	assert.GreaterOrEqual(t, after.good.percent(), 99.0)
}

// TestAnnounced: at 1.4 times the capacity, callers with a timeout barely longer than
// Within succeed if they announce it.
func TestAnnounced(t *testing.T) {
	for _, test := range []struct {
		name        string
		caller      Caller
		least, most float64 // percent
	}{
		{"not announced", Caller{}, 0, 50},
		{"announced", Caller{Patience: 220 * ms}, 70, 100},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(1)
			b.slots = 4
			var c calls
			b.arrive(560, 10*sec, func() { b.call(&c, always(10*ms), test.caller, 220*ms) })
			b.run(time.Minute)
			t.Logf("%.1f %% succeed; %d of %d requests in vain", c.good.percent(), c.wasted, c.served)
			assert.GreaterOrEqual(t, c.good.percent(), test.least)
			assert.LessOrEqual(t, c.good.percent(), test.most)
		})
	}
}

// TestTinyTimeouts: callers that announce a timeout which nobody can meet are refused,
// and teach the Gate nothing.
func TestTinyTimeouts(t *testing.T) {
	b := newBench(1)
	b.slots = 4
	var patient, tiny calls
	b.arrive(266, time.Minute, func() { b.call(&patient, always(10*ms), Caller{}, sec) })
	b.arrive(14, time.Minute, func() { b.call(&tiny, always(10*ms), Caller{Patience: 1}, sec) })
	b.run(2 * time.Minute)
	assert.InDelta(t, 100, patient.good.percent(), 0)
	assert.Less(t, b.gate.Stats().Limit, 1000.0)
}

// TestAllHang: a handler that hangs for ever does not fill the memory.
func TestAllHang(t *testing.T) {
	b := newBench(1)
	var refused share
	b.arrive(1000, time.Minute, func() { b.once(&refused, always(5*ms)) })
	b.run(2 * time.Minute)
	b.arrive(1000, 12*time.Minute, func() { b.gate.Enter(Caller{}) })
	b.run(12 * time.Minute)
	assert.Less(t, b.gate.Stats().InFlight, 2000) // of 600,000
}
