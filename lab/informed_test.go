package lab

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// plainRow simulates clients that contend for a row under versionSeen, without code from
// this package. Times are in milliseconds.
type plainRow struct {
	rng     *rand.Rand
	clients []plainClient
	version int
	calls   int
	end     float64
}

type plainClient struct {
	at     float64 // when its next message reaches the server
	writes bool
	done   bool

	failures              int
	version, previous     int     // at the last two reads
	read, previousRead    float64 // times of these reads
	window, sumRoundTrips float64
}

func (p *plainRow) delay() float64 { return math.Abs(10 + 2*p.rng.NormFloat64()) }

func (p *plainRow) run(n int) (calls, end float64) {
	p.clients = make([]plainClient, n)
	for i := range p.clients {
		p.clients[i].at = p.delay()
	}
	for left := n; left > 0; {
		i := 0
		for j, c := range p.clients {
			if !c.done && (p.clients[i].done || c.at < p.clients[i].at) {
				i = j
			}
		}
		if p.step(&p.clients[i]) {
			left--
		}
	}
	return float64(p.calls), p.end
}

// step handles the next message of c, and reports whether c has succeeded.
func (p *plainRow) step(c *plainClient) bool {
	if !c.writes {
		c.previous, c.version = c.version, p.version
		c.previousRead, c.read = c.read, c.at
		c.at += p.delay() + p.delay()
		c.writes = true
		return false
	}
	p.calls++
	response := c.at + p.delay()
	if c.version == p.version {
		p.version++
		p.end = max(p.end, response)
		c.done = true
		return true
	}
	c.failures++
	c.sumRoundTrips += c.at - c.read
	if c.failures == 1 {
		c.window = 300
	} else {
		rate := float64(c.version-c.previous) / (c.read - c.previousRead)
		x := rate * c.sumRoundTrips / float64(c.failures) / 0.94
		c.window *= min(max(0.1, x*x), 2)
	}
	c.at = response + p.rng.Float64()*c.window + p.delay()
	c.writes = false
	return false
}

func TestVersionSeenAgainstPlainSimulation(t *testing.T) {
	i := slices.IndexFunc(Informed(), func(c Contender) bool { return c.Name == "version seen, from 300ms" })
	const trials = 200
	cells, err := Contention{Contenders: Informed()[i : i+1], Clients: []int{10, 50, 100}, Trials: trials, Seed: 5}.Run(t.Context())
	require.NoError(t, err)
	for _, cell := range cells {
		var calls, times []float64
		for seed := range uint64(trials) {
			p := plainRow{rng: rand.New(rand.NewPCG(seed, 7))}
			n, end := p.run(cell.Clients)
			calls, times = append(calls, n), append(times, end)
		}
		for name, pair := range map[string][2]Summary{"calls": {cell.Calls, summarize(calls)}, "time": {cell.Time, summarize(times)}} {
			got, want := pair[0], pair[1]
			t.Logf("%d clients, %s: %.1f, independently %.1f", cell.Clients, name, got.Mean, want.Mean)
			assert.InDelta(t, want.Mean, got.Mean, 4.5*math.Hypot(got.SE(), want.SE()), name)
		}
	}
}
