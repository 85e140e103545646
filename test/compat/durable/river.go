package durable

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

// RetryRiver makes the clients of a configuration retry jobs under the policy. Use it for
// clients that work jobs and for clients that insert them, because each job stores its
// number of attempts.
func RetryRiver(config *river.Config, policy retry.Policy) error {
	if err := check(policy); err != nil {
		return err
	}
	r := &riverRetries{policy: policy}
	config.MaxAttempts = min(policy.MaxAttempts, math.MaxInt16) // a smallint in the database
	config.RetryPolicy = r
	config.Hooks = append(config.Hooks, r) // last, to get the errors that other hooks return
	return nil
}

// riverRetries is both a hook, which gets the error of an attempt, and a retry policy, which
// does not. River calls the hook first.
type riverRetries struct {
	river.HookDefaults
	policy retry.Policy
	waits  sync.Map // by attempt, stored by WorkEnd for NextRetry
}

type riverAttempt struct {
	job    int64
	number int
}

// WorkEnd decides what happens after an attempt.
func (r *riverRetries) WorkEnd(ctx context.Context, job *rivertype.JobRow, err error) error {
	_, snoozed := errors.AsType[*river.JobSnoozeError](err)
	_, canceled := errors.AsType[*river.JobCancelError](err)
	if snoozed || canceled {
		return err
	}
	policy := r.policy
	policy.MaxAttempts = job.MaxAttempts
	outcome := adapt.Settle(ctx, policy, fmt.Sprint(job.ID), job.Attempt, err)
	switch outcome.Action {
	case adapt.Redeliver:
		if job.Attempt < job.MaxAttempts { // after the last attempt River does not call NextRetry
			r.waits.Store(riverAttempt{job.ID, job.Attempt}, outcome.Wait)
		}
	case adapt.DeadLetter:
		if outcome.Err.Reason == retry.ErrMaxAttempts { // River discards the job
			return err
		}
		if ctx.Err() != nil {
			err = errors.New(err.Error()) // River repeats a job that context.Canceled has ended
		}
		return river.JobCancel(fmt.Errorf("%w: %w", outcome.Err.Reason, err))
	case adapt.GiveBack:
		return fmt.Errorf("%w: %w", ctx.Err(), err) // River makes the job available again, if its client stops
	}
	return err
}

// NextRetry returns the time of the next attempt.
func (r *riverRetries) NextRetry(job *rivertype.JobRow) time.Time {
	if wait, seen := r.waits.LoadAndDelete(riverAttempt{job.ID, job.Attempt}); seen {
		return time.Now().Add(wait.(time.Duration))
	}
	return time.Now().Add(unseen(r.policy, fmt.Sprint(job.ID), job.Attempt))
}
