package report_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/gobackoff/retry/admit"
	"github.com/gobackoff/retry/cmd/backofflab/internal/chart"
	"github.com/gobackoff/retry/cmd/backofflab/internal/lab"
	"github.com/gobackoff/retry/cmd/backofflab/internal/report"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The simulated tables of docs/maintainers/overload-measured.md and the pictures of docs/storms.md are up
// to date.
func TestOverloadPage(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for some seconds")
	}
	storm := gated(t)
	old, err := os.ReadFile(docs + "maintainers/overload-measured.md")
	require.NoError(t, err)
	text := replaceBlock(t, string(old), "storm", markdown(storm.Table()))
	text = replaceBlock(t, text, "batch", markdown(batch(t)))
	checkFile(t, docs+"maintainers/overload-measured.md", text)
	page, err := os.ReadFile(docs + "storms.md")
	require.NoError(t, err)
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("no Node.js, which draws the pictures")
	}
	described := map[string]json.RawMessage{}
	for name, picture := range map[string]*chart.Picture{"load": storm.Load(), "goodput": storm.Goodput()} {
		described[name], err = picture.Marshal()
		require.NoError(t, err)
		assert.Contains(t, string(page), "](storms/"+name+".svg)")
	}
	for name, svg := range draw(t, described) {
		checkFile(t, docs+"storms/"+name+".svg", svg)
	}
}

func checkFile(t *testing.T, file, now string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(now), 0o644))
		return
	}
	old, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.True(t, string(old) == now, "%s is stale: go test ./internal/report -run TestOverloadPage -update", file)
}

// batch shows how many calls of a batch outlast an outage.
func batch(t *testing.T) *report.Table {
	s := lab.Survival{Calls: []int{1, 20, 200}, Seed: 1}
	for _, text := range []string{"standard attempts=3", "standard attempts=3 budget=shared", "standard elapsed=1m timeout=10s"} {
		c, err := lab.ParseContender(text)
		require.NoError(t, err)
		s.Contenders = append(s.Contenders, c)
	}
	s, err := s.WithDefaults()
	require.NoError(t, err)
	rows, err := s.Run(t.Context())
	require.NoError(t, err)
	return report.Survival{Survival: s, Rows: rows}.Table()
}

// gated returns the same storm without and with a gate.
func gated(t *testing.T) report.Storm {
	s := lab.Storm{Trials: 4, Seed: 1, Failures: -1, Outage: lab.Outage{From: 30 * time.Second, To: 32 * time.Second}, Horizon: 120 * time.Second}
	for _, text := range []string{"none", "standard attempts=3", "standard attempts=3 budget=shared", "standard attempts=4"} {
		c, err := lab.ParseContender(text)
		require.NoError(t, err)
		s.Contenders = append(s.Contenders, c)
	}
	s, err := s.WithDefaults()
	require.NoError(t, err)
	rows, err := s.Run(t.Context())
	require.NoError(t, err)
	s.Gate = func() *admit.Gate { return new(admit.Gate) }
	with, err := s.Run(t.Context())
	require.NoError(t, err)
	for i := range with {
		with[i].Contender += ", gate"
	}
	return report.Storm{Storm: s, Rows: append(rows, with...)}
}
