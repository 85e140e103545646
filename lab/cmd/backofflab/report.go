// The report command: all simulations on one page.

package main

import (
	"context"
	"errors"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/lab"
	"github.com/gobackoff/retry/lab/internal/report"
)

func fullReport(ctx context.Context, env *environment, args []string) error {
	set := env.flags("report", "")
	env.trialFlags(set)
	set.Lookup("html").DefValue, env.html = "backofflab.html", "backofflab.html"
	set.Var(&env.policies, "policy", "a `policy` to compare with the usual ones, as text or a preset's name; may be repeated")
	storm, err := lab.Storm{Outage: lab.Outage{From: 60 * time.Second, To: 62 * time.Second}, Horizon: 200 * time.Second}.WithDefaults()
	if err != nil {
		return err
	}
	env.systemFlags(set, &storm)
	trials := set.Int("trials", 100, "trials for each number of clients; a twentieth of that for each policy in the storm")
	if _, err := env.parse(set, args, 0); err != nil {
		return err
	}
	own, err := env.contenders(nil, func() []lab.Contender { return nil })
	if err != nil {
		return err
	}
	if env.html == "" {
		return usageError{errors.New("html: a report needs a file")}
	}
	contention, err := lab.Contention{
		Contenders: lab.Join(own, lab.Blog(), lab.Fibonacci()), Clients: steps(10, 190, 10, 1), Trials: *trials, Timing: timingBins,
	}.WithDefaults()
	if err != nil {
		return usageError{err}
	}
	storm.Contenders, storm.Trials = lab.Join(own, lab.Usual()), (*trials+19)/20
	if storm, err = storm.WithDefaults(); err != nil {
		return usageError{err}
	}
	return env.produce("What retry policies do", func() ([]result, error) {
		results, stopped := env.runAll(ctx, contention, storm, own)
		for _, c := range own {
			results = append(results, report.NewExplain(c.Name, c.Policy(retry.SystemClock{}), env.seed))
		}
		return results, stopped
	})
}

// runAll returns the results so far if ctx ends.
func (env *environment) runAll(ctx context.Context, contention lab.Contention, storm lab.Storm, own []lab.Contender) (results []result, err error) {
	storm.Seed, storm.Parallel, storm.Progress = env.seed, env.parallel, env.progress()
	rows, err := storm.Run(ctx)
	results = append(results, report.Storm{Storm: storm, Rows: rows})
	if err != nil {
		return results, err
	}
	retries, err := lab.WithRetries("full base=100ms cap=20s", []int{0, 1, 2, 3, 4})
	if err != nil {
		return results, err
	}
	storm.Trials, storm.Contenders = 1, lab.Join(retries, own)
	points, err := lab.Metastability{Storm: storm}.Run(ctx)
	results = append(results, report.Metastability{Points: points})
	if err != nil {
		return results, err
	}
	contention.Seed, contention.Parallel, contention.Progress = env.seed, env.parallel, env.progress()
	cells, err := contention.Run(ctx)
	return append(results, report.Contention{Cells: cells, Network: contention.Network}), err
}
