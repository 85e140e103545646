package ratelimit_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/ratelimit"
	"github.com/gobackoff/retry/retryhttp"
)

// A quota is a limit of a simulated server, which the server holds a lock for.
type quota interface {
	// take takes n units at t, or returns after how long they may be available.
	take(t time.Time, n float64) (wait time.Duration, ok bool)
	// give returns units that another quota has refused.
	give(n float64)
	// state returns what the headers say.
	state(t time.Time) (limit, remaining float64, reset time.Duration)
}

type window struct {
	limit  float64
	length time.Duration
	end    time.Time
	used   float64
}

func (w *window) turn(t time.Time) {
	if w.end.IsZero() {
		w.end = t.Add(w.length)
	}
	for !t.Before(w.end) {
		w.end, w.used = w.end.Add(w.length), 0
	}
}

func (w *window) take(t time.Time, n float64) (time.Duration, bool) {
	w.turn(t)
	if w.used+n > w.limit {
		return w.end.Sub(t), false
	}
	w.used += n
	return 0, true
}

func (w *window) give(n float64) { w.used -= n }

func (w *window) state(t time.Time) (float64, float64, time.Duration) {
	w.turn(t)
	return w.limit, w.limit - w.used, w.end.Sub(t)
}

type bucket struct {
	limit, rate, left float64
	at                time.Time
}

func (b *bucket) fill(t time.Time) {
	if b.at.IsZero() {
		b.left = b.limit
	} else {
		b.left = min(b.limit, b.left+b.rate*t.Sub(b.at).Seconds())
	}
	b.at = t
}

func (b *bucket) take(t time.Time, n float64) (time.Duration, bool) {
	b.fill(t)
	if b.left < n {
		return time.Duration((n - b.left) / b.rate * 1e9), false
	}
	b.left -= n
	return 0, true
}

func (b *bucket) give(n float64) { b.left += n }

func (b *bucket) state(t time.Time) (float64, float64, time.Duration) {
	b.fill(t)
	return b.limit, b.left, time.Duration((b.limit - b.left) / b.rate * 1e9)
}

type sliding struct {
	limit  float64
	length time.Duration
	taken  []time.Time
}

func (s *sliding) drop(t time.Time) {
	for len(s.taken) > 0 && !s.taken[0].Add(s.length).After(t) {
		s.taken = s.taken[1:]
	}
}

func (s *sliding) take(t time.Time, n float64) (time.Duration, bool) {
	s.drop(t)
	if float64(len(s.taken))+n > s.limit {
		return s.taken[0].Add(s.length).Sub(t), false
	}
	s.taken = append(s.taken, t)
	return 0, true
}

func (s *sliding) give(float64) { s.taken = s.taken[:len(s.taken)-1] }

func (s *sliding) state(t time.Time) (float64, float64, time.Duration) {
	s.drop(t)
	if len(s.taken) == 0 {
		return s.limit, s.limit, 0
	}
	return s.limit, s.limit - float64(len(s.taken)), s.taken[0].Add(s.length).Sub(t)
}

// slots are a limit of concurrent calls.
type slots struct {
	n     int
	takes time.Duration
	ends  []time.Time
}

func (s *slots) take(t time.Time, _ float64) (time.Duration, bool) {
	for len(s.ends) > 0 && !s.ends[0].After(t) {
		s.ends = s.ends[1:]
	}
	if len(s.ends) >= s.n {
		return sec, false
	}
	s.ends = append(s.ends, t.Add(s.takes))
	return 0, true
}

func (s *slots) give(float64) { s.ends = s.ends[:len(s.ends)-1] }

func (s *slots) state(time.Time) (float64, float64, time.Duration) { return 0, 0, 0 }

// halved is a quota that counts every second call, as GitHub does not count a response 304.
type halved struct {
	quota
	free bool
}

func (h *halved) take(t time.Time, n float64) (time.Duration, bool) {
	h.free = !h.free
	if h.free {
		return 0, true
	}
	return h.quota.take(t, n)
}

// chance is no limit: it refuses a part of the calls at random.
type chance float64

func (c chance) take(time.Time, float64) (time.Duration, bool) {
	return sec, rand.Float64() >= float64(c)
}

func (c chance) give(float64) {}

func (c chance) state(time.Time) (float64, float64, time.Duration) { return 0, 0, 0 }

// A fleet is a number of processes with a number of workers that share a server's limits.
type fleet struct {
	name               string
	processes, workers int
	jobs               int
	routes             int // that share the quotas
	deadline           time.Duration
	takes              time.Duration // a request, besides the network
	quotas             map[string]quota
	cost               func() float64
	headers            func(http.Header, string, float64, float64, time.Duration)
	retryAfter         func(time.Duration) string
	others             float64       // calls a second of others
	start              time.Duration // between the processes
	ends               time.Duration // after which three of four processes are gone; 0: never
	quiet              time.Duration // before the jobs, in which each process makes ten calls
	policy             retry.Policy

	least, most float64
	within      time.Duration
	longest     time.Duration // of one call; 0: as long as it takes
}

type result struct {
	jobs, done, requests, refused int
	took, longest                 time.Duration // of all jobs, and of one
}

func (r result) String() string {
	return fmt.Sprintf("%5.1f %% / %5.2f requests, %7.2f s, one call up to %5.2f s", r.success(), r.perCall(), r.took.Seconds(), r.longest.Seconds())
}

func (r result) success() float64 { return 100 * float64(r.done) / float64(r.jobs) }
func (r result) perCall() float64 { return float64(r.requests) / float64(r.jobs) }

type server struct {
	fleet
	mu                sync.Mutex
	requests, refused int
}

func rounded(d time.Duration) string {
	return fmt.Sprint(int((d + sec - 1) / sec))
}

func named(h http.Header, name string, limit, remaining float64, reset time.Duration) {
	if name != "" {
		name = "-" + name
	}
	h.Set("X-RateLimit-Limit"+name, fmt.Sprint(int(limit)))
	h.Set("X-RateLimit-Remaining"+name, fmt.Sprint(int(remaining)))
	h.Set("X-RateLimit-Reset"+name, rounded(reset))
}

func millis(h http.Header, name string, limit, remaining float64, reset time.Duration) {
	named(h, name, limit, remaining, reset)
	if name != "" {
		name = "-" + name
	}
	h.Set("X-RateLimit-Reset"+name, reset.Round(ms).String())
}

// RoundTrip is the server, and the network before it.
func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	if err := sleep(ctx, jitter(25*ms)); err != nil {
		return nil, err
	}
	resp, ok := s.answer(r)
	delay := jitter(25 * ms)
	if ok {
		delay += jitter(s.takes)
	}
	return resp, sleep(ctx, delay)
}

func (s *server) answer(r *http.Request) (*http.Response, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.requests++
	resp := &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("")), Request: r, ProtoMajor: 1}
	resp.Header.Set("Date", now.UTC().Format(http.TimeFormat))
	refused, wait := false, time.Duration(0)
	var given []func()
	for name, q := range s.quotas {
		n := 1.0
		if name == "tokens" {
			n = r.Context().Value(costKey{}).(float64)
		}
		w, ok := q.take(now, n)
		if !ok {
			refused, wait = true, max(wait, w)
		} else {
			given = append(given, func() { q.give(n) })
		}
	}
	if refused {
		s.refused++
		resp.StatusCode = 429
		for _, back := range given {
			back()
		}
		resp.Header.Set("Retry-After", s.retryAfter(wait))
	}
	for name, q := range s.quotas {
		limit, remaining, reset := q.state(now)
		headers := s.headers
		if headers == nil {
			headers = named
		}
		headers(resp.Header, name, limit, remaining, reset)
	}
	return resp, !refused
}

type costKey struct{}

func jitter(d time.Duration) time.Duration {
	return d*3/4 + time.Duration(rand.Float64()*float64(d/2))
}

func sleep(ctx context.Context, d time.Duration) error { return retry.SystemClock{}.Sleep(ctx, d) }

// run runs all jobs: with a Transport in which nothing is set, or else without a Limiter and a
// budget.
func (f fleet) run(t *testing.T, limited bool) (r result) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(27 * 365 * 24 * time.Hour) // times since 1970 are those of our days
		s := &server{fleet: f}
		s.quotas = fresh(f.quotas)
		var next, done atomic.Int64
		var longest longest
		var wg sync.WaitGroup
		start := time.Now().Add(f.quiet)
		stop, cancel := context.WithCancel(t.Context())
		if f.others > 0 {
			go func() {
				for sleep(stop, time.Duration(rand.ExpFloat64()/f.others*1e9)) == nil {
					s.mu.Lock()
					for _, q := range s.quotas {
						q.take(time.Now(), 1)
					}
					s.mu.Unlock()
				}
			}()
		}
		for p := range f.processes {
			transport := &retryhttp.Transport{Base: s, Policy: f.policy}
			if !limited {
				transport.PerScope = retryhttp.Unlimited()
				transport.Policy.Budget = retry.NoBudget{}
			}
			if f.quiet > 0 {
				wg.Go(func() {
					for time.Until(start) > 0 {
						f.job(transport)
						time.Sleep(min(jitter(f.quiet/10), time.Until(start)))
					}
				})
			}
			gone := func() bool { return f.ends > 0 && p%4 > 0 && time.Since(start) > f.ends }
			for range f.workers {
				wg.Go(func() {
					time.Sleep(f.quiet + time.Duration(p)*f.start + jitter(5*ms))
					for !gone() && next.Add(1) <= int64(f.jobs) {
						began := time.Now()
						if f.job(transport) {
							done.Add(1)
						}
						longest.note(time.Since(began))
					}
				})
			}
		}
		wg.Wait()
		cancel()
		r = result{jobs: f.jobs, done: int(done.Load()), requests: s.requests, refused: s.refused, took: time.Since(start), longest: longest.d}
	})
	return r
}

type longest struct {
	mu sync.Mutex
	d  time.Duration
}

func (l *longest) note(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.d = max(l.d, d)
}

func (f fleet) job(transport http.RoundTripper) bool {
	ctx, cancel := context.WithTimeout(context.Background(), f.deadline)
	defer cancel()
	if f.cost != nil {
		n := f.cost()
		ctx = ratelimit.WithCost(context.WithValue(ctx, costKey{}, n), n)
	}
	path := string(rune('a' + rand.IntN(max(1, f.routes))))
	req, _ := http.NewRequestWithContext(ctx, "GET", "http://api.test/"+path, nil)
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == 200
}

func fresh(all map[string]quota) map[string]quota {
	copies := map[string]quota{}
	for name, q := range all {
		switch q := q.(type) {
		case *window:
			c := *q
			copies[name] = &c
		case *bucket:
			c := *q
			copies[name] = &c
		case *sliding:
			c := *q
			copies[name] = &c
		case *slots:
			c := *q
			copies[name] = &c
		case chance:
			copies[name] = q
		case *halved:
			copies[name] = &halved{quota: fresh(one(q.quota))[""]}
		}
	}
	return copies
}

func one(q quota) map[string]quota { return map[string]quota{"": q} }

func between(a, b float64) func() float64 { return func() float64 { return a + rand.Float64()*(b-a) } }

// says returns headers that differ from the truth.
func says(change func(limit, left float64, reset time.Duration) (float64, float64, time.Duration)) func(http.Header, string, float64, float64, time.Duration) {
	return func(h http.Header, name string, limit, left float64, reset time.Duration) {
		limit, left, reset = change(limit, left, reset)
		named(h, name, limit, left, reset)
	}
}

func silent(http.Header, string, float64, float64, time.Duration) {}

// never says nothing in Retry-After.
func never(time.Duration) string { return "" }

// fleets have the least percentage of jobs that succeed, the most requests for each job, and the
// longest time. They have some slack: -v prints the figures, beside those without a Limiter and a
// budget.
var fleets = []fleet{
	{name: "window", quotas: one(&window{limit: 400, length: 8 * sec}), least: 99, most: 1.12, within: 88 * sec},
	{name: "window, 4,100 calls", jobs: 4100, quotas: one(&window{limit: 400, length: 8 * sec}), least: 99, most: 1.12, within: 84 * sec},
	{name: "window, 64 workers", workers: 64, jobs: 6000, quotas: one(&window{limit: 400, length: 8 * sec}), least: 98, most: 1.25, within: 128 * sec},
	{name: "window, 3 s requests", takes: 3 * sec, quotas: one(&window{limit: 400, length: 8 * sec}), least: 99, most: 1.12, within: 88 * sec},
	{name: "window, 100 processes", processes: 100, workers: 4, quotas: one(&window{limit: 400, length: 8 * sec}), least: 95, most: 1.35, within: 88 * sec},
	{name: "window, one process", processes: 1, workers: 64, quotas: one(&window{limit: 400, length: 8 * sec}), least: 99, most: 1.12, within: 88 * sec},
	{name: "window, others", jobs: 2000, others: 20, quotas: one(&window{limit: 400, length: 8 * sec}), least: 98, most: 1.15, within: 43 * sec},
	{name: "window, rolling restart", start: 700 * ms, quotas: one(&window{limit: 400, length: 8 * sec}), least: 98, most: 1.2, within: 90 * sec},
	{name: "window, resets rounded down", headers: says(func(l, r float64, d time.Duration) (float64, float64, time.Duration) { return l, r, max(0, d-999*ms) }), quotas: one(&window{limit: 400, length: 8 * sec}), least: 97, most: 1.2, within: 90 * sec},
	{name: "window, resets of 0", headers: says(func(l, r float64, d time.Duration) (float64, float64, time.Duration) { return l, r, 0 }), quotas: one(&window{limit: 400, length: 8 * sec}), least: 95, most: 1.45, within: 90 * sec},
	{name: "window, no headers", headers: silent, quotas: one(&window{limit: 400, length: 8 * sec}), least: 97, most: 1.35, within: 92 * sec},
	{name: "window, five routes", routes: 5, quotas: one(&window{limit: 400, length: 8 * sec}), least: 99, most: 1.15, within: 88 * sec},
	{name: "window, five routes, no headers", routes: 5, headers: silent, quotas: one(&window{limit: 400, length: 8 * sec}), least: 97, most: 1.35, within: 92 * sec},
	{name: "window, no headers, three of four processes end", ends: 20 * sec, headers: silent, quotas: one(&window{limit: 400, length: 8 * sec}), least: 97, most: 1.35, within: 84500 * ms},
	{name: "window of an hour", jobs: 4500, quotas: one(&window{limit: 5000, length: time.Hour}), least: 100, most: 1, within: 1550 * ms},
	{name: "window of a second, resets in milliseconds", headers: millis, jobs: 2000, quotas: one(&window{limit: 50, length: sec}), least: 95, most: 1.48, within: 60 * sec},
	{name: "half of the calls do not count", quotas: one(&halved{quota: &window{limit: 200, length: 8 * sec}}), least: 95, most: 1.5, within: 100 * sec},
	{name: "sliding window", quotas: one(&sliding{limit: 400, length: 8 * sec}), least: 94, most: 1.6, within: 90 * sec},
	{name: "windows of a second and a minute", jobs: 3000, quotas: map[string]quota{"second": &window{limit: 60, length: sec}, "minute": &window{limit: 1000, length: 60 * sec}}, least: 95, most: 1.6, within: 170 * sec},
	{name: "windows of a second and a minute, five routes", routes: 5, jobs: 3000, quotas: map[string]quota{"second": &window{limit: 60, length: sec}, "minute": &window{limit: 1000, length: 60 * sec}}, least: 95, most: 1.6, within: 170 * sec},
	{name: "bucket", quotas: one(&bucket{limit: 400, rate: 50}), least: 99, most: 1.06, within: 110 * sec, longest: 35 * sec},
	{name: "bucket, five routes", routes: 5, quotas: one(&bucket{limit: 400, rate: 50}), least: 99, most: 1.1, within: 95 * sec},
	{name: "slow bucket", processes: 4, workers: 4, jobs: 200, quotas: one(&bucket{limit: 60, rate: 1}), least: 97, most: 1.12, within: 180 * sec},
	{name: "tokens, slow bucket", processes: 10, takes: 3 * sec, jobs: 1000, cost: between(500, 3000), quotas: map[string]quota{"tokens": &bucket{limit: 400_000, rate: 400_000. / 60}}, least: 94, most: 1.2, within: 230 * sec},
	{name: "tiny bucket, resets in milliseconds", headers: millis, quotas: one(&bucket{limit: 10, rate: 50}), least: 80, most: 2, within: 90 * sec},
	{name: "small bucket", quotas: one(&bucket{limit: 20, rate: 50}), least: 97, most: 1.25, within: 88 * sec},
	{name: "tokens, window", takes: 500 * ms, cost: between(200, 1800), quotas: map[string]quota{"tokens": &window{limit: 400_000, length: 8 * sec}, "requests": &bucket{limit: 3000, rate: 500}}, least: 99, most: 1.12, within: 90 * sec},
	{name: "tokens, bucket", jobs: 3000, takes: sec, cost: between(200, 1800), quotas: map[string]quota{"tokens": &bucket{limit: 300_000, rate: 30_000}, "requests": &bucket{limit: 3000, rate: 500}}, least: 98, most: 1.08, within: 105 * sec, longest: 40 * sec},
	{name: "requests of half the deadline", workers: 64, jobs: 6000, takes: 30 * sec, quotas: one(&window{limit: 150, length: 8 * sec}), policy: retry.Policy{MaxAttempts: retry.Unlimited}, least: 52, most: 3.6, within: 300 * sec},
	{name: "no limit is near", workers: 1, quotas: one(&window{limit: 4000, length: 8 * sec}), least: 100, most: 1, within: 21 * sec},
	{name: "nothing is ever left, wrongly", workers: 4, headers: says(func(l, r float64, d time.Duration) (float64, float64, time.Duration) { return l, 0, d }), quotas: one(&window{limit: 4000, length: 8 * sec}), least: 100, most: 1, within: 10 * sec},
	{name: "five are always left, wrongly", workers: 4, headers: says(func(l, r float64, d time.Duration) (float64, float64, time.Duration) { return 400, 5, 60 * sec }), quotas: one(&window{limit: 4000, length: 8 * sec}), least: 100, most: 1, within: 8500 * ms},
	{name: "concurrency, no headers", takes: sec, headers: silent, retryAfter: never, quotas: one(&slots{n: 60, takes: sec}), least: 98, most: 1.3, within: 120 * sec},
	{name: "bucket, no headers", jobs: 3000, routes: 5, headers: silent, retryAfter: never, quotas: one(&bucket{limit: 30, rate: 30}), least: 85, most: 1.7, within: 160 * sec},
	{name: "large bucket, no headers", jobs: 10_000, headers: silent, retryAfter: never, quotas: one(&bucket{limit: 200, rate: 200}), least: 99, most: 1.15, within: 80 * sec},
	{name: "no limit, 1 % refused at random", jobs: 40_000, headers: silent, retryAfter: never, quotas: one(chance(0.01)), least: 99, most: 1.05, within: 45 * sec},
	{name: "no limit, 6 % refused at random", jobs: 40_000, headers: silent, retryAfter: never, quotas: one(chance(0.06)), least: 99, most: 1.1, within: 180 * sec},
	{name: "no limit, 30 % refused at random", jobs: 40_000, headers: silent, retryAfter: never, quotas: one(chance(0.3)), least: 95.3, most: 1.5, within: 300 * sec},
	{name: "no limit, 1 % refused at random, one process", processes: 1, workers: 64, jobs: 20_000, headers: silent, retryAfter: never, quotas: one(chance(0.01)), least: 99, most: 1.05, within: 190 * sec},
	{name: "no limit, 6 % refused at random, one process", processes: 1, workers: 64, jobs: 20_000, headers: silent, retryAfter: never, quotas: one(chance(0.06)), least: 99, most: 1.1, within: 500 * sec},

	// As the documentation of these APIs says.
	{name: "GitHub, 900 a minute, Retry-After", workers: 4, takes: 200 * ms, headers: silent, quotas: one(&window{limit: 900, length: 60 * sec}), least: 97, most: 1.1, within: 270 * sec},
	{name: "HubSpot, 100 in 10 s, nothing told, three of four processes end", takes: 200 * ms, jobs: 1000, ends: 25 * sec, headers: silent, retryAfter: never, quotas: one(&sliding{limit: 100, length: 10 * sec}), least: 92, most: 1.515, within: 140 * sec},
	{name: "Shopify, 40 and 2 a second, Retry-After of 2 s", processes: 4, workers: 4, takes: 300 * ms, jobs: 400, headers: silent, retryAfter: func(time.Duration) string { return "2.0" }, quotas: one(&bucket{limit: 40, rate: 2}), least: 93, most: 1.3, within: 220 * sec},
	{name: "Slack, 50 a minute, Retry-After", processes: 4, workers: 4, takes: 200 * ms, jobs: 300, headers: silent, quotas: one(&window{limit: 50, length: 60 * sec}), least: 85.5, most: 1.3, within: 340 * sec},
	{name: "Vertex AI, 30 % refused while others use all of a model", processes: 1, workers: 64, takes: 2 * sec, jobs: 10_000, headers: silent, retryAfter: never, quotas: one(chance(0.3)), least: 90, most: 1.5, within: 1500 * sec},
	{name: "Zendesk, 480 of 700 a minute, after a quiet time", processes: 5, takes: 200 * ms, jobs: 480, quiet: 150 * sec, quotas: one(&window{limit: 700, length: 60 * sec}), least: 100, most: 1.15, within: 2200 * ms},
}

var long = flag.Bool("long", false, "run the simulations of many processes")

// simulate runs the jobs. If nothing else is said, 20 processes of 16 workers have 4,000 jobs.
func (f fleet) simulate(t *testing.T, limited bool) result {
	f.processes, f.workers, f.jobs = cmp.Or(f.processes, 20), cmp.Or(f.workers, 16), cmp.Or(f.jobs, 4000)
	f.deadline, f.takes = cmp.Or(f.deadline, 60*sec), cmp.Or(f.takes, 50*ms)
	if f.retryAfter == nil {
		f.retryAfter = rounded
	}
	return f.run(t, limited)
}

// faults returns in what a result is worse than it may be.
func (f fleet) faults(r result) (faults []string) {
	if r.success() < f.least {
		faults = append(faults, "success")
	}
	if r.perCall() > f.most {
		faults = append(faults, "requests")
	}
	if r.took > f.within {
		faults = append(faults, "time")
	}
	if f.longest > 0 && r.longest > f.longest {
		faults = append(faults, "the longest call")
	}
	return faults
}

// TestFleets runs processes that do not know of each other against a server's limits. One run of
// some hundred takes a tenth longer than the others, so a fleet with a fault runs twice more.
func TestFleets(t *testing.T) {
	if !*long {
		t.Skip("simulates many processes: see -long")
	}
	for _, f := range fleets {
		t.Run(f.name, func(t *testing.T) {
			with := f.simulate(t, true)
			if testing.Verbose() {
				t.Logf("%s: %v; neither Limiter nor budget %v", f.name, with, f.simulate(t, false))
			}
			found := f.faults(with)
			if len(found) == 0 {
				return
			}
			t.Logf("%v: %v", found, with)
			for range 2 {
				with = f.simulate(t, true)
				assert.Empty(t, f.faults(with), "%v", with)
			}
		})
	}
}

// TestNumbers: each number is what it is because of a server. If it is halved, or doubled, a fleet is too
// slow, makes too many requests, or has too few successes.
//
// Three numbers are bounds, and no server says what they have to be. While nothing is left, probing
// lets one request in ten seconds find out whether that still holds, as the documentation promises.
// mostHint is how long a wrong hint can stop the calls. proof is how soon a wrong header is ignored:
// no documentation tells of one, so its fleet is no real API.
func TestNumbers(t *testing.T) {
	if !*long {
		t.Skip("simulates many processes: see -long")
	}
	for _, tt := range []struct {
		number string
		factor float64
		fleet  string
	}{
		{"low", 2, "Zendesk, 480 of 700 a minute, after a quiet time"},
		{"drain", 0.5, "window, others"},
		{"grow", 2, "window of a second, resets in milliseconds"},
		{"rounding", 0.5, "window, resets rounded down"},
		{"proof", 2, "five are always left, wrongly"},
		{"slot", 2, "window of an hour"},
		{"firstRate", 2, "HubSpot, 100 in 10 s, nothing told, three of four processes end"},
		{"fewer", 0.5, "GitHub, 900 a minute, Retry-After"},
		{"more", 0.5, "window, no headers, three of four processes end"},
		{"calm", 0.5, "Slack, 50 a minute, Retry-After"},
		{"shortHint", 0.5, "Shopify, 40 and 2 a second, Retry-After of 2 s"},
		{"longHint", 2, "window, no headers"},
		{"alike", 0.5, "Vertex AI, 30 % refused while others use all of a model"},
		{"further", 0.5, "Vertex AI, 30 % refused while others use all of a model"},
	} {
		t.Run(tt.number, func(t *testing.T) {
			defer ratelimit.Scale(tt.number, tt.factor)()
			at := slices.IndexFunc(fleets, func(f fleet) bool { return f.name == tt.fleet })
			var faults []string
			for range 3 { // one run differs from another
				faults = append(faults, fleets[at].faults(fleets[at].simulate(t, true))...)
			}
			assert.NotEmpty(t, faults)
		})
	}
}
