package sequence

import (
	"context"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

var delays = adapt.NewSequence(retry.Policy{MaxAttempts: 5}) // mistake

func send(ctx context.Context, op func(context.Context) error) error {
	for {
		err := op(ctx)
		if err == nil {
			return nil
		}
		wait, again := delays.Retry(err)
		if !again {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}
