package admit

import (
	"flag"
	"math/rand/v2"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/test/overload"
	"github.com/gobackoff/retry/retryhttp"
)

var (
	long   = flag.Bool("admit.long", false, "run the scenarios of overload four times as long")
	inReal = flag.Bool("admit.real", false, "run the scenarios of overload in real time, over the loopback interface")
)

func always(d time.Duration) func(time.Duration) time.Duration {
	return func(time.Duration) time.Duration { return d }
}

// slower returns the times of a server with a dependency that is slow from 5 s on.
func slower(before, after time.Duration) func(time.Duration) time.Duration {
	return func(at time.Duration) time.Duration {
		if at > 5*time.Second {
			return after
		}
		return before
	}
}

func twoKinds(share float64, fast, slow time.Duration) func(time.Duration) time.Duration {
	return func(time.Duration) time.Duration {
		if rand.Float64() < share {
			return fast
		}
		return slow
	}
}

const unlimited = 100_000 // slots

// run puts load on a server behind a gate. The clients are those of retryhttp.
func run(t *testing.T, l overload.Load, gate *Gate, budgets *retryhttp.PerHost) (out overload.Outcome) {
	t.Helper()
	l.Admit = func(server http.Handler) http.Handler {
		h := gate.Handler(server)
		h.Share = func(r *http.Request) float64 {
			if r.URL.Path == "/low" {
				return 0.75
			}
			return 1
		}
		return h
	}
	l.Client = func(base http.RoundTripper, l overload.Load) *http.Client {
		return &http.Client{Transport: &retryhttp.Transport{
			Base: base, PerHost: budgets, TimeoutHeader: l.Announce, Policy: retry.Policy{MaxAttempts: 4, AttemptTimeout: l.Timeout},
		}}
	}
	l.Real = *inReal
	if *long {
		l.Length *= 4
	}
	measure := func(t *testing.T) {
		var err error
		out, err = l.Run(t.Context())
		require.NoError(t, err)
		assert.Zero(t, gate.Stats().InFlight)
	}
	if *inReal {
		measure(t)
	} else {
		synctest.Test(t, measure)
	}
	t.Logf("%.1f %% of the calls succeed; %d of %d requests served in vain", out.Percent(""), out.Wasted, out.Served)
	return out
}

// busy is a server with a load of 70 %: four slots of 10 ms serve 400 requests a second.
func busy(change func(*overload.Load)) overload.Load {
	l := overload.Load{Slots: 4, Service: always(10 * time.Millisecond), Rate: 280, Length: 25 * time.Second, Timeout: time.Second}
	change(&l)
	return l
}

func stall(length time.Duration) func(*overload.Load) {
	return func(l *overload.Load) { l.Stall = [2]time.Duration{5 * time.Second, 5*time.Second + length} }
}

func dependency(service func(time.Duration) time.Duration) func(*overload.Load) {
	return func(l *overload.Load) { l.Slots, l.Service = unlimited, service }
}

// TestOverload: what a Gate does to the calls of real clients.
func TestOverload(t *testing.T) {
	ms, sec := time.Millisecond, time.Second
	for _, test := range []struct {
		name  string
		load  overload.Load
		least float64 // percent of the calls that succeed
	}{
		{"steady load", busy(func(*overload.Load) {}), 100},
		{"stall of 2 s", busy(stall(2 * sec)), 99},
		{"stall of 2 s, HTTP/2", busy(func(l *overload.Load) { stall(2 * sec)(l); l.HTTP2 = true }), 99},
		{"stall of 10 s", busy(func(l *overload.Load) { stall(10 * sec)(l); l.Length = 40 * sec }), 80},
		{"brown-out to 50 %", busy(func(l *overload.Load) { l.Service, l.Length = slower(10*ms, 20*ms), 15*sec }), 90},
		{"always 700 ms", busy(dependency(always(700 * ms))), 100},
		{"60 % fast, the rest slow", busy(dependency(twoKinds(0.6, 5*ms, 900*ms))), 99.5},
		{"dependency slows to 400 ms", busy(dependency(slower(20*ms, 400*ms))), 99},
		{"dependency slows to 700 ms", busy(dependency(slower(20*ms, 700*ms))), 99},
		{"burst from idle", overload.Load{Slots: 1000, Service: always(50 * ms), Rate: 5, Burst: 300, Length: 10 * sec, Timeout: sec}, 100},
		{"one slot", busy(func(l *overload.Load) {
			stall(2 * sec)(l)
			l.Slots, l.Service, l.Rate, l.Length = 1, always(70*ms), 10, 100*sec
		}), 85},
	} {
		t.Run(test.name, func(t *testing.T) {
			assert.GreaterOrEqual(t, run(t, test.load, new(Gate), retryhttp.Unbudgeted()).Percent(""), test.least)
		})
	}
}

// TestInitialLimit: a wrong limit is corrected.
func TestInitialLimit(t *testing.T) {
	for _, limit := range []float64{1, 10, 400, 4000} {
		var gate Gate
		gate.limiter.limit = limit
		assert.GreaterOrEqual(t, run(t, busy(stall(2*time.Second)), &gate, retryhttp.Unbudgeted()).Percent(""), 99.0, "initial limit %v", limit)
	}
}

// TestShare: at 1.4 times the capacity, the half that may use the whole limit succeeds,
// and the server is neither idle nor busy in vain.
func TestShare(t *testing.T) {
	out := run(t, busy(func(l *overload.Load) { l.Rate, l.Paths = 560, []string{"/high", "/low"} }), new(Gate), retryhttp.Unbudgeted())
	assert.GreaterOrEqual(t, out.Percent("/high"), 99.0)
	assert.GreaterOrEqual(t, float64(out.OnTime), 0.93*400*25)
	assert.LessOrEqual(t, float64(out.Wasted), 0.03*float64(out.Served))
}

// TestCapacityDoubles: a server that was too slow for its calls is full again at once.
func TestCapacityDoubles(t *testing.T) {
	l := busy(func(l *overload.Load) {
		l.Service, l.Length = slower(20*time.Millisecond, 10*time.Millisecond), 30*time.Second
	})
	late, good := 0, 0
	l.Done = func(second int, ok bool) {
		if second >= 15 {
			late++
			if ok {
				good++
			}
		}
	}
	run(t, l, new(Gate), retryhttp.Unbudgeted())
	assert.GreaterOrEqual(t, float64(good), 0.99*float64(late))
}

// TestAnnounced: at 1.4 times the capacity, callers with a timeout barely longer than
// Within succeed if they announce it. The jitter of the clients and the order of
// goroutines differ between runs, even in virtual time, so the bounds are far from what
// was measured: 11 to 13 % without, 98 to 99 % with announcements.
func TestAnnounced(t *testing.T) {
	impatient := busy(func(l *overload.Load) { l.Rate, l.Timeout, l.Length = 560, 220*time.Millisecond, 10*time.Second })
	assert.Less(t, run(t, impatient, new(Gate), retryhttp.Unbudgeted()).Percent(""), 50.0)
	impatient.Announce = "X-Envoy-Expected-Rq-Timeout-Ms"
	out := run(t, impatient, new(Gate), retryhttp.Unbudgeted())
	assert.Greater(t, out.Percent(""), 75.0)
	assert.LessOrEqual(t, float64(out.Wasted), 0.1*float64(out.Served))
}
