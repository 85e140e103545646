// The command storm: a server that fails for a while.

package main

import (
	"context"
	"flag"

	"github.com/gobackoff/retry/cmd/backofflab/internal/lab"
	"github.com/gobackoff/retry/cmd/backofflab/internal/report"
)

var stormGroups = map[string]func() []lab.Contender{"sdks": lab.SDKs, "usual": lab.Usual}

func storm(ctx context.Context, env *environment, args []string) error {
	set := env.flags("storm", "")
	env.csvFlag(set)
	model, _, err := env.storm(set, args)
	if err != nil {
		return err
	}
	return env.produce(func() ([]result, error) {
		rows, err := model.Run(ctx)
		return []result{report.Storm{Storm: model, Rows: rows}}, err
	})
}

// storm parses the flags of storm and report. It returns the model and, of its contenders,
// those that are not there for comparison only.
func (env *environment) storm(set *flag.FlagSet, args []string) (model lab.Storm, own []lab.Contender, err error) {
	env.trialFlags(set)
	env.policyFlag(set, "to compare with no retry and the zero policy, as text, a preset's name, or one of the groups usual and sdks (default usual)")
	described := env.systemFlags(set)
	set.IntVar(&described.Trials, "trials", described.Trials, "trials of each policy")
	if _, err := env.parse(set, args, 0); err != nil {
		return model, nil, err
	}
	if own, err = env.contenders(stormGroups, lab.Usual); err != nil {
		return model, nil, err
	}
	model = *described
	model.Contenders, model.Progress = lab.WithReferences(own), env.progress()
	if model, err = model.WithDefaults(); err != nil {
		return model, nil, usageError{err}
	}
	env.warn(model)
	return model, own, nil
}
