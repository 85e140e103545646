package lab

// The contention experiment: its parameters, checks and results.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/gobackoff/retry"
)

// A Contention simulates clients that all want to change one row at the same time. It shows
// the effect of backoff and jitter. With optimistic concurrency control, each client reads
// the row and its version, writes the row if the version is unchanged, and otherwise backs
// off and reads again, until it has succeeded once. Exactly one of the conflicting writes
// succeeds. Messages take time; the server's work does not.
//
// This is the model of Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture
// Blog, 2015. It reproduces the figures of the program behind that article,
// aws-samples/aws-arch-backoff-simulator at 66cb169. The program's values are the defaults.
//
// Every part of a policy is honored, with three exceptions: random numbers come from the
// trial, not from the policy's Rand; a conflict is transient, whatever the Classifier
// returns; and a write whose attempt has timed out may still
// succeed.
//
// A Contention is safe for concurrent use if its fields do not change.
type Contention struct {
	Contenders []Contender // nil: Blog()
	Clients    []int       // numbers of clients; nil: 10, 20 … 100
	Trials     int         // for each contender and number of clients; 0: 100
	Seed       uint64      // the same seed, even 0, gives the same results
	Network    Network     // zero: 10 ms, ± 2 ms

	// Processes is the number of processes. The clients of a process share its budget and
	// limiter. 0 means one process per client.
	Processes int

	// Timing is the number of values in Cell.Timing.
	Timing int

	Parallel int // concurrent trials; does not affect results; 0 or less: GOMAXPROCS

	// Progress, if not nil, is called occasionally, by one goroutine at a time. Its
	// arguments are numbers of clients, summed over all trials.
	Progress func(done, total int)
}

// TimingBin is the width of the intervals of Cell.Timing.
const TimingBin = 50 * time.Millisecond

// A Cell is the result of a [Contention] for one contender and number of clients.
type Cell struct {
	Contender string
	Clients   int
	Calls     Summary   // writes that reached the server, per trial
	Time      Summary   // until the last client has its last response, in seconds
	Done      Summary   // share of clients that succeeded
	Timing    []float64 // mean calls in each TimingBin from the start
}

// PerSuccess returns the number of calls for each client that succeeded; +Inf if none did.
func (c Cell) PerSuccess() float64 {
	if c.Done.Mean == 0 {
		return math.Inf(1)
	}
	return c.Calls.Mean / (c.Done.Mean * float64(c.Clients))
}

// Run returns a Cell for each contender and number of clients, in the order of the
// contenders. If ctx ends first, it returns the error of ctx and the cells of the
// finished trials. Other errors name an invalid field.
func (c Contention) Run(ctx context.Context) ([]Cell, error) {
	c, err := c.WithDefaults()
	if err != nil {
		return nil, err
	}
	cells := c.cells()
	// The largest cells come first, so that all workers end at about the same time.
	order := slices.Clone(cells)
	slices.SortStableFunc(order, func(a, b *cell) int { return b.Clients - a.Clients })
	bar := progress{report: c.Progress}
	for _, cell := range cells {
		bar.total += cell.Clients * c.Trials
	}
	err = each(ctx, len(order)*c.Trials, c.Parallel, func() func(int) bool {
		m := model{progress: &bar} // a worker reuses this memory for all its trials
		return func(unit int) bool {
			// The first trials of all cells come first, so that cells can be compared after
			// an interrupt.
			return m.run(ctx, &c, order[unit%len(order)], unit/len(order))
		}
	})
	result := make([]Cell, len(cells))
	for i, cell := range cells {
		result[i] = cell.summary()
	}
	return result, err
}

// WithDefaults returns c with defaults for zero fields, or an error that names the first
// invalid field.
func (c Contention) WithDefaults() (Contention, error) {
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
	return c, c.check()
}

// These limits bound the memory of a trial, and the memory of all outcomes, to a few
// gigabytes.
const (
	mostClients = 50_000_000
	mostTrials  = 100_000_000
)

const mostStagger = 10_000 * time.Hour // avoids overflows

func (c *Contention) check() error {
	for _, n := range c.Clients {
		if n < 1 || n > mostClients {
			return fmt.Errorf("clients: %d is not in 1 to %d", n, mostClients)
		}
	}
	for _, contender := range c.Contenders {
		if contender.Policy == nil {
			return fmt.Errorf("contenders: %q has no policy", contender.Name)
		}
		if err := c.checkContender(contender); err != nil {
			return err
		}
	}
	switch {
	case len(c.Contenders) == 0:
		return errors.New("contenders: none")
	case len(c.Clients) == 0:
		return errors.New("clients: none")
	case c.Processes < 0:
		return fmt.Errorf("processes: %d is negative", c.Processes)
	case c.Trials < 0:
		return fmt.Errorf("trials: %d is negative", c.Trials)
	case c.Trials > mostTrials/len(c.Contenders)/len(c.Clients):
		return fmt.Errorf("trials: %d of %d policies with %d numbers of clients are more than %d in all",
			c.Trials, len(c.Contenders), len(c.Clients), mostTrials)
	case c.Timing < 0 || c.Timing > 1e6:
		return fmt.Errorf("timing: %d is not in 0 to 1000000", c.Timing)
	}
	return c.Network.check()
}

func (c *Contention) checkContender(contender Contender) error {
	policy := contender.Policy(&world{})
	switch {
	case contender.Stagger > mostStagger:
		return fmt.Errorf("contenders: stagger of %q is above %v", contender.Name, mostStagger)
	case !plain(&policy) && slices.Max(append([]int{0}, c.Clients...)) > mostCallers:
		return fmt.Errorf("clients: %q has a budget, a limiter, a timeout or hooks, and can be simulated with up to %d",
			contender.Name, mostCallers)
	}
	if err := policy.Validate(); err != nil {
		return fmt.Errorf("contenders: %q: %w", contender.Name, err)
	}
	return nil
}

func (c *Contention) processes(clients int) int {
	if c.Processes == 0 {
		return clients
	}
	return min(c.Processes, clients)
}

type cell struct {
	Cell
	contender Contender
	policy    retry.Policy
	plain     bool // model can simulate the trials
	trials    []outcome

	mu     sync.Mutex
	timing []int64 // calls in each TimingBin, summed over all trials
}

// outcome is the outcome of a trial; zero if the trial has not ended.
type outcome struct {
	calls int64
	time  int64 // nanoseconds
	done  int64 // clients
}

func (c *Contention) cells() []*cell {
	var cells []*cell
	for _, contender := range c.Contenders {
		for _, n := range c.Clients {
			policy := contender.Policy(&world{})
			cells = append(cells, &cell{
				Cell:      Cell{Contender: contender.Name, Clients: n},
				contender: contender,
				policy:    policy,
				plain:     plain(&policy),
				trials:    make([]outcome, c.Trials),
				timing:    make([]int64, c.Timing),
			})
		}
	}
	return cells
}

func (c *cell) add(trial int, o outcome, timing []int64) {
	c.trials[trial] = o
	if len(timing) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, n := range timing {
		c.timing[i] += n
	}
}

func (c *cell) summary() Cell {
	var calls, times, done []float64
	for _, t := range c.trials {
		if t.calls == 0 {
			continue
		}
		calls = append(calls, float64(t.calls))
		times = append(times, float64(t.time)/1e9)
		done = append(done, float64(t.done)/float64(c.Clients))
	}
	c.Calls, c.Time, c.Done = summarize(calls), summarize(times), summarize(done)
	if len(c.timing) > 0 && len(calls) > 0 {
		c.Timing = make([]float64, len(c.timing))
		for i, n := range c.timing {
			c.Timing[i] = float64(n) / float64(len(calls))
		}
	}
	return c.Cell
}

var errConflict = errors.New("conflict")
