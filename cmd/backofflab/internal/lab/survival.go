package lab

// Calls that begin at the moment when their server goes down for a while.

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gobackoff/retry"
)

// Survival is how many calls outlast an outage. In each trial, the calls of a process begin
// together when the outage does, and share the policy's budget. Until its end, each request
// is refused after Latency; then each succeeds.
type Survival struct {
	Contenders []Contender
	Calls      []int           // that begin together; nil: 1, 5, 20 and 100
	Outages    []time.Duration // nil: 50 ms, 200 ms, 1 s, 5 s and 30 s
	Latency    time.Duration   // of a request; 0: 1 ms
	Trials     int             // 0: as many as make 2,000 calls
	Seed       uint64
}

// A SurvivalRow has the results of a policy with a number of calls, one for each outage.
type SurvivalRow struct {
	Contender string
	Calls     int       // 0: any number, because the policy has nothing that they share
	Success   []float64 // share of the calls
	Requests  []float64 // per call
}

// WithDefaults returns s with its defaults, or an error that names what is wrong.
func (s Survival) WithDefaults() (Survival, error) {
	if s.Calls == nil {
		s.Calls = []int{1, 5, 20, 100}
	}
	if s.Outages == nil {
		s.Outages = []time.Duration{50 * time.Millisecond, 200 * time.Millisecond, time.Second, 5 * time.Second, 30 * time.Second}
	}
	if s.Latency == 0 {
		s.Latency = time.Millisecond
	}
	if len(s.Contenders) == 0 {
		return s, errors.New("contenders: none")
	}
	for _, n := range s.Calls {
		if n < 1 || n > mostCallers {
			return s, fmt.Errorf("calls: %d is not in 1 to %d", n, mostCallers)
		}
	}
	for _, d := range s.Outages {
		if d <= 0 || d > 24*time.Hour {
			return s, fmt.Errorf("outages: %v is not in 1ns to 24h", d)
		}
	}
	if s.Latency < 0 || s.Trials < 0 {
		return s, errors.New("the latency or the number of trials is negative")
	}
	for _, c := range s.Contenders {
		if err := c.Policy(&world{}).Validate(); err != nil {
			return s, fmt.Errorf("contenders: %q: %w", c.Name, err)
		}
		if c.Stagger != 0 {
			return s, fmt.Errorf("contenders: %q: the calls begin together, and are not staggered", c.Name)
		}
	}
	return s, nil
}

// Run returns a row for each contender and number of calls, or one row for a contender whose
// calls share nothing. If ctx ends, it returns the rows that are complete.
func (s Survival) Run(ctx context.Context) ([]SurvivalRow, error) {
	s, err := s.WithDefaults()
	if err != nil {
		return nil, err
	}
	var rows []SurvivalRow
	for _, contender := range s.Contenders {
		policy := contender.Policy(&world{})
		shared := policy.Budget != nil || policy.Limiter != nil
		for _, calls := range s.Calls {
			row := SurvivalRow{Contender: contender.Name}
			if shared {
				row.Calls = calls
			}
			trials := s.Trials
			if trials == 0 {
				trials = max(1, 2000/calls)
			}
			for _, outage := range s.Outages {
				var sum survivors
				for trial := range trials {
					if ctx.Err() != nil {
						return rows, ctx.Err()
					}
					s.trial(contender, calls, outage, derive(s.Seed, uint64(trial)), &sum)
				}
				all := float64(trials * calls)
				row.Success, row.Requests = append(row.Success, float64(sum.succeeded)/all), append(row.Requests, float64(sum.requests)/all)
			}
			rows = append(rows, row)
			if !shared {
				break
			}
		}
	}
	return rows, nil
}

type survivors struct{ succeeded, requests int }

var errOutage = errors.New("connection refused")

func (s *Survival) trial(contender Contender, calls int, outage time.Duration, key uint64, sum *survivors) {
	w := &world{}
	policy, timeout := w.own(contender.Policy(w))
	latency := s.Latency
	if timeout != 0 {
		latency = min(latency, timeout)
	}
	tasks, streams := make([]task, calls), make([]stream, calls)
	for i := range tasks {
		t := &tasks[i]
		streams[i] = newStream(key, uint32(i), policyDraws)
		t.start(w, &streams[i], func() {
			err := retry.Do(t, policy, func(context.Context) error {
				sum.requests++
				begun := time.Duration(w.now)
				if !t.pause(int64(begun + latency)) {
					return errStopped
				}
				if begun < outage || latency < s.Latency {
					return errOutage
				}
				return nil
			})
			if err == nil {
				sum.succeeded++
			}
		})
		w.timers.start(&t.timer, 0)
	}
	for len(w.timers.heap) > 0 && w.timers.first() < int64(endOfTime) {
		w.now = w.timers.first()
		w.timers.next().fire()
	}
	w.stopped = true
	for i := range tasks {
		tasks[i].stop()
	}
}
