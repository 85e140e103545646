// The command advise: the policy that suits a system.

package main

import (
	"context"
	"fmt"

	"github.com/gobackoff/retry/lab"
	"github.com/gobackoff/retry/lab/internal/report"
)

func advise(ctx context.Context, env *environment, args []string) error {
	model, err := lab.Storm{}.WithDefaults()
	if err != nil {
		return err
	}
	set := env.flags("advise", "")
	env.csvFlag(set)
	env.trialFlags(set)
	price := set.Float64("price", 1, "`points` of success that a second of the 99th percentile of the latency is worth")
	env.systemFlags(set, &model)
	if _, err := env.parse(set, args, 0); err != nil {
		return err
	}
	if len(env.policies) > 0 {
		fmt.Fprintln(env.stderr, "backofflab: advise ignores the policies of the file")
	}
	if !env.system.given["outage"] && !env.system.given["to"] {
		model.Outage = lab.Outage{}
	}
	model.Seed, model.Parallel, model.Progress = env.seed, env.parallel, env.progress()
	a := lab.Advice{Storm: model, Price: *price / 100}
	return env.produce(func() ([]result, error) {
		v, err := a.Run(ctx)
		if err != nil {
			return nil, err
		}
		return []result{report.Advice{Verdict: v}}, nil
	})
}
