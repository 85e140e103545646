// Package request handles the requests of the playground's page.
package request

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/admit"
	"github.com/gobackoff/retry/lab"
	"github.com/gobackoff/retry/lab/internal/report"
)

type request struct {
	What     string // storm, waits or contention
	Policy   string
	Clients  int     // of the contention
	Rate     float64 // of the storm, in calls a second
	Capacity float64 // in attempts a second
	Outage   string
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

var outages = map[string]lab.OutageKind{"stall": lab.Stall, "down": lab.Down, "brown-out": lab.BrownOut, "partial": lab.Partial}

func (q *request) storm(c lab.Contender) (section report.Section, err error) {
	kind, ok := outages[q.Outage]
	switch { // limits the time of a simulation to a few seconds
	case !(q.Capacity >= 1 && q.Capacity <= 1000):
		return section, fmt.Errorf("capacity: %v is not in 1 to 1000", q.Capacity)
	case !(q.Rate > 0 && q.Rate <= 1000):
		return section, fmt.Errorf("rate: %v is not above 0 and up to 1000", q.Rate)
	case !(q.Seconds > 0 && q.Seconds <= 30):
		return section, fmt.Errorf("seconds: %v is not above 0 and up to 30", q.Seconds)
	case !ok:
		return section, fmt.Errorf("outage: unknown %q", q.Outage)
	}
	from := 20 * time.Second
	s := lab.Storm{
		Contenders: lab.WithReferences([]lab.Contender{c}), Trials: 3, MostAttempts: 2_000_000, Rate: q.Rate, Workers: 1, Service: time.Duration(float64(time.Second) / q.Capacity),
		Queue: int(20 * q.Capacity), Processes: 10, Failures: q.Failures,
		Outage: lab.Outage{Kind: kind, From: from, To: from + time.Duration(q.Seconds*float64(time.Second))},
	}
	s.Horizon = s.Outage.To + 60*time.Second
	if q.Gate {
		s.Gate = func() *admit.Gate { return new(admit.Gate) }
	}
	if s, err = s.WithDefaults(); err != nil {
		return section, err
	}
	rows, err := s.Run(context.Background())
	return report.Storm{Storm: s, Rows: rows}.Section(c.Name), err
}
