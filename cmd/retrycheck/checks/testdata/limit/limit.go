package limit

import (
	"context"
	"net/http"
	"slices"
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

var hasty = &http.Client{
	Transport: &retryhttp.Transport{Policy: retry.Policy{MaxAttempts: 5}},
	Timeout:   2 * time.Second, // want `Timeout is for all attempts together, and nothing limits one of them, so an attempt that hangs is never retried: set AttemptTimeout or FirstByteTimeout, and make Timeout longer`
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

var byFirstByte = &http.Client{
	Transport: &retryhttp.Transport{FirstByteTimeout: 5 * time.Second},
	Timeout:   5 * time.Second, // want `Timeout is for all attempts together, and one of them may take 5s`
}

var limited = []*http.Client{
	{Transport: &retryhttp.Transport{FirstByteTimeout: time.Second}, Timeout: 5 * time.Second},
	{Transport: &retryhttp.Transport{Policy: retry.Policy{AttemptTimeout: time.Second}}, Timeout: 5 * time.Second},
	{Transport: &retryhttp.Transport{Policy: retry.Policy{MaxAttempts: retry.NoRetry}}, Timeout: 5 * time.Second},
	{Transport: &retryhttp.Transport{}, Timeout: time.Minute},
}

type api struct{ client *http.Client }

func newAPI(p retry.Policy) (a, b *api) {
	a = &api{client: retryhttp.NewClient(retry.Policy{MaxElapsed: time.Minute})}
	a.client.Timeout = 5 * time.Second // want `Timeout is for all attempts together, and nothing limits one of them`
	known := retryhttp.NewClient(p)
	known.Timeout = 5 * time.Second
	return a, &api{client: known}
}

func request(ctx context.Context, url string) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	return client.Do(req) // want `ctx ends after 5s, and an attempt may take 10s, so one that times out is never retried: shorten AttemptTimeout`
}

func patiently(ctx context.Context, url string) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	return client.Do(req)
}

var delays = retry.Schedule{time.Second, time.Minute, time.Hour}

var (
	single  = retry.Policy{MaxAttempts: 1, Backoff: retry.Constant(time.Second)} // want `MaxAttempts counts the first attempt, so 1 means no retry, and the Backoff is never used`
	asNamed = retry.Policy{MaxAttempts: retry.NoRetry, Backoff: retry.Constant(time.Second)}
	cut     = retry.Policy{MaxAttempts: 3, Backoff: delays} // want `only 2 of the 3 delays of the Schedule are used`
	uncut   = retry.Policy{MaxAttempts: 4, Backoff: delays}
	repeats = retry.Policy{MaxAttempts: 9, Backoff: delays}

	tooLong = retry.Policy{MaxElapsed: time.Minute, Backoff: retry.Constant(5 * time.Minute)}    // want `the first wait is at least 5m0s, and the call gives up if a wait would end after 1m0s: no retry follows`
	equal   = retry.Policy{MaxElapsed: time.Minute, Backoff: retry.EqualJitter{Base: time.Hour}} // want `the first wait is at least 30m0s`
	random  = retry.Policy{MaxElapsed: time.Minute, Backoff: retry.FullJitter{Base: time.Hour, Cap: time.Hour}}
	short   = retry.Policy{MaxElapsed: time.Minute, Backoff: retry.Schedule{time.Second, time.Hour}}
	slow    = retry.Policy{MaxElapsed: 5 * time.Second, AttemptTimeout: 10 * time.Second} // want `an attempt may take 10s, and no retry begins after 5s, so one that times out is never retried`
	fast    = retry.Policy{MaxElapsed: 10 * time.Second, AttemptTimeout: time.Second}

	part  = &retry.SharedBudget{Reserve: 0.1} // want `Reserve is a number of tokens, and each retry takes one`
	whole = &retry.SharedBudget{Reserve: 1}
)

func later(ctx context.Context, retries int, op func(context.Context) error) error {
	p := retry.Policy{MaxAttempts: 1, Backoff: retry.Constant(time.Second)}
	if retries > 0 {
		p.MaxAttempts = retries + 1
	}
	return retry.Do(ctx, p, op)
}

func beforeWait(ctx context.Context, op func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	p := retry.Policy{Backoff: retry.Constant(5 * time.Second)}
	return retry.Do(ctx, p, op) // want `ctx ends after 3s, and the first wait is at least 5s: no retry follows`
}

func afterWait(ctx context.Context, op func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	p := retry.Policy{Backoff: retry.Constant(5 * time.Second)}
	return retry.Do(ctx, p, op)
}

func total(p retry.Policy, most time.Duration) (sum time.Duration) {
	endless := retry.Policy{MaxAttempts: retry.Unlimited}
	for delay := range endless.Delays() { // want `the policy allows any number of retries, so these delays never end: set MaxAttempts or MaxElapsed, or break`
		sum += delay
	}
	_ = slices.Collect(endless.Delays()) // want `these delays never end`
	for delay := range endless.Delays() {
		sum += delay
		if sum > time.Hour {
			break
		}
	}
	for delay := range p.Delays() {
		sum += delay
	}
	for delay := range (retry.Policy{MaxAttempts: retry.Unlimited, MaxElapsed: most}).Delays() {
		sum += delay
	}
	return sum
}

func byHand(ctx context.Context, p retry.Policy, op func(context.Context) error) error {
	start := time.Now()
	for {
		err := op(ctx)
		if err == nil {
			return nil
		}
		wait, reason := p.Next(retry.Attempt{Err: err}, time.Since(start)) // want `the Number of this attempt is the same in each round, so MaxAttempts never ends the loop`
		if reason != nil {
			return err
		}
		time.Sleep(wait)
	}
}

func numbered(ctx context.Context, p retry.Policy, op func(context.Context) error) error {
	var a, same retry.Attempt
	for n := 1; ; n++ {
		a.Err = op(ctx)
		if a.Err == nil {
			return nil
		}
		a.Number++
		wait, reason := p.Next(a, 0)
		if reason != nil {
			return a.Err
		}
		_, _ = p.Next(retry.Attempt{Number: n, Err: a.Err}, 0)
		_, _ = p.Next(retry.Attempt{Number: 1, Err: a.Err}, 0) // want `the Number of this attempt is the same in each round`
		same.Err = a.Err
		_, _ = p.Next(same, 0) // want `the Number of this attempt is the same in each round`
		time.Sleep(wait)
	}
}

func once(p retry.Policy, err error) time.Duration {
	wait, _ := p.Next(retry.Attempt{Number: 1, Err: err}, 0)
	return wait
}
