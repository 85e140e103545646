package nofail

import (
	"context"
	"errors"
	"os"

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
