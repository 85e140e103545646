package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"
)

// us names this library's column, with which the ratios compare the others.
const us = "retry"

// columns lists the adapters' titles. An unlisted adapter appears under its name.
var columns = []struct{ name, title, module string }{
	{us, "this library", ""},
	{"loop", "hand-written loop", ""},
	{"cenkalti-v7", "cenkalti v7 ¹", "github.com/cenkalti/backoff/v7"},
	{"cenkalti-v5", "cenkalti v5 ¹", "github.com/cenkalti/backoff/v5"},
	{"avast", "avast ²", "github.com/avast/retry-go/v5"},
	{"sethvargo", "sethvargo ¹", "github.com/sethvargo/go-retry"},
	{"failsafe", "failsafe-go", "github.com/failsafe-go/failsafe-go"},
	{"aws", "AWS SDK ³", "github.com/aws/aws-sdk-go-v2"},
	{"k8s", "Kubernetes wait ⁴", "k8s.io/apimachinery"},
	{bareColumn, "bare goroutine ⁵", ""},
}

const bareColumn = "goroutine" // contains only memory figures

const footnotes = `Cells: median ± spread (95 % confidence) · allocations · ratio to this library. Bold: better than this library, and not by chance (p < 0.05).
¹ Its backoff holds the state of one call: if it grows or is counted, each call builds its own, even in rows marked "built once".
² A policy that is built once has its context built in, and serves only calls with that context.
³ Its retry middleware around a handler that does nothing, hooks for traces and metrics included.
⁴ Does not return the last error of the operation.
⁵ A goroutine in a select of a timer and a context: what waiting costs without any call.`

// rows lists the titles of the rows in order. An unlisted benchmark gets a row at the end.
var rows = []struct {
	name, title string
	short       bool
}{
	{"Success/policy=shared", "success at once, policy built once", true},
	{"Success/policy=built", "success at once, policy built for the call", false},
	{"Value", "success at once, with a value", false},
	{"ThreeRetries/with=cancel", "three retries after 1 ns each", true},
	{"ThreeRetries/with=hook", "… with a hook for retries", false},
	{"ThreeRetries/with=deadline", "… with a deadline", false},
	{"ThreeRetries/with=budget", "… with a budget", false},
	{"GiveUp/attempts=1", "giving up after 1 attempt", false},
	{"GiveUp/attempts=3", "giving up after 3 attempts, no wait", false},
	{"Delay/of=constant", "one delay: constant", false},
	{"Delay/of=exponential", "one delay: exponential", false},
	{"Delay/of=full-jitter", "one delay: full jitter", false},
	{"Delay/of=part-jitter", "one delay: exponential, partly random", false},
	{"Delay/of=equal-jitter", "one delay: equal jitter", false},
	{"Delay/of=decorrelated", "one delay: decorrelated jitter", false},
	{"Delay/of=linear", "one delay: linear", false},
	{"Delay/of=fibonacci", "one delay: Fibonacci", false},
	{"Delay/of=schedule", "one delay: from a list", false},
	{"Shared/op=succeeds/budget=no", "shared policy, success", false},
	{"Shared/op=succeeds/budget=yes", "shared policy and budget, success", false},
	{"Shared/op=retries/budget=no", "shared policy, three retries without wait", false},
	{"Shared/op=retries/budget=yes", "shared policy and budget, three retries without wait", false},
	{"Waiting", "memory of a call that waits after a wrapped error", true},
}

const shortBench = `^Benchmark(Success|ThreeRetries|Waiting)$/^(policy=shared|with=cancel|by=.*)$`

func (r *results) print(w io.Writer, short bool) {
	names, titles := r.columns()
	fmt.Fprintf(w, "| | %s |\n|%s\n", strings.Join(titles, " | "), strings.Repeat(" --- |", len(titles)+1))
	for _, row := range r.ordered() {
		title, inShort := describe(row)
		if short && !inShort {
			continue
		}
		r.printRow(w, title, row, names, cell)
		if cores(row) != "" && row == r.last(row) {
			r.printRow(w, "… speed-up", row, names, speedUp)
		}
		if row == "Waiting" {
			r.printRow(w, "… from the operating system", row, names, sysCell)
		}
	}
	fmt.Fprintf(w, "\n%s\n", strings.ReplaceAll(footnotes, "\n", "  \n"))
}

// printRow writes a row unless all its cells are empty.
func (r *results) printRow(w io.Writer, title, row string, names []string, format func(*results, key) string) {
	cells, some := make([]string, len(names)), false
	for n, name := range names {
		cells[n] = format(r, key{row, name})
		some = some || cells[n] != ""
	}
	if some {
		fmt.Fprintf(w, "| %s | %s |\n", title, strings.Join(cells, " | "))
	}
}

func (r *results) columns() (names, titles []string) {
	for _, c := range columns {
		if slices.Contains(r.cols, c.name) {
			names, titles = append(names, c.name), append(titles, c.title)
		}
	}
	for _, c := range r.cols {
		if !slices.Contains(names, c) {
			names, titles = append(names, c), append(titles, c)
		}
	}
	return names, titles
}

var coreSuffix = regexp.MustCompile(`/cpu=(\d+)$`)

// cores returns the number of processors in the name of a row, or "".
func cores(row string) string {
	if m := coreSuffix.FindStringSubmatch(row); m != nil {
		return m[1]
	}
	return ""
}

func (r *results) ordered() []string {
	place := func(row string) int {
		base := coreSuffix.ReplaceAllString(row, "")
		for n, known := range rows {
			if known.name == base {
				return n
			}
		}
		return len(rows)
	}
	sorted := slices.Clone(r.rows)
	slices.SortStableFunc(sorted, func(a, b string) int { return place(a) - place(b) })
	return sorted
}

// sameBut returns the rows that differ from row only in the number of processors.
func (r *results) sameBut(row string) []string {
	base := coreSuffix.ReplaceAllString(row, "")
	var same []string
	for _, other := range r.rows {
		if coreSuffix.ReplaceAllString(other, "") == base {
			same = append(same, other)
		}
	}
	return same
}

func (r *results) first(row string) string { return r.sameBut(row)[0] }

func (r *results) last(row string) string {
	same := r.sameBut(row)
	return same[len(same)-1]
}

// describe returns the title of a row and whether the row is in the short table.
func describe(row string) (string, bool) {
	title, inShort := row, false
	for _, known := range rows {
		if known.name == coreSuffix.ReplaceAllString(row, "") {
			title, inShort = known.title, known.short
		}
	}
	if n := cores(row); n != "" {
		title += ", processors: " + n
	}
	return title, inShort
}

func cell(r *results, k key) string {
	s, ours := r.cells[k], r.cells[key{k.row, us}]
	if s == nil {
		return ""
	}
	figures := s.figures()
	summary := benchmath.AssumeNothing.Summary(figures, 0.95)
	format := formatTime
	if len(s.memory) > 0 {
		format = formatBytes
	}
	parts := []string{format(summary.Center)}
	if spread := summary.PctRangeString(); spread != "∞" { // fewer than six runs
		parts[0] += " ±" + spread
	}
	if len(s.allocs) > 0 {
		allocs := median(s.allocs)
		fewer := ours != nil && len(ours.allocs) > 0 && allocs < median(ours.allocs)
		parts = append(parts, bold(fmt.Sprintf("%.0f", allocs), fewer))
	}
	if ours != nil && k.column != us {
		reference := ours.figures()
		ratio := summary.Center / median(reference.Values)
		// Runs of equally fast libraries differ by chance.
		test := benchmath.AssumeNothing.Compare(figures, reference)
		parts = append(parts, bold(formatRatio(ratio), ratio < 1 && test.P < test.Alpha))
	}
	return strings.Join(parts, " · ")
}

func sysCell(r *results, k key) string {
	s, ours := r.cells[k], r.cells[key{k.row, us}]
	if s == nil || len(s.sys) == 0 {
		return ""
	}
	text := formatBytes(median(s.sys))
	if ours != nil && k.column != us {
		text += " · " + formatRatio(median(s.sys)/median(ours.sys))
	}
	return text
}

// speedUp returns how much faster a library is with the last number of
// processors than with the first.
func speedUp(r *results, k key) string {
	one, many := r.cells[key{r.first(k.row), k.column}], r.cells[k]
	if one == nil || many == nil || one == many {
		return ""
	}
	return formatRatio(median(one.seconds) / median(many.seconds))
}

func bold(text string, yes bool) string {
	if yes {
		return "**" + text + "**"
	}
	return text
}

func formatTime(seconds float64) string {
	switch {
	case seconds < 99.95e-9:
		return fmt.Sprintf("%.1f ns", seconds*1e9)
	case seconds < 9999.5e-9:
		return fmt.Sprintf("%.0f ns", seconds*1e9)
	}
	return fmt.Sprintf("%.1f µs", seconds*1e6)
}

func formatBytes(bytes float64) string { return fmt.Sprintf("%.0f B", bytes) }

func formatRatio(ratio float64) string {
	if ratio < 9.995 {
		return fmt.Sprintf("%.2f×", ratio)
	}
	return fmt.Sprintf("%.0f×", ratio)
}
