package nofail

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/gobackoff/retry"
)

func swallows(ctx context.Context, p retry.Policy) {
	_ = retry.Do(ctx, p, func(context.Context) error { // want `the operation never returns an error that is not permanent, so retry.Do never retries it`
		if err := os.Remove("lock"); err != nil {
			println(err.Error())
		}
		return nil
	})
	_, _ = retry.DoValue(ctx, p, func(context.Context) ([]byte, error) { // want `never returns an error`
		data, _ := os.ReadFile("config")
		return data, nil
	})
	op := func() error {
		other := func() error { return errors.New("other") }
		return func() error { _ = other(); return nil }()
	}
	_ = backoff.Retry(op, &backoff.ZeroBackOff{})
	_ = backoff.Retry(func() error { _ = os.Remove("lock"); return nil }, &backoff.ZeroBackOff{}) // want `backoff.Retry never retries it`
}

func gives(ctx context.Context, p retry.Policy) {
	_ = retry.Do(ctx, p, func(context.Context) error { // want `never returns an error that is not permanent`
		if err := os.Remove("lock"); err != nil {
			return retry.Permanent(err)
		}
		return nil
	})
}

func returns(ctx context.Context, p retry.Policy) {
	_ = retry.Do(ctx, p, func(context.Context) error { return os.Remove("lock") })
	_ = retry.Do(ctx, p, func(context.Context) (err error) {
		if err = os.Remove("lock"); err == nil {
			return nil
		}
		return
	})
	_ = retry.Do(ctx, p, func(context.Context) error {
		err := os.Remove("lock")
		if errors.Is(err, os.ErrPermission) {
			return retry.Permanent(err)
		}
		return err
	})
	_ = retry.Do(ctx, p, func(context.Context) error { panic("not implemented") })
}

func endless(ctx context.Context, p retry.Policy, listen func(context.Context) error) {
	_ = retry.Do(ctx, p, func(ctx context.Context) error { // want `every failure counts as Progress, so attempts start from the first again and never end: mark only what did useful work`
		return retry.Progress(listen(ctx))
	})
	_ = retry.Do(ctx, p, func(ctx context.Context) error {
		began := time.Now()
		err := listen(ctx)
		if time.Since(began) > time.Minute {
			return retry.Progress(err)
		}
		return err
	})
}

func decided(ctx context.Context, p retry.Policy, rename func(context.Context) error) error {
	_ = retry.Do(ctx, p, func(ctx context.Context) error { // want `the operation returns an error even if what it called succeeded, because fmt.Errorf and errors.New never return nil: return nil first if there is no error`
		err := rename(ctx)
		return fmt.Errorf("rename: %w", err)
	})
	err := rename(ctx)
	_ = retry.Do(ctx, p, func(context.Context) error { return err }) // want `the operation calls nothing, so each attempt returns the same err: make the call in the operation`
	_ = retry.Do(ctx, p, func(context.Context) error { return os.ErrExist })
	return retry.Do(ctx, p, renaming(ctx, rename)) // want `the operation calls nothing`
}

func renaming(ctx context.Context, rename func(context.Context) error) func(context.Context) error {
	err := rename(ctx)
	return func(context.Context) error { return err }
}

func timeouts(ctx context.Context, fetch func(context.Context) error) {
	p := retry.Policy{AttemptTimeout: time.Second}
	_ = retry.Do(ctx, p, func(ctx context.Context) error {
		err := fetch(ctx)
		if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
			return retry.Permanent(err) // want `this also ends the call after an attempt that took too long, which is never retried: return the error without a marker`
		}
		if ctx.Err() != nil {
			return nil // want `an attempt that took too long passes for a success here: return its error`
		}
		return err
	})
	_ = retry.Do(ctx, p, func(ctx context.Context) error {
		failed := make(chan error, 1)
		go func() { failed <- fetch(ctx) }()
		select {
		case <-ctx.Done():
			return retry.Permanent(ctx.Err()) // want `which is never retried`
		case err := <-failed:
			return err
		}
	})
	_ = retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		err := fetch(ctx)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return retry.Permanent(err) // want `which is never retried`
		}
		return err
	})
}

func ends(ctx context.Context, fetch func(context.Context) error) {
	p := retry.Policy{AttemptTimeout: time.Second}
	_ = retry.Do(ctx, p, func(attempt context.Context) error {
		err := fetch(attempt)
		if ctx.Err() != nil {
			return retry.Permanent(err)
		}
		if errors.Is(err, context.DeadlineExceeded) && attempt.Err() == nil {
			return retry.Permanent(err)
		}
		if errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	})
	_ = retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		err := fetch(ctx)
		if ctx.Err() != nil {
			return nil
		}
		return err
	})
}

func downloads(ctx context.Context, p retry.Policy, rest func(ctx context.Context, from int) (int, error)) error {
	written := 0
	return retry.Do(ctx, p, func(ctx context.Context) error {
		n, err := rest(ctx, written)
		written += n
		if written > 0 {
			return retry.Progress(err) // want `written is what all attempts have brought, so one that brings nothing counts as Progress, too`
		}
		return err
	})
}

func failsSilently(ctx context.Context, p retry.Policy, load, store func(context.Context) error, closeAll func() error) {
	_ = retry.Do(ctx, p, func(ctx context.Context) error {
		if err := load(ctx); err != nil {
			return nil // want `a failure passes for a success here: return err`
		}
		return store(ctx)
	})
	_ = retry.Do(ctx, p, func(ctx context.Context) error {
		err := load(ctx)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err := store(ctx); err != nil {
			return err
		}
		if err := closeAll(); err != nil {
			return nil
		}
		return store(ctx)
	})
}

func simulates(ctx context.Context, p retry.Policy) error {
	refused := errors.New("refused")
	return retry.Do(ctx, p, func(context.Context) error { return refused })
}
