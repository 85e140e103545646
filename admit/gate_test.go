package admit

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gobackoff/retry"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRefused: a refusal tells the DefaultClassifier what it is.
func TestRefused(t *testing.T) {
	gate := &Gate{Return: 10 * time.Second, Rand: func() float64 { return 0.5 }}
	var seen []Refused
	gate.OnRefuse = func(r Refused) { seen = append(seen, r) }
	gate.limiter.limit = 1 // it may only rise
	ticket, err := gate.Enter(Caller{})
	require.NoError(t, err)
	_, err = gate.Enter(Caller{})
	require.EqualError(t, err, "server overloaded: retry after 6s")
	assert.Equal(t, []Refused{Refused(6 * time.Second)}, seen)
	gate.Leave(ticket)
	assert.Equal(t, Stats{Limit: 1, Admitted: 1, Refused: 1}, gate.Stats())

	wait, reason := retry.Policy{Hint: retry.HintAtLeast{Exact: true}}.Start().Failed(t.Context(), err)
	require.NoError(t, reason)
	assert.Equal(t, 6*time.Second, wait)
}

func TestHint(t *testing.T) {
	for _, test := range []struct {
		name   string
		u      float64
		ret    time.Duration
		expect time.Duration
	}{
		{"least", 0, 0, time.Second},
		{"most", 1, 0, 5 * time.Second},
		{"negative Return", 0.5, -1, 3 * time.Second},
		{"own Return", 0, 20 * time.Second, 4 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			gate := &Gate{Return: test.ret, Rand: func() float64 { return test.u }}
			assert.Equal(t, test.expect, gate.refuse().RetryAfter())
		})
	}
}

// TestHighLimit: requests of a handler that is faster than a tick of the clock take a nanosecond,
// and the limit rises beyond what an int of 32 bits can hold.
func TestHighLimit(t *testing.T) {
	var now time.Duration
	gate := &Gate{Now: func() time.Time { return epoch.Add(now) }}
	for range 600 {
		var tickets []Ticket
		for range 100 {
			if ticket, err := gate.Enter(Caller{}); err == nil {
				tickets = append(tickets, ticket)
			}
		}
		for _, ticket := range tickets {
			gate.Leave(ticket)
		}
		now += 5 * ms
	}
	assert.Greater(t, gate.Stats().Limit, 1e9)
	assert.Less(t, gate.Stats().Refused, uint64(1000), "while the limit rises")
	gate.limiter.limit = 1e19 // beyond an int of 64 bits
	_, err := gate.Enter(Caller{Patience: time.Second})
	assert.NoError(t, err)
}

// TestFull: shares and announced timeouts reduce the limit for a request.
func TestFull(t *testing.T) {
	for _, test := range []struct {
		name   string
		caller Caller
		expect int
	}{
		{"default", Caller{}, 100},
		{"share", Caller{Share: 0.75}, 75},
		{"share above 1", Caller{Share: 2}, 100},
		{"tiny share", Caller{Share: 1e-9}, 1},
		{"patient", Caller{Patience: time.Hour}, 100},
		{"impatient", Caller{Patience: 300 * ms}, 50},
		{"both", Caller{Share: 0.5, Patience: 300 * ms}, 25},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := limiter{limit: 100, least: 200 * ms, median: 200 * ms, within: 100 * ms}
			for !l.full(test.caller) {
				l.recent[0]++
			}
			assert.Equal(t, test.expect, l.recent[0])
		})
	}
}

// TestClock: a Gate uses its Now, even one that goes backward.
func TestClock(t *testing.T) {
	now := time.Unix(0, 0)
	gate := &Gate{Now: func() time.Time { now = now.Add(-time.Second); return now }}
	for range 1000 {
		ticket, err := gate.Enter(Caller{})
		require.NoError(t, err)
		gate.Leave(ticket)
	}
	assert.Zero(t, gate.Stats().InFlight)
}

func TestAllocations(t *testing.T) {
	var gate Gate
	assert.Zero(t, testing.AllocsPerRun(1000, func() {
		if ticket, err := gate.Enter(Caller{}); err == nil {
			gate.Leave(ticket)
		}
	}))
}

func BenchmarkGate(b *testing.B) {
	b.Run("idle", func(b *testing.B) {
		var gate Gate
		b.ReportAllocs()
		for b.Loop() {
			ticket, _ := gate.Enter(Caller{})
			gate.Leave(ticket)
		}
	})
	b.Run("refused", func(b *testing.B) {
		var gate Gate
		for gate.Stats().Refused == 0 {
			gate.Enter(Caller{})
		}
		b.ReportAllocs()
		for b.Loop() {
			gate.Enter(Caller{})
		}
	})
	b.Run("parallel", func(b *testing.B) {
		var gate Gate
		var refused atomic.Int64
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if ticket, err := gate.Enter(Caller{}); err == nil {
					gate.Leave(ticket)
				} else {
					refused.Add(1)
				}
			}
		})
	})
}

// TestStreams: requests that stay for ever do not keep a Gate from learning.
func TestStreams(t *testing.T) {
	now := time.Unix(0, 0)
	gate := &Gate{Now: func() time.Time { return now }}
	for range batchSize {
		_, err := gate.Enter(Caller{})
		require.NoError(t, err)
	}
	for range 500 {
		ticket, err := gate.Enter(Caller{})
		require.NoError(t, err)
		now = now.Add(50 * time.Millisecond)
		gate.Leave(ticket)
	}
	assert.Equal(t, 50*time.Millisecond, gate.Stats().Own)
	assert.Equal(t, batchSize, gate.Stats().InFlight)
}

// TestHung: requests that never leave, and a phase in which a dependency is slow, do not
// keep a Gate from admitting requests afterwards.
func TestHung(t *testing.T) {
	for hung := 0; hung < 18; hung += 4 {
		for seed := range uint64(3) {
			for _, caller := range []Caller{{}, {Share: 0.5}, {Patience: 300 * time.Millisecond}} {
				now := time.Unix(0, 0)
				gate := &Gate{Now: func() time.Time { return now }}
				for range hung {
					gate.Enter(caller)
				}
				random := rand.New(rand.NewPCG(seed, 0))
				phase := func(length, took time.Duration) (refused float64) {
					asked := 0.0
					departures := map[Ticket]time.Time{}
					for end := now.Add(length); now.Before(end); asked++ {
						now = now.Add(time.Duration(random.ExpFloat64() * float64(10*time.Millisecond)))
						for ticket, at := range departures {
							if !at.After(now) {
								gate.Leave(ticket)
								delete(departures, ticket)
							}
						}
						if ticket, err := gate.Enter(caller); err == nil {
							departures[ticket] = now.Add(took)
						} else {
							refused++
						}
					}
					for ticket, at := range departures {
						now = later(now, at)
						gate.Leave(ticket)
					}
					return refused / asked
				}
				assert.LessOrEqual(t, phase(10*time.Second, 5*time.Millisecond), 0.01)
				phase(20*time.Second, 3*time.Second)
				phase(30*time.Second, 5*time.Millisecond)
				assert.LessOrEqual(t, phase(10*time.Second, 5*time.Millisecond), 0.01, "%d hung, seed %d, %+v: %+v", hung, seed, caller, gate.Stats())
			}
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// TestQuiet: slow requests on a quiet server are no stall.
func TestQuiet(t *testing.T) {
	now := time.Unix(0, 0)
	gate := &Gate{Now: func() time.Time { return now }}
	for range 100 {
		ticket, err := gate.Enter(Caller{})
		require.NoError(t, err)
		now = now.Add(5 * time.Millisecond)
		gate.Leave(ticket)
	}
	for range fewest - 1 {
		_, err := gate.Enter(Caller{})
		require.NoError(t, err)
		now = now.Add(2 * time.Second)
	}
	_, err := gate.Enter(Caller{})
	require.NoError(t, err)
}
