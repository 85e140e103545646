package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gobackoff/retry/lab"
	"github.com/gobackoff/retry/lab/internal/report"
)

// stormGroups are names for several policies.
var stormGroups = map[string]func() []lab.Contender{"sdks": lab.SDKs, "usual": lab.Usual}

// outages are the names of what can happen to the server.
var outages = map[string]lab.OutageKind{
	lab.Stall.String(): lab.Stall, lab.Down.String(): lab.Down, lab.BrownOut.String(): lab.BrownOut,
}

func storm(ctx context.Context, env *environment, args []string) error {
	model, err := lab.Storm{}.WithDefaults()
	if err != nil {
		return err
	}
	set := env.flags("storm", "")
	env.csvFlag(set)
	env.trialFlags(set)
	set.Var(&env.policies, "policy", "a `policy` as text, a profile's name, or one of the groups usual and sdks; may be repeated (default usual)")
	set.IntVar(&model.Trials, "trials", 5, "of each policy")
	set.Float64Var(&model.Rate, "rate", model.Rate, "`calls` a second")
	set.IntVar(&model.Processes, "processes", model.Processes, "client processes, each with a budget of its own")
	set.DurationVar(&model.Timeout, "timeout", model.Timeout, "how long a client waits for an answer, unless the policy says it")
	set.DurationVar(&model.Deadline, "deadline", model.Deadline, "how long a call may take")
	set.IntVar(&model.Workers, "workers", model.Workers, "attempts that the server serves at the same time")
	set.DurationVar(&model.Service, "service", model.Service, "mean time to serve one")
	set.IntVar(&model.Queue, "queue", model.Queue, "attempts that can wait at the server")
	set.BoolVar(&model.LIFO, "lifo", false, "the server takes the latest attempt first")
	set.BoolVar(&model.DropExpired, "drop-expired", false, "the server does not serve whom nobody waits for any more")
	kind := set.String("outage", model.Outage.Kind.String(), "`kind`: stall, down or brown-out")
	set.DurationVar(&model.Outage.From, "from", model.Outage.From, "start of the outage")
	set.DurationVar(&model.Outage.To, "to", model.Outage.To, "end of the outage")
	set.Float64Var(&model.Outage.Share, "share", model.Outage.Share, "of its pace that is left to the server in a brown-out")
	set.DurationVar(&model.Horizon, "horizon", model.Horizon, "end of the simulation")
	set.StringVar(&env.series, "series", "", "write attempts and successes in each second as CSV to `file`")
	withMap := set.Bool("map", false, "map recovery over utilisation and retries, in the place of comparing policies")
	utilisations := set.String("utilisations", "0.15,0.2,0.25,0.3,0.35,0.4,0.5,0.6,0.7,0.8,0.9", "of the map")
	retries := set.String("retries", "0,1,2,3,4", "of the map: `numbers` of retries")
	if _, err := env.parse(set, args, 0); err != nil {
		return err
	}
	var ok bool
	if model.Outage.Kind, ok = outages[*kind]; !ok {
		return usageError{fmt.Errorf("outage: unknown %q; there are stall, down and brown-out", *kind)}
	}
	model.Seed, model.Parallel, model.Progress = env.seed, env.parallel, env.progress()
	if *withMap {
		if env.series != "" {
			return usageError{errors.New("series: a map has none")}
		}
		return stormMap(ctx, env, model, *utilisations, *retries)
	}
	return stormTable(ctx, env, model)
}

func stormTable(ctx context.Context, env *environment, model lab.Storm) error {
	var err error
	if model.Contenders, err = env.contenders(stormGroups, lab.Usual); err != nil {
		return err
	}
	if model, err = model.WithDefaults(); err != nil {
		return usageError{err}
	}
	return env.produce("Storm", func() ([]result, error) {
		rows, err := model.Run(ctx)
		return []result{report.Storm{Storm: model, Rows: rows}}, err
	})
}

// mapBackoff is the text of the rule that a map has by itself.
const mapBackoff = "full base=100ms cap=20s"

func stormMap(ctx context.Context, env *environment, model lab.Storm, utilisations, retries string) error {
	m := lab.Metastability{Storm: model}
	for part := range strings.SplitSeq(utilisations, ",") {
		u, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil {
			return usageError{fmt.Errorf("utilisations: %q is not a number", part)}
		}
		m.Utilisations = append(m.Utilisations, u)
	}
	var err error
	if m.Retries, err = numbers(retries); err != nil {
		return usageError{fmt.Errorf("retries: %w", err)}
	}
	backoff := mapBackoff
	switch len(env.policies) {
	case 0:
	case 1:
		c, err := lab.ParseContender(env.policies[0])
		if err != nil {
			return usageError{err}
		}
		backoff, m.Backoff = c.Name, c.Policy(nil).Backoff
	default:
		return usageError{errors.New("policy: a map takes one, for its delays")}
	}
	if m, err = m.WithDefaults(); err != nil {
		return usageError{err}
	}
	return env.produce("Metastability", func() ([]result, error) {
		points, err := m.Run(ctx)
		return []result{report.Metastability{Backoff: backoff, Points: points}}, err
	})
}
