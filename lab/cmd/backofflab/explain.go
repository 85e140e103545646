// The command explain: the waits of one policy.

package main

import (
	"context"
	"errors"

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
	r := report.NewExplain(c.Name, c.Policy(retry.SystemClock{}), env.seed)
	return env.produce(func() ([]result, error) { return []result{r}, nil })
}
