package retry

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gobackoff/retry/internal/dur"
)

// Delays draws the waits of a call whose attempts all fail immediately with transient
// errors. It stops at MaxElapsed and ignores hints, budgets, limiters, Stagger and
// deadlines. Each range loop draws new waits; it may be endless if MaxAttempts is
// Unlimited.
func (p Policy) Delays() iter.Seq[time.Duration] {
	return p.delays(p.random)
}

func (p *Policy) delays(random func() float64) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		var elapsed time.Duration
		a := Attempt{Number: 1, Verdict: Verdict{Class: ClassTransient}}
		for ; a.Number < p.maxAttempts(); a.Number++ {
			wait := max(0, orDefault(p.Backoff).Delay(a, random()))
			if p.MaxElapsed > 0 && wait > p.MaxElapsed-elapsed || !yield(wait) {
				return
			}
			elapsed = dur.Add(elapsed, wait)
			a.Waited = wait
		}
	}
}

// A Plan is the result of [Policy.Plan]. Compare it with your deadline.
type Plan struct {
	Retries []WaitStats // the wait before each retry, in order
	Total   WaitStats   // the sum of all waits

	// Truncated reports whether the policy allows more retries than planned.
	Truncated bool
}

// WaitStats describes a random duration.
type WaitStats struct {
	Min, Mean, P99, Max time.Duration // P99: 99 of 100 are shorter
}

const maxPlannedRetries = 100

// These constants determine how many calls Plan simulates: up to five times as many if
// MaxElapsed makes some retries rare. The simulation takes about 20 or 50 ms.
const (
	minWalks = 4_000
	maxWalks = 20_000
	maxDraws = 200_000
)

// Plan summarizes the waits that [Policy.Delays] draws, for at most 100 retries.
//
// Min and Max are bounds. Mean and P99 are estimates from a fixed number of draws: for
// common retries, within 2 % of the true value or 1 % of Max.
func (p Policy) Plan() Plan {
	retries := max(0, min(p.maxAttempts()-1, maxPlannedRetries))
	waits, totals := p.sample(retries)
	free := p
	free.MaxElapsed = 0
	least, most := free.bounds(0, retries), free.bounds(math.Nextafter(1, 0), retries)
	var plan Plan
	var soonest, latest time.Duration // the least and the most time that can elapse before a retry
	left := time.Duration(math.MaxInt64)
	shortest := left
	for i, w := range waits {
		if p.MaxElapsed > 0 {
			left = p.MaxElapsed - soonest
			if dur.Add(latest, most[i]) > p.MaxElapsed { // a call may end before this retry
				shortest = min(shortest, max(soonest, p.MaxElapsed-most[i]))
			}
		}
		if len(w) == 0 { // no simulated call made this retry, but others may
			plan.Truncated = i < len(least) && dur.Add(soonest, least[i]) <= p.MaxElapsed
			break
		}
		r := summarize(w)
		r.Min, r.Max = least[i], min(most[i], left)
		plan.Retries = append(plan.Retries, r)
		soonest, latest = dur.Add(soonest, least[i]), dur.Add(latest, r.Max)
	}
	plan.Truncated = plan.Truncated || p.maxAttempts()-1 > maxPlannedRetries && len(plan.Retries) == maxPlannedRetries
	plan.Total = summarize(totals)
	plan.Total.Min, plan.Total.Max = min(shortest, soonest), latest
	if p.MaxElapsed > 0 {
		plan.Total.Max = min(latest, p.MaxElapsed)
	}
	return plan
}

// sample simulates many calls and returns the waits before each retry and the total wait
// of each call.
func (p *Policy) sample(retries int) (waits [][]time.Duration, totals []time.Duration) {
	walks := min(max(minWalks, maxDraws/max(1, retries)), maxWalks)
	if p.MaxElapsed > 0 {
		walks = min(5*walks, 5*maxDraws/max(1, retries))
	}
	// For each retry, [0, 1) is divided into as many parts as there are walks, and each
	// walk is assigned one part at random, so the distribution for a single retry has no
	// sampling error.
	rng := rand.New(rand.NewPCG(1, 2))
	draws := make([][]int, retries)
	for i := range draws {
		draws[i] = rng.Perm(walks)
	}
	waits, totals = make([][]time.Duration, retries), make([]time.Duration, walks)
	for walk := range walks {
		i := 0
		for wait := range p.delays(func() float64 { return (float64(draws[i][walk]) + 0.5) / float64(walks) }) {
			waits[i] = append(waits[i], wait)
			totals[walk] = dur.Add(totals[walk], wait)
			if i++; i == retries {
				break
			}
		}
	}
	return waits, totals
}

// bounds returns the waits if every random number is u.
func (p *Policy) bounds(u float64, retries int) []time.Duration {
	var waits []time.Duration
	for wait := range p.delays(func() float64 { return u }) {
		if waits = append(waits, wait); len(waits) == retries {
			break
		}
	}
	return waits
}

// summarize returns the statistics of values, which it sorts.
func summarize(values []time.Duration) WaitStats {
	slices.Sort(values)
	var total float64
	for _, v := range values {
		total += float64(v)
	}
	n := len(values)
	return WaitStats{
		Min:  values[0],
		Mean: min(max(values[0], dur.Saturate(math.Round(total/float64(n)), math.MaxInt64)), values[n-1]),
		P99:  values[min(n-1, n*99/100)],
		Max:  values[n-1],
	}
}
