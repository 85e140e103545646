package nofail

import (
	"context"
	"errors"
	"fmt"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

var (
	errNotReady = errors.New("report is not ready")
	errRejected = errors.New("report was rejected")
)

var polling = func() retry.Policy {
	p := awspreset.Standard21.Policy("athena")
	p.MaxAttempts = 30
	return p
}()

type reports struct {
	policy retry.Policy
	state  func(ctx context.Context) (string, error)
}

func newReports() *reports { return &reports{policy: awspreset.Standard21.Policy("athena")} }

func (r *reports) wait(ctx context.Context) error {
	err := retry.Do(ctx, polling, func(ctx context.Context) error {
		state, err := r.state(ctx)
		switch {
		case err != nil:
			return err
		case state == "FAILED":
			return errRejected // which ends the call
		case state != "DONE":
			return errNotReady // want `the classifier of a preset calls an error permanent that no SDK knows, so this ends the call`
		}
		return nil
	})
	if err != nil {
		return err
	}
	return retry.Do(ctx, r.policy, func(ctx context.Context) error {
		state, err := r.state(ctx)
		if state == "QUEUED" {
			return fmt.Errorf("report is still %s", state) // want `the classifier of a preset calls an error permanent`
		}
		if state == "RUNNING" {
			return retry.Transient(errNotReady)
		}
		if err != nil {
			return fmt.Errorf("still unknown: %w", err)
		}
		return nil
	})
}

func waitsFor(ctx context.Context, p retry.Policy, ready func() bool) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		if !ready() {
			return errNotReady
		}
		return nil
	})
}
