package recipes

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/gobackoff/retry"
)

// WaitFor waits until a service accepts connections or ctx ends.
func WaitFor(ctx context.Context, address string) error {
	policy := retry.Policy{
		Backoff:        retry.Spread{Of: retry.Constant(500 * time.Millisecond), Fraction: 0.2},
		MaxAttempts:    retry.Unlimited,
		AttemptTimeout: 2 * time.Second, // do not wait for a dropped packet
		Classifier:     retry.OnlyIf(nil),
	}
	return retry.Do(ctx, policy, func(ctx context.Context) error {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return conn.Close()
	})
}

// A Job is the status of a long-running job.
type Job struct {
	Done   bool
	Err    error         // failure of the job
	Again  time.Duration // the server's hint for the next poll; 0: none
	Result string
}

var errRunning = errors.New("the job is still running")

// Poll polls a job until it is done.
func Poll(ctx context.Context, policy retry.Policy, ask func(context.Context) (Job, error)) (string, error) {
	return retry.DoValue(ctx, policy, func(ctx context.Context) (string, error) {
		job, err := ask(ctx)
		switch {
		case err != nil:
			return "", err // the poll failed
		case job.Err != nil:
			return "", retry.Permanent(job.Err) // the job failed: polling again would not help
		case !job.Done:
			return "", retry.After(errRunning, job.Again)
		}
		return job.Result, nil
	})
}
