// Package request answers the requests of the playground's page.
package request

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/lab"
	"github.com/gobackoff/retry/lab/internal/page"
	"github.com/gobackoff/retry/lab/internal/report"
)

// request is what a visitor has typed.
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

// response is a section of a report, or what is wrong with the request.
type response struct {
	Error    string
	Section  page.Section
	Pictures []picture
}

type picture struct{ SVG, Caption string }

// Answer returns the JSON of the response to the JSON of a request: a section of a report
// as Section and Pictures, or what is wrong with the request as Error.
func Answer(text string) string {
	data, err := json.Marshal(answer(text))
	if err != nil {
		data, _ = json.Marshal(response{Error: err.Error()})
	}
	return string(data)
}

func answer(text string) (r response) {
	var q request
	err := json.Unmarshal([]byte(text), &q)
	if err == nil {
		r.Section, err = q.section()
	}
	if err != nil {
		return response{Error: err.Error()}
	}
	for _, f := range r.Section.Figures {
		r.Pictures = append(r.Pictures, picture{string(f.SVG), f.Caption})
	}
	r.Section.Figures = nil
	return r
}

func (q *request) section() (page.Section, error) {
	c, err := lab.ParseContender(q.Policy)
	if err != nil {
		return page.Section{}, err
	}
	switch q.What {
	case "waits":
		return report.NewExplain(c.Name, c.Policy(retry.SystemClock{}), 1).Section()
	case "contention":
		return q.contention(c)
	case "storm":
		return q.storm(c)
	}
	return page.Section{}, fmt.Errorf("unknown request %q", q.What)
}

// with adds the policy to those that it is compared with.
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

// mostClients keeps a browser's tab alive.
const mostClients = 500

func (q *request) contention(c lab.Contender) (page.Section, error) {
	if q.Clients < 2 || q.Clients > mostClients {
		return page.Section{}, fmt.Errorf("clients: %d is not in 2 to %d", q.Clients, mostClients)
	}
	list, err := with(c, "full base=10ms cap=2s attempts=unlimited", "exponential base=10ms cap=2s attempts=unlimited")
	if err != nil {
		return page.Section{}, err
	}
	model := lab.Contention{Contenders: list, Clients: []int{max(1, q.Clients/4), max(1, q.Clients/2), q.Clients}, Trials: 20, Timing: 100}
	if model.Clients[0] == model.Clients[1] {
		model.Clients = model.Clients[1:]
	}
	if model, err = model.WithDefaults(); err != nil {
		return page.Section{}, err
	}
	cells, err := model.Run(context.Background())
	if err != nil {
		return page.Section{}, err
	}
	return report.Contention{Cells: cells, Network: model.Network}.Section()
}

func (q *request) storm(c lab.Contender) (page.Section, error) {
	list, err := with(c, "none attempts=1", "full base=100ms cap=20s attempts=4")
	if err != nil {
		return page.Section{}, err
	}
	switch { // of a size that a tab simulates in a second
	case !(q.Capacity >= 1 && q.Capacity <= 1000):
		return page.Section{}, fmt.Errorf("capacity: %v is not in 1 to 1000", q.Capacity)
	case !(q.Rate > 0 && q.Rate <= 1000):
		return page.Section{}, fmt.Errorf("rate: %v is not above 0 and up to 1000", q.Rate)
	case !(q.Seconds > 0 && q.Seconds <= 30):
		return page.Section{}, fmt.Errorf("seconds: %v is not above 0 and up to 30", q.Seconds)
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
		return page.Section{}, fmt.Errorf("outage: unknown %q", q.Outage)
	}
	if s, err = s.WithDefaults(); err != nil {
		return page.Section{}, err
	}
	rows, err := s.Run(context.Background())
	if err != nil {
		return page.Section{}, err
	}
	return report.Storm{Storm: s, Rows: rows}.Section()
}
