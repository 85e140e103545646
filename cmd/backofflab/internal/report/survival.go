// Calls that begin when a server goes down for a while.

package report

import (
	"fmt"
	"io"
	"strconv"

	"github.com/gobackoff/retry/cmd/backofflab/internal/lab"
)

// Survival presents the results of a [lab.Survival].
type Survival struct {
	lab.Survival
	Rows []lab.SurvivalRow
}

// Table returns a row for each policy and number of calls, with the share of the calls that
// succeed and the requests per call for each outage.
func (s Survival) Table() *Table {
	t := &Table{Headers: []string{"policy", "calls"}}
	for _, outage := range s.Outages {
		t.Headers = append(t.Headers, outage.String())
	}
	for _, row := range s.Rows {
		cells := []Cell{{Text: row.Contender}, {Text: "any"}}
		if row.Calls > 0 {
			cells[1].Text = strconv.Itoa(row.Calls)
		}
		for i, success := range row.Success {
			cells = append(cells, Cell{Text: fmt.Sprintf("%.0f %% · %.1f", 100*success, row.Requests[i]), Bad: success < 0.5})
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// CSV writes a line for each policy, number of calls and outage, in full precision.
func (s Survival) CSV(w io.Writer) error {
	var lines [][]any
	for _, row := range s.Rows {
		for i, outage := range s.Outages {
			lines = append(lines, []any{row.Contender, row.Calls, outage.Seconds(), row.Success[i], row.Requests[i]})
		}
	}
	return writeCSV(w, []string{"policy", "calls", "outage_s", "success", "requests_per_call"}, lines)
}
