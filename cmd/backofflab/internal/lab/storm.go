package lab

// The storm experiment: its parameters, checks and results.

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gobackoff/retry/admit"
)

// A Storm simulates a server that fails for a while. Its clients either let it recover
// or keep it down with their retries. A Storm shows the effect of budgets and limiters.
// The zero value, with Contenders, is a server at 70 % utilization that stalls for 2 s.
//
// Calls arrive in a Poisson process, whatever the state of the server. Each is a call to
// [retry.Do], in virtual time, by one of the client processes, with the process's own
// policy, budget and limiter. The server serves attempts in the order of arrival, each
// for an exponentially distributed or measured time, and does not notice that a client
// has given up. In trials with the same number, all contenders have the same arrival
// times and the same sequence of service times.
//
// A policy's AttemptTimeout replaces Timeout, and the trial's random numbers replace
// the policy's Rand. The policy's Backoff, Budget and Limiter must use only the clock
// that is passed to Contender.Policy.
type Storm struct {
	Contenders []Contender // at least one
	Trials     int         // of each contender; 0: 5
	Seed       uint64      // the same seed, even 0, gives the same results
	Parallel   int         // concurrent trials; does not affect results; 0 or less: GOMAXPROCS

	// Progress, if not nil, is called after every trial, by one goroutine at a time.
	Progress func(done, total int)

	Rate      float64       // calls a second; 0: 700
	Processes int           // client processes, each with its own policy; 0: 100
	Timeout   time.Duration // for the response to an attempt; 0: 1 s
	Deadline  time.Duration // of a call; cuts its last attempt short; 0: 10 s

	Workers int           // attempts served at the same time; 0: 10
	Service time.Duration // mean time to serve an attempt; 0: 10 ms, or the mean of Latency
	Latency Latency       // distribution of the times to serve an attempt; nil: exponential
	Queue   int           // attempts that can wait; 0: as many as are served in 20 s

	// LIFO makes the server take the latest attempt first.
	LIFO bool

	// DropExpired makes the server skip attempts whose clients have given up. Without
	// LIFO that may not be enough: the attempts that the server does serve are about to
	// expire.
	DropExpired bool

	// Failures is the share, below 1, of the served attempts whose clients lose the
	// connection before they receive the response. It applies both during and outside the
	// outage. 0 means 0.01; a negative share means none.
	Failures float64

	// Refusal is the time until a client learns that its attempt is refused. 0 means 2 ms.
	Refusal time.Duration

	// FullStatus is the HTTP status of the response when the queue is full. 0 means 429,
	// which most classifiers treat as throttling.
	FullStatus int

	// Gate returns a new admission gate in front of the server. Its Now and Rand are those
	// of the trial. nil means no gate.
	Gate func() *admit.Gate

	Outage Outage // how and when the server fails

	// Horizon is when the trial ends. 0 means a Deadline after the time that a server
	// without retries may need to recover: one and a half times that in which the queue
	// drains after the outage, from 3 to 4 minutes.
	Horizon time.Duration

	// MostAttempts is the maximum number of attempts in a trial. A policy that makes more
	// is an error. 0 means 20,000,000.
	MostAttempts int

	full error // the error when the queue is full
}

// OutageKind is how the server of a [Storm] fails.
type OutageKind uint8

const (
	Stall    OutageKind = iota // it serves nothing, and attempts queue up
	Down                       // it refuses attempts, but finishes accepted ones
	BrownOut                   // it works at a fraction of its normal speed
	Partial                    // it accepts only some of the attempts
)

var outageNames = [...]string{"stall", "down", "brown-out", "partial"}

// String returns the name of the kind.
func (k OutageKind) String() string {
	if int(k) < len(outageNames) {
		return outageNames[k]
	}
	return fmt.Sprintf("outage(%d)", uint8(k))
}

// MarshalText returns the name of the kind.
func (k OutageKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads the name of a kind.
func (k *OutageKind) UnmarshalText(name []byte) error {
	i := slices.Index(outageNames[:], string(name))
	if i < 0 {
		return fmt.Errorf("unknown outage %q; there are %s", name, strings.Join(outageNames[:], ", "))
	}
	*k = OutageKind(i)
	return nil
}

// An Outage is the failure of the server in a [Storm].
type Outage struct {
	Kind OutageKind // the zero value: Stall

	// From and To are the start and end of the outage, measured from the start of the
	// trial. If both are 0, the outage lasts from 30 s to 32 s.
	From, To time.Duration

	// Share is the fraction of the speed that remains in a BrownOut, or of the attempts
	// that are accepted in a Partial outage. 0 means 0.3; a negative Share is invalid;
	// the maximum, 1, means no outage.
	Share float64
}

// StormRow is the result of a [Storm] for one contender. It summarizes each figure of
// [StormTrial] over the finished trials.
type StormRow struct {
	Contender string
	Trials    []StormTrial // in order of their numbers

	Peak          Summary
	Amplification Summary
	Recovery      Summary // over the trials with a recovery
	Goodput       Summary
	OutageSuccess Summary
	Success       Summary
	LastSuccess   Summary
	Wasted        Summary
	PerSuccess    Summary
	Before        Summary
	Mean          Summary // of the latency
	P50           Summary // of the latency
	P99           Summary // of the latency

	Never    float64   // share of trials without a recovery
	Attempts []float64 // in each second; mean of the trials
	Goodputs []float64 // in each second; mean of the trials
}

// StormTrial is the outcome of a trial of a [Storm].
type StormTrial struct {
	Number int // from 0

	Peak          float64 // maximum attempts in a second / Rate
	Amplification float64 // attempts / calls, from the start of the outage to 60 s after its end

	// Before is the successful share of the calls that arrived before the outage and had to
	// end before it, or in its first half if the outage begins early; 1 without such calls.
	Before float64

	// Recovered reports whether success returned to Before: in each of 10 consecutive
	// seconds after the outage, the successful share of the calls that arrived was at least
	// 99 % of Before, less three standard deviations. Recovery is the number of seconds from
	// the end of the outage to the first of these 10. A server that fails half of the calls
	// before the outage, apart from Failures, does not recover.
	Recovered bool
	Recovery  float64

	Goodput       float64 // successes in the 60 s after the outage / calls expected at Rate
	OutageSuccess float64 // successful share of the calls that arrived during the outage

	// Success and LastSuccess cover only calls that arrived at least Deadline before the
	// end, because later calls may not have ended.
	Success     float64 // successful share of these calls
	LastSuccess float64 // successful share of those that arrived in the last 30 s of that period

	Wasted     float64 // share of the served attempts whose clients had given up before
	PerSuccess float64 // attempts for each successful call; 0 if no call succeeded

	// The latency of successful calls in seconds; 0 if no call succeeded.
	Mean, P50, P99 float64

	Attempts []uint32 // in each second
	Goodputs []uint32 // calls that succeeded in each second
}

// Run runs the trials and returns one row per contender, in the order of Contenders. If
// ctx ends first, it returns the error of ctx and the results of the finished trials.
// Other errors name an invalid field.
func (s Storm) Run(ctx context.Context) ([]StormRow, error) {
	s, err := s.WithDefaults()
	if err != nil {
		return nil, err
	}
	if len(s.Contenders) == 0 {
		return nil, errorOf("Contenders", "none")
	}
	cases := make([]stormCase, len(s.Contenders))
	for i, c := range s.Contenders {
		cases[i] = stormCase{s, c}
	}
	trials, err := runStorms(ctx, &s, cases)
	rows := make([]StormRow, len(cases))
	for i, c := range s.Contenders {
		rows[i] = newStormRow(c.Name, trials[i])
	}
	return rows, err
}

type stormCase struct {
	storm     Storm
	contender Contender
}

// runStorms runs the trials of all cases, beginning with the first trial of each case. It
// uses Trials, Parallel and Progress of s, and returns the finished trials.
func runStorms(ctx context.Context, s *Storm, cases []stormCase) ([][]StormTrial, error) {
	done := make([]*StormTrial, s.Trials*len(cases))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	bar := progress{report: s.Progress, total: len(done)}
	err := each(ctx, len(done), s.Parallel, func() func(unit int) bool {
		return func(unit int) bool {
			c := &cases[unit%len(cases)]
			var err error
			if done[unit], err = runStorm(ctx, &c.storm, c.contender, unit/len(cases)); err != nil {
				cancel(err)
				return false
			}
			bar.add(1)
			return true
		}
	})
	if err != nil {
		err = context.Cause(ctx)
	}
	trials := make([][]StormTrial, len(cases))
	for unit, trial := range done {
		if trial != nil {
			trials[unit%len(cases)] = append(trials[unit%len(cases)], *trial)
		}
	}
	return trials, err
}

func newStormRow(name string, trials []StormTrial) StormRow {
	over := func(figure func(t *StormTrial) float64) Summary { return over(trials, figure) }
	row := StormRow{
		Contender:     name,
		Trials:        trials,
		Peak:          over(func(t *StormTrial) float64 { return t.Peak }),
		Amplification: over(func(t *StormTrial) float64 { return t.Amplification }),
		Goodput:       over(func(t *StormTrial) float64 { return t.Goodput }),
		OutageSuccess: over(func(t *StormTrial) float64 { return t.OutageSuccess }),
		Success:       over(func(t *StormTrial) float64 { return t.Success }),
		LastSuccess:   over(func(t *StormTrial) float64 { return t.LastSuccess }),
		Mean:          over(func(t *StormTrial) float64 { return t.Mean }),
		Wasted:        over(func(t *StormTrial) float64 { return t.Wasted }),
		PerSuccess:    over(func(t *StormTrial) float64 { return t.PerSuccess }),
		Before:        over(func(t *StormTrial) float64 { return t.Before }),
		P50:           over(func(t *StormTrial) float64 { return t.P50 }),
		P99:           over(func(t *StormTrial) float64 { return t.P99 }),
		Attempts:      meanSeries(trials, func(t *StormTrial) []uint32 { return t.Attempts }),
		Goodputs:      meanSeries(trials, func(t *StormTrial) []uint32 { return t.Goodputs }),
	}
	row.Recovery, row.Never = recoveries(trials)
	return row
}

// Gain returns the success of r minus that of base in the trials with the same numbers.
func (r StormRow) Gain(base StormRow) Summary {
	var gains []float64
	for _, t := range r.Trials {
		for _, u := range base.Trials {
			if t.Number == u.Number {
				gains = append(gains, t.Success-u.Success)
			}
		}
	}
	return summarize(gains)
}

func over(trials []StormTrial, figure func(t *StormTrial) float64) Summary {
	values := make([]float64, len(trials))
	for i := range trials {
		values[i] = figure(&trials[i])
	}
	return summarize(values)
}

func recoveries(trials []StormTrial) (recovery Summary, never float64) {
	var values []float64
	for _, t := range trials {
		if t.Recovered {
			values = append(values, t.Recovery)
		}
	}
	n := float64(len(trials))
	return summarize(values), ratio(n-float64(len(values)), n)
}

func meanSeries(trials []StormTrial, series func(t *StormTrial) []uint32) []float64 {
	if len(trials) == 0 {
		return nil
	}
	mean := make([]float64, len(series(&trials[0])))
	for i := range trials {
		for second, n := range series(&trials[i]) {
			mean[second] += float64(n)
		}
	}
	for second := range mean {
		mean[second] /= float64(len(trials))
	}
	return mean
}

// Capacity returns the number of attempts a second that the server can serve. It does not
// apply defaults.
func (s Storm) Capacity() float64 { return float64(s.Workers) / s.Service.Seconds() }

// WithDefaults returns s with defaults for zero fields, or an error that names the first
// invalid field.
func (s Storm) WithDefaults() (Storm, error) {
	s.Trials = cmp.Or(s.Trials, 5)
	s.Rate = cmp.Or(s.Rate, 700)
	s.Processes = cmp.Or(s.Processes, 100)
	s.Timeout = cmp.Or(s.Timeout, time.Second)
	s.Deadline = cmp.Or(s.Deadline, 10*time.Second)
	s.Workers = cmp.Or(s.Workers, 10)
	s.Service = cmp.Or(s.Service, s.Latency.Mean(), 10*time.Millisecond)
	s.Queue = cmp.Or(s.Queue, max(1, int(20*s.Capacity())))
	s.Refusal = cmp.Or(s.Refusal, 2*time.Millisecond)
	s.FullStatus = cmp.Or(s.FullStatus, 429)
	s.Failures = cmp.Or(s.Failures, 0.01)
	s.MostAttempts = cmp.Or(s.MostAttempts, 20_000_000)
	s.Outage.Share = cmp.Or(s.Outage.Share, 0.3)
	if s.Outage.From == 0 && s.Outage.To == 0 {
		s.Outage.From, s.Outage.To = 30*time.Second, 32*time.Second
	}
	s.Horizon = cmp.Or(s.Horizon, s.Outage.To+s.settling(180)+s.Deadline)
	s.full = overload(s.FullStatus)
	return s, s.check()
}

// These limits prevent overflows and bound the memory.
const (
	maxRate    = 1e9
	maxHorizon = 1e6 * time.Second
	maxWorkers = 1e7
	maxTrials  = 1e6
	maxPending = 500_000 // concurrent calls; each takes a few kilobytes
)

func (s *Storm) check() error {
	o := &s.Outage
	for _, f := range []struct {
		name  string
		value float64
		most  float64
	}{
		{"Trials", float64(s.Trials), maxTrials},
		{"Rate", s.Rate, maxRate},
		{"Processes", float64(s.Processes), maxWorkers},
		{"Timeout", s.Timeout.Seconds(), math.MaxInt64},
		{"Deadline", s.Deadline.Seconds(), maxHorizon.Seconds()},
		{"Workers", float64(s.Workers), maxWorkers},
		{"Service", s.Service.Seconds(), maxHorizon.Seconds()},
		{"Queue", float64(s.Queue), math.MaxInt64},
		{"Refusal", s.Refusal.Seconds(), maxHorizon.Seconds()},
		{"Horizon", s.Horizon.Seconds(), maxHorizon.Seconds()},
		{"Outage.Share", o.Share, 1},
		{"MostAttempts", float64(s.MostAttempts), math.MaxInt64},
	} {
		if !(f.value > 0 && f.value <= f.most) {
			return errorOf(f.name, fmt.Sprintf("%v is not above 0 and up to %v", f.value, f.most))
		}
	}
	if pending := s.Rate * s.Deadline.Seconds(); pending > maxPending {
		return errorOf("Rate", fmt.Sprintf("%v calls a second, of up to %v each, can be %.3g at the same time: more than %d", s.Rate, s.Deadline, pending, maxPending))
	}
	least := o.To + s.Deadline + steadySeconds*time.Second
	switch {
	case int(o.Kind) >= len(outageNames):
		return errorOf("Outage.Kind", o.Kind.String()+" is unknown")
	case o.From < 0 || o.To <= o.From:
		return errorOf("Outage", fmt.Sprintf("from %v to %v", o.From, o.To))
	case o.To > maxHorizon || s.Horizon < least:
		return errorOf("Horizon", fmt.Sprintf("%v is too early to see a recovery: want %v, a deadline and 10 s after the outage", s.Horizon, least))
	}
	if !(s.Failures < 1) {
		return errorOf("Failures", fmt.Sprintf("%v is not below 1", s.Failures))
	}
	if s.Latency != nil {
		if err := s.Latency.check(); err != nil {
			return errorOf("Latency", strings.TrimPrefix(err.Error(), "latency: "))
		}
		if mean := s.Latency.Mean(); mean != s.Service {
			return errorOf("Service", fmt.Sprintf("%v is not the mean of Latency, %v", s.Service, mean))
		}
	}
	for i, c := range s.Contenders {
		if c.Policy == nil {
			return errorOf("Contenders", fmt.Sprintf("number %d, %q, has no policy", i+1, c.Name))
		}
		if c.Stagger != 0 {
			return errorOf("Contenders", fmt.Sprintf("%q: calls do not start together here, so there is nothing to stagger", c.Name))
		}
		if err := c.Policy(&world{}).Validate(); err != nil {
			return errorOf("Contenders", fmt.Sprintf("%q: %v", c.Name, err))
		}
	}
	return nil
}

func errorOf(field, what string) error { return fmt.Errorf("storm: %s: %s", field, what) }
