package once

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"os/exec"
	"sync"
	"time"

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
		close(ready) // want `a retry closes ready again, which panics: close it after retry.Do`
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

type counter struct {
	mu sync.Mutex
	n  int
}

func locks(ctx context.Context, p retry.Policy, c *counter, load func(context.Context) (int, error)) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		c.mu.Lock() // want `a failed attempt keeps c.mu locked, so a retry waits forever: defer c.mu.Unlock\(\)`
		n, err := load(ctx)
		if err != nil {
			return err
		}
		c.n = n
		c.mu.Unlock()
		return nil
	})
}

func unlocks(ctx context.Context, p retry.Policy, c *counter, load func(context.Context) (int, error)) error {
	_ = retry.Do(ctx, p, func(ctx context.Context) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		n, err := load(ctx)
		c.n = n
		return err
	})
	_ = retry.Do(ctx, p, func(ctx context.Context) error {
		c.mu.Lock()
		n, err := load(ctx)
		if err != nil {
			c.mu.Unlock()
			return err
		}
		c.n = n
		c.mu.Unlock()
		return nil
	})
	_ = retry.Do(ctx, p, func(ctx context.Context) error {
		var mine sync.Mutex
		mine.Lock()
		_, err := load(ctx)
		return err
	})
	return retry.Do(ctx, p, func(ctx context.Context) error {
		n, err := load(ctx)
		if err != nil {
			return err
		}
		c.mu.Lock()
		c.n = n
		c.mu.Unlock()
		return nil
	})
}

type lazy struct {
	once  sync.Once
	ready error
}

func (l *lazy) start(ctx context.Context, p retry.Policy, dial func(context.Context) error) error {
	var err error
	l.once.Do(func() {
		err = retry.Do(ctx, p, dial) // want `only the first call of this function runs this, and the next has no error although it failed: keep err beside l.once`
	})
	return err
}

func (l *lazy) keeps(ctx context.Context, p retry.Policy, dial func(context.Context) error) error {
	l.once.Do(func() {
		l.ready = retry.Do(ctx, p, dial)
	})
	return l.ready
}

var errSlow = errors.New("slow")

func fires(ctx context.Context, p retry.Policy, results chan error) error {
	timeout := time.After(time.Second)
	timer := time.NewTimer(time.Second)
	return retry.Do(ctx, p, func(ctx context.Context) error {
		select {
		case <-timeout: // want `this fires once, so only one attempt sees it: set the policy's AttemptTimeout or MaxElapsed instead`
			return errSlow
		case <-timer.C: // want `this fires once`
			return errSlow
		case err := <-results:
			return err
		}
	})
}

func firesAgain(ctx context.Context, p retry.Policy, results chan error) error {
	end := time.After(time.Minute)
	timer := time.NewTimer(time.Second)
	return retry.Do(ctx, p, func(ctx context.Context) error {
		timer.Reset(time.Second)
		select {
		case <-time.After(time.Second):
			return errSlow
		case <-timer.C:
			return errSlow
		case <-end:
			return retry.Permanent(errSlow)
		case err := <-results:
			return err
		}
	})
}

func closes(ctx context.Context, p retry.Policy, conn net.Conn, db *sql.DB) error {
	err := retry.Do(ctx, p, func(ctx context.Context) error {
		defer db.Close() // want `a retry uses db after it is closed: close it after retry.Do, or open it in each attempt`
		return db.PingContext(ctx)
	})
	if err != nil {
		return err
	}
	err = retry.Do(ctx, p, func(ctx context.Context) (err error) {
		conn, err = net.Dial("tcp", "localhost:25")
		if err != nil {
			return err
		}
		defer conn.Close()
		_, err = conn.Write(nil)
		return err
	})
	if err != nil {
		return err
	}
	return retry.Do(ctx, p, func(context.Context) error { return db.Close() })
}
