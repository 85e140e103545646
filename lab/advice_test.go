package lab

import (
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var exhaustive = flag.Bool("exhaustive", false, "run the comparisons that take minutes")

var described = map[string]Storm{
	"stall":       {Outage: Outage{From: 20 * time.Second, To: 22 * time.Second}},
	"busy":        {Rate: 930, Outage: Outage{From: 20 * time.Second, To: 22 * time.Second}},
	"down":        {Outage: Outage{Kind: Down, From: 20 * time.Second, To: 25 * time.Second}},
	"brown-out":   {Outage: Outage{Kind: BrownOut, Share: 0.5, From: 20 * time.Second, To: 30 * time.Second}},
	"partial":     {Outage: Outage{Kind: Partial, Share: 0.7, From: 20 * time.Second, To: 40 * time.Second}, Failures: 0.01},
	"short queue": {Queue: 300, Outage: Outage{From: 20 * time.Second, To: 25 * time.Second}, Failures: 0.005},
	"many small":  {Processes: 20_000, Outage: Outage{From: 20 * time.Second, To: 22 * time.Second}},
	"idle": {Rate: 100, Deadline: 5 * time.Second, Timeout: 300 * time.Millisecond, Failures: 0.02,
		Outage: Outage{From: 20 * time.Second, To: 23 * time.Second}, Latency: Latency{{5 * time.Millisecond, 50}, {20 * time.Millisecond, 90}, {100 * time.Millisecond, 100}}},
}

// longSearch returns about ten times as many candidates as an Advice simulates.
func longSearch(s *Storm) []candidate {
	list := []candidate{{attempts: 1}}
	all := []string{"", "throttle", "throttle(maxtokens=20)", "throttle(maxtokens=100)", "token", "token(capacity=100)", "ratio(ratio=0.1 floor=0.1)", "ratio(ratio=0.2 floor=1)"}
	for _, rule := range []string{"full", "decorrelated", "fibonacci"} {
		for _, base := range bases(s) {
			for _, base := range []time.Duration{base, 2 * base} {
				for _, attempts := range []int{2, 3, 4, 6, 10, 20} {
					for _, budget := range all {
						list = append(list, candidate{rule, base, max(base, s.longest()), attempts, budget})
					}
				}
			}
		}
	}
	return list
}

// The advice is about as good as the result of a search ten times as long.
func TestAdviceAgainstLongSearch(t *testing.T) {
	if !*exhaustive {
		t.Skip("takes minutes; -exhaustive runs it")
	}
	for name, system := range described {
		t.Run(name, func(t *testing.T) {
			system.Seed, system.Horizon = 1, 120*time.Second
			s, err := system.WithDefaults()
			require.NoError(t, err)
			long := &search{ctx: t.Context(), small: s.briefly().scaled(searchCalls), rows: map[candidate]StormRow{}}
			require.NoError(t, long.run(longSearch(&s)))
			for _, long.goal = range []Goal{SuccessFirst, RecoveryFirst} {
				compareAdvice(t, system, s.scaled(finalCalls), long)
			}
		})
	}
}

// compareAdvice compares the advice with the best policies of the long search, using random
// numbers that neither search has used.
func compareAdvice(t *testing.T, system, judge Storm, long *search) {
	verdict, err := Advice{Storm: system, Goal: long.goal}.Run(t.Context())
	require.NoError(t, err)
	texts := []string{verdict.Advised[0].Row.Contender}
	for _, c := range long.best(5) {
		texts = append(texts, c.text())
	}
	judge.Seed, judge.Trials, judge.Contenders = 99, 4, mustParse(texts...)
	rows, err := judge.Run(t.Context())
	require.NoError(t, err)
	ours := rows[0]
	others := slices.Clone(rows[1:])
	slices.SortFunc(others, func(a, b StormRow) int { return long.order(&a, &b) })
	theirs := others[0]
	t.Logf("%v: %d policies: %s: success %.4f, recovery %.1f, never %v", long.goal, verdict.Tried, ours.Contender, ours.Success.Mean, ours.Recovery.Mean, ours.Never)
	t.Logf("%v: %d policies: %s: success %.4f, recovery %.1f, never %v", long.goal, len(long.rows), theirs.Contender, theirs.Success.Mean, theirs.Recovery.Mean, theirs.Never)
	assert.LessOrEqual(t, ours.Never, theirs.Never)
	if long.goal == SuccessFirst {
		assert.GreaterOrEqual(t, ours.Success.Mean, 0.95*theirs.Success.Mean)
	} else {
		assert.LessOrEqual(t, ours.Recovery.Mean, 1.05*theirs.Recovery.Mean+1, "within a second, its resolution")
	}
}

func tinySystem() Storm {
	return Storm{
		Seed: 3, Rate: 70, Processes: 10, Workers: 1, Queue: 2000,
		Outage: Outage{From: 10 * time.Second, To: 12 * time.Second}, Horizon: 60 * time.Second,
	}
}

// With the best advised policy, the server recovers, and more calls succeed than without
// retries.
func TestAdvice(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for some seconds")
	}
	a := Advice{Storm: tinySystem()}
	a.Storm.Failures = 0.01
	last := 0
	a.Storm.Progress = func(done, total int) {
		assert.GreaterOrEqual(t, done, last)
		assert.Equal(t, 1000, total)
		last = done
	}
	one, err := a.Run(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 1000, last)
	assert.True(t, one.Retry())
	best := one.Advised[0].Row
	assert.Zero(t, best.Never)
	assert.Greater(t, best.Success.Mean, one.Baseline.Row.Success.Mean+0.005)
	assert.LessOrEqual(t, best.Recovery.Mean, one.Baseline.Row.Recovery.Mean+15)
	for i, x := range one.Advised {
		for _, y := range one.Advised[i+1:] {
			assert.Greater(t, x.Row.Success.Mean, y.Row.Success.Mean, "the best first")
			assert.Greater(t, x.Row.Recovery.Mean, y.Row.Recovery.Mean, "the others recover earlier")
		}
	}
	a.Storm.Parallel, a.Storm.Progress = 1, nil
	again, err := a.Run(t.Context())
	require.NoError(t, err)
	assert.Equal(t, one.Advised, again.Advised)
}

// If an attempt may take as long as the call, retries come too late.
func TestAdviceAgainstRetries(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for some seconds")
	}
	s := tinySystem()
	s.Deadline, s.Timeout = 2*time.Second, 2*time.Second
	v, err := Advice{Storm: s}.Run(t.Context())
	require.NoError(t, err)
	require.Len(t, v.Advised, 1)
	assert.False(t, v.Retry(), v.Advised[0].Row.Contender)
}

func TestAdviceRefuses(t *testing.T) {
	for want, a := range map[string]Advice{
		"Goal":    {Goal: 7},
		"Most":    {Most: -1},
		"Rate":    {Storm: Storm{Rate: -1}},
		"Horizon": {Storm: Storm{Outage: Outage{From: 1, To: 300 * time.Second}}},
	} {
		_, err := a.Run(t.Context())
		assert.ErrorContains(t, err, want)
	}
}

func TestScaled(t *testing.T) {
	for name, system := range described {
		s, err := system.WithDefaults()
		require.NoError(t, err)
		small := s.briefly().scaled(searchCalls)
		require.NoError(t, small.check(), name)
		assert.InEpsilon(t, s.Rate/s.Capacity(), small.Rate/small.Capacity(), 1e-6, name)
		assert.InEpsilon(t, s.Rate/float64(s.Processes), small.Rate/float64(small.Processes), 0.2, name)
		assert.InEpsilon(t, float64(s.Queue)/s.Capacity(), float64(small.Queue)/small.Capacity(), 0.05, name)
		assert.Less(t, small.Rate*small.Horizon.Seconds(), 40_000.0, name)
	}
}

func TestFails(t *testing.T) {
	never := StormRow{Never: 1}
	after := func(seconds float64) StormRow { return StormRow{Recovery: Summary{Mean: seconds}} }
	for _, test := range []struct {
		name          string
		with, without StormRow
		fails         bool
	}{
		{"no recovery with the policy only", never, after(1), true},
		{"no recovery without retries only", after(60), never, false},
		{"recovery much later", after(12.1), after(1), true},
		{"recovery a little later", after(11.9), after(1), false},
	} {
		assert.Equal(t, test.fails, fails(test.with, test.without), test.name)
	}
}
