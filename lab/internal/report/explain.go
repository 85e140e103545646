// The waits of one policy.

package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/lab"
	"github.com/gobackoff/retry/lab/internal/chart"
)

// Explain presents the waits of one policy.
type Explain struct {
	name   string
	policy retry.Policy
	plan   retry.Plan
	waits  [][]time.Duration // sampled, for the retries of the plan
}

// NewExplain plans the waits of a policy and samples them.
func NewExplain(name string, p retry.Policy, seed uint64) Explain {
	plan, waits := p.Plan(), lab.Waits(p, drawn, seed)
	return Explain{name, p, plan, waits[:min(len(waits), len(plan.Retries))]}
}

const (
	drawn = 10_000 // number of sampled calls
	boxes = 20     // maximum number of retries in the picture
)

// Facts returns the properties of the policy, as names and values.
func (e Explain) Facts() []Note {
	p, plan := e.policy, e.plan
	mean, most := e.attempts()
	facts := []Note{
		{Name: "policy", Value: p.String()},
		{Name: "attempts", Value: fmt.Sprint(most)},
		{Name: "waits in all", Value: rangeText(plan.Total)},
		{Name: "while all attempts fail", Value: number(mean) + " times the load"},
	}
	endless := e.endless()
	if endless {
		facts[1].Value, facts[3].Value = "without end, and below the first hundred", "more load from second to second"
	}
	if p.MaxElapsed > 0 {
		facts = append(facts, Note{Name: "time limit", Value: p.MaxElapsed.String()})
	}
	if p.Stagger > 0 {
		facts = append(facts, Note{Name: "before the first attempt", Value: "up to " + p.Stagger.String()})
	}
	if p.AttemptTimeout > 0 {
		facts = append(facts, Note{Name: "limit of an attempt", Value: p.AttemptTimeout.String()})
	}
	switch {
	case p.Budget != nil:
		facts = append(facts, Note{Name: "budget", Value: fmt.Sprintf("%T, which ends that load", p.Budget)})
	case endless:
		facts = append(facts, Note{Name: "budget", Value: "none: a server can stay down after a failure, however little it is used"})
	case mean > 1:
		facts = append(facts, Note{Name: "budget", Value: fmt.Sprintf(
			"none: a server that is used at more than %s can stay down after a failure", percent(1/mean))})
	}
	if p.Limiter != nil {
		facts = append(facts, Note{Name: "limiter", Value: fmt.Sprintf("%T", p.Limiter)})
	}
	return facts
}

// attempts returns the mean and maximum number of attempts of a call that always fails.
func (e Explain) attempts() (mean, most float64) {
	mean = 1
	for _, list := range e.waits {
		mean += float64(len(list)) / drawn
	}
	return mean, float64(1 + len(e.waits))
}

func rangeText(r retry.WaitStats) string {
	return fmt.Sprintf("%v to %v, on average %v, 99 of 100 below %v", short(r.Min), short(r.Max), short(r.Mean), short(r.P99))
}

// short rounds d to three digits.
func short(d time.Duration) time.Duration {
	if d <= 0 {
		return d
	}
	unit := time.Duration(math.Pow(10, math.Floor(math.Log10(float64(d)))-2))
	return d.Round(max(1, unit))
}

// Table returns a row for each retry, and one for the sum.
func (e Explain) Table() *Table {
	t := &Table{Headers: []string{"wait before", "least", "median", "mean", "99 %", "most"}}
	for i, list := range e.waits {
		r, median := e.plan.Retries[i], time.Duration(quantile(list, 0.5))
		t.Rows = append(t.Rows, []string{
			fmt.Sprintf("retry %d", i+1), short(r.Min).String(), short(median).String(), short(r.Mean).String(), short(r.P99).String(), short(r.Max).String(),
		})
	}
	all := e.plan.Total
	t.Rows = append(t.Rows, []string{"all", short(all.Min).String(), "", short(all.Mean).String(), short(all.P99).String(), short(all.Max).String()})
	return t
}

// CSV writes a line for each retry, in seconds.
func (e Explain) CSV(w io.Writer) error {
	header := []string{"policy", "retry", "min_s", "p5_s", "p25_s", "p50_s", "p75_s", "p95_s", "max_s"}
	var rows [][]any
	for i, r := range e.ranges() {
		rows = append(rows, []any{e.name, i + 1, r.Min, r.P5, r.P25, r.Median, r.P75, r.P95, r.Max})
	}
	return writeCSV(w, header, rows)
}

func (e Explain) ranges() []chart.Range {
	var ranges []chart.Range
	retries := e.plan.Retries
	for i, list := range e.waits {
		at := func(p float64) float64 { return quantile(list, p) / float64(time.Second) }
		ranges = append(ranges, chart.Range{
			Name: strconv.Itoa(i + 1), Min: min(retries[i].Min.Seconds(), at(0)),
			P5: at(0.05), P25: at(0.25), Median: at(0.5), P75: at(0.75), P95: at(0.95),
			Max: max(retries[i].Max.Seconds(), at(1)),
		})
	}
	return ranges
}

// quantile returns the p-quantile of an ascending list.
func quantile(list []time.Duration, p float64) float64 {
	return float64(list[int(p*float64(len(list)-1))])
}

// endless reports whether the plan ends only because it has a hundred retries, not because
// the next one is rare.
func (e Explain) endless() bool { return e.plan.Truncated && len(e.plan.Retries) >= 100 }

// Section returns the table, the picture, and a finding about the policy.
func (e Explain) Section(...string) Section {
	mean, _ := e.attempts()
	load := fmt.Sprintf("While all attempts fail, it makes %s attempts a call.", number(mean))
	if e.endless() {
		load = "While all attempts fail, a call never ends."
	}
	var facts []string
	for _, fact := range e.Facts() {
		facts = append(facts, fact.Name+": "+fact.Value)
	}
	return Section{
		Heading: e.name,
		Findings: []Finding{{
			Policy: e.name, Headline: fmt.Sprintf("Waits of %v on average", short(e.plan.Total.Mean)),
			Text: fmt.Sprintf("Waits: %s. %s", rangeText(e.plan.Total), load),
		}},
		Text: "The waits of a call whose attempts all fail at once, with transient errors and without a hint. " +
			"Budgets, limiters and deadlines may end it earlier.\n\n" + strings.Join(facts, " · "),
		Table: e.Table(),
		Figures: figures(Figure{e.Delays(), "Each box holds the middle half of the waits, and the line in it is the median. " +
			"90 % of the waits are within the whiskers, and the dots are the shortest and the longest."}),
		Files: []File{file("waits.csv", e.CSV)},
	}
}

// Delays shows the distribution of each wait; nil if there is none.
func (e Explain) Delays() chart.Picture {
	ranges := e.ranges()
	if len(ranges) == 0 {
		return nil
	}
	return chart.Ranges{
		Title:  "Waits by retry",
		X:      chart.Axis{Label: "retry"},
		Y:      chart.Axis{Label: "wait (s)"},
		Ranges: ranges[:min(len(ranges), boxes)],
	}
}
