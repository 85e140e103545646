package wait

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait" // want "9 of 13 calls can be rewritten"
)

func ready() (bool, error) { return true, nil }

func w1(ctx context.Context) error {
	return wait.PollUntilContextTimeout(ctx, time.Second, time.Minute, true, func(ctx context.Context) (bool, error) { // want "wait\\.PollUntilContextTimeout: can be rewritten; the condition's context does not end with the timeout"
		ok, err := ready()
		if err != nil {
			return false, err
		}
		if !ok {
			return false, nil
		}
		go func() (bool, error) { return false, nil }()
		return true, nil
	})
}

func w2(n int) error {
	cond := func() (bool, error) { return n > 0, nil }
	if err := wait.Poll(time.Second, time.Minute, cond); err != nil { // want "wait\\.Poll: can be rewritten; the first attempt is made at once, not after the interval; the condition's context does not end with the timeout; the call has no context: pass one to end it early"
		return err
	}
	b := wait.Backoff{Steps: n, Duration: time.Second, Factor: 2, Jitter: 0.1, Cap: time.Hour}
	return wait.ExponentialBackoff(b, func() (bool, error) { // want "wait\\.ExponentialBackoff: can be rewritten; the attempts go on at Cap, up to Steps; the delays vary by Jitter in both directions; the call has no context: pass one to end it early"
		switch n {
		case 1:
			return n > 2, nil
		case 2:
			return false, errors.New("two")
		case 3:
			return false, fmt.Errorf("three: %w", context.Canceled)
		}
		return ready()
	})
}

func w3(ctx context.Context, stop <-chan struct{}, b wait.Backoff, now bool) error {
	cond := func(context.Context) (bool, error) { return true, nil }
	if err := wait.PollImmediateUntil(time.Second, func() (bool, error) { done, err := ready(); return done, err }, ctx.Done()); err != nil { // want "wait\\.PollImmediateUntil: can be rewritten"
		return err
	}
	if err := wait.PollUntil(time.Second, func() (bool, error) { return true, nil }, stop); err != nil { // want "wait\\.PollUntil: left alone: it ends with a channel: make a context of it"
		return err
	}
	if err := wait.PollUntilContextCancel(ctx, time.Second, now, cond); err != nil { // want "wait\\.PollUntilContextCancel: left alone: whether the first attempt is made at once is not a constant"
		return err
	}
	if err := wait.ExponentialBackoffWithContext(ctx, wait.Backoff{Steps: 2, Duration: time.Second}, cond); err != nil { // want "wait\\.ExponentialBackoffWithContext: can be rewritten"
		return err
	}
	if err := wait.PollImmediate(time.Second, time.Minute, func() (ok bool, err error) { return }); err != nil { // want "wait\\.PollImmediate: left alone: its condition has a return without results"
		return err
	}
	return wait.ExponentialBackoffWithContext(ctx, b, cond) // want "wait\\.ExponentialBackoffWithContext: left alone: its Backoff comes from elsewhere"
}

func w4(ctx context.Context, cond wait.ConditionWithContextFunc) {
	go wait.PollUntilContextCancel(ctx, time.Second, true, cond) // want "wait\\.PollUntilContextCancel: can be rewritten"
	wait.PollUntilContextCancel(ctx, time.Second, true, cond)    // want "wait\\.PollUntilContextCancel: can be rewritten"
}

func w5(ctx context.Context) error {
	return wait.PollUntilContextTimeout(ctx, time.Second, time.Minute, true, func(context.Context) (done bool, err error) { // want "wait\\.PollUntilContextTimeout: can be rewritten; the condition's context does not end with the timeout"
		ok, err := ready()
		return ok, err
	})
}

func w6(ctx context.Context) error {
	return wait.PollUntilContextCancel(ctx, time.Second, true, func(context.Context) (bool, error) { // want "wait\\.PollUntilContextCancel: can be rewritten"
		_, err := ready()
		if err != nil {
			return false, nil // again
		}
		if _, err := ready(); err != nil {
			_, err = ready()
			return false, err
		}
		if _, err := ready(); err != nil {
			_, err = ready()
			return false, nil
		}
		if err := ctx.Err(); err != nil {
			_, err := ready()
			fmt.Println(err)
			return false, nil
		}
		if _, err := ready(); err != nil {
			return false, err
		}
		_, err = ready()
		return true, err
	})
}
