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
)

func backofflab(ctx context.Context, args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(ctx, args, &out, &err)
	return status, out.String(), err.String()
}

func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	tests := map[string][]string{
		`no command`:                           {},
		`unknown command "contend"`:            {"contend"},
		`"ful"`:                                {"contention", "-policy", "ful base=10ms"},
		`clients: 0 is not`:                    {"contention", "-clients", "0"},
		`clients: -5 is not in`:                {"contention", "-clients", "-5"},
		`clients: "many" is not`:               {"contention", "-clients", "many"},
		`clients: range "9..3"`:                {"contention", "-clients", "9..3"},
		`clients: range "1..9+0"`:              {"contention", "-clients", "1..9+0"},
		`clients: range "1..9*1"`:              {"contention", "-clients", "1..9*1"},
		`clients: range "1..x"`:                {"contention", "-clients", "1..x"},
		`clients: range "1..5+x"`:              {"contention", "-clients", "1..5+x"},
		`are more than 1000`:                   {"contention", "-clients", "1..5000"},
		`trials: 0 is`:                         {"contention", "-trials", "0"},
		`trials: -1`:                           {"contention", "-trials", "-1"},
		`network: the mean`:                    {"contention", "-network", "-1s"},
		`parallel: -1`:                         {"contention", "-parallel", "-1"},
		`one argument too many`:                {"contention", "10"},
		`not defined: -no`:                     {"contention", "-no"},
		`invalid value "x" for flag`:           {"contention", "-seed", "x"},
		`no policy`:                            {"explain"},
		`"full"`:                               {"explain", "none", "full"},
		`negative`:                             {"explain", "full base=-1s"},
		`outage: unknown "fire"`:               {"storm", "-outage", "fire"},
		`Rate: -1 is not above 0`:              {"storm", "-rate", "-1"},
		`rate: 0 is not above 0`:               {"storm", "-rate", "0"},
		`workers: 0 is not above 0`:            {"storm", "-workers", "0"},
		`Horizon: 1m0s is too`:                 {"storm", "-horizon", "1m"},
		`Outage: from 1m0s to 30s`:             {"storm", "-to", "30s"},
		`utilizations: "x" is not`:             {"storm", "-map", "-utilizations", "0.1,x"},
		`can be 1e+10 at the same`:             {"storm", "-rate", "1e9"},
		`Utilizations: -1: Rate: -1000 is not`: {"storm", "-map", "-utilizations", "-1"},
		`retries: "-"`:                         {"storm", "-map", "-retries", "-"},
		`series: a map has none`:               {"storm", "-map", "-series", "x"},
		`policy "x": `:                         {"storm", "-map", "-policy", "x"},
		`policy "y": `:                         {"storm", "-policy", "y"},
		`groups: blog, fib`:                    {"contention", "-policy", "blogg"},
		`is too large`:                         {"contention", "-clients", "9223372036854775807..9223372036854775807"},
		`20000000000 is too large`:             {"contention", "-clients", "20000000000"},
		`only -csv can`:                        {"contention", "-html", "-"},
		`two outputs have the same`:            {"storm", "-csv", "x", "-series", "x"},
		`unknown name "known"`:                 {"explain", "known each=7ms"},
		`"first"`:                              {"explain", "none first=1s"},
		`did you mean contention? There`:       {"contenton"},
		`did you mean -policy?`:                {"storm", "-polcy", "none"},
		`did you mean "fibonacci"?`:            {"contention", "-policy", "fibonaci base=1s"},
		`did you mean stall? There are`:        {"storm", "-outage", "stal"},
		`html: a report needs a file`:          {"report", "-html", ""},
		`capacity: 150 a second is not`:        {"storm", "-capacity", "150"},
		`capacity: cannot be combined`:         {"storm", "-capacity", "100", "-workers", "1"},
		`Failures: 1 is not`:                   {"storm", "-failures", "1"},
		`latency has its own mean`:             {"storm", "-latency", "x", "-service", "1s"},
		`latency: open /no/such`:               {"storm", "-latency", "/no/such"},
		`open /no/such.yaml`:                   {"storm", "-system", "/no/such.yaml"},
		`retries: only a map`:                  {"storm", "-retries", "1"},
		`has attempts=4, which`:                {"storm", "-map", "-retries", "1", "-policy", "none attempts=4"},
		`one argument too many; quote`:         {"version", "x"},
		`are more than 100000000`:              {"report", "-trials", "600000"},
		`cannot write /no/such/s`:              {"storm", "-series", "/no/such/s.csv"},
		`cannot write /no/such/h`:              {"report", "-html", "/no/such/h.html"},
		`policy "z": `:                         {"report", "-policy", "z"},
		`no such file`:                         {"contention", "-csv", "/no/such/folder/x.csv"},
		`is a directory`:                       {"explain", "none", "-html", dir},
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

func TestContentionIsTheSameOnAnyNumberOfCores(t *testing.T) {
	args := []string{"contention", "-clients", "5..40*2", "-trials", "20", "-seed", "3", "-csv", "-", "-parallel"}
	status, one, _ := backofflab(t.Context(), append(args, "1")...)
	require.Zero(t, status)
	status, four, _ := backofflab(t.Context(), append(args, "4")...)
	require.Zero(t, status)
	assert.Equal(t, one, four)
	assert.Equal(t, 1+5*4, strings.Count(one, "\n"))
	assert.True(t, strings.HasPrefix(one, "policy,clients,trials,calls_mean"))
}

func TestContentionFiles(t *testing.T) {
	dir := t.TempDir()
	csv, html := filepath.Join(dir, "x.csv"), filepath.Join(dir, "x.html")
	status, stdout, stderr := backofflab(t.Context(), "contention", "-policy", "fibonacci", "-policy", "blog", "-policy", "none attempts=unlimited", "-clients", "10,20", "-trials", "5", "-csv", csv, "-html", html)
	require.Zero(t, status, stderr)
	assert.Contains(t, stdout, "jittered(fibonacci base=50ms cap=1.9s) share=1 attempts=unlimited  ")
	data, err := os.ReadFile(csv)
	require.NoError(t, err)
	assert.Equal(t, 1+2*6, bytes.Count(data, []byte("\n")))
	report, err := os.ReadFile(html)
	require.NoError(t, err)
	assert.Equal(t, 4, bytes.Count(report, []byte(`data-picture="`)), "calls, time, Pareto, timing")
	assert.Contains(t, string(report), "backofflab contention -policy fibonacci")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 2, "nothing else stays behind")
}

func TestOldFilesStay(t *testing.T) {
	old := filepath.Join(t.TempDir(), "x.csv")
	require.NoError(t, os.WriteFile(old, []byte("old"), 0o600))
	status, _, _ := backofflab(t.Context(), "contention", "-trials", "1", "-csv", old, "-html", "/no/such/folder/x.html")
	assert.Equal(t, misused, status)
	data, err := os.ReadFile(old)
	require.NoError(t, err)
	assert.Equal(t, "old", string(data))
	status, _, stderr := backofflab(t.Context(), "explain", "none", "-csv", os.DevNull)
	assert.Zero(t, status, stderr)
	info, err := os.Stat(os.DevNull)
	require.NoError(t, err)
	assert.False(t, info.Mode().IsRegular())
}

func TestDanglingLink(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link.csv")
	require.NoError(t, os.Symlink("real.csv", link))
	status, _, stderr := backofflab(t.Context(), "explain", "none", "-csv", link)
	require.Zero(t, status, stderr)
	info, err := os.Lstat(link)
	require.NoError(t, err)
	assert.Equal(t, os.ModeSymlink, info.Mode().Type())
	assert.FileExists(t, filepath.Join(dir, "real.csv"))
}

func TestVersion(t *testing.T) {
	for _, name := range []string{"version", "-version", "--version"} {
		status, stdout, _ := backofflab(t.Context(), name)
		assert.Zero(t, status)
		assert.Contains(t, stdout, "backofflab ")
	}
}

func TestTimeLeft(t *testing.T) {
	assert.Equal(t, 30*time.Second, timeLeft(10*time.Second, 25, 100))
	assert.Equal(t, 1000*time.Hour, timeLeft(time.Hour, 0, 1e9))
}

func TestExplain(t *testing.T) {
	status, stdout, _ := backofflab(t.Context(), "explain", "full base=100ms cap=20s attempts=5 timeout=1s elapsed=1m")
	require.Zero(t, status)
	for _, want := range []string{
		"attempts                 5\n", "5.00 times the load", "20.0 % can stay down", "1m0s",
		"retry 4      0s     4", "800ms", "on average 750ms",
	} {
		assert.Contains(t, stdout, want)
	}
	status, stdout, _ = backofflab(t.Context(), "explain", "aws-adaptive-2026", "-csv", "-")
	require.Zero(t, status)
	assert.Equal(t, 3, strings.Count(stdout, "\n"), "two retries")
	status, stdout, _ = backofflab(t.Context(), "explain", "none attempts=unlimited")
	require.Zero(t, status)
	assert.Contains(t, stdout, "without end")
}

func TestStorm(t *testing.T) {
	dir := t.TempDir()
	html, series := filepath.Join(dir, "x.html"), filepath.Join(dir, "series.csv")
	args := []string{
		"storm", "-rate", "70", "-workers", "1", "-queue", "2000", "-processes", "10", "-from", "10s", "-to", "12s", "-horizon", "60s",
		"-trials", "2", "-policy", "full base=100ms attempts=4", "-policy", "full base=100ms attempts=4 budget=throttle",
	}
	status, stdout, stderr := backofflab(t.Context(), append(args, "-html", html, "-series", series)...)
	require.Zero(t, status, stderr)
	assert.Regexp(t, `full base=100ms attempts=4  +2 .* never `, stdout)
	assert.NotRegexp(t, `budget=throttle .* never `, stdout)
	data, err := os.ReadFile(series)
	require.NoError(t, err)
	assert.Equal(t, 1+2*60, bytes.Count(data, []byte("\n")))
	report, err := os.ReadFile(html)
	require.NoError(t, err)
	assert.Equal(t, 2, bytes.Count(report, []byte(`data-picture="`)))

	_, one, _ := backofflab(t.Context(), append(args, "-csv", "-", "-parallel", "1")...)
	_, three, _ := backofflab(t.Context(), append(args, "-csv", "-", "-parallel", "3")...)
	assert.Equal(t, one, three)

	status, stdout, stderr = backofflab(t.Context(), "storm", "-map", "-workers", "1", "-queue", "2000", "-from", "10s", "-to", "12s",
		"-horizon", "60s", "-trials", "1", "-utilizations", "0.2,0.9", "-retries", "0,3", "-policy", "constant delay=100ms", "-policy", "constant delay=100ms budget=throttle", "-html", html)
	require.Zero(t, status, stderr)
	assert.Regexp(t, `attempts=1 +1.00 +\d+ +\d+\n`, stdout)
	assert.Regexp(t, `attempts=4 +0.250 +\d+ +never\n`, stdout)
	assert.Regexp(t, `attempts=4 budget=throttle +bounded +\d+ +`, stdout)
	report, err = os.ReadFile(html)
	require.NoError(t, err)
	assert.Equal(t, 1, bytes.Count(report, []byte(`data-picture="`)))
	assert.Contains(t, string(report), "in common: constant delay=100ms")
}

// A report contains all pictures or, after an interrupt, the results so far.
func TestReport(t *testing.T) {
	html := filepath.Join(t.TempDir(), "x.html")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	status, _, stderr := backofflab(ctx, "report", "-html", html, "-policy", "full attempts=<b>")
	assert.Equal(t, misused, status, stderr)
	status, _, stderr = backofflab(ctx, "report", "-html", html, "-policy", "full base=100ms attempts=7")
	assert.Equal(t, interrupted, status, stderr)
	report, err := os.ReadFile(html)
	require.NoError(t, err)
	assert.Contains(t, string(report), "full base=100ms attempts=7")
	if testing.Short() {
		t.Skip("simulates for some seconds")
	}
	status, stdout, stderr := backofflab(t.Context(), "report", "-html", html, "-policy", "full base=100ms attempts=7", "-trials", "1")
	require.Zero(t, status, stderr)
	report, err = os.ReadFile(html)
	require.NoError(t, err)
	assert.Equal(t, 4+2+1+1, bytes.Count(report, []byte(`data-picture="`)), "every picture")
	assert.Contains(t, stdout, "retry 6")
}

func TestInterrupt(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	dir := t.TempDir()
	program, html := filepath.Join(dir, "backofflab"), filepath.Join(dir, "x.html")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	cmd := exec.CommandContext(t.Context(), program, "contention", "-clients", "20,100", "-trials", "1000000", "-html", html, "-csv", "-")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Start())
	for working := false; !working; time.Sleep(time.Millisecond) {
		files, err := filepath.Glob(html + ".*") // the unfinished report
		require.NoError(t, err)
		working = len(files) > 0
	}
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	cmd.Wait()
	assert.Equal(t, interrupted, cmd.ProcessState.ExitCode())
	assert.Equal(t, "backofflab: interrupted; the finished results are written\n", stderr.String())
	report, err := os.ReadFile(html)
	require.NoError(t, err)
	assert.Contains(t, string(report), "</html>")
	assert.Contains(t, string(report), "Interrupted: ")
	assert.Contains(t, stdout.String(), "none attempts=unlimited,100,")
}
