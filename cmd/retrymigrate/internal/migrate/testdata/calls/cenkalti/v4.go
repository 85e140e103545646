package cenkalti

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v4" // want "16 of 36 calls can be rewritten"
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
	if err := backoff.Retry(ping, b); err != nil { // want "backoff\\.Retry: left alone: its backoff comes from elsewhere"
		log.Fatal(err)
	}
}

type client struct{ b backoff.BackOff }

func newClient() *client { return &client{b: &backoff.ZeroBackOff{}} }

func (c *client) do() (int, error) {
	return backoff.RetryWithData(func() (int, error) { return 3, nil }, c.b) // want "backoff\\.RetryWithData: left alone: its backoff comes from elsewhere"
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
		if err := backoff.Retry(ping, backoff.WithContext(l.quick, ctx)); err != nil { // want "backoff\\.Retry: left alone: its backoff comes from elsewhere"
			return err
		}
	}
	return backoff.Retry(ping, l.lock) // want "backoff\\.Retry: left alone: its backoff comes from elsewhere"
}

func bounded(ctx context.Context, n int) backoff.BackOff {
	return backoff.WithContext(backoff.WithMaxRetries(&backoff.ZeroBackOff{}, uint64(n)), ctx)
}

func useBounded(ctx context.Context) error {
	return backoff.Retry(ping, bounded(ctx, 3)) // want "backoff\\.Retry: left alone: its backoff comes from elsewhere"
}

var shared = backoff.NewExponentialBackOff()

const growth = 1.1

func init() {
	shared.Multiplier = growth
}

func useShared() error {
	return backoff.Retry(ping, backoff.WithMaxRetries(shared, retries)) // want "backoff\\.Retry: left alone: its backoff comes from elsewhere"
}

func waits() []time.Duration {
	b := newB()
	return []time.Duration{b.NextBackOff(), b.NextBackOff()} // want "NextBackOff: left alone: its backoff comes from elsewhere" "NextBackOff: left alone: its backoff comes from elsewhere"
}

func alsoAsked() error {
	b := backoff.NewExponentialBackOff()
	b.MaxElapsedTime = time.Minute
	if err := backoff.Retry(ping, b); err != nil { // want "backoff\\.Retry: left alone: its backoff comes from elsewhere"
		return fmt.Errorf("%w, stopped: %t", err, b.NextBackOff() == backoff.Stop) // want "NextBackOff: left alone: its backoff comes from elsewhere"
	}
	return nil
}

func inBranches(ctx context.Context, constant bool) error {
	var b backoff.BackOff
	if constant {
		b = backoff.NewConstantBackOff(time.Second)
	} else {
		b = backoff.WithContext(backoff.NewExponentialBackOff(), ctx)
	}
	return backoff.Retry(ping, b) // want "backoff\\.Retry: left alone: its backoff comes from elsewhere"
}

func hidden(ctx context.Context, n uint64) backoff.BackOff {
	return backoff.WithMaxRetries(backoff.WithContext(newB(), ctx), n)
}

func useHidden(ctx context.Context) error {
	return backoff.RetryNotifyWithTimer(ping, hidden(ctx, 3), nil, nil) // want "backoff\\.RetryNotifyWithTimer: left alone: its backoff comes from elsewhere"
}

func layers(ctx context.Context) error {
	inner := backoff.NewConstantBackOff(time.Second)
	b := backoff.WithContext(backoff.WithMaxRetries(inner, 7), ctx)
	return backoff.Retry(ping, b) // want "backoff\\.Retry: can be rewritten"
}

type batch struct {
	wait *backoff.ExponentialBackOff
}

func (b *batch) next() time.Duration {
	if b.wait == nil {
		b.wait = backoff.NewExponentialBackOff()
	}
	return b.wait.NextBackOff() // want "NextBackOff: can be rewritten; the delays are those of an adapt\\.Sequence"
}

func values() (int, error) {
	b := backoff.NewExponentialBackOff()
	limit := time.Second
	b.InitialInterval = limit
	limit = time.Minute
	b.MaxInterval = limit
	return backoff.RetryWithData(func() (int, error) { return 1, nil }, b) // want "backoff\\.RetryWithData: left alone: its backoff comes from elsewhere"
}

func askedWithContext(ctx context.Context) error {
	b := backoff.WithContext(backoff.NewExponentialBackOff(), ctx)
	for ping() != nil {
		d := b.NextBackOff() // want "NextBackOff: left alone: its backoff comes from elsewhere"
		if d == backoff.Stop {
			return ctx.Err()
		}
		time.Sleep(d)
	}
	return nil
}

func askedWithSettings() time.Duration {
	attempts, b := 3, backoff.NewExponentialBackOff()
	c := backoff.NewExponentialBackOff()
	c.MaxInterval = time.Hour
	c.Reset()
	return time.Duration(attempts)*b.NextBackOff() + c.NextBackOff() // want "NextBackOff: left alone: its backoff comes from elsewhere" "NextBackOff: can be rewritten; the delays are those of an adapt\\.Sequence"
}

func literals() error {
	b := &backoff.ExponentialBackOff{InitialInterval: time.Second, Multiplier: 2, MaxInterval: time.Minute, MaxElapsedTime: time.Hour, Clock: backoff.SystemClock}
	if err := backoff.Retry(ping, b); err != nil { // ends never: its Stop is 0 // want "backoff\\.Retry: left alone: its backoff comes from elsewhere"
		return err
	}
	return backoff.Retry(ping, &backoff.ExponentialBackOff{ // want "backoff\\.Retry: can be rewritten; the call has no context: pass one to end it early"
		InitialInterval: time.Second,
		Multiplier:      2,
		MaxInterval:     time.Minute,
		MaxElapsedTime:  time.Hour,
		Stop:            backoff.Stop,
		Clock:           backoff.SystemClock,
	})
}

func kinds() error {
	for _, err := range []error{
		backoff.Retry(ping, &backoff.StopBackOff{}),                                          // want "backoff\\.Retry: can be rewritten; the call has no context: pass one to end it early"
		backoff.Retry(ping, &backoff.ConstantBackOff{Interval: time.Second}),                 // want "backoff\\.Retry: can be rewritten; the call has no context: pass one to end it early"
		backoff.Retry(ping, &backoff.ExponentialBackOff{}),                                   // want "backoff\\.Retry: left alone: its backoff comes from elsewhere"
		backoff.Retry(ping, backoff.NewExponentialBackOff(backoff.WithRetryStopDuration(0))), // want "backoff\\.Retry: left alone: its backoff comes from elsewhere"
		backoff.Retry(ping, backoff.NewExponentialBackOff(backoff.WithInitialInterval(0))),   // want "backoff\\.Retry: can be rewritten; the call has no context: pass one to end it early"
		backoff.RetryNotifyWithTimer(ping, &backoff.ZeroBackOff{}, nil, timer{}),             // want "backoff\\.RetryNotifyWithTimer: left alone: has a timer of its own"
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

type timer struct{ backoff.Timer }

func tick(t *backoff.Ticker) {
	defer t.Stop()
	for range t.C {
	}
}

func made() func() error { return ping }

func results(ctx context.Context, notify backoff.Notify) (string, error) {
	if err := backoff.Retry(made(), &backoff.ZeroBackOff{}); err != nil { // want "backoff\\.Retry: left alone: its operation is the result of a call: put it in a variable"
		return "", err
	}
	if err := backoff.RetryNotify(backoff.Operation(func() error { return ping() }), &backoff.ZeroBackOff{}, notify); err != nil { // want "backoff\\.RetryNotify: can be rewritten; the call has no context: pass one to end it early"
		return "", err
	}
	if err := backoff.RetryNotify(ping, &backoff.ZeroBackOff{}, func(error, time.Duration) { log.Print("again") }); err != nil { // want "backoff\\.RetryNotify: can be rewritten; the call has no context: pass one to end it early"
		return "", err
	}
	failed := 0
	if err := backoff.RetryNotify(ping, &backoff.ZeroBackOff{}, func(err error, _ time.Duration) { failed++; log.Print(err) }); err != nil { // want "backoff\\.RetryNotify: can be rewritten; the call has no context: pass one to end it early"
		return "", err
	}
	return backoff.RetryWithData(five2, &backoff.ZeroBackOff{}) // want "backoff\\.RetryWithData: can be rewritten; the call has no context: pass one to end it early"
}

func client5() (*http.Client, error) { return nil, nil }

func valueOfPackage() (*http.Client, error) {
	return backoff.RetryWithData(client5, &backoff.ZeroBackOff{}) // want "backoff\\.RetryWithData: can be rewritten; the call has no context: pass one to end it early"
}
