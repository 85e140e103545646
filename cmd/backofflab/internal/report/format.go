// Package report turns the results of the lab into tables, pictures and CSV.
package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gobackoff/retry/cmd/backofflab/internal/lab"
)

// Text writes a table in aligned columns.
func Text(w io.Writer, t *Table) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, strings.Join(t.Headers, "\t"))
	for _, row := range t.Rows {
		var texts []string
		for _, cell := range row {
			texts = append(texts, cell.Text)
		}
		fmt.Fprintln(tw, strings.Join(texts, "\t"))
	}
	return tw.Flush()
}

// writeCSV writes numbers in full precision.
func writeCSV(w io.Writer, header []string, rows [][]any) error {
	out := csv.NewWriter(w)
	out.Write(header)
	for _, row := range rows {
		fields := make([]string, len(row))
		for i, v := range row {
			if f, ok := v.(float64); ok {
				fields[i] = strconv.FormatFloat(f, 'g', -1, 64)
			} else {
				fields[i] = fmt.Sprint(v)
			}
		}
		out.Write(fields)
	}
	out.Flush()
	return out.Error()
}

// mean, sd and se return cells of a CSV file, which are empty if there are too few trials.
func mean(s lab.Summary) any { return known(s.Mean, s.N > 0) }
func sd(s lab.Summary) any   { return known(s.SD, s.N > 1) }
func se(s lab.Summary) any   { return known(s.SE(), s.N > 1) }

func known(x float64, ok bool) any {
	if !ok {
		return ""
	}
	return x
}

// estimate returns a mean and its 95 % confidence interval, rounded to the significant digits.
func estimate(s lab.Summary) string {
	margin, digits := s.Margin(), 3
	switch {
	case s.N == 1:
		return number(s.Mean)
	case margin > 0:
		digits = min(max(0, 1-int(math.Floor(math.Log10(margin)))), 3)
	}
	return interval(s, digits)
}

// interval returns a mean and, unless it rounds to nothing, its 95 % confidence interval. The
// quantity is never negative, so an interval that would reach below 0 begins there.
func interval(s lab.Summary, digits int) string {
	text := func(x float64) string { return strconv.FormatFloat(x, 'f', digits, 64) }
	switch margin := s.Margin(); {
	case text(margin) == text(0):
		return text(s.Mean)
	case margin > s.Mean:
		return fmt.Sprintf("%s (0 to %s)", text(s.Mean), text(s.Mean+margin))
	default:
		return text(s.Mean) + " ± " + text(margin)
	}
}

// number returns x with three digits, or as an integer if that has more digits.
func number(x float64) string {
	if x == 0 || math.IsInf(x, 0) {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	digits := 2 - int(math.Floor(math.Log10(math.Abs(x))))
	return strconv.FormatFloat(x, 'f', min(max(0, digits), 6), 64)
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + " %" }

// seconds formats d in seconds, with three digits.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(short(d).Seconds(), 'f', -1, 64) + " s"
}
