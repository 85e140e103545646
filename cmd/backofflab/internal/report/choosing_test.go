package report_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gobackoff/retry/cmd/backofflab/internal/chart"
	"github.com/gobackoff/retry/cmd/backofflab/internal/lab"
	"github.com/gobackoff/retry/cmd/backofflab/internal/report"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the tables and pictures of docs/maintainers/policies.md")

const docs = "../../../../docs/"

const again = "go test ./internal/report -run 'TestChoosing|TestPictures' -update"

const data = "testdata/choosing.json" // the data of the pictures

// The tables of docs/maintainers/policies.md, and the data of its pictures, are up to date.
func TestChoosing(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for some seconds")
	}
	tables, pictures := choosing(t)
	old, err := os.ReadFile(docs + "maintainers/policies.md")
	require.NoError(t, err)
	text := string(old)
	for name, table := range tables {
		text = replaceBlock(t, text, name, markdown(table))
	}
	described := map[string]map[string]json.RawMessage{}
	for section, list := range pictures {
		described[section] = map[string]json.RawMessage{}
		for name, picture := range list {
			described[section][name], err = picture.Marshal()
			require.NoError(t, err, name)
		}
	}
	now, err := json.MarshalIndent(described, "", " ")
	require.NoError(t, err)
	now = numberLists.ReplaceAllFunc(now, func(list []byte) []byte { return spaces.ReplaceAll(list, nil) })
	if *update {
		require.NoError(t, os.WriteFile(docs+"maintainers/policies.md", []byte(text), 0o644))
		require.NoError(t, os.WriteFile(data, now, 0o644))
		return
	}
	assert.Equal(t, string(old), text, "stale: "+again)
	committed, err := os.ReadFile(data)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(committed, now), "%s is stale: %s", data, again)
}

var (
	numberLists = regexp.MustCompile(`\[[^\[\]{}"]*\]`)
	spaces      = regexp.MustCompile(`\s+`)
)

// The pictures of docs/maintainers/policies.md are up to date with the data and charts.js.
func TestPictures(t *testing.T) {
	text, err := os.ReadFile(data)
	require.NoError(t, err)
	var sections map[string]map[string]json.RawMessage // a policy looks the same in all pictures of a section
	require.NoError(t, json.Unmarshal(text, &sections))
	page, err := os.ReadFile(docs + "maintainers/policies.md")
	require.NoError(t, err)
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("no Node.js, which draws the pictures")
	}
	count := 0
	for _, described := range sections {
		for name, svg := range draw(t, described) {
			count++
			assert.True(t, bytes.Contains(page, []byte("](../choosing/"+name+".svg)")), name)
			file := docs + "choosing/" + name + ".svg"
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(svg), 0o644))
				continue
			}
			old, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.True(t, string(old) == svg, "%s is stale: %s", file, again)
		}
	}
	files, err := filepath.Glob(docs + "choosing/*")
	require.NoError(t, err)
	assert.Len(t, files, count, "docs/choosing contains a file that no test draws")
}

func draw(t *testing.T, pictures map[string]json.RawMessage) map[string]string {
	t.Helper()
	files, err := chart.SVG(t.Context(), pictures)
	require.NoError(t, err)
	return files
}

func choosing(t *testing.T) (map[string]*report.Table, map[string]map[string]*chart.Picture) {
	staggered, err := lab.ParseContender("full base=10ms cap=2s attempts=unlimited stagger=200ms")
	require.NoError(t, err)
	c, err := lab.Contention{Contenders: append(slices.Concat(lab.Blog(), lab.Fibonacci()), staggered), Clients: []int{10, 25, 50, 75, 100}, Seed: 1}.WithDefaults()
	require.NoError(t, err)
	cells, err := c.Run(t.Context())
	require.NoError(t, err)
	contention := report.Contention{Cells: cells}
	var hundred []lab.Cell
	for _, cell := range cells {
		if cell.Clients == 100 {
			hundred = append(hundred, cell)
		}
	}

	four, err := lab.Contention{Contenders: lab.Blog()[1:], Clients: []int{100}, Trials: 20, Timing: 80, Seed: 1}.WithDefaults()
	require.NoError(t, err)
	timing, err := four.Run(t.Context())
	require.NoError(t, err)

	s := lab.Storm{
		Trials: 4, Seed: 1, Failures: -1,
		Outage:  lab.Outage{From: 30 * time.Second, To: 32 * time.Second},
		Horizon: 120 * time.Second,
	}
	for _, text := range []string{
		"none",
		"no-delay attempts=3",
		"standard attempts=3",
		"standard attempts=3 budget=shared",
		"standard attempts=3 budget=token",
		"standard attempts=3 budget=ratio",
		"standard attempts=3 budget=throttle",
	} {
		c, err := lab.ParseContender(text)
		require.NoError(t, err)
		s.Contenders = append(s.Contenders, c)
	}
	s, err = s.WithDefaults()
	require.NoError(t, err)
	result, err := s.Run(t.Context())
	require.NoError(t, err)
	storm := report.Storm{Storm: s, Rows: result}
	page, err := os.ReadFile(docs + "maintainers/policies.md")
	require.NoError(t, err)
	stall := map[time.Duration]string{2 * time.Second: "two"}[s.Outage.To-s.Outage.From]
	assert.Contains(t, string(page), fmt.Sprintf("A server with a capacity of %d,%03d calls a second receives %.0f. It stalls for %s seconds",
		int(s.Capacity())/1000, int(s.Capacity())%1000, s.Rate, stall))

	survival, err := lab.Survival{Contenders: lab.Patient(), Seed: 1}.WithDefaults()
	require.NoError(t, err)
	survivors, err := survival.Run(t.Context())
	require.NoError(t, err)

	return map[string]*report.Table{
			"contention": report.Contention{Cells: hundred}.Table(),
			"storm":      storm.Table(),
			"map":        utilizations(t),
			"survival":   report.Survival{Survival: survival, Rows: survivors}.Table(),
		}, map[string]map[string]*chart.Picture{
			"contention": {
				"calls":  contention.Calls(),
				"jitter": report.Contention{Cells: timing}.Timing(),
			},
			"storm": {"load": storm.Load(), "goodput": storm.Goodput()},
		}
}

// utilizations shows the recovery in seconds after a stall, by policy and utilization.
func utilizations(t *testing.T) *report.Table {
	table := &report.Table{Headers: []string{"policy"}}
	for _, utilization := range []float64{0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9} {
		s, err := lab.Storm{
			Trials: 2, Seed: 1, Workers: 1, Processes: 10, Failures: -1,
			Outage: lab.Outage{From: time.Minute, To: 90 * time.Second}, Horizon: 400 * time.Second,
		}.WithDefaults()
		require.NoError(t, err)
		s.Rate = utilization * s.Capacity()
		for _, more := range []string{"attempts=1", "attempts=2", "attempts=3", "attempts=4", "attempts=5", "attempts=4 budget=shared"} {
			c, err := lab.ParseContender("full base=100ms cap=20s " + more)
			require.NoError(t, err)
			s.Contenders = append(s.Contenders, c)
		}
		rows, err := s.Run(t.Context())
		require.NoError(t, err)
		table.Headers = append(table.Headers, fmt.Sprint(utilization))
		for i, row := range rows {
			if len(table.Rows) == i {
				table.Rows = append(table.Rows, []report.Cell{{Text: row.Contender}})
			}
			text := "never"
			if row.Never == 0 {
				text = fmt.Sprintf("%.0f", row.Recovery.Mean)
			}
			table.Rows[i] = append(table.Rows[i], report.Cell{Text: text})
		}
	}
	return table
}

func markdown(t *report.Table) string {
	rule := []string{"---"}
	for range t.Headers[1:] {
		rule = append(rule, "---:")
	}
	var text strings.Builder
	write := func(row []string) { text.WriteString("| " + strings.Join(row, " | ") + " |\n") }
	write(t.Headers)
	write(rule)
	for _, row := range t.Rows {
		var texts []string
		for _, cell := range row {
			texts = append(texts, cell.Text)
		}
		write(texts)
	}
	return text.String()
}

// replaceBlock replaces the block between the comment <!-- name --> and the next empty
// line.
func replaceBlock(t *testing.T, text, name, block string) string {
	mark := "<!-- " + name + " -->\n"
	before, after, ok := strings.Cut(text, mark)
	require.True(t, ok, "no %s", mark)
	_, rest, ok := strings.Cut(after, "\n\n")
	if strings.HasPrefix(after, "\n") {
		rest, ok = after[1:], true
	}
	require.True(t, ok)
	return before + mark + block + "\n" + rest
}
