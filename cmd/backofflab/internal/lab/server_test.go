package lab

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// When an outage begins or ends, work continues at the new pace.
func TestOutageFinish(t *testing.T) {
	for _, tt := range []struct {
		kind           OutageKind
		at, work, want int64
	}{
		{Stall, 0, 1000, 1000},
		{Stall, 0, 1001, 2001},
		{Stall, 1500, 1, 2001},
		{Stall, 2000, 7, 2007},
		{BrownOut, 0, 1000, 1000},
		{BrownOut, 0, 1100, 1400},
		{BrownOut, 0, 1250, 2000},
		{BrownOut, 0, 1300, 2050},
		{BrownOut, 1200, 100, 1600},
		{BrownOut, 1200, 300, 2100},
		{Down, 0, 1500, 1500},
		{Down, 1500, 100, 1600},
	} {
		o := Outage{Kind: tt.kind, From: 1000, To: 2000, Share: 0.25}
		if got := o.finish(tt.at, float64(tt.work)); got != tt.want {
			t.Errorf("%v: %d of work from %d is done at %d, want %d", tt.kind, tt.work, tt.at, got, tt.want)
		}
	}
	o := Outage{}
	if got := o.finish(int64(maxHorizon), math.MaxFloat64); got < int64(maxHorizon) {
		t.Errorf("endless work is done at %d", got)
	}
}

func TestJobs(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var q jobs
	var want []uint64
	for i := range uint64(100_000) {
		switch k := rnd.IntN(5); {
		case k < 3 && i%20_000 < 10_000 || len(want) == 0:
			q.push(job{attempt: i})
			want = append(want, i)
		case k < 4:
			if got := q.popFirst().attempt; got != want[0] {
				t.Fatalf("first is %d, want %d", got, want[0])
			}
			want = want[1:]
		default:
			last := len(want) - 1
			if got := q.popLast().attempt; got != want[last] {
				t.Fatalf("last is %d, want %d", got, want[last])
			}
			want = want[:last]
		}
		if q.size != len(want) {
			t.Fatalf("size %d, want %d", q.size, len(want))
		}
	}
}

// Timers with the same time fire in the order in which they were started.
func TestTimers(t *testing.T) {
	type entry struct {
		at    int64
		order int
		timer *timer
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	var q timers
	var want []entry
	fired := 0
	for i := range 20_000 {
		switch k := rnd.IntN(4); {
		case k < 2 || len(want) == 0:
			timer := &timer{fire: func() { fired = i }}
			at := int64(rnd.IntN(1000))
			q.start(timer, at)
			want = append(want, entry{at, i, timer})
		case k == 2:
			n := rnd.IntN(len(want))
			q.stop(want[n].timer)
			want = slices.Delete(want, n, n+1)
		default:
			first := slices.MinFunc(want, func(a, b entry) int { return int(a.at-b.at)*100_000 + a.order - b.order })
			if q.first() != first.at {
				t.Fatalf("first is at %d, want %d", q.first(), first.at)
			}
			q.next().fire()
			if fired != first.order || first.timer.place != 0 {
				t.Fatalf("%d fired, want %d", fired, first.order)
			}
			want = slices.DeleteFunc(want, func(e entry) bool { return e == first })
		}
	}
	if len(q.heap) != len(want) {
		t.Errorf("%d timers left, want %d", len(q.heap), len(want))
	}
	if (&timers{}).first() != math.MaxInt64 {
		t.Error("without timers, first does not return math.MaxInt64")
	}
}

// Quantiles are within 1/256 of the true values.
func TestLatencies(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	var l latencies
	values := make([]float64, 100_000)
	sum := 0.0
	for i := range values {
		v := int64(math.Exp(rnd.Float64() * 40))
		l.add(v)
		values[i] = float64(v) / 1e9
		sum += values[i]
	}
	slices.Sort(values)
	for _, share := range []float64{0, 0.01, 0.5, 0.99, 0.99999} {
		want := values[int(share*float64(len(values)))]
		near(t, "quantile", l.quantile(share), want, want/256+1e-15)
	}
	near(t, "mean", l.meanSeconds(), sum/float64(len(values)), 1e-6)
	l.add(math.MaxInt64)
	l.add(-1)
	if empty := (&latencies{}); empty.meanSeconds() != 0 || empty.quantile(0.5) != 0 {
		t.Error("without latencies, the mean or the quantile is not 0")
	}
}

func TestMeter(t *testing.T) {
	s := smallStorm()
	s.Deadline, s.Horizon = 10*time.Second, 100*time.Second
	s.Outage = Outage{From: 20500 * time.Millisecond, To: 21500 * time.Millisecond}
	m := newMeter(&s)
	at := func(seconds float64) int64 { return int64(seconds * 1e9) }
	for i := range 1000 {
		m.arrival(at(float64(i) / 1000))
		m.success(at(float64(i)/1000), at(1))
	}
	for _, arrived := range []float64{0, 20, 20.5, 21.4, 21.5, 21.6, 27, 81.4, 81.5, 89.9, 90} {
		m.arrival(at(arrived))
		m.attempt(at(arrived))
	}
	m.attempt(at(22))
	m.success(at(20.5), at(21.5))
	m.success(at(21.4), at(21.6))
	m.success(at(81.4), at(81.6))
	m.success(at(90), at(91))
	for i, want := range []cohort{{calls: 2, successes: 2}, {calls: 3, successes: 1}, {calls: 1010, successes: 1003}, {calls: 1001, successes: 1000}} {
		if got := m.cohorts[i]; got.calls != want.calls || got.successes != want.successes {
			t.Errorf("cohort %d: %d of %d", i, got.successes, got.calls)
		}
	}
	if m.calls != 6 || m.attempts != 7 || m.goodput != 2 {
		t.Errorf("%d calls, %d attempts, goodput %d", m.calls, m.attempts, m.goodput)
	}
	if m.recovering[0].calls != 2 || m.recovering[59].successes != 1 || m.recovering[60].calls != 1 {
		t.Errorf("seconds after the outage: %+v", m.recovering)
	}
	if m.attemptsBySecond[21] != 3 || m.goodputBySecond[91] != 1 {
		t.Error("the attempts or successes by second are wrong")
	}
	if seconds, ok := m.recovery(); seconds != 6 || !ok {
		t.Errorf("recovery %d, %v", seconds, ok)
	}
}

// A recovery is relative to the level before the outage, which failures at any time lower.
func TestMeterRecovery(t *testing.T) {
	s := smallStorm()
	s.Deadline, s.Horizon = 10*time.Second, 100*time.Second
	s.Outage = Outage{From: 30 * time.Second, To: 31 * time.Second}
	for _, test := range []struct {
		name          string
		before, after int // successes of 100 in each second
		seconds       int
		ok            bool
	}{
		{"all", 100, 100, 5, true},
		{"2 % fail at any time", 98, 98, 5, true},
		{"apart from chance", 98, 94, 5, true},
		{"half of the former success", 98, 49, 0, false},
		{"half before, and after", 50, 50, 5, true},
		{"half before, a fourth after", 50, 25, 0, false},
		{"down before", 1, 1, 0, false},
	} {
		m := newMeter(&s)
		for second := range 90 {
			good := test.before
			switch {
			case second >= 36:
				good = test.after
			case second >= 30:
				good = 0
			}
			for i := range 100 {
				at := int64(second)*1e9 + int64(i)*1e7
				m.arrival(at)
				if i < good {
					m.success(at, at)
				}
			}
		}
		seconds, ok := m.recovery()
		assert.Equal(t, []any{test.seconds, test.ok}, []any{seconds, ok}, test.name)
	}
}
