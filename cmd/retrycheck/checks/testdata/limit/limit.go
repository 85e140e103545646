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
	Timeout:   10 * time.Second,
}

var patient = &http.Client{Transport: &retryhttp.Transport{Policy: policy}, Timeout: time.Minute}

var plain = &http.Client{Timeout: time.Second}

var (
	none = retry.Policy{MaxAttempts: 0} // want `0 means the default, such as three attempts: write retry.NoRetry for one, retry.Unlimited for no bound, or leave it out`
	one  = retry.Policy{MaxAttempts: retry.NoRetry}
)
