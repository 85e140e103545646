package overload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry/internal/test/overload"
	"github.com/gobackoff/retry/retryhttp"
)

// pausing is for processes: a Transport has a pause for each scope; without scope, none.
func pausing(scope func(*http.Request) string) func(*retryhttp.Transport) {
	return func(t *retryhttp.Transport) {
		if scope != nil {
			t.PerScope = &retryhttp.PerScope{Scope: scope}
		}
	}
}

type front = func(http.Handler) http.Handler

// vagueQuota is a quota whose hints do not depend on the end of its window.
func vagueQuota(limit int, window time.Duration, hint int) front {
	return windowed(limit, window, func(time.Duration) int { return hint })
}

func bucket(rate, burst float64) front {
	return func(next http.Handler) http.Handler {
		var mu sync.Mutex
		tokens, last := burst, time.Now()
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			now := time.Now()
			tokens, last = min(burst, tokens+now.Sub(last).Seconds()*rate), now
			admitted := tokens >= 1
			if admitted {
				tokens--
			}
			mu.Unlock()
			if !admitted {
				answer(w, http.StatusTooManyRequests, 1)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// onRoute limits the calls to one path.
func onRoute(path string, limit front) front {
	return func(next http.Handler) http.Handler {
		limited := limit(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == path {
				limited.ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// resets breaks the connection of a share of the requests.
func resets(share float64, limit front) front {
	abort := func(http.Handler) http.Handler {
		return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	}
	return sometimes(share, abort, limit)
}

// watched is what became of the calls and requests.
type watched struct {
	overload.Outcome
	requests map[string]int // by path
	seconds  []int          // requests, by second
	mu       sync.Mutex
	delays   map[string][]time.Duration // of calls, by path
}

func (o *watched) perCall(path string) float64 {
	return float64(o.requests[path]) / float64(o.Calls[path])
}

// delayed returns the share of the calls to a path that took more than 50 ms, and the median
// of all.
func (o *watched) delayed(path string) (percent float64, median time.Duration) {
	all := o.delays[path]
	slices.Sort(all)
	quick, _ := slices.BinarySearch(all, 50*ms)
	return 100 * float64(len(all)-quick) / float64(len(all)), all[len(all)/2]
}

func watch(t *testing.T, l overload.Load, client func(http.RoundTripper, overload.Load) *http.Client, limit front) *watched {
	o := &watched{requests: map[string]int{}, delays: map[string][]time.Duration{}}
	o.Outcome = run(t, l, func(base http.RoundTripper, l overload.Load) *http.Client {
		c := client(base, l)
		next := c.Transport
		c.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
			start := time.Now()
			resp, err := next.RoundTrip(r)
			o.mu.Lock()
			defer o.mu.Unlock()
			o.delays[r.URL.Path] = append(o.delays[r.URL.Path], time.Since(start))
			return resp, err
		})
		return c
	}, func(next http.Handler) http.Handler {
		limited, start := limit(next), time.Now()
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			o.mu.Lock()
			o.requests[r.URL.Path]++
			for second := int(time.Since(start) / sec); len(o.seconds) <= second; {
				o.seconds = append(o.seconds, 0)
			}
			o.seconds[len(o.seconds)-1]++
			o.mu.Unlock()
			limited.ServeHTTP(w, r)
		})
	})
	return o
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// unlimited is a server that only the limit in front of it keeps from serving all at once.
func unlimited(rate float64, length time.Duration) overload.Load {
	return overload.Load{Slots: 100_000, Service: always(5 * ms), Timeout: sec, Rate: rate, Length: length}
}

// TestPause: a pause by route saves requests, and costs no calls.
func TestPause(t *testing.T) {
	forty := overload.Load{Slots: 40, Service: always(100 * ms), Rate: 320, Length: 40 * sec, Timeout: sec, Stall: [2]time.Duration{5 * sec, 9 * sec}}
	two := refuseAll(0, 2*sec, 429, 2, direct)
	picture := ""
	var table strings.Builder
	fmt.Fprint(&table, "| server | without | with | go-retryablehttp |\n| --- | ---: | ---: | ---: |\n")
	for _, test := range []struct {
		name      string
		load      overload.Load
		limit     front
		processes int
		short     bool
		most      float64 // requests a call with a pause
		lost      float64 // calls, percent
	}{
		{"429 with `Retry-After: 2` for 2 s, 900 calls a second", unlimited(900, 1500*ms), two, 1, true, 1.15, 1.5},
		{"the same, 5 % of the connections break", unlimited(900, 1500*ms), resets(.05, two), 1, true, 1.25, 1.5},
		{"quota of 400 in 8 s, 200 calls a second for 4 s", unlimited(200, 4*sec), quota(400, 8*sec), 1, true, 1.15, 1.5},
		{"quota of 400 in 4 s, 110 calls a second", unlimited(110, 40*sec), quota(400, 4*sec), 1, true, 1.15, 1.5},
		{"quota of 900 in 10 s, hints of 1 s; 80 calls a second, and 500 at once", with(unlimited(80, 40*sec), func(l *overload.Load) { l.Burst = 500 }), vagueQuota(900, 10*sec, 1), 1, false, 1.15, 1.5},
		{"quota of 500 in 10 s, hints of 1 s; 80 calls a second, 60 s for a call", with(unlimited(80, 40*sec), func(l *overload.Load) { l.Deadline = 60 * sec }), vagueQuota(500, 10*sec, 1), 1, true, 1.6, 1.5},
		{"quota of 100 in 1 s, 160 calls a second, 3 s for a call", with(unlimited(160, 40*sec), func(l *overload.Load) { l.Deadline = 3 * sec }), quota(100, sec), 1, false, 3, 1.5},
		{"token bucket of 100 a second, 90 calls a second", unlimited(90, 40*sec), bucket(100, 10), 1, false, 1.1, 1.5},
		{"the same, 140 calls a second", unlimited(140, 40*sec), bucket(100, 10), 1, true, 3, 1.5},
		{"Gate, stall of 2 s", with(four, func(l *overload.Load) { l.Stall = [2]time.Duration{10 * sec, 12 * sec} }), gate, 1, false, 1.1, 1.5},
		{"Gate, stall of 10 s, 20 processes", with(four, func(l *overload.Load) { l.Stall = [2]time.Duration{10 * sec, 20 * sec} }), gate, 20, false, 2, 1.5},
		{"queue of 1.5 s, stall of 4 s", forty, lateQueue, 1, false, 1.1, 1.5},
		{"the same, 20 processes", forty, lateQueue, 20, false, 1.2, 1.5},
	} {
		if !test.short && !*update {
			continue
		}
		without := watch(t, test.load, processes(test.processes, pausing(nil)), test.limit)
		paused := watch(t, test.load, processes(test.processes, pausing(retryhttp.ByRoute)), test.limit)
		other := watch(t, test.load, clients["go-retryablehttp"], test.limit)
		fmt.Fprintf(&table, "| %s |", test.name)
		for _, o := range []*watched{without, paused, other} {
			fmt.Fprintf(&table, " %.0f/%.2f |", o.Percent(""), o.perCall("/"))
		}
		fmt.Fprintln(&table)
		if test.load.Deadline == 60*sec {
			picture = draw("without", without) + draw("with", paused)
		}
		t.Logf("%s: %.1f %% and %.2f requests a call, paused %.1f and %.2f, go-retryablehttp %.1f and %.2f", test.name,
			without.Percent(""), without.perCall("/"), paused.Percent(""), paused.perCall("/"), other.Percent(""), other.perCall("/"))
		assert.GreaterOrEqual(t, paused.Percent(""), without.Percent("")-test.lost, test.name)
		assert.LessOrEqual(t, paused.perCall("/"), test.most, test.name)
	}
	t.Log("\n" + table.String() + picture)
}

// draw draws how many requests a server gets in each second, on a logarithmic scale.
func draw(name string, o *watched) string {
	const top = 1000
	var line strings.Builder
	requests := 0
	for _, n := range o.seconds {
		requests += n
		level := min(7, int(8*math.Log(float64(1+n))/math.Log(top)))
		line.WriteRune([]rune("▁▂▃▄▅▆▇█")[level])
	}
	return fmt.Sprintf("%-8s%s %d requests\n", name, line.String(), requests)
}

// TestScopes: what a pause costs calls that have nothing to do with the limit. The limited
// route is "/limited".
func TestScopes(t *testing.T) {
	paths := func(limited float64) []string {
		all, random := make([]string, 10_000), rand.New(rand.NewPCG(1, 2))
		for i := range all {
			if all[i] = "/other"; random.Float64() < limited {
				all[i] = "/limited"
			}
		}
		return all
	}
	for _, test := range []struct {
		name  string
		rate  float64
		paths []string
		limit front
		harm  bool // by host
	}{
		{"a tenth of the calls on the limited route, Retry-After: 30", 200, paths(.1), refuseAll(0, time.Hour, 429, 30, direct), false},
		{"90 % of the calls on the limited route, Retry-After: 5", 200, paths(.9), refuseAll(0, time.Hour, 429, 5, direct), true},
		{"two tenants, one at 1.4 × its token bucket", 280, paths(.5), bucket(100, 10), false},
	} {
		l := unlimited(test.rate, 40*sec)
		l.Paths = test.paths
		for i, scope := range []func(*http.Request) string{nil, retryhttp.ByRoute, retryhttp.ByHost} {
			o := watch(t, l, processes(1, pausing(scope)), onRoute("/limited", test.limit))
			percent, median := o.delayed("/other")
			t.Logf("%s, %s: %.1f %% of the others succeed, %.1f %% are delayed, median %v", test.name, []string{"no pause", "by route", "by host"}[i], o.Percent("/other"), percent, median)
			assert.GreaterOrEqual(t, o.Percent("/other"), 99.9, test.name)
			if test.harm && i == 2 {
				assert.Greater(t, percent, 70., test.name)
				assert.Greater(t, median, 500*ms, test.name)
			} else {
				assert.LessOrEqual(t, percent, 1., test.name)
			}
		}
	}
}

// TestPauseAnywhere: with other quotas, rates, routes and deadlines, at random, a pause for
// each route loses no calls, either, unless hints are too long by more than a quarter of the
// window.
func TestPauseAnywhere(t *testing.T) {
	number := uint64(4)
	if *update {
		number = 150
	}
	for seed := range number {
		random := rand.New(rand.NewPCG(seed, 1))
		window := time.Duration(1+random.IntN(20)) * sec
		perSecond := 20 + random.IntN(100)
		load := unlimited(float64(perSecond)*(0.5+2*random.Float64()), 30*sec)
		load.Seed, load.Deadline, load.Burst = seed, []time.Duration{10 * sec, 60 * sec}[random.IntN(2)], []int{0, 0, 500}[random.IntN(3)]
		for i := range 1 + random.IntN(5) {
			load.Paths = append(load.Paths, fmt.Sprint("/", i))
		}
		routes := len(load.Paths)
		hint, share := min(random.IntN(5), int(window/sec)/4), []float64{0, 0, .03}[random.IntN(3)]
		most := perSecond * int(window/sec) / routes
		each := quota(most, window)
		if hint > 0 {
			each = vagueQuota(most, window, hint)
		}
		limit := resets(share, func(next http.Handler) http.Handler {
			for _, path := range load.Paths {
				next = onRoute(path, each)(next)
			}
			return next
		})
		name := fmt.Sprintf("seed %d: %d a second in windows of %v, %.0f calls a second to %d routes, hint %d, %.0f %% resets, %d at once, deadline %v",
			seed, perSecond, window, load.Rate, routes, hint, 100*share, load.Burst, load.Deadline)
		without := watch(t, load, processes(1, pausing(nil)), limit)
		paused := watch(t, load, processes(1, pausing(retryhttp.ByRoute)), limit)
		total := func(o *watched) (n int) {
			for _, requests := range o.requests {
				n += requests
			}
			return n
		}
		t.Logf("%s: %.1f %% without, %.1f %% with a pause, %d and %d requests", name, without.Percent(""), paused.Percent(""), total(without), total(paused))
		assert.GreaterOrEqual(t, paused.Percent(""), without.Percent("")-1.5, name)
	}
}
