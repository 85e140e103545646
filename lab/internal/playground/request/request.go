// Package request handles the requests of the playground's page.
package request

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/lab"
	"github.com/gobackoff/retry/lab/internal/chart"
	"github.com/gobackoff/retry/lab/internal/report"
)

type request struct {
	What     string // waits, contention or storm
	Policy   string
	Clients  int     // of the contention
	Rate     float64 // of the storm, in calls a second
	Capacity float64 // in attempts a second
	Outage   string
	Seconds  float64 // of the outage
	Failures float64
}

type response struct {
	Error    string
	Own      []string // the name of the policy
	Section  report.Section
	Pictures []picture // for charts.js
}

type picture struct {
	Picture json.RawMessage
	Caption string
}

// Handle returns the response to a request, both as JSON. The response contains a Section and
// Pictures, or an Error.
func Handle(text string) string {
	data, err := json.Marshal(handle(text))
	if err != nil {
		data, _ = json.Marshal(response{Error: err.Error()})
	}
	return string(data)
}

func handle(text string) response {
	var q request
	if err := json.Unmarshal([]byte(text), &q); err != nil {
		return response{Error: err.Error()}
	}
	r, err := q.respond()
	if err != nil {
		return response{Error: err.Error()}
	}
	return r
}

func (q *request) respond() (response, error) {
	c, err := lab.ParseContender(q.Policy)
	if err != nil {
		return response{}, err
	}
	result, err := q.run(c)
	if err != nil {
		return response{}, err
	}
	r := response{Own: []string{c.Name}, Section: result.Section(c.Name)}
	for _, f := range r.Section.Figures {
		data, err := chart.Marshal(f.Picture)
		if err != nil {
			return response{}, err
		}
		r.Pictures = append(r.Pictures, picture{data, f.Caption})
	}
	r.Section.Figures, r.Section.Files = nil, nil
	return r, nil
}

type result interface {
	Section(own ...string) report.Section
}

func (q *request) run(c lab.Contender) (result, error) {
	switch q.What {
	case "waits":
		return report.NewExplain(c.Name, c.Policy(retry.SystemClock{}), 1), nil
	case "contention":
		return q.contention(c)
	case "storm":
		return q.storm(c)
	}
	return nil, fmt.Errorf("unknown request %q", q.What)
}

func with(c lab.Contender, others ...string) ([]lab.Contender, error) {
	list := []lab.Contender{c}
	for _, text := range others {
		other, err := lab.ParseContender(text)
		if err != nil {
			return nil, err
		}
		if other.Name != c.Name {
			list = append(list, other)
		}
	}
	return list, nil
}

const mostClients = 500 // limits memory and time

func (q *request) contention(c lab.Contender) (result, error) {
	if q.Clients < 2 || q.Clients > mostClients {
		return nil, fmt.Errorf("clients: %d is not in 2 to %d", q.Clients, mostClients)
	}
	list, err := with(c, "full base=10ms cap=2s attempts=unlimited", "exponential base=10ms cap=2s attempts=unlimited")
	if err != nil {
		return nil, err
	}
	model := lab.Contention{Contenders: list, Clients: []int{max(1, q.Clients/4), max(1, q.Clients/2), q.Clients}, Trials: 20, Timing: 100}
	if model.Clients[0] == model.Clients[1] {
		model.Clients = model.Clients[1:]
	}
	if model, err = model.WithDefaults(); err != nil {
		return nil, err
	}
	cells, err := model.Run(context.Background())
	if err != nil {
		return nil, err
	}
	return report.Contention{Cells: cells, Network: model.Network}, nil
}

func (q *request) storm(c lab.Contender) (result, error) {
	list, err := with(c, "none attempts=1", "full base=100ms cap=20s attempts=4")
	if err != nil {
		return nil, err
	}
	switch { // limits the time of a simulation to a second
	case !(q.Capacity >= 1 && q.Capacity <= 1000):
		return nil, fmt.Errorf("capacity: %v is not in 1 to 1000", q.Capacity)
	case !(q.Rate > 0 && q.Rate <= 1000):
		return nil, fmt.Errorf("rate: %v is not above 0 and up to 1000", q.Rate)
	case !(q.Seconds > 0 && q.Seconds <= 30):
		return nil, fmt.Errorf("seconds: %v is not above 0 and up to 30", q.Seconds)
	}
	from := 10 * time.Second
	s := lab.Storm{
		Contenders: list, Trials: 1, Rate: q.Rate, Workers: 1, Service: time.Duration(float64(time.Second) / q.Capacity),
		Queue: int(20 * q.Capacity), Processes: 10, Failures: q.Failures,
		Outage: lab.Outage{From: from, To: from + time.Duration(q.Seconds*float64(time.Second))},
	}
	s.Horizon = s.Outage.To + 50*time.Second
	for _, kind := range []lab.OutageKind{lab.Stall, lab.Down, lab.BrownOut, lab.Partial} {
		if kind.String() == q.Outage {
			s.Outage.Kind = kind
		}
	}
	if s.Outage.Kind.String() != q.Outage {
		return nil, fmt.Errorf("outage: unknown %q", q.Outage)
	}
	if s, err = s.WithDefaults(); err != nil {
		return nil, err
	}
	rows, err := s.Run(context.Background())
	if err != nil {
		return nil, err
	}
	return report.Storm{Storm: s, Rows: rows}, nil
}
