// The command advise: the policy that suits a system.

package main

import (
	"context"
	"fmt"

	"github.com/gobackoff/retry/cmd/backofflab/internal/lab"
	"github.com/gobackoff/retry/cmd/backofflab/internal/report"
)

func advise(ctx context.Context, env *environment, args []string) error {
	set := env.flags("advise", "")
	env.csvFlag(set)
	env.trialFlags(set)
	price := set.Float64("price", 1, "`points` of success that a second of the 99th percentile of the latency is worth")
	env.systemFlags(set)
	if _, err := env.parse(set, args, 0); err != nil {
		return err
	}
	if len(env.policies) > 0 {
		fmt.Fprintln(env.stderr, "backofflab: advise ignores the policies of the file")
	}
	a := env.advice()
	a.Price = *price / 100
	model, err := a.Storm.WithDefaults()
	if err != nil {
		return usageError{err}
	}
	env.warn(model)
	return env.produce(func() ([]result, error) {
		v, err := a.Run(ctx)
		if err != nil {
			return nil, err
		}
		return []result{report.Advice{Verdict: v}}, nil
	})
}

// advice returns the search for a policy that suits the described system. Without an outage,
// each of its trials has another one.
func (env *environment) advice() lab.Advice {
	model := *env.system.model
	if !env.system.given["outage"] && !env.system.given["to"] {
		model.Outage = lab.Outage{}
	}
	model.Progress = env.progress()
	return lab.Advice{Storm: model}
}
