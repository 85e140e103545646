package wait

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait" // want "3 of 3 calls can be rewritten"
)

func w1(ctx context.Context) error {
	return wait.PollUntilContextTimeout(ctx, time.Second, time.Minute, true, func(ctx context.Context) (bool, error) { // want "wait\\.PollUntilContextTimeout: can be rewritten; the condition's context does not end with the timeout"
		return true, nil
	})
}

func w2() error {
	cond := func() (bool, error) { return true, nil }
	if err := wait.Poll(time.Second, time.Minute, cond); err != nil { // want "wait\\.Poll: can be rewritten; the call has no context: pass one to end it early; the condition's context does not end with the timeout"
		return err
	}
	b := wait.Backoff{Steps: 5, Duration: time.Second, Factor: 2, Jitter: 0.1}
	return wait.ExponentialBackoff(b, cond) // want "wait\\.ExponentialBackoff: can be rewritten; the call has no context: pass one to end it early"
}
