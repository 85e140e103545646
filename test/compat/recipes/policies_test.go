package recipes

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
)

// The policies of the table in docs/choosing.md. Those with a budget get a new one for each
// process.
var (
	forUsers     = retry.Policy{AttemptTimeout: time.Second}
	forModels    = retry.Policy{AttemptTimeout: 2 * time.Minute, MaxAttempts: 4}
	forWorkers   = retry.Policy{MaxElapsed: time.Minute, AttemptTimeout: 10 * time.Second, Budget: retry.NoBudget{}}
	forConsumers = retry.Policy{MaxElapsed: 15 * time.Second, AttemptTimeout: 10 * time.Second}
	forRateLimit = retry.Policy{MaxElapsed: 5 * time.Minute, AttemptTimeout: 10 * time.Second}
)

func shared(p retry.Policy, reserve float64) retry.Policy {
	p.Budget = &retry.SharedBudget{Reserve: reserve}
	return p
}

var errDown = errors.New("refused")

// A queue is a server that answers requests in the order of their arrival, and also those
// whose callers have left.
type queue struct {
	service time.Duration // mean time for a request, exponentially distributed
	slots   int
	start   time.Time
	stall   [2]time.Duration // nothing is answered between these times
	down    [2]time.Duration // everything is refused at once

	mu       sync.Mutex
	random   *rand.Rand
	free     []time.Time // when each slot has nothing more to do
	requests int
}

func (q *queue) call(ctx context.Context) error {
	q.mu.Lock()
	q.requests++
	now := time.Now()
	if since := now.Sub(q.start); since >= q.down[0] && since < q.down[1] {
		q.mu.Unlock()
		time.Sleep(2 * time.Millisecond)
		return errDown
	}
	for len(q.free) < q.slots {
		q.free = append(q.free, now)
	}
	next := 0
	for i, free := range q.free {
		if free.Before(q.free[next]) {
			next = i
		}
	}
	begins := q.free[next]
	if begins.Before(now) {
		begins = now
	}
	if since := begins.Sub(q.start); since >= q.stall[0] && since < q.stall[1] {
		begins = q.start.Add(q.stall[1])
	}
	ends := begins.Add(time.Duration(q.random.ExpFloat64() * float64(q.service)))
	q.free[next] = ends
	q.mu.Unlock()
	select {
	case <-time.After(ends.Sub(now)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A limit is a server that answers a number of requests in each window, and refuses the rest
// with the time until the next one, unless it gives no hints.
type limit struct {
	most     int
	window   time.Duration
	takes    time.Duration // to answer a request
	noHints  bool
	overload float64 // share of the requests that fail in another way

	mu       sync.Mutex
	random   *rand.Rand
	start    time.Time
	used     int
	requests int
}

func (l *limit) call(ctx context.Context) error {
	l.mu.Lock()
	l.requests++
	if passed := time.Since(l.start); passed >= l.window {
		l.start, l.used = l.start.Add(passed.Truncate(l.window)), 0
	}
	left := l.window - time.Since(l.start)
	l.used++
	admitted := l.used <= l.most
	overloaded := l.random.Float64() < l.overload
	l.mu.Unlock()
	if overloaded || !admitted {
		time.Sleep(2 * time.Millisecond)
	}
	switch {
	case overloaded:
		return errDown
	case !admitted && l.noHints:
		return retry.Throttled(errDown)
	case !admitted:
		return retry.Throttled(retry.After(errDown, left.Truncate(time.Second)+time.Second))
	}
	select {
	case <-time.After(l.takes):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// arrivals makes calls that begin at random times whatever happens, each with the policy of
// one of several processes. It returns the share that succeeds, and the seconds after which
// 98 % of those that begin in three seconds do so again.
func arrivals(t *testing.T, rate float64, length, outage time.Duration, call func(context.Context) error, processes ...retry.Policy) (success float64, recovery int) {
	random := rand.New(rand.NewPCG(1, 2))
	start := time.Now()
	good, all := make([]float64, int(length.Seconds())+1), make([]float64, int(length.Seconds())+1)
	var mu sync.Mutex
	var calls sync.WaitGroup
	for time.Since(start) < length {
		time.Sleep(time.Duration(random.ExpFloat64() / rate * 1e9))
		p := processes[random.IntN(len(processes))]
		second := min(int(time.Since(start).Seconds()), len(all)-1)
		calls.Go(func() {
			err := retry.Do(t.Context(), p, call)
			mu.Lock()
			defer mu.Unlock()
			all[second]++
			if err == nil {
				good[second]++
			}
		})
	}
	calls.Wait()
	recovery = -1 // never
	for i := int(outage.Seconds()); i+3 <= len(all) && outage > 0 && recovery < 0; i++ {
		if sum(good[i:i+3]) >= 0.98*sum(all[i:i+3]) {
			recovery = i - int(outage.Seconds())
		}
	}
	return 100 * sum(good) / sum(all), recovery
}

func sum(list []float64) (total float64) {
	for _, x := range list {
		total += x
	}
	return total
}

// workers makes calls one after the other for a time, and returns the share that succeeds.
func workers(t *testing.T, n int, length time.Duration, p retry.Policy, call func(context.Context) error) (success float64) {
	start := time.Now()
	var mu sync.Mutex
	var group sync.WaitGroup
	good, all := 0., 0.
	for range n {
		group.Go(func() {
			for time.Since(start) < length {
				err := retry.Do(t.Context(), p, call)
				mu.Lock()
				all++
				if err == nil {
					good++
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return 100 * good / all
}

// simulate runs f in virtual time, with sources of random numbers that are always the same.
func simulate(t *testing.T, f func(t *testing.T, start time.Time, random *rand.Rand)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, time.Now(), rand.New(rand.NewPCG(3, 4))) })
}

// TestArrivals: calls that somebody waits for. A server that answers 100 requests a second
// stalls for two seconds, at 70 and 90 % load, for ten processes with 5 tokens each and for
// 100 with one each.
func TestArrivals(t *testing.T) {
	fleet := func(n int, make func() retry.Policy) (list []retry.Policy) {
		for range n {
			list = append(list, make())
		}
		return list
	}
	tests := []struct {
		name      string
		processes int
		policy    func() retry.Policy
		least     [2]float64 // percent that succeed, at 70 and 90 % load
		recovers  bool
	}{
		{"one attempt", 10, func() retry.Policy { p := forUsers; p.MaxAttempts = 1; return p }, [2]float64{90, 80}, true},
		{"no budget", 10, func() retry.Policy { return forUsers }, [2]float64{0, 0}, false},
		{"shared budget", 10, func() retry.Policy { return shared(forUsers, 0) }, [2]float64{90, 70}, true},
		{"hundreds of processes", 100, func() retry.Policy { return shared(forUsers, 1) }, [2]float64{90, 70}, true},
	}
	for _, test := range tests {
		for i, rate := range []float64{70, 90} {
			simulate(t, func(t *testing.T, start time.Time, random *rand.Rand) {
				q := &queue{service: 20 * time.Millisecond, slots: 2, start: start, random: random, stall: [2]time.Duration{10 * time.Second, 12 * time.Second}}
				success, recovery := arrivals(t, rate, 100*time.Second, 12*time.Second, q.call, fleet(test.processes, test.policy)...)
				t.Logf("%-22s %v calls a second: %.1f %% succeed, normal again after %d s, %d requests", test.name, rate, success, recovery, q.requests)
				assert.GreaterOrEqual(t, success, test.least[i], test.name)
				assert.Equal(t, test.recovers, recovery >= 0, test.name)
			})
		}
	}
}

// TestWorkers: 70 workers and a server that answers 100 requests a second, which refuses
// everything for a while.
func TestWorkers(t *testing.T) {
	for _, outage := range []time.Duration{200 * time.Millisecond, time.Second, 5 * time.Second, 30 * time.Second} {
		policies := map[string]retry.Policy{"workers' policy": forWorkers}
		if outage == time.Second {
			policies["with a budget"], policies["zero policy"] = shared(forWorkers, 0), retry.Policy{}
		}
		for name, p := range policies {
			simulate(t, func(t *testing.T, start time.Time, random *rand.Rand) {
				q := &queue{service: 20 * time.Millisecond, slots: 2, start: start, random: random, down: [2]time.Duration{10 * time.Second, 10*time.Second + outage}}
				success := workers(t, 70, 60*time.Second, p, q.call)
				t.Logf("%-16s %5v: %.2f %% succeed, %d requests", name, outage, success, q.requests)
				assert.Equal(t, name == "workers' policy", success == 100, name)
			})
		}
	}
}

// TestConsumers: consumers of a queue with a visibility timeout of 30 s, through an outage of
// a minute. What they give back is delivered again. No call takes as long as the visibility
// timeout, so no message has two consumers at a time.
func TestConsumers(t *testing.T) {
	const visibility = 30 * time.Second
	require.Equal(t, visibility/2, forConsumers.MaxElapsed)
	require.Less(t, forConsumers.MaxElapsed+forConsumers.AttemptTimeout, visibility)
	simulate(t, func(t *testing.T, start time.Time, random *rand.Rand) {
		q := &queue{
			service: 20 * time.Millisecond, slots: 2, start: start, random: random,
			down: [2]time.Duration{5 * time.Second, 35 * time.Second}, stall: [2]time.Duration{35 * time.Second, 65 * time.Second},
		}
		messages := make(chan int, 5000)
		for i := range cap(messages) {
			messages <- i
		}
		var done, back int
		var longest time.Duration
		var mu sync.Mutex
		var group sync.WaitGroup
		for range 70 {
			group.Go(func() {
				for {
					var message int
					select {
					case message = <-messages:
					default:
						return
					}
					begun := time.Now()
					err := retry.Do(t.Context(), forConsumers, q.call)
					mu.Lock()
					longest = max(longest, time.Since(begun))
					if err == nil {
						done++
					} else {
						back++
						messages <- message
					}
					mu.Unlock()
				}
			})
		}
		group.Wait()
		t.Logf("%d messages done, %d given back, the longest call took %v, %d requests", done, back, longest, q.requests)
		assert.Equal(t, cap(messages), done)
		assert.NotZero(t, back)
		assert.Less(t, longest, visibility)
	})
}

// TestModels: a limit of 60 calls of a language model in a minute, which take 20 s each. Five
// requests in a hundred are refused because the model is overloaded. Five processes make 58
// calls a minute together.
func TestModels(t *testing.T) {
	simulate(t, func(t *testing.T, start time.Time, random *rand.Rand) {
		l := &limit{most: 60, window: time.Minute, takes: 20 * time.Second, overload: 0.05, start: start, random: random}
		var processes []retry.Policy
		for range 5 {
			processes = append(processes, shared(forModels, 0))
		}
		success, _ := arrivals(t, 58./60, time.Hour, 0, l.call, processes...)
		t.Logf("%.2f %% succeed, %d requests", success, l.requests)
		assert.Greater(t, success, 98.)
	})
}

// TestRateLimits: with hints, 200 calls a second for 4 s that somebody waits for, of which the
// limit allows 400 in 8 s. Without hints, ten workers that could make ten times as many calls
// as the limit allows.
func TestRateLimits(t *testing.T) {
	for name, p := range map[string]retry.Policy{"the policy": shared(forUsers, 0), "no budget": forUsers} {
		simulate(t, func(t *testing.T, start time.Time, random *rand.Rand) {
			l := &limit{most: 400, window: 8 * time.Second, takes: 10 * time.Millisecond, start: start, random: random}
			success, _ := arrivals(t, 200, 4*time.Second, 0, l.call, p)
			t.Logf("with hints, %s: %.2f %% succeed, %d requests", name, success, l.requests)
			assert.Greater(t, success, 97.)
		})
	}
	for name, p := range map[string]retry.Policy{"the policy": forRateLimit, "a minute": forWorkers} {
		simulate(t, func(t *testing.T, start time.Time, random *rand.Rand) {
			l := &limit{most: 100, window: time.Minute, takes: 10 * time.Millisecond, noHints: true, start: start, random: random}
			success := workers(t, 10, 30*time.Minute, p, l.call)
			t.Logf("without hints, %s: %.2f %% succeed, %d requests", name, success, l.requests)
			if name == "the policy" {
				assert.Greater(t, success, 97.)
			}
		})
	}
}

// TestPolicyTable: the table of docs/choosing.md has the policies that are simulated here.
func TestPolicyTable(t *testing.T) {
	page, err := os.ReadFile("../../../docs/choosing.md")
	require.NoError(t, err)
	_, after, found := strings.Cut(string(page), "| calls | policy |")
	require.True(t, found)
	table, _, _ := strings.Cut(after, "\n\n")
	source, err := os.ReadFile("policies_test.go")
	require.NoError(t, err)
	for _, policy := range []string{
		"{AttemptTimeout: time.Second}", "{AttemptTimeout: 2 * time.Minute, MaxAttempts: 4}", "{MaxElapsed: time.Minute, AttemptTimeout: 10 * time.Second, Budget: retry.NoBudget{}}",
	} {
		assert.Contains(t, string(source), "retry.Policy"+policy)
		assert.Contains(t, strings.ReplaceAll(table, ", Budget: shared", ""), "`"+policy+"`")
	}
}
