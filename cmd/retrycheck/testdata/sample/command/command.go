// Exec.Cmd made outside.
package command

import (
	"context"
	"os/exec"

	"github.com/gobackoff/retry"
)

func Push(ctx context.Context, remote string) error {
	cmd := exec.CommandContext(ctx, "git", "push", remote)
	return retry.Do(ctx, retry.Policy{}, func(context.Context) error {
		return cmd.Run() // mistake
	})
}
