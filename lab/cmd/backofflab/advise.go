// The command advise: policies that suit a system.

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gobackoff/retry/lab"
	"github.com/gobackoff/retry/lab/internal/report"
)

func advise(ctx context.Context, env *environment, args []string) error {
	model, err := lab.Storm{Outage: lab.Outage{From: 60 * time.Second, To: 62 * time.Second}, Horizon: 200 * time.Second}.WithDefaults()
	if err != nil {
		return err
	}
	set := env.flags("advise", "")
	env.csvFlag(set)
	env.trialFlags(set)
	a := lab.Advice{}
	goal := set.String("goal", lab.SuccessFirst.String(), "`what` counts first: success or recovery")
	set.IntVar(&a.Most, "most", 5, "maximum number of `policies` to show")
	env.systemFlags(set, &model)
	if _, err := env.parse(set, args, 0); err != nil {
		return err
	}
	switch *goal {
	case lab.SuccessFirst.String():
	case lab.RecoveryFirst.String():
		a.Goal = lab.RecoveryFirst
	default:
		return usageError{fmt.Errorf("goal: unknown %q; %s", *goal, known(*goal, []string{"success", "recovery"}))}
	}
	if a.Most < 1 {
		return usageError{errors.New("most: want at least 1 policy")}
	}
	if len(env.policies) > 0 {
		fmt.Fprintln(env.stderr, "backofflab: advise ignores the policies of the file")
	}
	if a.Storm, err = model.WithDefaults(); err != nil {
		return usageError{err}
	}
	a.Storm.Seed, a.Storm.Parallel, a.Storm.Progress = env.seed, env.parallel, env.progress()
	return env.produce(func() ([]result, error) {
		v, err := a.Run(ctx)
		if err != nil {
			return nil, err
		}
		return []result{report.Advice{Goal: a.Goal, Verdict: v}}, nil
	})
}
