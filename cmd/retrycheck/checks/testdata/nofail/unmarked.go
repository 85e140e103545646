package nofail

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gobackoff/retry"
	goretry "github.com/sethvargo/go-retry"
	"k8s.io/apimachinery/pkg/util/wait"
)

type authority interface {
	Issue(ctx context.Context, name string) (string, error)
}

func renews(ctx context.Context, b goretry.Backoff, a authority, db *sql.DB) error {
	err := goretry.Do(ctx, b, func(ctx context.Context) error { // want `the operation marks no error with RetryableError, so go-retry.Do never retries it`
		_, err := a.Issue(ctx, "name")
		if os.IsNotExist(err) {
			return retry.Permanent(err)
		}
		if err != nil {
			return fmt.Errorf("issue: %w", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = goretry.Exponential(ctx, time.Second, db.PingContext) // a method of another package, whose body is not in sight
	if err != nil {
		return err
	}
	err = goretry.Exponential(ctx, time.Second, func(ctx context.Context) error { return db.PingContext(ctx) }) // want `go-retry.Exponential never retries it`
	if err != nil {
		return err
	}
	return goretry.Constant(ctx, time.Second, touch) // want `go-retry.Constant never retries it`
}

func touch(context.Context) error {
	err := os.Chtimes("lock", time.Time{}, time.Time{})
	if err != nil {
		return err
	}
	return os.Remove("lock")
}

func renewsAgain(ctx context.Context, b goretry.Backoff, a authority, load func(context.Context) error, db *sql.DB) error {
	err := goretry.Do(ctx, b, func(ctx context.Context) error {
		_, err := a.Issue(ctx, "name") // an implementation may mark its errors
		return err
	})
	if err != nil {
		return err
	}
	err = goretry.Do(ctx, b, func(ctx context.Context) error { return load(ctx) })
	if err != nil {
		return err
	}
	err = goretry.Do(ctx, b, func(ctx context.Context) error { return temporary(db.PingContext(ctx)) })
	if err != nil {
		return err
	}
	return goretry.Do(ctx, b, func(ctx context.Context) (err error) {
		defer func() { err = goretry.RetryableError(err) }()
		return db.PingContext(ctx)
	})
}

func temporary(err error) error {
	if errors.Is(err, sql.ErrConnDone) {
		return goretry.RetryableError(err)
	}
	return err
}

func waits(ctx context.Context, b wait.Backoff, ready func(context.Context) (bool, error), get func(context.Context) error) error {
	err := wait.ExponentialBackoffWithContext(ctx, b, func(ctx context.Context) (bool, error) { // want `the condition returns an error or true, both of which end wait.ExponentialBackoffWithContext, so it is asked once`
		err := get(ctx)
		if err != nil {
			return false, err
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	err = wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		err := get(ctx)
		return err == nil, nil
	})
	if err != nil {
		return err
	}
	err = wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		done, err := ready(ctx)
		if err != nil {
			return false, err
		}
		return done, nil
	})
	if err != nil {
		return err
	}
	return wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		err := get(ctx)
		if os.IsNotExist(err) {
			return true, nil
		}
		return false, err // which may be nil
	})
}
