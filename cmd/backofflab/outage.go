// The command outage: calls that begin when a server goes down for a while.

package main

import (
	"context"
	"fmt"

	"github.com/gobackoff/retry/cmd/backofflab/internal/lab"
	"github.com/gobackoff/retry/cmd/backofflab/internal/report"
)

var outageGroups = map[string]func() []lab.Contender{"patient": lab.Patient}

func outage(ctx context.Context, env *environment, args []string) error {
	var model lab.Survival
	set := env.flags("outage", "")
	env.csvFlag(set)
	env.policyFlag(set, "as text, a preset's name, or the group patient (the default)")
	calls := set.String("calls", "1,5,20,100", "`numbers` of calls that begin together in a process and share its budget")
	set.IntVar(&model.Trials, "trials", 0, "trials of each number of calls (default: 2,000 calls in all)")
	set.DurationVar(&model.Latency, "latency", 0, "`time` until a request is refused or succeeds (default 1ms)")
	if _, err := env.parse(set, args, 0); err != nil {
		return err
	}
	var err error
	if model.Calls, err = numbers(*calls); err != nil {
		return usageError{fmt.Errorf("calls: %w", err)}
	}
	if model.Contenders, err = env.contenders(outageGroups, lab.Patient); err != nil {
		return err
	}
	model.Seed = env.seed
	if model, err = model.WithDefaults(); err != nil {
		return usageError{err}
	}
	return env.produce(func() ([]result, error) {
		rows, err := model.Run(ctx)
		return []result{report.Survival{Survival: model, Rows: rows}}, err
	})
}
