// Where a server does not recover.

package report

import (
	"fmt"
	"io"
	"strconv"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/lab"
)

// Metastability presents the results of a [lab.Metastability].
type Metastability struct {
	Points []lab.MetastabilityPoint
}

// threshold returns the utilization above which the retries of failed calls alone exceed
// the capacity of the server.
func threshold(p lab.MetastabilityPoint) string {
	switch {
	case p.Bounded:
		return "bounded"
	case p.Attempts == retry.Unlimited:
		return "0"
	}
	return number(1 / float64(p.Attempts))
}

// Table returns a row for each policy, with the recovery in seconds at each utilization.
func (m Metastability) Table() *Table {
	t := &Table{Headers: []string{"policy", "1 / attempts"}}
	for i, p := range m.Points {
		if i == 0 || p.Contender != m.Points[i-1].Contender {
			t.add(label(p.Contender), threshold(p))
		}
		if len(t.Rows) == 1 {
			t.Headers = append(t.Headers, fmt.Sprint(p.Utilization))
		}
		text := recovery(p.Recovery, p.Never)
		switch {
		case p.Trials == 0:
			text = "–"
		case p.Never == 0:
			text = strconv.FormatFloat(p.Recovery.Mean, 'f', 0, 64)
		}
		row := &t.Rows[len(t.Rows)-1]
		*row = append(*row, Cell{Text: text, Bad: p.Never > 0})
	}
	return t
}

// CSV writes a line for each point.
func (m Metastability) CSV(w io.Writer) error {
	var rows [][]any
	for _, p := range m.Points {
		rows = append(rows, []any{p.Contender, p.Utilization, p.Trials, p.Never, mean(p.Recovery), se(p.Recovery)})
	}
	return writeCSV(w, []string{"policy", "utilization", "trials", "never", "recovery_s_mean", "recovery_s_se"}, rows)
}
