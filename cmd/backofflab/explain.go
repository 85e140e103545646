// The command explain: the waits of one policy.

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/cmd/backofflab/internal/lab"
	"github.com/gobackoff/retry/cmd/backofflab/internal/report"
)

func explain(_ context.Context, env *environment, args []string) error {
	set := env.flags("explain", ` "POLICY"`)
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
	e := report.NewExplain(c.Policy(retry.SystemClock{}), env.seed)
	fmt.Fprintln(env.stdout, strings.Join(e.Facts(), "\n")+"\n")
	return report.Text(env.stdout, e.Table())
}
