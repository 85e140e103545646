package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/lab"
	"github.com/gobackoff/retry/lab/internal/report"
)

func explain(_ context.Context, env *environment, args []string) error {
	set := env.flags("explain", ` "POLICY"`)
	env.csvFlag(set)
	operands, err := env.parse(set, args, 1)
	if err != nil {
		return err
	}
	if operands == nil {
		return usageError{errors.New(`no policy; one is "full base=100ms cap=20s attempts=5"`)}
	}
	c, err := lab.ParseContender(operands[0])
	if err != nil {
		return usageError{err}
	}
	r := report.Explain{Name: c.Name, Policy: c.Policy(retry.SystemClock{}), Seed: env.seed}
	return env.produce("Policy", func() ([]result, error) {
		if env.csv != "-" {
			tw := tabwriter.NewWriter(env.stdout, 0, 0, 2, ' ', 0)
			for _, fact := range r.Facts() {
				fmt.Fprintf(tw, "%s\t%s\n", fact.Name, fact.Value)
			}
			fmt.Fprintln(tw)
			tw.Flush()
		}
		return []result{r}, nil
	})
}
