package report_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/lab"
	"github.com/gobackoff/retry/lab/internal/page"
	"github.com/gobackoff/retry/lab/internal/report"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the tables and pictures of docs/choosing.md anew")

const docs = "../../../docs/"

// The tables and pictures of docs/choosing.md are what the lab makes now.
func TestChoosing(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for some seconds")
	}
	tables, pictures := choosing(t)
	old, err := os.ReadFile(docs + "choosing.md")
	require.NoError(t, err)
	text := string(old)
	for name, table := range tables {
		text = replaceBlock(t, text, name, markdown(table))
	}
	const command = "go test ./internal/report -run TestChoosing -update"
	if *update {
		require.NoError(t, os.WriteFile(docs+"choosing.md", []byte(text), 0o644))
	} else {
		assert.Equal(t, string(old), text, "stale: "+command)
	}
	files, err := filepath.Glob(docs + "choosing/*")
	require.NoError(t, err)
	if !*update {
		assert.Len(t, files, len(pictures), command)
	}
	for name, draw := range pictures {
		svg, err := draw()
		require.NoError(t, err, name)
		assert.Contains(t, text, "](choosing/"+name+".svg)")
		file := docs + "choosing/" + name + ".svg"
		if *update {
			require.NoError(t, os.WriteFile(file, svg, 0o644))
			continue
		}
		old, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(old, svg), "%s is stale: %s", file, command)
	}
}

// choosing makes the tables and pictures of the page.
func choosing(t *testing.T) (map[string]*page.Table, map[string]func() ([]byte, error)) {
	c, err := lab.Contention{Contenders: slices.Concat(lab.Blog(), lab.Fibonacci(), lab.Informed()), Clients: []int{10, 25, 50, 75, 100}, Seed: 1}.WithDefaults()
	require.NoError(t, err)
	cells, err := c.Run(t.Context())
	require.NoError(t, err)
	contention := report.Contention{Cells: cells, Network: c.Network}
	var hundred []lab.Cell
	for _, cell := range cells {
		if cell.Clients == 100 {
			hundred = append(hundred, cell)
		}
	}

	s := lab.Storm{
		Trials: 4, Seed: 1,
		Outage:  lab.Outage{From: 30 * time.Second, To: 32 * time.Second},
		Horizon: 120 * time.Second,
	}
	for _, text := range []string{
		"none attempts=1",
		"none attempts=4",
		"full base=100ms attempts=4",
		"full base=100ms attempts=4 budget=token",
		"full base=100ms attempts=4 budget=ratio:0.1:0.1",
		"full base=100ms attempts=4 budget=throttle",
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

	rows, err := lab.WithRetries("full base=100ms cap=20s", []int{0, 1, 2, 3, 4})
	require.NoError(t, err)
	bounded, err := lab.ParseContender("full base=100ms cap=20s attempts=4 budget=throttle")
	require.NoError(t, err)
	points, err := lab.Metastability{Storm: lab.Storm{Contenders: append(rows, bounded), Trials: 1, Seed: 1}, Utilizations: []float64{0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}}.Run(t.Context())
	require.NoError(t, err)
	metastability := report.Metastability{Points: points}
	waits := report.NewExplain("", retry.Policy{}, 1)
	return map[string]*page.Table{
			"contention": report.Contention{Cells: hundred}.Table(),
			"storm":      storm.Table(),
			"map":        metastability.Table(),
			"waits":      waits.Table(),
		}, map[string]func() ([]byte, error){
			"calls": contention.Calls, "tradeoff": contention.Tradeoff,
			"load": storm.Load, "goodput": storm.Goodput,
			"map":   metastability.Map,
			"waits": waits.Delays,
		}
}

// markdown returns a table as the page has it.
func markdown(t *page.Table) string {
	rule := []string{"---"}
	for range t.Headers[1:] {
		rule = append(rule, "---:")
	}
	var text strings.Builder
	for _, row := range append([][]string{t.Headers, rule}, t.Rows...) {
		text.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
	return text.String()
}

// replaceBlock replaces what follows the mark of a name, to the next empty line.
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
