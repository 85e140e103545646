// The command storm: a server that fails for a while.

package main

import (
	"context"

	"github.com/gobackoff/retry/lab"
	"github.com/gobackoff/retry/lab/internal/report"
)

var stormGroups = map[string]func() []lab.Contender{"sdks": lab.SDKs, "usual": lab.Usual}

func storm(ctx context.Context, env *environment, args []string) error {
	model, err := lab.Storm{}.WithDefaults()
	if err != nil {
		return err
	}
	set := env.flags("storm", "")
	env.csvFlag(set)
	env.trialFlags(set)
	env.policyFlag(set, "as text, a preset's name, or one of the groups usual and sdks (default usual)")
	set.IntVar(&model.Trials, "trials", 5, "trials of each policy")
	env.systemFlags(set, &model)
	if _, err := env.parse(set, args, 0); err != nil {
		return err
	}
	model.Seed, model.Parallel, model.Progress = env.seed, env.parallel, env.progress()
	own, err := env.contenders(stormGroups, lab.Usual)
	if err != nil {
		return err
	}
	model.Contenders = lab.WithReferences(own)
	if model, err = model.WithDefaults(); err != nil {
		return usageError{err}
	}
	return env.produce(func() ([]result, error) {
		rows, err := model.Run(ctx)
		return []result{report.Storm{Storm: model, Rows: rows}}, err
	})
}
