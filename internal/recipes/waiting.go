package recipes

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/gobackoff/retry"
)

// WaitFor waits until a service accepts connections, as a program does that starts
// together with its database. Everything is retried, a name that does not exist yet,
// too; how long is for ctx to say.
func WaitFor(ctx context.Context, address string) error {
	policy := retry.Policy{
		Backoff:        retry.Spread{Of: retry.Constant(500 * time.Millisecond), Fraction: 0.2},
		MaxAttempts:    retry.Unlimited,
		AttemptTimeout: 2 * time.Second, // a packet that is dropped is not waited for
		Classifier:     retry.OnlyIf(func(error) bool { return true }),
	}
	return retry.Do(ctx, policy, func(ctx context.Context) error {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return conn.Close()
	})
}

// A Job is what a server reports about work that takes its time.
type Job struct {
	Done   bool
	Err    error         // what the work failed with
	Again  time.Duration // when the server wants to be asked again; 0: it does not say
	Result string
}

var errRunning = errors.New("the job is still running")

// Poll asks about a job until it is done. That it runs is no failure of the server:
// so the policy should have no Budget, and its delays are the pace of the questions.
func Poll(ctx context.Context, policy retry.Policy, ask func(context.Context) (Job, error)) (string, error) {
	return retry.DoValue(ctx, policy, func(ctx context.Context) (string, error) {
		job, err := ask(ctx)
		switch {
		case err != nil:
			return "", err // of the question
		case job.Err != nil:
			return "", retry.Permanent(job.Err) // of the work: asking again is of no use
		case !job.Done:
			return "", retry.After(errRunning, job.Again)
		}
		return job.Result, nil
	})
}
