package lab

// The map of storms over policies and utilization.

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gobackoff/retry"
)

// A Metastability simulates a storm for each policy and utilization. The results show where
// retries keep a server down after its failure is over.
//
// For a server of capacity C, calls at a rate ρ·C with k retries each make ρ·(1 + k)·C
// attempts a second when all fail. If ρ·(1 + k) exceeds 1, the failure sustains itself,
// provided that nothing bounds the retries and the wait in the queue is longer than the
// clients' timeout. The zero value simulates the zero [Storm] around ρ·(1 + k) = 1.
type Metastability struct {
	// Storm is simulated at every point of the map. Its Rate is not used. Its Contenders
	// are the rows of the map; nil means full jitter from 100 ms with a cap of 20 s and 0
	// to 4 retries. Its Progress counts the trials of all points.
	Storm Storm

	Utilizations []float64 // ρ, ascending, above 0; none: 0.15 to 0.9
}

// MetastabilityPoint is a point of the map.
type MetastabilityPoint struct {
	Contender   string  // its name
	Attempts    int     // maximum per call; retry.Unlimited: no bound
	Bounded     bool    // whether a budget or a limiter also bounds its retries
	Utilization float64 // rate of calls divided by the server's capacity
	Trials      int     // number of finished trials
	Recovery    Summary // in seconds, over the trials with a recovery
	Never       float64 // share of trials without a recovery
}

// Run runs the trials of all points, and returns the points of each contender in the
// order of the utilizations. If ctx ends first, it returns the error of ctx and the
// results of the finished trials. Other errors name an invalid field.
func (m Metastability) Run(ctx context.Context) ([]MetastabilityPoint, error) {
	m, err := m.WithDefaults()
	if err != nil {
		return nil, err
	}
	points, cases := m.points()
	trials, err := runStorms(ctx, &m.Storm, cases)
	for i := range points {
		points[i].Trials = len(trials[i])
		points[i].Recovery, points[i].Never = recoveries(trials[i])
	}
	return points, err
}

// WithDefaults returns m with defaults for zero fields, or an error that names the first
// invalid field.
func (m Metastability) WithDefaults() (Metastability, error) {
	if len(m.Utilizations) == 0 {
		m.Utilizations = []float64{0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}
	}
	if m.Storm.Contenders == nil {
		for attempts := range 5 {
			m.Storm.Contenders = append(m.Storm.Contenders, mustParse(fmt.Sprintf("full base=100ms cap=20s attempts=%d", attempts+1))...)
		}
	}
	m.Storm.Rate = 0
	var err error
	if m.Storm, err = m.Storm.WithDefaults(); err != nil {
		return m, err
	}
	if !slices.IsSorted(m.Utilizations) {
		return m, errorOf("Utilizations", "they do not ascend")
	}
	for _, utilization := range m.Utilizations {
		s := m.at(utilization)
		if err := s.check(); err != nil {
			return m, errorOf("Utilizations", fmt.Sprintf("%v: %s", utilization, strings.TrimPrefix(err.Error(), "storm: ")))
		}
	}
	return m, nil
}

func (m *Metastability) at(utilization float64) Storm {
	s := m.Storm
	s.Rate = utilization * s.Capacity()
	return s
}

func (m *Metastability) points() ([]MetastabilityPoint, []stormCase) {
	var points []MetastabilityPoint
	var cases []stormCase
	for _, contender := range m.Storm.Contenders {
		p := contender.Policy(&world{})
		attempts := retry.Unlimited
		if p.MaxAttempts != retry.Unlimited {
			attempts = int(mostAttempts(p))
		}
		for _, utilization := range m.Utilizations {
			points = append(points, MetastabilityPoint{Contender: contender.Name, Attempts: attempts, Bounded: p.Budget != nil || p.Limiter != nil, Utilization: utilization})
			cases = append(cases, stormCase{m.at(utilization), contender})
		}
	}
	return points, cases
}
