package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gobackoff/retry"
)

// A Contention is clients that all want to change one row at the same time, with
// optimistic concurrency control: each reads the row and its version, writes it
// on the condition that the version is still the same, and if not backs off and
// reads again, until it has succeeded once. Of writes that conflict exactly one
// succeeds. Work at the server takes no time; messages do.
//
// It is the model of Marc Brooker, "Exponential Backoff And Jitter", AWS
// Architecture Blog, 2015, and reproduces the figures of its program,
// aws-samples/aws-arch-backoff-simulator at 66cb169.
//
// The fields that are 0 have the blog's values. A Contention may be used by many
// goroutines, and must not be changed meanwhile.
type Contention struct {
	Contenders []Contender // nil: Blog()
	Clients    []int       // numbers of clients to try; nil: 10, 20 … 100
	Trials     int         // of each number; 0: 100
	Seed       uint64      // other seeds, other random numbers; 0 is a seed, too
	Network    Network     // zero: 10 ms, ± 2 ms

	// Limits lets clients give up as their policy's MaxAttempts and MaxElapsed
	// say. Otherwise they go on until they succeed, and of the policy only the
	// Backoff and the HintRule count. Budgets and limiters never do: see [Storm].
	Limits bool

	// Class is that of a conflict. ClassUnknown: transient.
	Class retry.Class

	// Timing counts the calls in each of so many intervals of 50 ms since the
	// start: see Cell.Timing. 0: none.
	Timing int

	Parallel int                   // trials at the same time, without influence on results; 0 or less: GOMAXPROCS
	Progress func(done, total int) // is told of each finished trial, one at a time; nil: nobody
}

// TimingBin is the width of the intervals of Cell.Timing.
const TimingBin = 50 * time.Millisecond

// A Cell is what a [Contention] found for one contender and one number of
// clients.
type Cell struct {
	Contender string
	Clients   int
	Calls     Summary   // writes that reached the server, in a trial
	Time      Summary   // until the last client has its last answer, in milliseconds
	Done      Summary   // the share of clients that succeeded
	Timing    []float64 // mean calls in each interval of TimingBin
}

// Run returns a Cell for each contender and number of clients, in the order of
// the contenders. If ctx ends before all trials have, it returns the cells of
// those that have ended, with the error of ctx. Other errors are of the fields.
func (c Contention) Run(ctx context.Context) ([]Cell, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	plan := c.plan()
	err := each(ctx, len(plan), c.Parallel, c.Progress, func() func(int) bool {
		var m model // its memory serves all trials of a worker
		return func(unit int) bool {
			u := plan[unit]
			return m.run(ctx, &c, u.cell, u.trial, &u.cell.trials[u.trial])
		}
	})
	return c.cells(plan), err
}

func (c Contention) withDefaults() Contention {
	if c.Contenders == nil {
		c.Contenders = Blog()
	}
	if c.Clients == nil {
		for n := 10; n <= 100; n += 10 {
			c.Clients = append(c.Clients, n)
		}
	}
	if c.Trials == 0 {
		c.Trials = 100
	}
	if c.Network == (Network{}) {
		c.Network = Network{Mean: 10 * time.Millisecond, SD: 2 * time.Millisecond}
	}
	if c.Class == retry.ClassUnknown {
		c.Class = retry.ClassTransient
	}
	return c
}

// mostClients bounds the memory of a trial to a few gigabytes.
const mostClients = 50_000_000

// Validate returns an error that names the first field which makes no sense.
func (c Contention) Validate() error {
	c = c.withDefaults()
	for _, n := range c.Clients {
		if n < 1 || n > mostClients {
			return fmt.Errorf("clients: %d is not in 1 to %d", n, mostClients)
		}
	}
	switch {
	case len(c.Contenders) == 0:
		return errors.New("contenders: none")
	case len(c.Clients) == 0:
		return errors.New("clients: none")
	case c.Trials < 0:
		return fmt.Errorf("trials: %d is negative", c.Trials)
	case c.Timing < 0:
		return fmt.Errorf("timing: %d is negative", c.Timing)
	}
	return c.Network.validate()
}

// A cell is a Cell in the making.
type cell struct {
	Cell
	policy    retry.Policy
	contender Contender
	trials    []outcome
}

// outcome is what one trial came to; the zero value is that of a trial that has
// not ended.
type outcome struct {
	calls  int64
	time   int64 // nanoseconds
	done   int
	timing []int32
}

type unit struct {
	cell  *cell
	trial int
}

// plan returns all trials. Those with most clients come first, because the last
// ones to end should be short when there are several workers.
func (c *Contention) plan() []unit {
	var plan []unit
	for _, contender := range c.Contenders {
		for _, n := range c.Clients {
			cell := &cell{
				Cell:      Cell{Contender: contender.Name, Clients: n},
				policy:    contender.Policy(stopped{}),
				contender: contender,
				trials:    make([]outcome, c.Trials),
			}
			for trial := range c.Trials {
				plan = append(plan, unit{cell, trial})
			}
		}
	}
	slices.SortStableFunc(plan, func(a, b unit) int { return b.cell.Clients - a.cell.Clients })
	return plan
}

// cells returns what came of the plan, in the order of contenders and clients.
func (c *Contention) cells(plan []unit) []Cell {
	place := map[string]int{}
	for i, contender := range c.Contenders {
		place[contender.Name] = i
	}
	var cells []Cell
	for _, u := range plan {
		if u.trial == 0 {
			u.cell.summarize()
			cells = append(cells, u.cell.Cell)
		}
	}
	slices.SortStableFunc(cells, func(a, b Cell) int {
		if by := place[a.Contender] - place[b.Contender]; by != 0 {
			return by
		}
		return a.Clients - b.Clients
	})
	return cells
}

func (c *cell) summarize() {
	var calls, times, done []float64
	for _, t := range c.trials {
		if t.calls == 0 {
			continue
		}
		calls = append(calls, float64(t.calls))
		times = append(times, float64(t.time)/1e6)
		done = append(done, float64(t.done)/float64(c.Clients))
		for i, n := range t.timing {
			if c.Timing == nil {
				c.Timing = make([]float64, len(t.timing))
			}
			c.Timing[i] += float64(n)
		}
	}
	for i := range c.Timing {
		c.Timing[i] /= float64(len(calls))
	}
	c.Calls, c.Time, c.Done = Summarize(calls), Summarize(times), Summarize(done)
}

// stopped is a clock that nobody reads.
type stopped struct{}

func (stopped) Now() time.Time                                   { return time.Time{} }
func (stopped) Sleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }
