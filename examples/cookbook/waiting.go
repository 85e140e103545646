// Package cookbook has the code of docs/recipes.md: short functions to copy.
package cookbook

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// A Job is the state of work that a server does for a client.
type Job struct {
	State  string
	Result string
}

var errRunning = errors.New("the job is still running")

// WaitForJob asks for a job until it is done. The first question comes after two seconds.
func WaitForJob(ctx context.Context, ask func(context.Context) (Job, error)) (Job, error) {
	polling := retry.Policy{
		Backoff:    retry.Spread{Of: retry.Exponential{Base: 2 * time.Second, Cap: 30 * time.Second, Factor: 1.5}, Fraction: 0.1},
		MaxElapsed: 10 * time.Minute,
	}
	err := retry.SystemClock{}.Sleep(ctx, 2*time.Second)
	if err != nil {
		return Job{}, err
	}
	return retry.DoValue(ctx, polling, func(ctx context.Context) (Job, error) {
		job, err := ask(ctx)
		switch {
		case err != nil:
			return job, err
		case job.State == "failed":
			return job, retry.Permanent(errors.New("the job failed"))
		case job.State != "done":
			return job, errRunning
		}
		return job, nil
	})
}

// WaitForOperation asks url until the status is no longer 202. If only the first response says
// how long to wait, that wait is kept.
func WaitForOperation(ctx context.Context, client *http.Client, url string) (*http.Response, error) {
	polling := retry.Policy{Backoff: retry.Constant(time.Second), MaxElapsed: 10 * time.Minute}
	var pause time.Duration
	return retry.DoValue(ctx, polling, func(ctx context.Context) (*http.Response, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return nil, retry.Permanent(err)
		}
		resp, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode == http.StatusAccepted {
			resp.Body.Close()
			hint := retryhttp.RetryAfter(resp, time.Now())
			if hint > 0 {
				pause = hint
			}
			return nil, retry.After(errors.New("the server is still at work"), pause)
		}
		return resp, nil
	})
}

// ErrNotFound is the error of a read for an object that is not there.
var ErrNotFound = errors.New("not found")

// ReadCreated reads an object that was created a moment ago, which not every replica knows yet.
func ReadCreated[T any](ctx context.Context, read func(context.Context) (T, error)) (T, error) {
	policy := retry.Policy{MaxElapsed: 5 * time.Second}
	return retry.DoValue(ctx, policy, func(ctx context.Context) (T, error) {
		v, err := read(ctx)
		if errors.Is(err, ErrNotFound) {
			err = retry.Transient(err)
		}
		return v, err
	})
}

// Stable calls check every second until it has succeeded three times in a row.
func Stable(ctx context.Context, check func(context.Context) error) error {
	policy := retry.Policy{Backoff: retry.Constant(time.Second), MaxElapsed: 2 * time.Minute}
	inARow := 0
	return retry.Do(ctx, policy, func(ctx context.Context) error {
		err := check(ctx)
		if err != nil {
			inARow = 0
			return err
		}
		inARow++
		if inARow < 3 {
			return fmt.Errorf("healthy %d times of 3", inARow)
		}
		return nil
	})
}

// Ready answers a health check: check is called once, because the platform asks again by itself.
func Ready(check func(context.Context) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), time.Second)
		defer cancel()
		err := check(ctx)
		if err != nil {
			http.Error(w, "not ready", http.StatusServiceUnavailable)
		}
	}
}

// Start waits for a random time of up to a minute before it runs work.
func Start(ctx context.Context, work func(context.Context) error) error {
	err := retry.SystemClock{}.Sleep(ctx, rand.N(time.Minute))
	if err != nil {
		return err
	}
	return work(ctx)
}
