package once

import (
	"context"
	"net"
	"os/exec"
	"sync"

	"github.com/cenkalti/backoff/v4"
	"github.com/gobackoff/retry"
)

func pushes(ctx context.Context, p retry.Policy) error {
	cmd := exec.CommandContext(ctx, "git", "push")
	return retry.Do(ctx, p, func(context.Context) error {
		return cmd.Run() // want `cmd runs only once, so every retry fails: make the command in the operation`
	})
}

func others(ctx context.Context) {
	cmd := exec.Command("sync")
	_ = backoff.Retry(func() error { return cmd.Start() }, &backoff.ZeroBackOff{}) // want `cmd runs only once`
	_ = backoff.Retry(func() error {
		cmd = exec.Command("sync")
		return cmd.Run()
	}, &backoff.ZeroBackOff{})
	_ = backoff.Retry(func() error { return exec.CommandContext(ctx, "sync").Run() }, &backoff.ZeroBackOff{})
}

func sends(ctx context.Context, p retry.Policy, text []byte) error {
	conn, err := net.Dial("tcp", "example.com:25")
	if err != nil {
		return err
	}
	datagrams, err := net.Dial("udp", "example.com:53")
	if err != nil {
		return err
	}
	_ = retry.Do(ctx, p, func(context.Context) error {
		_, err := datagrams.Write(text)
		return err
	})
	return retry.Do(ctx, p, func(context.Context) error {
		_, err := conn.Write(text) // want `a connection that failed stays broken, and a retry uses conn again: dial in the operation`
		return err
	})
}

func counts(ctx context.Context, p retry.Policy, op func(context.Context) error) {
	var group, right sync.WaitGroup
	ready, never := make(chan struct{}), make(chan struct{})
	group.Add(1)
	go func() {
		_ = retry.Do(ctx, p, func(ctx context.Context) error {
			defer group.Done() // want `each attempt counts as done in group, which panics below 0: call Done after retry.Do`
			return op(ctx)
		})
	}()
	_ = retry.Do(ctx, p, func(ctx context.Context) error {
		close(ready)
		return op(ctx)
	})
	_ = retry.Do(ctx, p, func(ctx context.Context) error {
		right.Add(1)
		defer right.Done()
		if err := op(ctx); err != nil {
			return err
		}
		close(never)
		return nil
	})
	group.Wait()
}

type connection struct {
	once    sync.Once
	err     error
	dial    func(context.Context) error
	started chan struct{}
}

func (c *connection) open(ctx context.Context, p retry.Policy) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		c.once.Do(func() { c.err = c.dial(ctx) }) // want `c.once has run its function in the first attempt, so a retry gets the first failure again: call the function in each attempt`
		return c.err
	})
}

func (c *connection) signals(ctx context.Context, p retry.Policy) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		c.once.Do(func() { close(c.started) })
		return c.dial(ctx)
	})
}
