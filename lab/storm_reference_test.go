package lab

import (
	"context"
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gobackoff/retry"
)

// referenceFigure is a line of testdata/storm-reference.csv.
type referenceFigure struct {
	scenario, policy, metric string
	mean                     float64 // +Inf: never
	margin                   float64 // NaN: not known
	unit                     float64 // of the last digit
}

func readReference(t *testing.T, scenarios ...string) []referenceFigure {
	t.Helper()
	file, err := os.Open("testdata/storm-reference.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := csv.NewReader(file)
	r.Comment = '#'
	lines, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var figures []referenceFigure
	for _, l := range lines[1:] {
		f := referenceFigure{scenario: l[0], policy: l[1], metric: l[2], mean: math.Inf(1), margin: math.NaN()}
		kind, _, _ := strings.Cut(f.scenario, " ")
		if !contains(scenarios, kind) {
			continue
		}
		if l[3] != "never" {
			f.mean = parse(t, l[3])
			_, decimals, _ := strings.Cut(l[3], ".")
			f.unit = math.Pow10(-len(decimals))
		}
		if l[4] != "" {
			f.margin = parse(t, l[4])
		}
		figures = append(figures, f)
	}
	return figures
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func parse(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// referenceStorm returns the Storm of a scenario. The reference measures the
// success of the calls that arrive 12 s or more before its end at 400 s, here
// those that arrive a Deadline before.
func referenceStorm(t *testing.T, scenario string) Storm {
	t.Helper()
	s := Storm{Horizon: 398 * time.Second}
	kind, text, ok := strings.Cut(scenario, " ")
	value := 0.0
	if ok {
		value = parse(t, text)
	}
	switch kind {
	case "stall":
	case "down":
		s.Outage.Kind = Down
	case "brown-out":
		s.Outage.Kind = BrownOut
	case "utilisation", "map":
		s.Rate = value * 1000
	case "queue":
		s.Queue = int(value * 1000)
	case "length":
		s.Outage.From, s.Outage.To = 60*time.Second, time.Duration((60+value)*1e9)
	case "processes":
		s.Processes = int(value)
	case "timeout":
		s.Timeout = time.Duration(value * 1e9)
	default:
		t.Fatalf("unknown scenario %q", scenario)
	}
	return s
}

// referenceContender returns the contender of a reference policy: its text, and
// after that of an adaptive limiter which failures it takes for throttling.
func referenceContender(t *testing.T, policy string) Contender {
	t.Helper()
	text := policy
	classify := func(err error) retry.Class {
		if err == errRefused {
			return retry.ClassThrottled
		}
		return retry.ClassUnknown
	}
	if rest, ok := strings.CutSuffix(policy, " any"); ok {
		text = rest
		classify = func(error) retry.Class { return retry.ClassThrottled }
	} else if k, err := strconv.Atoi(policy); err == nil {
		text = "full base=100ms cap=20s attempts=" + strconv.Itoa(k+1)
	}
	c, err := ParseContender(text)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "limiter") {
		return c
	}
	parsed := c.Policy
	c.Name = policy
	c.Policy = func(clock retry.Clock) retry.Policy {
		p := parsed(clock)
		p.Classifier = retry.FirstOf(retry.ClassifierFunc(classify), retry.DefaultClassifier{})
		return p
	}
	return c
}

// referenceRows simulates what the figures are about. Each policy has a seed of
// its own, so that the deviations are independent.
func referenceRows(t *testing.T, figures []referenceFigure, trials int) map[[2]string]StormRow {
	t.Helper()
	var keys [][2]string
	var cases []stormCase
	for _, f := range figures {
		key := [2]string{f.scenario, f.policy}
		if n := len(keys); n > 0 && keys[n-1] == key {
			continue
		}
		s := referenceStorm(t, f.scenario)
		s.Seed, s.Trials = uint64(len(keys)+1000), trials
		s, err := s.prepared()
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
		cases = append(cases, stormCase{s, referenceContender(t, f.policy)})
	}
	done, err := runStorms(context.Background(), &cases[0].storm, cases)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[[2]string]StormRow{}
	for i, key := range keys {
		rows[key] = newStormRow(key[1], done[i])
	}
	return rows
}

// z returns how many standard errors ours is from the reference figure.
func (f referenceFigure) z(row StormRow, refTrials float64) (ours Summary, z float64) {
	switch f.metric {
	case "peak":
		ours = row.Peak
	case "amplification":
		ours = row.Amplification
	case "recovery":
		ours = row.Recovery
		if row.Never > 0 || math.IsInf(f.mean, 1) {
			if row.Never == 1 && math.IsInf(f.mean, 1) {
				return ours, 0
			}
			return ours, math.Inf(1)
		}
	case "goodput":
		ours = row.Goodput
	case "outage success":
		ours = row.OutageSuccess
	case "success":
		ours = row.Success
	case "last success":
		ours = row.LastSuccess
	case "p99":
		// The reference returns the upper end of a bucket of about 5 %.
		ours = row.P99
		ours.Mean *= 1.025
		f.unit += 0.05 * ours.Mean
	}
	se := ours.SD / math.Sqrt(refTrials)
	if !math.IsNaN(f.margin) {
		se = f.margin / 2.093 // Student's t of 19 degrees of freedom
	}
	variance := ours.SE()*ours.SE() + se*se + f.unit*f.unit/12
	return ours, (ours.Mean - f.mean) / math.Sqrt(variance)
}

func TestExploreReference(t *testing.T) {
	which := os.Getenv("SCEN")
	if which == "" {
		t.Skip()
	}
	n, _ := strconv.Atoi(os.Getenv("TRIALS"))
	figures := readReference(t, strings.Split(which, ",")...)
	rows := referenceRows(t, figures, n)
	ref := 20.0
	if strings.Contains(os.Getenv("SCEN"), "map") || strings.Contains(os.Getenv("SCEN"), "length") {
		ref = 6
	}
	for _, f := range figures {
		row := rows[[2]string{f.scenario, f.policy}]
		ours, z := f.z(row, ref)
		t.Logf("%-16s %-75s %-15s ref %8.4f±%.4f ours %8.4f±%.4f never %.2f z %6.2f", f.scenario, f.policy, f.metric, f.mean, f.margin, ours.Mean, ours.Margin(), row.Never, z)
	}
}
