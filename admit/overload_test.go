package admit

import (
	"flag"
	"net/http"
	"strconv"
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
	longer = flag.Bool("admit.long", false, "run the scenarios of overload four times as long")
	inReal = flag.Bool("admit.real", false, "run the scenarios of overload in real time, over the loopback interface")
)

func constant(d time.Duration) func(time.Duration) time.Duration {
	return func(time.Duration) time.Duration { return d }
}

// announce sends the time that is left in a header.
func announce(name string) func(*http.Request) (retryhttp.Refused, error) {
	return func(req *http.Request) (retryhttp.Refused, error) {
		deadline, ok := req.Context().Deadline()
		if ok && name != "" {
			req.Header.Set(name, strconv.FormatInt(time.Until(deadline).Milliseconds(), 10))
		}
		return nil, nil
	}
}

// run puts load on a server behind a gate. The clients are those of retryhttp.
func run(t *testing.T, l overload.Load, gate *Gate) (out overload.Outcome) {
	t.Helper()
	l.Admit = func(server http.Handler) http.Handler {
		return gate.Handler(server)
	}
	l.Client = func(base http.RoundTripper, l overload.Load) *http.Client {
		return &http.Client{Transport: &retryhttp.Transport{
			Base: base, Sign: announce(l.Announce),
			Policy: retry.Policy{MaxAttempts: 4, AttemptTimeout: l.Timeout, Budget: retry.NoBudget{}},
		}}
	}
	l.Real = *inReal
	if *longer {
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
	l := overload.Load{Slots: 4, Service: constant(10 * ms), Rate: 280, Length: 15 * sec, Timeout: sec}
	change(&l)
	return l
}

func stall(length time.Duration) func(*overload.Load) {
	return func(l *overload.Load) { l.Stall = [2]time.Duration{5 * time.Second, 5*time.Second + length} }
}

// TestOverload: what a Gate does to the calls of real clients. TestQueues and the
// benchmarks have more scenarios.
func TestOverload(t *testing.T) {
	for _, test := range []struct {
		name  string
		load  overload.Load
		least float64 // percent of the calls that succeed
	}{
		{"stall of 2 s", busy(stall(2 * sec)), 99},
		{"stall of 2 s, HTTP/2", busy(func(l *overload.Load) { stall(2 * sec)(l); l.HTTP2 = true }), 99},
		{"burst from idle", overload.Load{Slots: 1000, Service: constant(50 * ms), Rate: 5, Burst: 300, Length: 10 * sec, Timeout: sec}, 100},
		{"timeouts are announced", busy(func(l *overload.Load) {
			l.Rate, l.Timeout, l.Length, l.Announce = 560, 220*ms, 10*sec, "X-Envoy-Expected-Rq-Timeout-Ms"
		}), 70},
	} {
		t.Run(test.name, func(t *testing.T) {
			assert.GreaterOrEqual(t, run(t, test.load, new(Gate)).Percent(""), test.least)
		})
	}
}
