package retryconfig

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/dur"
)

// planned is the state of a call between two attempts.
type planned struct {
	elapsed, waited time.Duration
	weight          float64 // its share of all calls
}

// wait adds the wait after attempt n, and reports whether it ends within MaxElapsed.
func (c *planned) wait(p *retry.Policy, n int, u float64) bool {
	a := retry.Attempt{Number: n, Waited: c.waited, Verdict: retry.Verdict{Class: retry.ClassTransient}}
	wait := retry.Capped{Of: p.Backoff}.Delay(a, u) // the default rule for nil
	if wait < 0 || p.MaxElapsed > 0 && wait > p.MaxElapsed-c.elapsed {
		return false
	}
	c.elapsed, c.waited = dur.Add(c.elapsed, wait), wait
	return true
}

// A Plan summarizes the waits of a policy: see [NewPlan].
type Plan struct {
	Retries     []WaitStats // the wait before each retry, in order
	Probability []float64   // of each retry, if all attempts fail
	Total       WaitStats   // the sum of all waits
	Truncated   bool        // the policy allows more retries
}

// WaitStats describes a random duration.
type WaitStats struct {
	Min, Mean, P99, Max time.Duration // P99: 99 of 100 are shorter
}

// String returns a table with a row for each of the first 20 retries and one for the sum.
// It has no line break at its end.
func (p Plan) String() string {
	if len(p.Retries) == 0 {
		return "no retries"
	}
	var b strings.Builder
	row := func(name string, w WaitStats, share string) {
		fmt.Fprintf(&b, "%7s %9v %9v %9v %9v%s\n", name, rounded(w.Min), rounded(w.Mean), rounded(w.P99), rounded(w.Max), share)
	}
	fmt.Fprintf(&b, "%7s %9s %9s %9s %9s   of calls\n", "retry", "min", "mean", "p99", "max")
	for i, w := range p.Retries[:min(len(p.Retries), 20)] {
		row(strconv.Itoa(i+1), w, fmt.Sprintf("%9.3g %%", 100*p.Probability[i]))
	}
	if len(p.Retries) > 20 {
		fmt.Fprintf(&b, "%7s\n", "…")
	}
	total := "total"
	if p.Truncated {
		total = fmt.Sprintf("1–%d", len(p.Retries))
	}
	row(total, p.Total, "")
	return strings.TrimSuffix(b.String(), "\n")
}

// rounded rounds d to three digits.
func rounded(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for unit <= d/1000 {
		unit *= 10
	}
	return d.Round(unit)
}

const (
	maxPlannedRetries = 100
	rarest            = 1e-9 // probability of a planned retry
)

// NewPlan summarizes the waits that [retry.Policy.Delays] draws, for at most 100 retries,
// none of them less probable than one in a billion. It makes no random choices: the same
// policy always has the same plan.
//
// Min and Max are bounds. Mean and P99 are within 2 % of the true value or 1 % of Max.
func NewPlan(p retry.Policy) Plan {
	retries := max(0, min(p.Attempts()-1, maxPlannedRetries))
	free := p
	free.MaxElapsed = 0
	var plan Plan
	var ended []planned
	var least, most planned           // the calls with the shortest and the longest waits
	var soonest, latest time.Duration // the least and the most time that can elapse before a retry
	limit, probability := dur.Limit(p.MaxElapsed), 1.0
	shortest := limit
	calls := make([]planned, 1<<15)
	if retries > 16 {
		calls = calls[:1<<11]
	}
	total := func(c planned) time.Duration { return c.elapsed }
	resample(calls, make([]planned, 1), 1)
	for n := 1; n <= retries; n++ {
		before := most.waited
		least.wait(&free, n, 0)
		if !most.wait(&free, n, math.Nextafter(1, 0)) {
			break // the rule has no further delay
		}
		if before == 0 && most.waited == 0 && n >= (retry.Policy{}).Attempts() && p.MaxAttempts == 0 && p.Attempts() == retry.Unlimited {
			break // as Do ends a call that only MaxElapsed bounds, and that does not wait
		}
		if dur.Add(latest, most.waited) > limit { // a call may end before this retry
			shortest = min(shortest, max(soonest, limit-most.waited))
		}
		next, over, share := advance(&p, n, calls)
		if probability*share < rarest {
			plan.Truncated = least.elapsed <= limit
			break
		}
		probability *= share
		ended = append(ended, over...)
		r := summarize(next, func(c planned) time.Duration { return c.waited })
		r.Min, r.Max = least.waited, most.waited
		if p.MaxElapsed > 0 {
			r.Max = min(r.Max, limit-soonest)
		}
		plan.Retries, plan.Probability = append(plan.Retries, r), append(plan.Probability, probability)
		soonest, latest = least.elapsed, dur.Add(latest, r.Max)
		sortBy(next, total)
		resample(calls, next, probability)
	}
	plan.Truncated = plan.Truncated || p.Attempts()-1 > maxPlannedRetries && len(plan.Retries) == maxPlannedRetries
	plan.Total = summarize(append(ended, calls...), total)
	plan.Total.Min, plan.Total.Max = min(shortest, soonest), min(latest, limit)
	return plan
}

// advance lets calls wait after attempt n and returns those that retry, those that end, and
// the share that retries. If few do, it repeats the calls with other random numbers.
//
// A call's place in the order of the elapsed times and its random number form a lattice,
// which fills the unit square evenly, so that a few thousand calls represent the joint
// distribution: P. L'Ecuyer et al., "A Randomized Quasi-Monte Carlo Simulation Method for
// Markov Chains", Operations Research 56, 2008.
func advance(p *retry.Policy, n int, calls []planned) (next, ended []planned, share float64) {
	count := len(calls) // a power of 2
	step, rounds := int(float64(count)*(math.Phi-1))|1, 0
	for ; rounds == 0 || rounds < 99 && len(next) < count/2; rounds++ {
		for i, c := range calls {
			place := (i*step + rounds*count*3/8 + rounds) % count
			if c.wait(p, n, (float64(place)+math.Phi/3)/float64(count)) {
				next = append(next, c)
			} else if rounds == 0 {
				ended = append(ended, c)
			}
		}
	}
	return next, ended, float64(len(next)) / float64(rounds*count)
}

// resample fills calls with copies of others, so that each has the same weight.
func resample(calls, others []planned, weight float64) {
	for i := range calls {
		calls[i] = others[i*len(others)/len(calls)]
		calls[i].weight = weight / float64(len(calls))
	}
}

func sortBy(calls []planned, of func(planned) time.Duration) {
	slices.SortFunc(calls, func(a, b planned) int { return cmp.Compare(of(a), of(b)) })
}

// summarize returns the statistics of a duration of calls, which it sorts.
func summarize(calls []planned, of func(planned) time.Duration) WaitStats {
	sortBy(calls, of)
	var sum, all, below float64
	for _, c := range calls {
		sum, all = sum+float64(of(c))*c.weight, all+c.weight
	}
	r := WaitStats{Min: of(calls[0]), Max: of(calls[len(calls)-1])}
	r.Mean = min(max(r.Min, dur.Saturate(math.Round(sum/all), math.MaxInt64)), r.Max)
	for i := 0; below <= 0.99*all && i < len(calls); i++ {
		below += calls[i].weight
		r.P99 = of(calls[i])
	}
	return r
}
