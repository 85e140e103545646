package lab

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var exhaustive = flag.Bool("exhaustive", false, "run the comparisons that take minutes")

var measured = Latency{{5 * time.Millisecond, 50}, {20 * time.Millisecond, 90}, {100 * time.Millisecond, 100}}

// described lists systems of many kinds. The default is a server at 70 %.
var described = []struct {
	name string
	Storm
}{
	{"default", Storm{}},
	{"some failures", Storm{Failures: 0.002}},
	{"many failures", Storm{Failures: 0.02}},
	{"idle", Storm{Rate: 100, Failures: 0.005}},
	{"third", Storm{Rate: 300, Failures: 0.02}},
	{"half", Storm{Rate: 500, Failures: 0.001}},
	{"busy", Storm{Rate: 900}},
	{"full", Storm{Rate: 980, Failures: 0.01}},
	{"short queue", Storm{Queue: 300, Failures: 0.005}},
	{"newest first", Storm{LIFO: true, Failures: 0.001}},
	{"drops expired", Storm{DropExpired: true, Failures: 0.001}},
	{"many small", Storm{Processes: 20_000, Failures: 0.005}},
	{"one process", Storm{Processes: 1, Rate: 400, Failures: 0.005}},
	{"slow", Storm{Rate: 20, Workers: 10, Service: 300 * time.Millisecond, Timeout: 3 * time.Second, Failures: 0.01}},
	{"fast", Storm{Rate: 2000, Workers: 4, Service: time.Millisecond, Timeout: 100 * time.Millisecond, Deadline: time.Second, Failures: 0.003}},
	{"impatient", Storm{Rate: 400, Timeout: 300 * time.Millisecond, Deadline: 2 * time.Second, Failures: 0.01}},
	{"patient", Storm{Rate: 400, Timeout: 5 * time.Second, Deadline: time.Minute, Failures: 0.01}},
	{"one attempt", Storm{Timeout: 2 * time.Second, Deadline: 2 * time.Second, Failures: 0.005}},
	{"measured", Storm{Rate: 200, Latency: measured, Failures: 0.002}},
	{"unavailable", Storm{FullStatus: 503, Queue: 1000, Failures: 0.002}},
}

// With three seeds, the advice is the same.
func TestAdviceBySeed(t *testing.T) {
	systems := described[3:4]
	if *exhaustive {
		systems = described[:]
	} else if testing.Short() {
		t.Skip("simulates for some seconds")
	}
	same := 0
	for _, system := range systems {
		var list []Verdict
		for seed := range uint64(3) {
			system.Seed = seed
			v, err := Advice{Storm: system.Storm}.Run(t.Context())
			require.NoError(t, err)
			list = append(list, v)
		}
		agree := true
		for _, v := range list {
			for _, other := range list {
				agree = agree && v.Policy == other.Policy
			}
		}
		if agree {
			same++
		}
		t.Logf("%-15s %5v: %q, %q, %q; sure %.2f %.2f %.2f", system.name, agree, list[0].Policy, list[1].Policy, list[2].Policy, list[0].Sure, list[1].Sure, list[2].Sure)
	}
	assert.GreaterOrEqual(t, same, len(systems)-1)
}

// In outages that the advice has not seen, no policy of 200 is much better than the
// advised one.
func TestAdviceAgainstMany(t *testing.T) {
	if !*exhaustive {
		t.Skip("takes minutes; -exhaustive runs it")
	}
	for _, system := range described {
		t.Run(system.name, func(t *testing.T) {
			v, err := Advice{Storm: system.Storm}.Run(t.Context())
			require.NoError(t, err)
			s, err := system.Storm.WithDefaults()
			require.NoError(t, err)
			s.Seed, s.Outage = 99, Outage{}
			judge := &search{ctx: t.Context(), price: v.Price, storm: s}
			rng := rand.New(rand.NewPCG(1, 2))
			ours := &candidate{Contender: contender(t, v.Policy)}
			judge.list = append(judge.list, ours)
			for range 200 {
				judge.list = append(judge.list, &candidate{Contender: contender(t, anyPolicy(rng, &s))})
			}
			require.NoError(t, judge.simulate(judge.list, 8, 0, nil))
			judge.keep(20)
			if !slices.Contains(judge.list, ours) {
				judge.list = append(judge.list, ours)
			}
			require.NoError(t, judge.simulate(judge.list, 56, 0, nil))
			best := slices.MaxFunc(judge.list, func(a, b *candidate) int { return cmp.Compare(judge.score(a).Mean, judge.score(b).Mean) })
			x, y := judge.assess(ours, ours), judge.assess(best, ours)
			t.Logf("%-60s success %.4f, p99 %.3f s", x.Contender, x.Success.Mean, x.P99.Mean)
			t.Logf("%-60s success %.4f, p99 %.3f s", y.Contender, y.Success.Mean, y.P99.Mean)
			assert.GreaterOrEqual(t, x.Success.Mean, y.Success.Mean-0.01)
			assert.LessOrEqual(t, x.P99.Mean, 1.5*y.P99.Mean+0.01)
		})
	}
}

func anyPolicy(rng *rand.Rand, s *Storm) string {
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	base := time.Duration(float64(s.Deadline) * 0.002 * (1 + 200*rng.Float64()*rng.Float64())).Round(time.Millisecond)
	base = max(base, time.Millisecond)
	rule := fmt.Sprintf(pick("full base=%[1]v", "full base=%[1]v cap=%[2]v", "equal base=%[1]v", "decorrelated base=%[1]v", "constant delay=%[1]v", "jittered(fibonacci base=%[1]v) share=1"), base, 3*base)
	budget := pick("", "", " budget=shared", " budget=shared(reserve=1)", " budget=throttle", " budget=token", " budget=token(capacity=100)", " budget=throttle(maxtokens=100)",
		" budget=token(capacity=1 cost=1 success=0.1)", " budget=ratio(ratio=0.1 floor=0.1)", " budget=ratio(ratio=0.2 floor=1)")
	return fmt.Sprintf("%s attempts=%d%s", rule, 1+rng.IntN(10), budget)
}

func tinySystem() Storm {
	return Storm{Seed: 3, Rate: 70, Processes: 10, Workers: 1, Queue: 2000, Failures: 0.01}
}

func TestAdvice(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for some seconds")
	}
	a := Advice{Storm: tinySystem()}
	last := 0
	a.Storm.Progress = func(done, total int) {
		assert.GreaterOrEqual(t, done, last)
		assert.Equal(t, 1000, total)
		last = done
	}
	one, err := a.Run(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 1000, last)
	best := one.Rows[0]
	assert.Equal(t, one.Policy, best.Contender)
	assert.Zero(t, best.Loss.Mean)
	assert.Zero(t, best.Never)
	assert.Equal(t, 96, one.Outages)
	assert.Contains(t, one.Policy, "budget=", "at 70 %, retries without a budget keep the server down")
	var names []string
	for _, r := range one.Rows {
		names = append(names, r.Contender)
		assert.InDelta(t, best.Score.Mean-r.Score.Mean, r.Loss.Mean, 1e-9)
		assert.Equal(t, one.Outages, r.Success.N)
	}
	assert.Contains(t, names, NoRetry)
	assert.Contains(t, names, ZeroPolicy)
	assert.True(t, one.Gate, "a long queue is the server's own problem")
	a.Storm.Parallel, a.Storm.Progress = 1, nil
	again, err := a.Run(t.Context())
	require.NoError(t, err)
	assert.Equal(t, one.Rows, again.Rows)
}

// With a given outage, all trials have that one.
func TestAdviceForOneOutage(t *testing.T) {
	s := tinySystem()
	s.Outage = Outage{Kind: Down, From: time.Minute, To: 62 * time.Second}
	full, err := s.WithDefaults()
	require.NoError(t, err)
	search := &search{storm: full}
	for i := range 5 {
		o := search.trial(i).Outage
		assert.Equal(t, Outage{Kind: Down, From: time.Minute, To: 62 * time.Second, Share: 0.3}, o)
	}
}

// The lengths of the outages spread over 0.5 to 120 s, for each kind.
func TestOutagesOfAdvice(t *testing.T) {
	s, err := Storm{}.WithDefaults()
	require.NoError(t, err)
	s.Outage = Outage{}
	search := &search{storm: s}
	short := map[OutageKind]int{}
	for i := range 64 {
		trial := search.trial(i)
		require.NoError(t, trial.check())
		length := trial.Outage.To - trial.Outage.From
		assert.GreaterOrEqual(t, length, 500*time.Millisecond)
		assert.LessOrEqual(t, length, 120*time.Second)
		if length < 7746*time.Millisecond { // the middle on a logarithmic scale
			short[trial.Outage.Kind]++
		}
	}
	for kind, n := range short {
		assert.InDelta(t, 8, n, 1, "%v: half of 16", kind)
	}
}

// If an attempt may take as long as the call, retries come too late to matter, and the
// simplest policy is advised.
func TestAdviceOfEquals(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for some seconds")
	}
	s := tinySystem()
	s.Deadline, s.Timeout, s.Failures = 2*time.Second, 2*time.Second, -1
	s.Outage = Outage{From: 10 * time.Second, To: 12 * time.Second}
	v, err := Advice{Storm: s}.Run(t.Context())
	require.NoError(t, err)
	assert.Equal(t, ZeroPolicy, v.Policy)
	assert.Contains(t, v.Equal, NoRetry)
}

// Of policies that tie, the one nearest to the zero policy is advised, whatever their order.
func TestAdviceBreaksTies(t *testing.T) {
	s, err := Storm{}.WithDefaults()
	require.NoError(t, err)
	list := grid(&s)
	for i, want := range []string{
		ZeroPolicy, "standard attempts=3 budget=shared", "standard attempts=3 budget=shared(reserve=1)",
		"standard attempts=3 budget=shared(reserve=2)", "standard attempts=3 budget=shared(reserve=20)", "standard attempts=2", NoRetry, "standard attempts=5", "standard attempts=10",
	} {
		assert.Equal(t, want, list[i])
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		tied := &search{price: 0.01}
		for rank, text := range list[1:] {
			noise := 0.001 * rng.Float64()
			tied.list = append(tied.list, &candidate{
				Contender: Contender{Name: text}, settings: settings(text), rank: rank,
				trials: []StormTrial{{Success: 0.8 + noise, P99: 1}, {Success: 0.9 + noise, P99: 1}},
			})
		}
		rng.Shuffle(len(tied.list), func(i, j int) { tied.list[i], tied.list[j] = tied.list[j], tied.list[i] })
		best, equal := tied.choose()
		assert.Equal(t, list[1], best.Name)
		assert.Len(t, equal, len(list)-2)
	}
}

func TestAdviceRefuses(t *testing.T) {
	for want, a := range map[string]Advice{
		"Price":  {Price: -1},
		"Rate":   {Storm: Storm{Rate: -1}},
		"Outage": {Storm: Storm{Outage: Outage{From: 2, To: 1}}},
		"31 is":  {Outages: 31},
	} {
		_, err := a.Run(t.Context())
		assert.ErrorContains(t, err, want)
	}
}

func TestSettings(t *testing.T) {
	for text, want := range map[string]int{
		ZeroPolicy: 0, NoRetry: 1, "standard attempts=5": 1, "standard attempts=3 budget=token": 1, "standard attempts=3 budget=token(capacity=1 cost=1 success=0.1)": 1,
		"full base=1s attempts=3": 2,
	} {
		assert.Equal(t, want, settings(text), text)
	}
}

func TestScaled(t *testing.T) {
	for _, system := range described {
		s, err := system.Storm.WithDefaults()
		require.NoError(t, err)
		small := s.Scaled(adviceCalls)
		require.NoError(t, small.check(), system.name)
		assert.InEpsilon(t, s.Rate/s.Capacity(), small.Rate/small.Capacity(), 1e-6, system.name)
		assert.InEpsilon(t, s.Rate/float64(s.Processes), small.Rate/float64(small.Processes), 0.2, system.name)
		assert.InEpsilon(t, float64(s.Queue)/s.Capacity(), float64(small.Queue)/small.Capacity(), 0.05, system.name)
	}
}
