package lab

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gobackoff/retry"
)

// A Metastability maps where a server that works again does not recover,
// because the retries of what it fails are enough to keep it down: over how
// much of it is used, and how often clients try again.
//
// A server of capacity C, calls at a rate ρ·C and k retries of each make
// ρ·(1 + k)·C attempts a second when all fail. Above ρ·(1 + k) = 1 the failure
// feeds itself, if the queue is longer than clients wait. The zero value is a map
// of the zero [Storm] around that line.
type Metastability struct {
	// Storm is the experiment behind every point of the map. Its Contenders
	// and its Rate are not used; its Progress counts the trials of all points.
	Storm Storm

	Utilisations []float64 // ρ, above 0; none: 0.15 to 0.9
	Retries      []int     // k, 0 or more; none: 0 to 4

	// Backoff is the rule of the retries. nil: full jitter from 100 ms with a
	// cap of 20 s.
	Backoff retry.Backoff
}

// MetastabilityPoint is a point of the map.
type MetastabilityPoint struct {
	Retries     int     // of each call
	Utilisation float64 // calls a second by what the server can serve
	Trials      int     // that finished
	Recovery    Summary // seconds, of the trials with a recovery
	Never       float64 // the share of trials without one
}

// Run makes the trials of all points, and returns for each number of retries the
// points of all utilisations, in their order. If ctx ends before all trials are
// done it returns the error of ctx and what came of those that are. Other errors name
// a field that is wrong.
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

// WithDefaults returns the Metastability with what its zero values stand for, or
// an error that names the first field which makes no sense.
func (m Metastability) WithDefaults() (Metastability, error) {
	if len(m.Utilisations) == 0 {
		m.Utilisations = []float64{0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}
	}
	if len(m.Retries) == 0 {
		m.Retries = []int{0, 1, 2, 3, 4}
	}
	if m.Backoff == nil {
		m.Backoff = retry.FullJitter{Base: 100 * time.Millisecond, Cap: 20 * time.Second}
	}
	m.Storm.Contenders, m.Storm.Rate = nil, 0
	var err error
	if m.Storm, err = m.Storm.WithDefaults(); err != nil {
		return m, err
	}
	for _, k := range m.Retries {
		if k < 0 || k == math.MaxInt {
			return m, errorOf("Retries", strconv.Itoa(k)+" is not a number of retries")
		}
	}
	for _, utilisation := range m.Utilisations {
		s := m.at(utilisation)
		if err := s.check(); err != nil {
			return m, errorOf("Utilisations", fmt.Sprintf("%v: %s", utilisation, strings.TrimPrefix(err.Error(), "storm: ")))
		}
	}
	return m, nil
}

// at returns the experiment of a utilisation.
func (m *Metastability) at(utilisation float64) Storm {
	s := m.Storm
	s.Rate = utilisation * s.Capacity()
	return s
}

// points returns the points without their figures, and the case of each.
func (m *Metastability) points() ([]MetastabilityPoint, []stormCase) {
	var points []MetastabilityPoint
	var cases []stormCase
	for _, k := range m.Retries {
		contender := Contender{Policy: func(clock retry.Clock) retry.Policy {
			return retry.Policy{Backoff: m.Backoff, MaxAttempts: k + 1, Clock: clock}
		}}
		for _, utilisation := range m.Utilisations {
			points = append(points, MetastabilityPoint{Retries: k, Utilisation: utilisation})
			cases = append(cases, stormCase{m.at(utilisation), contender})
		}
	}
	return points, cases
}
