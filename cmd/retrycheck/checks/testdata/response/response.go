package response

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

func returned(ctx context.Context, req *http.Request) (*http.Response, error) {
	return retry.DoValue(ctx, retry.Policy{}, func(ctx context.Context) (*http.Response, error) { // want `nothing looks at the status of the response, so a 503 is a success`
		return http.DefaultClient.Do(req.WithContext(ctx))
	})
}

func readLater(ctx context.Context, req *http.Request) ([]byte, error) {
	var resp *http.Response
	p := retry.Policy{AttemptTimeout: time.Second}
	err := retry.Do(ctx, p, func(ctx context.Context) (err error) {
		resp, err = http.DefaultClient.Do(req.WithContext(ctx)) // want `the body of resp is read after the attempt, whose AttemptTimeout has then canceled it`
		if err != nil {
			return err
		}
		return retryhttp.CheckStatus(resp)
	})
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

func status(ctx context.Context, client *http.Client, req *http.Request) error {
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		resp, err := client.Do(req.WithContext(ctx)) // want `nothing looks at the status of resp, so a 503 is a success`
		if err != nil {
			return err
		}
		return resp.Body.Close()
	})
}

func decoded(ctx context.Context, url string, to any) error {
	return backoff.Retry(func() error {
		resp, err := http.Get(url) // want `nothing looks at the status of resp`
		if err != nil || resp == nil {
			return err
		}
		defer resp.Body.Close()
		return json.NewDecoder(resp.Body).Decode(to)
	}, backoff.NewExponentialBackOff())
}

func checked(ctx context.Context, req *http.Request) (int, error) {
	return retry.DoValue(ctx, retry.Policy{AttemptTimeout: time.Second}, func(ctx context.Context) (int, error) {
		resp, err := http.DefaultClient.Do(req.WithContext(ctx))
		if err != nil {
			return 0, err
		}
		defer resp.Body.Close()
		return resp.StatusCode, retryhttp.CheckStatus(resp)
	})
}

func passedOn(ctx context.Context, req *http.Request, check func(*http.Response) error) error {
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		resp, err := http.DefaultClient.Do(req.WithContext(ctx))
		if err != nil {
			return err
		}
		return check(resp)
	})
}

func keptWithoutLimit(ctx context.Context, req *http.Request) (*http.Response, error) {
	var resp *http.Response
	err := retry.Do(ctx, retry.Policy{MaxAttempts: 2}, func(ctx context.Context) (err error) {
		resp, err = http.DefaultClient.Do(req.WithContext(ctx))
		return err
	})
	return resp, err
}

func readInside(ctx context.Context, req *http.Request) (body []byte, err error) {
	var resp *http.Response
	err = retry.Do(ctx, retry.Policy{AttemptTimeout: time.Second}, func(ctx context.Context) (err error) {
		if resp, err = http.DefaultClient.Do(req.WithContext(ctx)); err != nil {
			return err
		}
		body, err = io.ReadAll(resp.Body)
		return err
	})
	return body, err
}

func inGoroutine(ctx context.Context, req *http.Request, codes chan<- int) error {
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		resp, err := http.DefaultClient.Do(req.WithContext(ctx))
		if err != nil {
			return err
		}
		go func() { codes <- resp.StatusCode }()
		return nil
	})
}

func discarded(ctx context.Context, req *http.Request) error {
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		_, err := http.DefaultClient.Do(req.WithContext(ctx)) // want `nothing looks at the response, so a 503 is a success, and its body is never closed`
		return err
	})
}

func copied(ctx context.Context, req *http.Request) (resp *http.Response, err error) {
	err = retry.Do(ctx, retry.Policy{AttemptTimeout: time.Second}, func(ctx context.Context) error {
		r, err := http.DefaultClient.Do(req.WithContext(ctx)) // want `the body of r is read after the attempt`
		resp = r
		return err
	})
	return resp, err
}

func cancelsItsOwn(ctx context.Context, op func(context.Context) error) error {
	p := retry.Policy{Hooks: retry.Hooks{
		OnAttempt: func(ctx context.Context, _ retry.Attempt) (context.Context, func(retry.Attempt)) {
			ctx, cancel := context.WithCancel(ctx)
			return ctx, func(retry.Attempt) { cancel() }
		},
	}}
	return retry.Do(ctx, p, op)
}

func reads(resp *http.Response, _ func(n int) ([]byte, error)) error {
	_, err := io.Copy(io.Discard, resp.Body)
	return err
}

func limits(ctx context.Context, _ retry.Attempt) (context.Context, func(retry.Attempt)) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	if ctx.Err() != nil {
		cancel()
	}
	return ctx, func(retry.Attempt) { cancel() }
}

var named = retryhttp.Transport{Check: reads, Policy: retry.Policy{Hooks: retry.Hooks{OnAttempt: limits}}}

func returnedInTime(ctx context.Context, req *http.Request) (*http.Response, error) {
	p := retry.Policy{AttemptTimeout: time.Second}
	return retry.DoValue(ctx, p, func(ctx context.Context) (*http.Response, error) { // want `the operation returns a response, whose body the AttemptTimeout of the policy ends`
		return http.DefaultClient.Do(req.WithContext(ctx))
	})
}

// migrated is what retrymigrate makes of a loop of its own: it looks at the status.
func migrated(ctx context.Context, p retry.Policy, client *http.Client, req *http.Request) (*http.Response, error) {
	return retry.DoValue(ctx, p, func(ctx context.Context) (*http.Response, error) {
		resp, err := client.Do(req.WithContext(ctx))
		if err != nil {
			return nil, err
		}
		if resp.StatusCode >= 500 {
			resp.Body.Close()
			return nil, errors.New(resp.Status)
		}
		return resp, nil
	})
}

func returnedUnseen(ctx context.Context, p retry.Policy, client *http.Client, req *http.Request) (*http.Response, error) {
	return retry.DoValue(ctx, p, func(ctx context.Context) (*http.Response, error) { // want `nothing looks at the status of the response`
		resp, err := client.Do(req.WithContext(ctx))
		if err != nil {
			return nil, err
		}
		return resp, nil
	})
}

func ownStatus(ctx context.Context, p retry.Policy, client *http.Client, req *http.Request) (content []byte, err error) {
	err = retry.Do(ctx, p, func(ctx context.Context) error {
		resp, err := client.Do(req.WithContext(ctx))
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("status %d", resp.StatusCode) // want `this error does not say its status in a form that is read, so a 404 is retried and Retry-After is ignored: return the error of retryhttp.CheckStatus\(resp\)`
		}
		content, err = io.ReadAll(resp.Body)
		return err
	})
	return content, err
}

// onlyBusy retries what it names, and classified has its own classifier.
func onlyBusy(ctx context.Context, p retry.Policy, client *http.Client, req *http.Request) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		resp, err := client.Do(req.WithContext(ctx))
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode == http.StatusNotFound {
			return retry.Permanent(errors.New("not found"))
		}
		if resp.StatusCode >= 400 {
			return errors.New(resp.Status)
		}
		return nil
	})
}

func classified(ctx context.Context, client *http.Client, req *http.Request) error {
	p := retry.Policy{Classifier: retry.OnlyIf(func(err error) bool { return strings.HasPrefix(err.Error(), "503") })}
	return retry.Do(ctx, p, func(ctx context.Context) error {
		resp, err := client.Do(req.WithContext(ctx))
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != 200 {
			return errors.New(resp.Status)
		}
		return nil
	})
}

var retrying = retryhttp.NewClient(retry.Policy{})

func unseen(req *http.Request, v any) error {
	resp, err := retrying.Do(req) // want `nothing looks at the status of resp, so the last 503 of a call that gave up is a success: return the error of retryhttp.CheckStatus\(resp\)`
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return json.NewDecoder(resp.Body).Decode(v)
}

func seen(req *http.Request, v any) error {
	resp, err := retrying.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := retryhttp.CheckStatus(resp); err != nil {
		return err
	}
	return json.NewDecoder(resp.Body).Decode(v)
}

// A helper whose callers' functions return nothing.
func watched(ctx context.Context, begin func()) (int, error) {
	return retry.DoValue(ctx, retry.Policy{}, func(ctx context.Context) (int, error) {
		begin()
		return 0, ctx.Err()
	})
}

func watches(ctx context.Context) { _, _ = watched(ctx, func() { println("begin") }) }
