package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gobackoff/retry"
)

const threeRetries = "full base=100ms cap=20s attempts=4"

// smallStorm returns a Storm whose server can serve 200 attempts a second and is at 70 %
// utilization.
func smallStorm(policies ...string) Storm {
	return Storm{
		Contenders: mustParse(policies...), Trials: 2, Seed: 1,
		Rate: 140, Processes: 20, Workers: 4, Service: 20 * time.Millisecond, Failures: -1,
		Outage: Outage{From: 20 * time.Second, To: 22 * time.Second}, Horizon: 60 * time.Second,
	}
}

func mustRun(t *testing.T, s Storm) []StormRow {
	t.Helper()
	result, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %v, want %v ± %v", what, got, want, tolerance)
	}
}

// After a stall of 2 s, retries keep the server down, unless the policy has a budget or the
// server does not serve clients that have given up.
func TestStormMetastable(t *testing.T) {
	small := smallStorm(threeRetries, threeRetries+" budget=throttle", threeRetries+" budget=ratio(ratio=0.1 floor=0.1)", "none")
	small.Horizon = 80 * time.Second
	rows := mustRun(t, small)
	if rows[0].Never != 1 || rows[0].LastSuccess.Mean > 0.01 {
		t.Errorf("without a budget: %+v never, %v success at the end", rows[0].Never, rows[0].LastSuccess.Mean)
	}
	for _, row := range rows[1:] {
		if row.Never != 0 || row.Recovery.Mean > 15 || row.LastSuccess.Mean < 0.999 {
			t.Errorf("%s: %v never, recovery %v, %v success at the end", row.Contender, row.Never, row.Recovery.Mean, row.LastSuccess.Mean)
		}
	}
	for _, change := range []func(s *Storm){
		func(s *Storm) { s.DropExpired = true },
		func(s *Storm) { s.LIFO = true },
		func(s *Storm) { s.LIFO, s.DropExpired = true, true },
		func(s *Storm) { s.Queue = 500 }, // half a second of work; clients wait for one second
	} {
		s := Storm{Contenders: mustParse(threeRetries), Trials: 1, Horizon: 50 * time.Second}
		s.Outage = Outage{From: 10 * time.Second, To: 20 * time.Second}
		change(&s)
		row := mustRun(t, s)[0]
		if row.Never != 0 || row.Recovery.Mean > 1 {
			t.Errorf("LIFO %v, drop expired %v, queue %d: never %v, recovery %v", s.LIFO, s.DropExpired, s.Queue, row.Never, row.Recovery.Mean)
		}
	}
}

// A server stays down if ρ·(1 + k) is above 1: its utilization times the attempts of a call.
func TestMetastability(t *testing.T) {
	for _, utilization := range []float64{0.15, 0.3, 0.6} {
		storm := smallStorm()
		storm.Outage.To, storm.Horizon, storm.Trials = 30*time.Second, 110*time.Second, 1
		storm.Rate = utilization * storm.Capacity()
		attempts := []int{1, 2, 4, 5}
		for _, n := range attempts {
			storm.Contenders = append(storm.Contenders, contender(t, fmt.Sprintf("full base=100ms cap=20s attempts=%d", n)))
		}
		storm.Contenders = append(storm.Contenders, contender(t, threeRetries+" budget=throttle"))
		rows, err := storm.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range attempts {
			if load := utilization * float64(n); load > 1.1 && rows[i].Never != 1 || load < 0.9 && rows[i].Never != 0 {
				t.Errorf("%d attempts at %v: never %v", n, utilization, rows[i].Never)
			}
		}
		if rows[len(attempts)].Never != 0 {
			t.Errorf("with a budget at %v: never %v", utilization, rows[len(attempts)].Never)
		}
	}
}

// Without retries, the server's spare capacity drains the queue, and calls succeed again
// when the wait in the queue is shorter than the clients' timeout.
func TestStormDrain(t *testing.T) {
	for _, queue := range []int{20_000, 1000} {
		s := smallStorm("none")
		s.Trials, s.Queue, s.Outage.To = 8, queue, 32*time.Second
		s.Horizon = 100 * time.Second
		row := mustRun(t, s)[0]
		piled := min(float64(queue), 140*12)
		// The first whole second begins half a second later on average.
		near(t, "drain time", row.Recovery.Mean, (piled-200)/60+0.5, 4*row.Recovery.SE()+0.3)
	}
}

// A server without an outage is an M/M/c queue.
func TestStormQueueing(t *testing.T) {
	s := Storm{Contenders: mustParse("none"), Trials: 4, Failures: -1, Outage: Outage{Kind: BrownOut, Share: 1}, Horizon: 110 * time.Second}
	row := mustRun(t, s)[0]
	wait := 0.2217 / 300 // the probability of waiting, by Erlang's C formula, divided by the spare capacity
	near(t, "mean latency", row.Mean.Mean, 0.01+wait, 1e-4)
	near(t, "median latency", row.P50.Mean, 0.0078, 3e-4)
	near(t, "p99 latency", row.P99.Mean, 0.0471, 1e-3)
	near(t, "success", row.Success.Mean, 1, 0)
	near(t, "goodput", row.Goodput.Mean, 1, 0.03)
}

// Results depend only on the seed, and all contenders have the same calls.
func TestStormDeterminism(t *testing.T) {
	s := smallStorm(threeRetries, "aws-standard-2.1 limiter=adaptive", threeRetries+" budget=ratio", "no-delay attempts=2")
	s.Outage.Kind = Down
	s.Parallel = 1
	one := mustRun(t, s)
	s.Parallel = 2
	if two := mustRun(t, s); !reflect.DeepEqual(one, two) {
		t.Error("1 and 2 workers differ")
	}
	for _, row := range one {
		for i, trial := range row.Trials {
			if !reflect.DeepEqual(trial.Attempts[:20], one[0].Trials[i].Attempts[:20]) {
				t.Errorf("%s, trial %d: the calls differ from those of %s", row.Contender, i, one[0].Contender)
			}
		}
	}
	s.Seed++
	if other := mustRun(t, s); reflect.DeepEqual(one[0], other[0]) || reflect.DeepEqual(one[0].Trials[0].Attempts, one[0].Trials[1].Attempts) {
		t.Error("the seed or the number of the trial has no influence")
	}
}

func noGoroutinesLeft(t *testing.T, before int) {
	t.Helper()
	for range 60_000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
}

// When the context ends, the finished trials are kept.
func TestStormInterrupt(t *testing.T) {
	s := smallStorm(threeRetries, "none")
	s.Trials = 4
	full := mustRun(t, s)
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.Parallel = 2
	s.Progress = func(done, total int) {
		if done == 3 {
			cancel()
		}
	}
	result, err := s.Run(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	kept := 0 // at most one other trial is running when the context ends
	for i, row := range result {
		for _, trial := range row.Trials {
			kept++
			if !reflect.DeepEqual(trial, full[i].Trials[trial.Number]) {
				t.Errorf("%s, trial %d differs", row.Contender, trial.Number)
			}
		}
	}
	if kept < 3 || kept > 4 {
		t.Errorf("%d trials are kept", kept)
	}
	noGoroutinesLeft(t, before)
}

// When the context ends, even a very long trial ends.
func TestStormInterruptTrial(t *testing.T) {
	s := smallStorm(threeRetries)
	s.Horizon = maxHorizon
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	result, err := s.Run(ctx)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	want := StormRow{Contender: threeRetries}
	if !reflect.DeepEqual(result, []StormRow{want}) {
		t.Errorf("rows %+v", result)
	}
	noGoroutinesLeft(t, before)
}

func TestStormMatters(t *testing.T) {
	recovery := func(r StormRow) float64 { return r.Recovery.Mean }
	amplification := func(r StormRow) float64 { return r.Amplification.Mean }
	retries := func(r StormRow) float64 { return (r.Amplification.Mean - 1) * 140 * 40 }
	for _, tt := range []struct {
		name, policy string
		change       func(s *Storm)
		figure       func(r StormRow) float64
		before       float64
		after        float64
	}{
		// The queue of 280 drains at 60 a second to a length that is served in time.
		{"Timeout", "none", func(s *Storm) { s.Timeout = 500 * time.Millisecond }, recovery, 1.8, 3.5},
		{"AttemptTimeout", "none", func(s *Storm) { s.Contenders = mustParse("none timeout=500ms") }, recovery, 1.8, 3.5},
		{"Deadline", threeRetries, func(s *Storm) { s.Deadline = 1500 * time.Millisecond }, amplification, 3.7, 2},
		// Each process has 100 retries, each after a timeout.
		{"Processes", threeRetries + " budget=token(capacity=500 cost=5)", func(s *Storm) { s.Processes = 1 }, retries, 2000, 100},
		{"Queue", "none", func(s *Storm) { s.Queue = 240 }, recovery, 1.8, 1.1},
	} {
		s := smallStorm(tt.policy)
		s.Trials = 5
		near(t, tt.name+" as it was", tt.figure(mustRun(t, s)[0]), tt.before, 0.4+tt.before/20)
		tt.change(&s)
		near(t, tt.name, tt.figure(mustRun(t, s)[0]), tt.after, 0.4+tt.after/20)
	}
}

// The status of a full queue determines the cost of a retry.
func TestStormFullStatus(t *testing.T) {
	s := smallStorm(threeRetries + " budget=token")
	s.Queue = 10
	throttled := mustRun(t, s)[0]
	s.FullStatus = 503
	failed := mustRun(t, s)[0]
	if throttled.Amplification.Mean < failed.Amplification.Mean*1.02 {
		t.Errorf("amplification %v with 429, %v with 503", throttled.Amplification.Mean, failed.Amplification.Mean)
	}
	s.FullStatus = 400
	if refused := mustRun(t, s)[0]; refused.Amplification.Mean > 1.1 {
		t.Errorf("amplification %v with 400", refused.Amplification.Mean)
	}
}

func TestStormInvalid(t *testing.T) {
	for field, change := range map[string]func(s *Storm){
		"Contenders":   func(s *Storm) { s.Contenders = nil },
		"has no pol":   func(s *Storm) { s.Contenders = []Contender{{Name: "x"}} },
		"Trials":       func(s *Storm) { s.Trials = -1 },
		"Rate":         func(s *Storm) { s.Rate = math.NaN() },
		"at the same":  func(s *Storm) { s.Rate = 1e6 },
		"Processes":    func(s *Storm) { s.Processes = -1 },
		"Timeout":      func(s *Storm) { s.Timeout = -1 },
		"Deadline":     func(s *Storm) { s.Deadline = -1 },
		"Workers":      func(s *Storm) { s.Workers = -1 },
		"Service":      func(s *Storm) { s.Service = -1 },
		"Queue":        func(s *Storm) { s.Queue = -1 },
		"Refusal":      func(s *Storm) { s.Refusal = -1 },
		"Outage.Share": func(s *Storm) { s.Outage.Share = 1.1 },
		"Outage.Kind":  func(s *Storm) { s.Outage.Kind = 4 },
		"Failures":     func(s *Storm) { s.Failures = 1 },
		"bounds do":    func(s *Storm) { s.Latency = Latency{{2, 1}, {1, 2}} },
		"not the mean": func(s *Storm) { s.Latency = Latency{{2, 1}} },
		"Outage: from": func(s *Storm) { s.Outage.To = s.Outage.From },
		"Horizon":      func(s *Storm) { s.Horizon = 23 * time.Second },
	} {
		s := smallStorm(threeRetries)
		change(&s)
		_, err := s.Run(context.Background())
		if err == nil || !strings.HasPrefix(err.Error(), "storm: ") || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: error %v", field, err)
		}
	}
}

func TestStormDefaults(t *testing.T) {
	s, err := Storm{}.WithDefaults()
	if err != nil {
		t.Fatal(err)
	}
	want := Storm{
		Trials: 5, Rate: 700, Processes: 100, Timeout: time.Second, Deadline: 10 * time.Second,
		Workers: 10, Service: 10 * time.Millisecond, Queue: 20_000, Refusal: 2 * time.Millisecond, FullStatus: 429,
		Failures: 0.01, Outage: Outage{From: 30 * time.Second, To: 32 * time.Second, Share: 0.3},
		Horizon: 222 * time.Second, MostAttempts: 20_000_000, full: overload(429),
	}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("got %+v", s)
	}
	if got := []string{Stall.String(), Down.String(), BrownOut.String(), Partial.String(), OutageKind(9).String()}; !reflect.DeepEqual(got, []string{"stall", "down", "brown-out", "partial", "outage(9)"}) {
		t.Errorf("names %q", got)
	}
}

func hooked(text string, change func(p *retry.Policy)) Contender {
	c := mustParse(text)[0]
	parsed := c.Policy
	c.Policy = func(clock retry.Clock) retry.Policy {
		p := parsed(clock)
		change(&p)
		return p
	}
	return c
}
