// Package durable contains code to copy that retries the jobs of River, asynq and Temporal
// under a policy, as docs/durable.md explains, and tests with the real River and asynq.
package durable

import (
	"errors"
	"fmt"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

// check rejects invalid policies. MaxAttempts must be set, because the engine stores it with
// each job.
func check(policy retry.Policy) error {
	if policy.MaxAttempts < 1 {
		return fmt.Errorf("%w: MaxAttempts is not set", retry.ErrInvalid)
	}
	return policy.Validate()
}

var errUnseen = retry.Transient(errors.New("attempt did not report its failure"))

// unseen returns the wait after an attempt whose error is unknown, because the attempt
// panicked or its worker died. The engine has already decided to retry.
func unseen(policy retry.Policy, id string, failed int) time.Duration {
	policy.MaxAttempts, policy.MaxElapsed, policy.Budget = retry.Unlimited, 0, nil
	wait, _ := adapt.DelayFor(policy, id, failed, errUnseen)
	return wait
}
