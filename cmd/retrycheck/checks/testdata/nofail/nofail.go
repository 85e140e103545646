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
	_ = retry.Do(ctx, p, func(context.Context) error { return err })
	_ = retry.Do(ctx, p, func(context.Context) error { return os.ErrExist })
	return retry.Do(ctx, p, renaming(ctx, rename))
}

func renaming(ctx context.Context, rename func(context.Context) error) func(context.Context) error {
	err := rename(ctx)
	return func(context.Context) error { return err }
}
