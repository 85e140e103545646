// Package request handles the requests of the playground's page.
package request

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/admit"
	"github.com/gobackoff/retry/cmd/backofflab/internal/lab"
	"github.com/gobackoff/retry/cmd/backofflab/internal/report"
)

type request struct {
	What     string // storm, waits, contention or advice
	Policy   string
	Clients  int     // of the contention
	Rate     float64 // of the storm, in calls a second
	Capacity float64 // in attempts a second
	Outage   lab.OutageKind
	Seconds  float64 // of the outage
	Failures float64
	Gate     bool // an admission gate in front of the server
}

type response struct {
	Error    string
	HTML     string
	Own      []string          // the name of the policy
	Pictures []json.RawMessage // for charts.js, one for each element of the class chart
}

// Handle returns the response to a request, both as JSON. The response contains HTML or an
// Error.
func Handle(text string) string {
	r, err := handle(text)
	if err != nil {
		r = response{Error: err.Error()}
	}
	data, _ := json.Marshal(r) // strings and valid JSON only
	return string(data)
}

func handle(text string) (r response, err error) {
	var q request
	if err := json.Unmarshal([]byte(text), &q); err != nil {
		return r, err
	}
	c, err := lab.ParseContender(q.Policy)
	if err != nil {
		return r, err
	}
	var section report.Section
	switch q.What {
	case "storm":
		section, err = q.storm(c)
	case "waits":
		section = report.NewExplain(c.Policy(retry.SystemClock{}), 1).Section()
	case "contention":
		section, err = q.contention(c)
	case "advice":
		section, err = q.advice()
	default:
		err = fmt.Errorf("unknown request %q", q.What)
	}
	if err != nil {
		return r, err
	}
	section.Files = nil
	r.Own = section.Own
	r.HTML, r.Pictures, err = section.HTML()
	return r, err
}

const mostClients = 500 // limits memory and time

func (q *request) contention(c lab.Contender) (section report.Section, err error) {
	if q.Clients < 2 || q.Clients > mostClients {
		return section, fmt.Errorf("clients: %d is not in 2 to %d", q.Clients, mostClients)
	}
	model := lab.Contention{Contenders: report.Crowd([]lab.Contender{c}), Clients: slices.Compact([]int{max(1, q.Clients/4), max(1, q.Clients/2), q.Clients}), Trials: 20, Timing: 100}
	cells, err := model.Run(context.Background())
	return report.Contention{Cells: cells}.Section(c.Name), err
}

// system returns the described system.
func (q *request) system() (s lab.Storm, err error) {
	switch {
	case !(q.Capacity >= 1 && q.Capacity <= mostCapacity):
		return s, fmt.Errorf("capacity: %v is not in 1 to %d", q.Capacity, mostCapacity)
	case !(q.Rate > 0 && q.Rate <= mostCapacity):
		return s, fmt.Errorf("rate: %v is not above 0 and up to %d", q.Rate, mostCapacity)
	case !(q.Seconds > 0 && q.Seconds <= 30):
		return s, fmt.Errorf("seconds: %v is not above 0 and up to 30", q.Seconds)
	case !(q.Failures >= 0):
		return s, fmt.Errorf("failures: %v is negative", q.Failures)
	}
	if s, err = s.WithDefaults(); err != nil {
		return s, err
	}
	s.Rate, s.Workers = q.Rate, max(1, int(math.Round(q.Capacity*s.Service.Seconds())))
	s.Service = time.Duration(float64(s.Workers) / q.Capacity * 1e9)
	s.Failures = cmp.Or(q.Failures, -1) // none
	s.Outage.Kind, s.Outage.To = q.Outage, s.Outage.From+time.Duration(q.Seconds*1e9)
	s.Queue, s.Horizon = 0, 0 // follow from the rest
	if q.Gate {
		s.Gate = func() *admit.Gate { return new(admit.Gate) }
	}
	return s.WithDefaults()
}

const (
	mostCapacity = 20_000
	calls        = 10_000 // of a trial; limits the time of a simulation to a few seconds
)

func (q *request) storm(c lab.Contender) (section report.Section, err error) {
	s, err := q.system()
	if err != nil {
		return section, err
	}
	s.Contenders = lab.WithReferences([]lab.Contender{c})
	small := s.Scaled(calls)
	small.MostAttempts = 2_000_000
	rows, err := small.Run(context.Background())
	for _, r := range rows {
		for second := range r.Attempts {
			r.Attempts[second] *= s.Rate / small.Rate
			r.Goodputs[second] *= s.Rate / small.Rate
		}
	}
	section = report.Storm{Storm: s, Rows: rows}.Section(c.Name)
	if small.Rate < s.Rate {
		section.Text = append(section.Text, fmt.Sprintf("To be fast, this page simulates a server and callers of %.2g %% of this size.", 100*small.Rate/s.Rate))
	}
	return section, err
}

// advice chooses a policy for the system, under outages of all kinds.
func (q *request) advice() (section report.Section, err error) {
	s, err := q.system()
	if err != nil {
		return section, err
	}
	s.Outage = lab.Outage{}
	v, err := lab.Advice{Storm: s, Outages: 32}.Run(context.Background())
	if err != nil {
		return section, err
	}
	return report.Advice{Verdict: v}.Section(), nil
}
