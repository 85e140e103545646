package once

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/gobackoff/retry"
)

type mail struct{ id string }

func keepsFirst(ctx context.Context, p retry.Policy, refresh func(context.Context) error) error {
	var group errgroup.Group
	return retry.Do(ctx, p, func(ctx context.Context) error {
		group.Go(func() error { return refresh(ctx) })
		return group.Wait() // want `group keeps the error of the first attempt, so no retry succeeds: make the group in the operation`
	})
}

func ownGroup(ctx context.Context, p retry.Policy, refresh func(context.Context) error) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		var group errgroup.Group
		group.Go(func() error { return refresh(ctx) })
		return group.Wait()
	})
}

func takesAnother(ctx context.Context, p retry.Policy, mails chan mail, send func(context.Context, mail) error) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		select {
		case m := <-mails: // want `each attempt takes another value from mails, so that of a failed attempt is lost: receive before retry.Do`
			return send(ctx, m)
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

func takesOnce(ctx context.Context, p retry.Policy, mails chan mail, results chan error, send func(context.Context, mail)) error {
	m := <-mails
	return retry.Do(ctx, p, func(ctx context.Context) error {
		send(ctx, m)
		err := <-results
		return err
	})
}

type docker interface {
	Build(context.Context) error
	Close() error
}

func closesAfterSuccess(ctx context.Context, p retry.Policy, d docker) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		err := d.Build(ctx)
		if err != nil {
			return err
		}
		defer d.Close()
		return nil
	})
}
