package overload

import (
	"flag"
	"fmt"
	"math"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/internal/test/overload"
	"github.com/gobackoff/retry/retryhttp"
)

var update = flag.Bool("update", false, "measure all of TestBudgets, and write the table to docs/maintainers/overload-measured.md")

const (
	sec = time.Second
	ms  = time.Millisecond
)

func tokenBudget() retry.Budget  { return new(awspreset.TokenBudget) }
func sharedBudget() retry.Budget { return new(retry.SharedBudget) }

// usual has the clients of TestBudgets: processes with a Transport whose Policy has nothing but
// an AttemptTimeout, except for what change changes.
var usual = []struct {
	name      string
	processes int
	change    func(*retryhttp.Transport)
}{
	{"one attempt", 1, func(t *retryhttp.Transport) { t.Policy.MaxAttempts = 1 }},
	{"no budget", 1, func(t *retryhttp.Transport) { t.Policy.Budget = retry.NoBudget{} }},
	{"TokenBudget", 1, budgeted(tokenBudget)},
	{"TokenBudget, 20", 20, budgeted(tokenBudget)},
	{"default", 1, func(*retryhttp.Transport) {}},
	{"default, 20", 20, func(*retryhttp.Transport) {}},
}

// processes returns a client that distributes the calls to processes, whose Transports differ
// from the default in what change changes.
func processes(n int, change func(*retryhttp.Transport)) func(http.RoundTripper, overload.Load) *http.Client {
	return func(base http.RoundTripper, l overload.Load) *http.Client {
		crowd := &crowd{}
		for range n {
			t := &retryhttp.Transport{Base: base, Policy: retry.Policy{MaxAttempts: 4, AttemptTimeout: l.Timeout}}
			change(t)
			crowd.transports = append(crowd.transports, t)
		}
		return &http.Client{Transport: crowd}
	}
}

// budgeted is for processes: a Transport has a budget for the host.
func budgeted(budget func() retry.Budget) func(*retryhttp.Transport) {
	return func(t *retryhttp.Transport) {
		t.PerHost = &retryhttp.PerHost{New: func(string) retry.Budget { return budget() }}
	}
}

type crowd struct {
	transports []*retryhttp.Transport
	next       atomic.Int64
}

func (c *crowd) RoundTrip(r *http.Request) (*http.Response, error) {
	return c.transports[int(c.next.Add(1))%len(c.transports)].RoundTrip(r)
}

// answer refuses a request with a hint of some seconds; 0: none.
func answer(w http.ResponseWriter, status, hint int) {
	if hint > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(hint))
	}
	w.WriteHeader(status)
}

// quota admits a number of requests in each window, and refuses the rest until its end.
func quota(limit int, window time.Duration) func(http.Handler) http.Handler {
	return wrongQuota(limit, window, 1)
}

// wrongQuota is a quota whose hints are the time to the end of its window, times a factor.
func wrongQuota(limit int, window time.Duration, factor float64) func(http.Handler) http.Handler {
	return windowed(limit, window, func(left time.Duration) int { return int(math.Ceil(factor * left.Seconds())) })
}

// windowed is a quota whose hints depend on the time to the end of its window.
func windowed(limit int, window time.Duration, hint func(left time.Duration) int) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		var mu sync.Mutex
		var start time.Time
		used := 0
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			now := time.Now()
			if start.IsZero() || now.Sub(start) >= window {
				start, used = now, 0
			}
			used++
			admitted, left := used <= limit, window-now.Sub(start)
			mu.Unlock()
			if !admitted {
				answer(w, http.StatusTooManyRequests, hint(left))
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// lateQueue refuses what finds 600 requests in a queue that serves 400 a second: too late,
// because callers wait for a second.
func lateQueue(next http.Handler) http.Handler { return refuseBeyond(600, 1)(next) }

// refuseBeyond refuses what finds a number of requests in the server.
func refuseBeyond(requests, hint int) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		queue := make(chan struct{}, requests)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case queue <- struct{}{}:
				defer func() { <-queue }()
				next.ServeHTTP(w, r)
			default:
				answer(w, http.StatusTooManyRequests, hint)
			}
		})
	}
}

// slowRefusal refuses what has waited for a second for one of 40 slots.
func slowRefusal(next http.Handler) http.Handler { return refuseAfter(sec, 40, 1)(next) }

// refuseAfter refuses what has waited for a slot for a time.
func refuseAfter(patience time.Duration, slots, hint int) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		places := make(chan struct{}, slots)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case places <- struct{}{}:
				defer func() { <-places }()
				next.ServeHTTP(w, r)
			case <-time.After(patience):
				answer(w, http.StatusServiceUnavailable, hint)
			}
		})
	}
}

// refuseAll answers everything with a status and a hint for a time.
func refuseAll(begin, end time.Duration, status, hint int, admit func(http.Handler) http.Handler) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		start, next := time.Now(), admit(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if passed := time.Since(start); passed >= begin && passed < end {
				answer(w, status, hint)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

func direct(next http.Handler) http.Handler { return next }

// TestBudgets: what becomes of calls to servers that refuse some, for one process and for twenty. At
// the defaults of a Transport, no fewer of them succeed than without this library.
func TestBudgets(t *testing.T) {
	forty := overload.Load{Slots: 40, Service: always(100 * ms), Rate: 320, Length: 40 * sec, Timeout: 2 * sec}
	unlimited := overload.Load{Slots: 100_000, Service: always(5 * ms), Timeout: sec}
	const seeds = 3 // whose mean is compared: after a stall, one run differs from another by several points
	var table strings.Builder
	fmt.Fprint(&table, "| server | bare | one attempt | no budget | `TokenBudget` | `TokenBudget`, 20 processes | default | default, 20 processes | go-retryablehttp |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, test := range []struct {
		name  string
		load  overload.Load
		admit func(http.Handler) http.Handler
		short bool
	}{
		{"429 with `Retry-After: 2` for 2 s, 900 calls a second", with(unlimited, func(l *overload.Load) { l.Rate, l.Length = 900, 1500*ms }), refuseAll(0, 2*sec, 429, 2, direct), true},
		{"quota of 400 in 8 s, 200 calls a second for 4 s", with(unlimited, func(l *overload.Load) { l.Rate, l.Length = 200, 4*sec }), quota(400, 8*sec), true},
		{"Gate, stall of 2 s", with(four, func(l *overload.Load) { l.Stall = [2]time.Duration{10 * sec, 12 * sec} }), gate, false},
		{"Gate, stall of 10 s", with(four, func(l *overload.Load) { l.Stall = [2]time.Duration{10 * sec, 20 * sec} }), gate, false},
		{"Gate, 1.4 × load", with(four, func(l *overload.Load) { l.Rate = 560 }), gate, false},
		{"queue of 1.5 s, stall of 4 s", with(forty, func(l *overload.Load) { l.Timeout, l.Stall = sec, [2]time.Duration{5 * sec, 9 * sec} }), lateQueue, true},
		{"queue of 1.5 s, half the capacity for 20 s", with(forty, func(l *overload.Load) { l.Timeout, l.Service = sec, from(20*sec, 100*ms, 200*ms) }), lateQueue, false},
		{"503 after 1 s in a queue, half the capacity for 20 s", with(forty, func(l *overload.Load) { l.Service = from(20*sec, 100*ms, 200*ms) }), slowRefusal, false},
		{"503 by a proxy for 60 s, then a queue at 70 % load", with(four, func(l *overload.Load) { l.Length = 90 * sec }), refuseAll(5*sec, 65*sec, 503, 1, direct), false},
		{"503 by a proxy for 60 s, then a Gate at 1.4 × load", with(four, func(l *overload.Load) { l.Rate, l.Length = 560, 90*sec }), refuseAll(5*sec, 65*sec, 503, 1, gate), false},
	} {
		if !test.short && !*update {
			continue
		}
		fmt.Fprintf(&table, "| %s |", test.name)
		measure := func(client func(http.RoundTripper, overload.Load) *http.Client) (percent, requests float64) {
			for seed := range seeds {
				var arrived atomic.Int64
				load := test.load
				load.Seed = uint64(seed)
				out := run(t, load, client, func(next http.Handler) http.Handler {
					admitted := test.admit(next)
					return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						arrived.Add(1)
						admitted.ServeHTTP(w, r)
					})
				})
				percent += out.Percent("") / seeds
				requests += float64(arrived.Load()) / float64(out.Calls["/"]) / seeds
			}
			return percent, requests
		}
		got := map[string]float64{}
		bare, _ := measure(func(base http.RoundTripper, l overload.Load) *http.Client {
			return &http.Client{Transport: base, Timeout: l.Timeout}
		})
		fmt.Fprintf(&table, " %.0f |", bare)
		t.Logf("%s: bare %.1f %%", test.name, bare)
		for _, c := range usual {
			percent, requests := measure(func(base http.RoundTripper, l overload.Load) *http.Client {
				crowd := &crowd{}
				for range c.processes {
					t := &retryhttp.Transport{Base: base, Policy: retry.Policy{AttemptTimeout: l.Timeout}}
					c.change(t)
					crowd.transports = append(crowd.transports, t)
				}
				return &http.Client{Transport: crowd}
			})
			fmt.Fprintf(&table, " %.0f/%.2f |", percent, requests)
			t.Logf("%s: %s %.1f %%, %.2f requests a call", test.name, c.name, percent, requests)
			got[c.name] = percent
		}
		percent, requests := measure(clients["go-retryablehttp"])
		fmt.Fprintf(&table, " %.0f/%.2f |\n", percent, requests)
		assert.GreaterOrEqual(t, got["default"], bare-2, test.name)
		assert.GreaterOrEqual(t, got["default, 20"], bare-5, test.name) // one run differs from another by more
	}
	if *update {
		replace(t, "../../../docs/maintainers/overload-measured.md", "<!-- budgets -->\n", table.String())
	}
}

// replace writes a table after a mark, in place of the one that is there.
func replace(t *testing.T, page, mark, table string) {
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	before, after, ok := strings.Cut(string(text), mark)
	require.True(t, ok, "no %q", mark)
	_, rest, ok := strings.Cut(after, "\n\n")
	require.True(t, ok)
	require.NoError(t, os.WriteFile(page, []byte(before+mark+table+"\n"+rest), 0o644))
}
