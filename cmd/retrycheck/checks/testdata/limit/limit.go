package limit

import (
	"context"
	"net/http"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

func deadline(ctx context.Context, op func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return retry.Do(ctx, retry.Policy{AttemptTimeout: 5 * time.Second}, op) // want `ctx ends after 2s, and an attempt may take 5s, so one that times out is never retried: shorten AttemptTimeout`
}

func longer(ctx context.Context, op func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	return retry.Do(ctx, retry.Policy{AttemptTimeout: 5 * time.Second}, op)
}

var policy = retry.Policy{AttemptTimeout: 10 * time.Second}

var client = &http.Client{
	Transport: &retryhttp.Transport{Policy: policy},
	Timeout:   10 * time.Second, // want `Timeout is for all attempts together, and one of them may take 10s, so an attempt that times out is never retried: make it longer, or leave it out`
}

var patient = &http.Client{Transport: &retryhttp.Transport{Policy: policy}, Timeout: time.Minute}

var plain = &http.Client{Timeout: time.Second}

func made() *http.Client {
	c := retryhttp.NewClient(policy)
	c.Timeout = 5 * time.Second // want `Timeout is for all attempts together`
	return c
}

func hinted(ctx context.Context, op func(context.Context) error) error {
	p := retry.Policy{MaxElapsed: 15 * time.Minute}
	return retry.Do(ctx, p, func(ctx context.Context) error {
		if err := op(ctx); err != nil {
			return retry.After(err, 30*time.Minute) // want `the hint of 30m0s is above MaxElapsed 15m0s, so the call gives up: no retry follows`
		}
		return retry.After(op(ctx), time.Minute)
	})
}

var (
	none = retry.Policy{MaxAttempts: 0} // want `0 means the default, such as three attempts: write retry.NoRetry for one, retry.Unlimited for no bound, or leave it out`
	one  = retry.Policy{MaxAttempts: retry.NoRetry}
)
