package unbounded

import (
	"context"
	"net/http"
	"time"

	avast "github.com/avast/retry-go/v5"
	"github.com/gobackoff/retry"
	sethvargo "github.com/sethvargo/go-retry"
)

func op(context.Context) error { return nil }

func ours() {
	_ = retry.Do(context.Background(), retry.Policy{MaxAttempts: retry.Unlimited}, op) // want `nothing ends these retries while the operation fails`
	ctx := context.TODO()
	p := retry.Policy{MaxAttempts: retry.Unlimited}
	_ = retry.Do(ctx, p, op) // want `nothing ends these retries`
}

func others() {
	_ = sethvargo.Do(context.Background(), sethvargo.NewConstant(time.Second), op) // want `nothing ends these retries`
	_ = avast.New(avast.UntilSucceeded()).Do(func() error { return nil })          // want `nothing ends these retries`
	_ = avast.New(avast.Attempts(0)).Do(func() error { return nil })               // want `nothing ends these retries`
}

func limited(ctx context.Context) {
	_ = retry.Do(ctx, retry.Policy{MaxAttempts: retry.Unlimited}, op)
	_ = retry.Do(context.Background(), retry.Policy{MaxAttempts: retry.Unlimited, MaxElapsed: time.Minute}, op)
	_ = retry.Do(context.Background(), retry.Policy{}, op)
	_ = sethvargo.Do(context.Background(), sethvargo.WithMaxRetries(3, sethvargo.NewConstant(time.Second)), op)
	_ = avast.New(avast.UntilSucceeded(), avast.Context(ctx)).Do(func() error { return nil })
	_ = avast.New(avast.Attempts(3)).Do(func() error { return nil })
	short, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_ = retry.Do(short, retry.Policy{MaxAttempts: retry.Unlimited}, op)
}

func given(op func(context.Context) error) error {
	return retry.Do(context.Background(), retry.Policy{MaxAttempts: retry.Unlimited}, op) // want `nothing ends these retries`
}

type client struct {
	find func(context.Context) (int, error)
}

func (c *client) field() (int, error) {
	p := endless
	p.MaxAttempts = retry.Unlimited
	return retry.DoValue(context.Background(), p, c.find) // want `nothing ends these retries`
}

var endless = retry.Policy{Backoff: retry.Constant(time.Second)}

func later(op func(context.Context) error) error {
	p := retry.Policy{MaxAttempts: retry.Unlimited}
	p.MaxElapsed = time.Hour
	return retry.Do(context.Background(), p, op)
}

func fewer(op func(context.Context) error, ctx context.Context) error {
	p := retry.Policy{MaxAttempts: retry.Unlimited}
	p.MaxAttempts = 5
	if err := retry.Do(context.Background(), p, op); err != nil {
		return err
	}
	return retry.Do(ctx, retry.Policy{MaxAttempts: retry.Unlimited}, op)
}

var short = retry.Policy{MaxElapsed: time.Second}

func hangs(url string) error {
	plain := &http.Client{}
	limited := &http.Client{Timeout: time.Second}
	err := retry.Do(context.Background(), short, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return retry.Permanent(err)
		}
		for _, client := range []*http.Client{limited} {
			if _, err := client.Do(req); err != nil {
				return err
			}
		}
		if _, err := limited.Do(req); err != nil {
			return err
		}
		if _, err := http.DefaultClient.Do(req); err != nil { // want `nothing limits an attempt, so one that hangs is never retried: set the policy's AttemptTimeout`
			return err
		}
		_, err = plain.Do(req) // want `nothing limits an attempt`
		return err
	})
	if err != nil {
		return err
	}
	return retry.Do(context.Background(), retry.Policy{AttemptTimeout: time.Second}, func(ctx context.Context) error {
		_, err := http.Get(url)
		return err
	})
}

func hangsNot(ctx context.Context, p retry.Policy, url string) error {
	get := func(context.Context) error {
		_, err := http.Get(url)
		return err
	}
	if err := retry.Do(ctx, short, get); err != nil {
		return err
	}
	return retry.Do(context.Background(), p, get)
}
