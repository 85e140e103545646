// The command playground: the lab as a page for browsers.

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/gobackoff/retry/cmd/backofflab/internal/playground"
)

func writePlayground(ctx context.Context, env *environment, args []string) error {
	operands, err := env.operands("playground", " FOLDER\n\nwrites the lab as a page for browsers: static files for any web server; needs the go command and this module's sources", args, 1)
	if err != nil {
		return err
	}
	if operands == nil {
		return usageError{errors.New("no folder")}
	}
	if err := playground.Write(ctx, operands[0]); err != nil {
		return err
	}
	fmt.Fprintf(env.stdout, "%s is written; serve it, for example with: python3 -m http.server --directory %[1]s\n", operands[0])
	return nil
}
