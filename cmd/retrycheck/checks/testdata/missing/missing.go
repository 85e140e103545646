package missing

import (
	"context"
	"errors"
	"log"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
	"github.com/gobackoff/retry/admit"
	"github.com/gobackoff/retry/awspreset"
	goretry "github.com/sethvargo/go-retry"
	"k8s.io/client-go/util/workqueue"
)

var policy = retry.Policy{MaxAttempts: 3, Budget: &retry.SharedBudget{}}

var unlimited = retry.Policy{MaxAttempts: 3, Budget: retry.NoBudget{}}

type client struct{ policy retry.Policy }

func newClient() *client {
	c := &client{}
	c.policy = awspreset.Standard21.Policy("lambda")
	return c
}

func (c *client) loads(ctx context.Context, load func() error, try func(context.Context) error) error {
	err := backoff.Retry(load, backoff.WithContext(adapt.NewSequence(policy), ctx)) // want `nothing calls Succeeded, so the retries empty the budget and nothing refills it`
	if err != nil {
		return err
	}
	waits := adapt.NewSequence(c.policy) // want `nothing calls Succeeded`
	err = goretry.Do(ctx, goretry.WithMaxRetries(5, waits), try)
	if err != nil {
		return err
	}
	return backoff.Retry(load, backoff.WithContext(adapt.NewSequence(unlimited), ctx))
}

func given(load func() error, p retry.Policy) error {
	return backoff.Retry(load, adapt.NewSequence(p)) // whose policy is not known
}

func handed(use func(*adapt.Sequence) error) error {
	return use(adapt.NewSequence(policy)) // which may call Succeeded
}

func made() *adapt.Sequence { return adapt.NewSequence(policy) }

func controls(queue workqueue.TypedRateLimitingInterface[string], reconcile func(string) error) bool {
	name, shutdown := queue.Get()
	if shutdown {
		return false
	}
	defer queue.Done(name)
	err := reconcile(name)
	if err != nil {
		log.Print(err)
		queue.AddRateLimited(name) // want `nothing calls Forget, so the failures of an item count for ever`
	}
	return true
}

func copies(ctx context.Context, limiter *awspreset.AdaptiveLimiter, load func(context.Context) error) error {
	err := limiter.Wait(ctx) // want `nothing calls Observe, so the limiter never learns of throttling, and never waits`
	return errors.Join(err, load(ctx))
}

var jobs = retry.Policy{MaxAttempts: 12, Budget: new(retry.SharedBudget)}

func runs(ctx context.Context, failures int, begun time.Time, job func(context.Context) error, again func(time.Duration)) error {
	err := job(ctx)
	if err == nil {
		return nil
	}
	wait, reason := jobs.Next(retry.Attempt{Number: failures + 1, Err: err}, time.Since(begun)) // want `nothing deposits in the budget of jobs, so the retries empty it and nothing refills it`
	if reason != nil {
		return reason
	}
	again(wait)
	return nil
}

type worker struct{ policy retry.Policy }

func newWorker() *worker {
	return &worker{policy: retry.Policy{Budget: &retry.SharedBudget{Reserve: 20}, MaxAttempts: 5}}
}

func (w *worker) redelivers(id string, failures int, err error) (time.Duration, error) {
	return adapt.DelayFor(w.policy, id, failures, err) // want `nothing deposits in the budget of w.policy`
}

var free = retry.Policy{MaxAttempts: 12, Budget: retry.NoBudget{}}

func runsFree(failures int, begun time.Time, err error) (time.Duration, error) {
	return free.Next(retry.Attempt{Number: failures, Err: err}, time.Since(begun))
}

// both is the policy of calls of Do, too, which deposit.
var both = retry.Policy{MaxAttempts: 12, Budget: new(retry.SharedBudget)}

func runsBoth(ctx context.Context, failures int, begun time.Time, job func(context.Context) error) (time.Duration, error) {
	err := retry.Do(ctx, both, job)
	return both.Next(retry.Attempt{Number: failures, Err: err}, time.Since(begun))
}

var (
	budget  = &retry.SharedBudget{}
	queue   = retry.Policy{MaxAttempts: 12, Budget: budget}
	request = retry.Policy{MaxAttempts: 3, Budget: budget}
)

func runsShared(failures int, begun time.Time, err error) (time.Duration, error) {
	return queue.Next(retry.Attempt{Number: failures, Err: err}, time.Since(begun))
}

var errLoad = errors.New("load")

func first() time.Duration {
	wait, _ := jobs.Next(retry.Attempt{Number: 1, Err: errLoad}, 0) // the delay of a failure that is only assumed
	return wait
}

var gate admit.Gate

func enters(work func() error) error {
	if _, err := gate.Enter(admit.Caller{}); err != nil { // want `the Gate counts this request as in progress for ever: call Leave with the Ticket when it ends`
		return err
	}
	ticket, err := gate.Enter(admit.Caller{})
	if err != nil {
		return err
	}
	defer gate.Leave(ticket)
	return work()
}
