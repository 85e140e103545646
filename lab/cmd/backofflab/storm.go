// The command storm: a server that fails for a while.

package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

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
	withMap := set.Bool("map", false, "show recovery by policy and utilization; the default policies are full jitter with 0 to 4 retries")
	utilizations := set.String("utilizations", "0.15,0.2,0.25,0.3,0.35,0.4,0.5,0.6,0.7,0.8,0.9", "utilizations of the map")
	env.systemFlags(set, &model)
	if _, err := env.parse(set, args, 0); err != nil {
		return err
	}
	model.Seed, model.Parallel, model.Progress = env.seed, env.parallel, env.progress()
	if *withMap {
		return stormMap(ctx, env, model, *utilizations)
	}
	return stormTable(ctx, env, model)
}

func stormTable(ctx context.Context, env *environment, model lab.Storm) error {
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

func floats(text string) ([]float64, error) {
	var list []float64
	for part := range strings.SplitSeq(text, ",") {
		x, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number", part)
		}
		list = append(list, x)
	}
	return list, nil
}

func stormMap(ctx context.Context, env *environment, model lab.Storm, utilizations string) error {
	m := lab.Metastability{Storm: model}
	var err error
	if m.Utilizations, err = floats(utilizations); err != nil {
		return usageError{fmt.Errorf("utilizations: %w", err)}
	}
	if m.Storm.Contenders, err = env.contenders(stormGroups, func() []lab.Contender { return nil }); err != nil {
		return err
	}
	if m, err = m.WithDefaults(); err != nil {
		return usageError{err}
	}
	return env.produce(func() ([]result, error) {
		points, err := m.Run(ctx)
		return []result{report.Metastability{Points: points}}, err
	})
}
