package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/cmd/backofflab/internal/lab"
)

func backofflab(ctx context.Context, args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(ctx, args, &out, &err)
	return status, out.String(), err.String()
}

func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	tests := map[string][]string{
		`no command`:                     {},
		`unknown command "contend"`:      {"contend"},
		`"ful"`:                          {"contention", "-policy", "ful base=10ms"},
		`clients: 0 is not`:              {"contention", "-clients", "0"},
		`clients: -5 is not in`:          {"contention", "-clients", "-5"},
		`clients: "many" is not`:         {"contention", "-clients", "many"},
		`clients: range "9..3"`:          {"contention", "-clients", "9..3"},
		`clients: "x" is not a`:          {"contention", "-clients", "1..x"},
		`more than 1000 numb`:            {"contention", "-clients", "1..5000"},
		`trials: 0 is`:                   {"contention", "-trials", "0"},
		`trials: -1`:                     {"contention", "-trials", "-1"},
		`network: the mean`:              {"contention", "-network", "-1s"},
		`one argument too many`:          {"contention", "10"},
		`not defined: -no`:               {"contention", "-no"},
		`invalid value "x" for flag`:     {"contention", "-seed", "x"},
		`no policy`:                      {"explain"},
		`"full"`:                         {"explain", "none", "full"},
		`negative`:                       {"explain", "full base=-1s"},
		`unknown outage "fire"; there`:   {"storm", "-outage", "fire"},
		`Rate: -1 is not above 0`:        {"storm", "-rate", "-1"},
		`rate: 0 is not above 0`:         {"storm", "-rate", "0"},
		`Rate: -2 is not above 0`:        {"advise", "-rate", "-2"},
		`workers: 0 is not above 0`:      {"storm", "-workers", "0"},
		`Horizon: 50s is too`:            {"storm", "-horizon", "50s"},
		`Outage: from 30s to 20s`:        {"storm", "-to", "20s"},
		`can be 1e+10 at the same`:       {"storm", "-rate", "1e9"},
		`policy "y": `:                   {"storm", "-policy", "y"},
		`groups: blog, fib`:              {"contention", "-policy", "blogg"},
		`is too large`:                   {"contention", "-clients", "9223372036854775807..9223372036854775807"},
		`20000000000 is too large`:       {"contention", "-clients", "20000000000"},
		`is a directory`:                 {"report", "-html", dir},
		`unknown name "known"`:           {"explain", "known each=7ms"},
		`"first"`:                        {"explain", "no-delay first=1s"},
		`did you mean contention? There`: {"contenton"},
		`did you mean -policy?`:          {"storm", "-polcy", "none"},
		`did you mean "fibonacci"?`:      {"contention", "-policy", "fibonaci base=1s"},
		`html: a report needs a file`:    {"report", "-html", ""},
		`capacity: 150 a second is not`:  {"storm", "-capacity", "150"},
		`capacity: cannot be combined`:   {"storm", "-capacity", "100", "-workers", "1"},
		`Failures: 1 is not`:             {"storm", "-failures", "1"},
		`failures: -0.1 is not from 0`:   {"storm", "-failures", "-0.1"},
		`latency has its own mean`:       {"storm", "-latency", "x", "-service", "1s"},
		`latency: open /no/such`:         {"storm", "-latency", "/no/such"},
		`open /no/such.yaml`:             {"storm", "-system", "/no/such.yaml"},
		`one argument too many; quote`:   {"version", "x"},
		`open /no/such/h.html: no`:       {"report", "-html", "/no/such/h.html"},
		`policy "z": `:                   {"report", "-policy", "z"},
		`no such file`:                   {"contention", "-csv", "/no/such/folder/x.csv"},
	}
	for want, args := range tests {
		t.Run(want, func(t *testing.T) {
			status, stdout, stderr := backofflab(t.Context(), args...)
			assert.Equal(t, misused, status)
			assert.Empty(t, stdout)
			assert.Contains(t, stderr, want)
			assert.Equal(t, 1, strings.Count(stderr, "\n"), "one line: %s", stderr)
		})
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"-h"}, {"contention", "-help"}, {"explain", "-h"}, {"help", "storm"}, {"help", "init"}, {"help", "version"}} {
		status, stdout, stderr := backofflab(t.Context(), args...)
		assert.Zero(t, status)
		assert.Contains(t, stdout, "usage: backofflab")
		assert.Empty(t, stderr)
	}
}

// TestContentionPictures: one command writes a page and the pictures of the article.
func TestContentionPictures(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	folder := t.TempDir()
	page := filepath.Join(folder, "page.html")
	status, _, stderr := backofflab(t.Context(), "contention", "-clients", "5,10", "-trials", "3", "-html", page, "-svg", folder)
	require.Zero(t, status, stderr)
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(text), "<title>Clients that contend for one row</title>")
	for name, label := range map[string]string{"work": "calls", "time": "time until all are done (s)", "calls-over-time": "time since the start (s)"} {
		svg, err := os.ReadFile(filepath.Join(folder, name+".svg"))
		require.NoError(t, err)
		assert.Contains(t, string(svg), label)
		for _, c := range lab.Blog() {
			assert.Contains(t, string(svg), c.Name, name)
		}
	}
}

func TestContentionIsTheSameOnAnyNumberOfCores(t *testing.T) {
	args := []string{"contention", "-clients", "5,10,20,40", "-trials", "20", "-seed", "3", "-csv", "-", "-parallel"}
	status, one, _ := backofflab(t.Context(), append(args, "1")...)
	require.Zero(t, status)
	status, four, _ := backofflab(t.Context(), append(args, "4")...)
	require.Zero(t, status)
	assert.Equal(t, one, four)
	assert.Equal(t, 1+5*4, strings.Count(one, "\n"))
	assert.True(t, strings.HasPrefix(one, "policy,clients,trials,calls_mean"))
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link.csv")
	require.NoError(t, os.Symlink("real.csv", link))
	status, stdout, stderr := backofflab(t.Context(), "contention", "-policy", "blog", "-policy", "no-delay attempts=unlimited", "-clients", "10,20", "-trials", "5", "-csv", link)
	require.Zero(t, status, stderr)
	assert.Contains(t, stdout, "no-delay attempts=unlimited ")
	data, err := os.ReadFile(filepath.Join(dir, "real.csv"))
	require.NoError(t, err)
	assert.Equal(t, 1+2*5, bytes.Count(data, []byte("\n")))
	status, _, stderr = backofflab(t.Context(), "contention", "-trials", "1", "-clients", "10", "-policy", "none", "-csv", link)
	require.Zero(t, status, stderr)
	data, err = os.ReadFile(filepath.Join(dir, "real.csv"))
	require.NoError(t, err)
	assert.Equal(t, 2, bytes.Count(data, []byte("\n")), "the old content is gone")
	status, _, _ = backofflab(t.Context(), "storm", "-trials", "-1", "-csv", filepath.Join(dir, "new.csv"))
	assert.Equal(t, misused, status)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 2, "nothing else stays behind")
	status, _, stderr = backofflab(t.Context(), "contention", "-clients", "2", "-trials", "1", "-csv", os.DevNull)
	assert.Zero(t, status, stderr)
}

func TestVersion(t *testing.T) {
	for _, name := range []string{"version", "-version", "--version"} {
		status, stdout, _ := backofflab(t.Context(), name)
		assert.Zero(t, status)
		assert.Contains(t, stdout, "backofflab ")
	}
}

func TestExplain(t *testing.T) {
	status, stdout, _ := backofflab(t.Context(), "explain", "full base=100ms cap=20s attempts=5 timeout=1s elapsed=1m")
	require.Zero(t, status)
	for _, want := range []string{
		"attempts: 5\n", "5.00 times the load", "20.0 % can stay down",
		"retry 4      0s     4", "800ms", "on average 750ms",
	} {
		assert.Contains(t, stdout, want)
	}
	status, stdout, _ = backofflab(t.Context(), "explain", "no-delay attempts=unlimited")
	require.Zero(t, status)
	assert.Contains(t, stdout, "without end")
}

func TestStorm(t *testing.T) {
	args := []string{
		"storm", "-rate", "70", "-workers", "1", "-queue", "2000", "-processes", "10", "-from", "10s", "-to", "12s", "-horizon", "60s",
		"-trials", "2", "-policy", "full base=100ms attempts=4", "-policy", "full base=100ms attempts=4 budget=throttle",
	}
	status, stdout, stderr := backofflab(t.Context(), args...)
	require.Zero(t, status, stderr)
	assert.Regexp(t, `full base=100ms attempts=4  +\d.* never `, stdout)
	assert.NotRegexp(t, `budget=throttle .* never `, stdout)

	_, one, _ := backofflab(t.Context(), append(args, "-csv", "-", "-parallel", "1")...)
	_, three, _ := backofflab(t.Context(), append(args, "-csv", "-", "-parallel", "3")...)
	assert.Equal(t, one, three)
}

// A report compares the policies or, after an interrupt, shows the results so far.
func TestReport(t *testing.T) {
	html := filepath.Join(t.TempDir(), "x.html")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	status, _, stderr := backofflab(ctx, "report", "-html", html, "-policy", "full attempts=<b>")
	assert.Equal(t, misused, status, stderr)
	assert.NoFileExists(t, html)
	status, _, stderr = backofflab(ctx, "report", "-html", html, "-policy", "full base=100ms attempts=7")
	assert.Equal(t, interrupted, status, stderr)
	report, err := os.ReadFile(html)
	require.NoError(t, err)
	assert.Contains(t, string(report), "full base=100ms attempts=7")
	args := []string{ // a small server, because the report simulates 96 outages for its advice
		"report", "-html", html, "-failures", "0", "-rate", "7", "-workers", "1", "-service", "100ms", "-queue", "200", "-processes", "10", "-from", "5s", "-to", "7s", "-horizon", "42s",
		"-policy", "full base=100ms attempts=4", "-trials", "1",
	}
	for _, tt := range []struct {
		more     []string
		pictures int
	}{{[]string{"-contention"}, 4}, {nil, 2}} {
		if testing.Short() && tt.more == nil {
			continue
		}
		status, stdout, stderr := backofflab(t.Context(), append(args, tt.more...)...)
		require.Zero(t, status, stderr)
		report, err = os.ReadFile(html)
		require.NoError(t, err)
		assert.Equal(t, tt.pictures, bytes.Count(report, []byte(`<div class="chart"`)))
		assert.True(t, bytes.Contains(report, []byte(`<p class="headline">Keeps the server down</p>`)))
		assert.True(t, bytes.Contains(report, []byte("backofflab report -html")))
		_, advice, ok := bytes.Cut(report, []byte("<h2>The policy that backofflab advise chooses</h2>"))
		require.True(t, ok)
		assert.Contains(t, string(advice), "In 96 outages like this one, ", "the same outage as the report's")
		assert.NotContains(t, string(advice), "<h2>Clients", "the advice is at the end")
		for _, row := range []string{"full base=100ms attempts=4 ", "none (no retry) ", "standard attempts=3 (zero policy) ", html + " is written"} {
			assert.Contains(t, stdout, row)
		}
	}
}

func TestInterrupt(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	dir := t.TempDir()
	program, html := filepath.Join(dir, "backofflab"), filepath.Join(dir, "x.html")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	cmd := exec.CommandContext(t.Context(), program, "report", "-trials", "1000000", "-html", html)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Start())
	for working := false; !working; time.Sleep(time.Millisecond) {
		_, err := os.Stat(html)
		working = err == nil
	}
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	cmd.Wait()
	assert.Equal(t, interrupted, cmd.ProcessState.ExitCode())
	assert.Equal(t, "backofflab: interrupted; the finished results are written\n", stderr.String())
	report, err := os.ReadFile(html)
	require.NoError(t, err)
	assert.Contains(t, string(report), "</html>")
	assert.Contains(t, string(report), "Interrupted: ")
	assert.Contains(t, stdout.String(), "none (no retry)")
}
