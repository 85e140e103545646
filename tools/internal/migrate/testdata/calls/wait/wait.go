package wait

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/util/wait" // want "10 of 10 calls can be rewritten"
)

func w1(ctx context.Context) error {
	return wait.PollUntilContextTimeout(ctx, time.Second, time.Minute, true, func(ctx context.Context) (bool, error) { // want "wait\\.PollUntilContextTimeout: can be rewritten; the condition's context does not end with the timeout"
		return true, nil
	})
}

func w2() error {
	cond := func() (bool, error) { return true, nil }
	if err := wait.Poll(time.Second, time.Minute, cond); err != nil { // want "wait\\.Poll: can be rewritten; the condition's context does not end with the timeout; the call has no context: pass one to end it early"
		return err
	}
	b := wait.Backoff{Steps: 5, Duration: time.Second, Factor: 2, Jitter: 0.1}
	return wait.ExponentialBackoff(b, cond) // want "wait\\.ExponentialBackoff: can be rewritten; the call has no context: pass one to end it early; the delays are those of b"
}

func w3(ctx context.Context, stop <-chan struct{}, b wait.Backoff, now bool) error {
	cond := func(context.Context) (bool, error) { return true, nil }
	if err := wait.PollImmediateUntil(time.Second, func() (bool, error) { return true, nil }, ctx.Done()); err != nil { // want "wait\\.PollImmediateUntil: can be rewritten"
		return err
	}
	if err := wait.PollUntil(time.Second, func() (bool, error) { return true, nil }, stop); wait.Interrupted(err) { // want "wait\\.PollUntil: can be rewritten"
		return err
	}
	if err := wait.PollUntilContextCancel(ctx, time.Second, now, cond); errors.Is(err, wait.ErrWaitTimeout) { // want "wait\\.PollUntilContextCancel: can be rewritten"
		return err
	}
	if err := wait.ExponentialBackoffWithContext(ctx, wait.Backoff{Steps: 2, Duration: time.Second, Factor: 2, Jitter: 1}, cond); err != nil { // want "wait\\.ExponentialBackoffWithContext: can be rewritten"
		return err
	}
	return wait.ExponentialBackoffWithContext(ctx, b, cond) // want "wait\\.ExponentialBackoffWithContext: can be rewritten; the delays are those of b"
}

func w4(ctx context.Context, cond wait.ConditionWithContextFunc) {
	go wait.PollUntilContextCancel(ctx, time.Second, true, cond) // want "wait\\.PollUntilContextCancel: can be rewritten"
	wait.PollUntilContextCancel(ctx, time.Second, true, cond)    // want "wait\\.PollUntilContextCancel: can be rewritten"
}
