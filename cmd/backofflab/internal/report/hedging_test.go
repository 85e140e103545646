package report_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/cmd/backofflab/internal/chart"
	"github.com/gobackoff/retry/retryhedge"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Hedging is shown on a server with ten slots of 10 ms at 60 % load. One response in fifty
// is delayed by a second, without a slot. From 30 to 40 s, the server is slower by the factor
// 1.6. A call fails after a second; the server does not notice that a caller has left.
const (
	hedgingRate    = 600 // calls a second
	hedgingSlots   = 10
	hedgingService = 10 * time.Millisecond
	hedgingFrom    = 30
	hedgingTo      = 40
	hedgingLength  = 80
)

type hedging struct {
	name  string
	hedge *retryhedge.Hedge // nil: none

	requests int
	took     []time.Duration // before the brown-out, sorted
	calls    chart.Numbers   // by second
	good     chart.Numbers   // of them
}

// TestHedgingPage: what docs/hedging.md says is true. -update writes its table and pictures.
func TestHedgingPage(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for some seconds")
	}
	none, quantile, unlimited := &hedging{name: "no copies"}, &hedging{name: "Hedge"}, &hedging{name: "50 ms, no budget"}
	all := []*hedging{none, quantile, unlimited}
	for _, h := range all {
		synctest.Test(t, func(t *testing.T) {
			switch h {
			case quantile:
				h.hedge = &retryhedge.Hedge{}
			case unlimited:
				h.hedge = &retryhedge.Hedge{After: 50 * time.Millisecond, Budget: &awspreset.TokenBudget{Capacity: 1e9}}
			}
			h.run()
		})
	}
	assert.Greater(t, none.at(0.99), 900*time.Millisecond)
	assert.Less(t, quantile.at(0.99), 150*time.Millisecond)
	assert.Greater(t, quantile.percent(hedgingTo, hedgingLength), 97.0, "it recovers")
	assert.Less(t, unlimited.percent(hedgingTo, hedgingLength), 60.0, "it does not")
	text, err := os.ReadFile(docs + "hedging.md")
	require.NoError(t, err)
	for _, name := range []string{"tail", "brown-out"} {
		assert.Contains(t, string(text), "](hedging/"+name+".svg)")
	}
	if *update {
		writeHedging(t, string(text), all)
	}
}

func (h *hedging) run() {
	slots := make(chan struct{}, hedgingSlots)
	start := time.Now()
	var mu sync.Mutex
	var calls sync.WaitGroup
	h.calls, h.good = make(chart.Numbers, hedgingLength), make(chart.Numbers, hedgingLength)
	arrivals, next := rand.New(rand.NewPCG(1, 1)), start
	for i := uint64(0); ; i++ {
		next = next.Add(time.Duration(arrivals.ExpFloat64() / hedgingRate * 1e9))
		began := next.Sub(start)
		if began >= hedgingLength*time.Second {
			break
		}
		time.Sleep(time.Until(next))
		calls.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			_, done, err := retryhedge.Open(ctx, h.hedge, "", func(ctx context.Context, copy int) (int, error) {
				mu.Lock()
				h.requests++
				mu.Unlock()
				return 0, respond(ctx, slots, start, rand.New(rand.NewPCG(i, uint64(copy)+2)))
			}, nil)
			done()
			took := time.Since(start) - began
			mu.Lock()
			defer mu.Unlock()
			h.calls[began/time.Second]++
			if err == nil {
				h.good[began/time.Second]++
			}
			if began < hedgingFrom*time.Second {
				h.took = append(h.took, took)
			}
		})
	}
	calls.Wait()
	slices.Sort(h.took)
	time.Sleep(time.Hour) // until the server has served everything
}

// respond waits for the response of the server.
func respond(ctx context.Context, slots chan struct{}, start time.Time, random *rand.Rand) error {
	work := time.Duration(random.ExpFloat64() * float64(hedgingService))
	lost := random.IntN(50) == 0
	response := make(chan struct{})
	go func() {
		slots <- struct{}{}
		if at := time.Since(start); at >= hedgingFrom*time.Second && at < hedgingTo*time.Second {
			work = work * 8 / 5
		}
		time.Sleep(work)
		<-slots
		if lost {
			time.Sleep(time.Second)
		}
		close(response)
	}()
	select {
	case <-response:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (h *hedging) at(q float64) time.Duration { return h.took[int(q*float64(len(h.took)))] }

// percent returns the share of the calls between two seconds that succeed.
func (h *hedging) percent(from, to int) float64 {
	return 100 * sum(h.good[from:to]) / sum(h.calls[from:to])
}

func sum(numbers chart.Numbers) (total float64) {
	for _, n := range numbers {
		total += n
	}
	return total
}

func writeHedging(t *testing.T, text string, all []*hedging) {
	tail := &chart.Picture{Kind: chart.Lines, Title: "Before the brown-out", X: chart.Axis{Label: "time (ms)", Log: true}, Y: chart.Axis{Label: "share of the calls that take longer", Log: true}}
	goodput := &chart.Picture{Kind: chart.Lines, Title: "Goodput", X: chart.Axis{Label: "time (s)"}, Y: chart.Axis{Label: "successes / calls"},
		Shade: &chart.Interval{From: hedgingFrom, To: hedgingTo, Label: "brown-out"}}
	var table strings.Builder
	fmt.Fprint(&table, "| | p50 (ms) | p99 (ms) | p99.9 (ms) | requests a call | success before (%) | in the brown-out | after it |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, h := range all {
		fmt.Fprintf(&table, "| %s | %d | %d | %d | %.3f | %.1f | %.1f | %.1f |\n", h.name, h.at(0.5).Milliseconds(), h.at(0.99).Milliseconds(), h.at(0.999).Milliseconds(),
			float64(h.requests)/sum(h.calls), h.percent(0, hedgingFrom), h.percent(hedgingFrom, hedgingTo), h.percent(hedgingTo, hedgingLength))
		slower := chart.Series{Name: h.name}
		for share := 1.0; share > 0.0004; share /= 1.3 {
			slower.X, slower.Y = append(slower.X, max(1, h.at(min(0.9999, 1-share)).Seconds()*1000)), append(slower.Y, share)
		}
		tail.Series = append(tail.Series, slower)
		line := chart.Series{Name: h.name}
		for second, n := range h.good {
			line.X, line.Y = append(line.X, float64(second)+0.5), append(line.Y, n/h.calls[second])
		}
		goodput.Series = append(goodput.Series, line)
	}
	require.NoError(t, os.WriteFile(docs+"hedging.md", []byte(replaceBlock(t, text, "hedging", table.String())), 0o644))
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("no Node.js, which draws the pictures")
	}
	described := map[string]json.RawMessage{}
	for name, picture := range map[string]*chart.Picture{"tail": tail, "brown-out": goodput} {
		var err error
		described[name], err = picture.Marshal()
		require.NoError(t, err)
	}
	for name, svg := range draw(t, described) {
		require.NoError(t, os.WriteFile(docs+"hedging/"+name+".svg", []byte(svg), 0o644))
	}
}
