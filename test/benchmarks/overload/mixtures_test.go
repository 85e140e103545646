package overload

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/test/overload"
	"github.com/gobackoff/retry/retryhttp"
)

// bare is a client without retries.
func bare(base http.RoundTripper, l overload.Load) *http.Client {
	return &http.Client{Transport: &retryhttp.Transport{Base: base, Policy: retry.Policy{MaxAttempts: 1, AttemptTimeout: l.Timeout}}}
}

// sometimes gives a share of the requests to another handler.
func sometimes(share float64, other, rest front) front {
	return func(next http.Handler) http.Handler {
		a, b := other(next), rest(next)
		random := rand.New(rand.NewPCG(1, 2))
		var mu sync.Mutex
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			first := random.Float64() < share
			mu.Unlock()
			if first {
				a.ServeHTTP(w, r)
			} else {
				b.ServeHTTP(w, r)
			}
		})
	}
}

// reply answers everything with a status and a hint; 0: none.
func reply(status, hint int) front {
	return refuseAll(0, time.Hour, status, hint, direct)
}

// turns puts one after the other in front of the server, for a time each.
func turns(each time.Duration, all ...front) front {
	return func(next http.Handler) http.Handler {
		start := time.Now()
		var handlers []http.Handler
		for _, f := range all {
			handlers = append(handlers, f(next))
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			handlers[int(time.Since(start)/each)%len(handlers)].ServeHTTP(w, r)
		})
	}
}

// giveUp answers for a server that has not responded in time, as a proxy does.
func giveUp(patience time.Duration, server front) front {
	return func(next http.Handler) http.Handler { return http.TimeoutHandler(server(next), patience, "") }
}

// TestMixtures: with other rates, servers, hints and kinds of failure than those that the
// rule was found with, a call with a SharedBudget succeeds as often as one with a
// TokenBudget or without retries, whichever is worse. For all scenarios, each with three
// series of arrivals, in two minutes:
//
//	go test -v -timeout 1h ./overload -run TestMixtures -all -runs 3
func TestMixtures(t *testing.T) {
	stall := func(from, to time.Duration) [2]time.Duration { return [2]time.Duration{from, to} }
	twenty := overload.Load{Slots: 20, Service: always(100 * ms), Rate: 180, Length: 50 * sec, Timeout: 2 * sec, Stall: stall(8*sec, 11*sec)}
	eight := overload.Load{Slots: 8, Service: always(40 * ms), Rate: 120, Length: 40 * sec, Timeout: sec}
	slower := with(twenty, func(l *overload.Load) {
		l.Stall, l.Service, l.Rate, l.Length = stall(0, 0), from(30*sec, 100*ms, 300*ms), 150, 60*sec
		l.Timeout, l.Deadline = 3*sec, 30*sec
	})
	odd := with(unlimited(100, 40*sec), func(l *overload.Load) { l.Paths = []string{"/limited", "/"} })
	for _, test := range []struct {
		name      string
		load      overload.Load
		front     front
		processes int
		short     bool
	}{
		{"quota of 500 in 5 s, 150/s, hints × 0.2", unlimited(150, 30*sec), wrongQuota(500, 5*sec, .2), 1, false},
		{"quota of 500 in 5 s, 150/s, hints × 0.5", unlimited(150, 30*sec), wrongQuota(500, 5*sec, .5), 1, false},
		{"quota of 500 in 5 s, 150/s, hints × 5", unlimited(150, 30*sec), wrongQuota(500, 5*sec, 5), 1, false},
		{"quota of 1200 a minute, 30/s, deadline 90 s", with(unlimited(30, 120*sec), func(l *overload.Load) { l.Deadline = 90 * sec }), quota(1200, time.Minute), 1, false},
		{"429 with Retry-After 1 for 4 s, 300/s, 5 processes", unlimited(300, 10*sec), refuseAll(2*sec, 6*sec, 429, 1, direct), 5, true},
		{"bucket of 50/s, 65/s, 5 processes", unlimited(65, 40*sec), bucket(50, 100), 5, false},
		{"one route over its bucket, 10 % 502 on the other", odd, onRoute("/limited", bucket(25, 10)), 1, false},
		{"in turn 5 s of nothing, 429, nothing, 502, 4 processes", unlimited(150, 60*sec), turns(5*sec, direct, reply(429, 1), direct, reply(502, 0)), 4, true},
		{"429 or 502 at random for 3 s, 4 processes", unlimited(150, 30*sec), sometimes(.5, refuseAll(10*sec, 13*sec, 429, 1, direct), refuseAll(10*sec, 13*sec, 502, 0, direct)), 4, false},
		{"1 s of 503 in 6 s, queue at 70 %, 5 processes", four, turns(sec, direct, direct, direct, direct, direct, reply(503, 1)), 5, false},
		{"503 by a proxy for 5 s, queue at 70 %, 20 processes", four, refuseAll(5*sec, 10*sec, 503, 1, direct), 20, true},
		{"503 by a proxy for 4 s, queue at 80 %, 5 processes", with(four, func(l *overload.Load) { l.Rate = 320 }), refuseAll(5*sec, 9*sec, 503, 1, direct), 5, true},
		{"503 with 2 s by a proxy for 20 s, queue at 70 %, 4 processes", with(four, func(l *overload.Load) { l.Length = 50 * sec }), refuseAll(5*sec, 25*sec, 503, 2, direct), 4, false},
		{"503 with 1 s by a proxy for 30 s, queue at 90 %, 10 processes", with(four, func(l *overload.Load) { l.Rate, l.Length = 360, 60*sec }), refuseAll(5*sec, 35*sec, 503, 1, direct), 10, false},
		{"Gate at 1.8 × load, 5 processes", with(eight, func(l *overload.Load) { l.Rate = 360 }), gate, 5, false},
		{"Gate, stall of 6 s at 60 %, 8 processes", with(eight, func(l *overload.Load) { l.Stall = stall(12*sec, 18*sec) }), gate, 8, false},
		{"late: queue of 3 s, hints of 3 s, stall of 3 s at 90 %, 1 process", twenty, refuseBeyond(600, 3), 1, false},
		{"late: the same, 10 processes", twenty, refuseBeyond(600, 3), 10, false},
		{"late: 503 after 2 s, hints of 5 s, a third of the capacity for 30 s", slower, refuseAfter(2*sec, 20, 5), 6, false},
		{"late: 504 by a proxy after 1 s, queue of 3 s, 10 processes", twenty, giveUp(sec, refuseBeyond(600, 3)), 10, false},
		{"20 % 429 and 5 % 502 at random, 3 processes", unlimited(100, 40*sec), sometimes(.2, reply(429, 1), sometimes(.0625, reply(502, 0), direct)), 3, false},
		{"40 % 503 at random, 3 processes", unlimited(100, 40*sec), sometimes(.4, reply(503, 1), direct), 3, true},
		{"1 % 429 with Retry-After 30", unlimited(100, 30*sec), sometimes(.01, reply(429, 30), direct), 1, false},
	} {
		if !test.short && !*all {
			continue
		}
		for seed := range *runs {
			test.load.Seed = uint64(seed)
			measure := func(client func(http.RoundTripper, overload.Load) *http.Client) (percent float64, text string) {
				o := watch(t, test.load, client, test.front)
				calls, requests := 0, 0
				for path := range o.Calls {
					calls, requests = calls+o.Calls[path], requests+o.requests[path]
				}
				return o.Percent(""), fmt.Sprintf("%.1f/%.2f", o.Percent(""), float64(requests)/float64(calls))
			}
			least, one := measure(bare)
			tokens, two := measure(processes(test.processes, budgeted(tokenBudget)))
			got, three := measure(processes(test.processes, budgeted(sharedBudget)))
			t.Logf("%-66s seed %d: one attempt %s, TokenBudget %s, SharedBudget %s", test.name, seed, one, two, three)
			assert.GreaterOrEqual(t, got, min(least, tokens)-1.5, test.name)
		}
	}
}

// TestRecovery: after 60 s in which a proxy has refused everything with a hint of a second,
// clients with a SharedBudget are served again as soon as those with a TokenBudget: 95 %
// of what is usual at that load, in the first second.
func TestRecovery(t *testing.T) {
	four := overload.Load{Slots: 4, Service: always(10 * ms), Length: 90 * sec, Timeout: sec}
	const end = 65 // seconds
	for _, test := range []struct {
		name      string
		rate      float64 // the capacity is 400 a second
		front     front   // after the outage
		processes int
		short     bool
	}{
		{"Gate at 1.4 × load", 560, gate, 1, false},
		{"Gate at 1.4 × load, 20 processes", 560, gate, 20, false},
		{"queue of 100 ms at 1.4 × load", 560, refuseBeyond(40, 1), 1, false},
		{"queue of 100 ms at 1.4 × load, 20 processes", 560, refuseBeyond(40, 1), 20, false},
		{"queue at 70 % load", 280, direct, 1, false},
		{"queue at 70 % load, 20 processes", 280, direct, 20, true},
		{"queue at 90 % load, 20 processes", 360, direct, 20, false},
	} {
		if !test.short && !*all {
			continue
		}
		for seed := range *runs {
			measure := func(budget func() retry.Budget) int {
				good, calls := make([]float64, 91), make([]float64, 91) // by second
				load := four
				load.Rate, load.Seed = test.rate, uint64(seed)
				load.Done = func(second int, ok bool) {
					calls[second]++
					if ok {
						good[second]++
					}
				}
				run(t, load, processes(test.processes, budgeted(budget)), refuseAll(5*sec, end*sec, 503, 1, test.front))
				share := func(from, to int) float64 { return sum(good[from:to]) / sum(calls[from:to]) }
				second := end
				for share(second, second+1) < .95*share(80, 90) {
					second++
				}
				return second - end
			}
			before, after := measure(tokenBudget), measure(sharedBudget)
			t.Logf("%-44s seed %d: TokenBudget %d s, SharedBudget %d s", test.name, seed, before, after)
			assert.LessOrEqual(t, float64(after), 1.2*float64(max(1, before)), test.name)
		}
	}
}

func sum(all []float64) (total float64) {
	for _, n := range all {
		total += n
	}
	return total
}
