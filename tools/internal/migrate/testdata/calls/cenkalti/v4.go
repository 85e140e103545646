package cenkalti

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/cenkalti/backoff/v4" // want "9 of 10 calls can be rewritten"
)

const retries = 30

func ping() error { return nil }

func plain() error {
	return backoff.Retry(func() error { // want "backoff\\.Retry: can be rewritten; the call has no context: pass one to end it early"
		return ping()
	}, backoff.WithMaxRetries(backoff.NewConstantBackOff(time.Second), retries))
}

func built(ctx context.Context, n int) error {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval = 5 * time.Second
	b.Multiplier = 2
	b.MaxElapsedTime = time.Duration(n) * time.Minute
	op := func() error {
		if n > 3 {
			return backoff.Permanent(errors.New("no"))
		}
		return ping()
	}
	err := backoff.RetryNotify(op, backoff.WithContext(backoff.WithMaxRetries(b, uint64(n-1)), ctx), func(err error, d time.Duration) { // want "backoff\\.RetryNotify: can be rewritten"
		log.Print(err, d)
	})
	if err != nil {
		return fmt.Errorf("x: %w", err)
	}
	return nil
}

func newB() backoff.BackOff {
	e := backoff.NewExponentialBackOff(backoff.WithMaxElapsedTime(0), backoff.WithRandomizationFactor(0))
	e.MaxInterval = backoff.DefaultMaxInterval
	return e
}

func helper(ctx context.Context) {
	b := backoff.WithContext(newB(), ctx)
	if err := backoff.Retry(ping, b); err != nil { // want "backoff\\.Retry: can be rewritten"
		log.Fatal(err)
	}
}

type client struct{ b backoff.BackOff }

func newClient() *client { return &client{b: &backoff.ZeroBackOff{}} }

func (c *client) do() (int, error) {
	return backoff.RetryWithData(func() (int, error) { return 3, nil }, c.b) // want "backoff\\.RetryWithData: can be rewritten; the call has no context: pass one to end it early"
}

func loop() {
	b := backoff.NewExponentialBackOff()
	for {
		if ping() == nil {
			b.Reset()
			continue
		}
		d := b.NextBackOff() // want "NextBackOff: can be rewritten; the delays are those of an adapt\\.Sequence"
		if d == backoff.Stop {
			return
		}
		time.Sleep(d)
	}
}

func later() error {
	b := backoff.NewExponentialBackOff()
	limit := time.Duration(retries) * time.Second
	b.MaxInterval, b.MaxElapsedTime = limit, 2*limit
	b.Reset()
	return backoff.Retry(ping, b) // want "backoff\\.Retry: can be rewritten; the call has no context: pass one to end it early"
}

type config struct{ attempts uint64 }

type locker struct {
	lock, unlock backoff.BackOff
	quick        backoff.BackOff
}

func newLocker(c config) *locker {
	return &locker{
		quick: backoff.WithMaxRetries(
			backoff.NewConstantBackOff(time.Second),
			c.attempts,
		),
	}
}

func (l *locker) wait(ctx context.Context) error {
	for range 3 {
		if err := backoff.Retry(ping, backoff.WithContext(l.quick, ctx)); err != nil { // want "backoff\\.Retry: can be rewritten"
			return err
		}
	}
	return backoff.Retry(ping, l.lock) // want "backoff\\.Retry: left alone: lock is declared together with others"
}

func bounded(ctx context.Context, n int) backoff.BackOff {
	return backoff.WithContext(backoff.WithMaxRetries(&backoff.ZeroBackOff{}, uint64(n)), ctx)
}

func useBounded(ctx context.Context) error {
	return backoff.Retry(ping, bounded(ctx, 3)) // want "backoff\\.Retry: can be rewritten"
}

var shared = backoff.NewExponentialBackOff()

const growth = 1.1

func init() {
	shared.Multiplier = growth
}

func useShared() error {
	return backoff.Retry(ping, backoff.WithMaxRetries(shared, retries)) // want "backoff\\.Retry: can be rewritten; the call has no context: pass one to end it early"
}

func waits() []time.Duration {
	b := newB()
	return []time.Duration{b.NextBackOff(), b.NextBackOff()}
}
