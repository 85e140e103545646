package dropped

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"time"

	avast "github.com/avast/retry-go/v5"
	"github.com/cenkalti/backoff/v4"
	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/admit"
	"github.com/gobackoff/retry/retryhttp"
	sethvargo "github.com/sethvargo/go-retry"
)

var errGone = errors.New("gone")

func marks(context.Context) error {
	retry.Permanent(errGone) // want `retry.Permanent has no effect unless its result is used`
	retry.After(errGone, 1)  // want `retry.After has no effect`
	_ = retry.After(errGone, 1)
	if err := retry.Transient(errGone); err == nil {
		return nil
	}
	return retry.Permanent(errGone)
}

func wraps(err error) error {
	if err == nil {
		return fmt.Errorf("reading: %v", retry.Permanent(errGone)) // want `retry.Permanent has no effect unless the format wraps its result with %w`
	}
	return fmt.Errorf("reading: %w", retry.Permanent(err))
}

func status(resp *http.Response, err error) error {
	if resp.StatusCode == http.StatusNotFound {
		retry.Permanent(err) // want `retry.Permanent has no effect`
	}
	return err
}

func hooks(ctx context.Context, p retry.Policy) error {
	p.With(retry.Hooks{})   // want `Policy.With has no effect unless its result is used`
	retry.Do(ctx, p, marks) // want `the error of retry.Do is not used`
	_ = retry.Do(ctx, p, marks)
	go retry.Do(ctx, p, marks)    // want `the error of retry.Do is not used`
	defer retry.Do(ctx, p, marks) // want `the error of retry.Do is not used`
	p = p.With(retry.Hooks{})
	return retry.Do(ctx, p, marks)
}

func others(ctx context.Context) error {
	b := backoff.NewExponentialBackOff()
	backoff.WithMaxRetries(b, 3) // want `backoff.WithMaxRetries has no effect`
	backoff.Permanent(errGone)   // want `backoff.Permanent has no effect`

	s := sethvargo.NewConstant(time.Second)
	sethvargo.WithMaxRetries(3, s) // want `go-retry.WithMaxRetries has no effect`
	return sethvargo.Do(ctx, sethvargo.WithMaxRetries(3, s), func(context.Context) error {
		sethvargo.RetryableError(errGone) // want `go-retry.RetryableError has no effect`
		return sethvargo.RetryableError(errGone)
	})
}

func through(name string, err error) error {
	if err == nil {
		err = retry.Permanent(errGone)
		return fmt.Errorf("reading %s: %s", name, err) // want `err is marked by retry.Permanent, which has no effect unless the format wraps it with %w`
	}
	gone := retry.Permanent(err)
	log.Print(fmt.Errorf("reading: %v", errGone))
	if name == "" {
		return fmt.Errorf("reading: %v", gone) // want `gone is marked by retry.Permanent`
	}
	if name == "x" {
		gone = errGone
		return fmt.Errorf("reading: %v", gone)
	}
	return fmt.Errorf("reading %s: %w", name, gone)
}

func ignored(ctx context.Context, op func() error) {
	avast.New().Do(op)                        // want `the error of retry-go.Retrier.Do is not used`
	backoff.Retry(op, &backoff.ZeroBackOff{}) // want `the error of backoff.Retry is not used`
	go backoff.Retry(op, &backoff.ZeroBackOff{})
	_ = avast.New().Do(op)
}

func hides(ctx context.Context, p retry.Policy, find func(context.Context) error) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		if err := find(ctx); err != nil {
			return fmt.Errorf("find %s: %v", p, err) // want `the operation hides err, so what it says of a retry is lost: wrap it with %w`
		}
		if err := find(ctx); errors.Is(err, errGone) {
			return fmt.Errorf("find: %w (%s)", errGone, err)
		}
		err := find(ctx)
		log.Print(fmt.Errorf("find: %v", err))
		return fmt.Errorf("found %d", 1)
	})
}

var _ = []retry.Classifier{
	retry.FirstOf(retry.OnlyIf(func(err error) bool { return err == errGone }), retry.DefaultClassifier{}), // want `OnlyIf decides about every error, so what follows it in FirstOf is never asked`
	retry.FirstOf(retry.PermanentIf(errGone), retry.OnlyIf(nil)),
}

type codeError struct{ code int }

func (*codeError) Error() string { return "code" }

var assumed = retry.OnlyIf(func(err error) bool {
	var e *codeError
	errors.As(err, &e) // want `the target is only set if errors.As returns true: ask for its result`
	return e.code == 503
})

var asked = retry.OnlyIf(func(err error) bool {
	var e *codeError
	errors.As(err, &e)
	return e != nil && e.code == 503
})

type user struct {
	name string
	seen time.Time
}

func shadows(ctx context.Context, p retry.Policy, find func(context.Context) (user, error)) (user, error) {
	var found user
	err := retry.Do(ctx, p, func(ctx context.Context) error {
		found, err := find(ctx) // want `this declares another found, and the one outside stays zero: write = instead of :=`
		if err != nil {
			return err
		}
		log.Print(found.name)
		return nil
	})
	return found, err
}

func shadowsResult(ctx context.Context, p retry.Policy, find func(context.Context) (user, error)) (found user, err error) {
	op := func(ctx context.Context) error {
		if found, err := find(ctx); err == nil { // want `this declares another found`
			log.Print(found.name)
			return nil
		}
		return errGone
	}
	err = retry.Do(ctx, p, op)
	return
}

func shadowsError(ctx context.Context, p retry.Policy, find func(context.Context) (user, error)) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		var err error
		if u, err := find(ctx); err != nil { // want `this declares another err`
			log.Print(u, err)
		}
		return err
	})
}

func shadowsErrorOfDo(ctx context.Context, p retry.Policy, find func(context.Context) error, enabled bool) error {
	var err error
	if enabled {
		err := retry.Do(ctx, p, find) // want `this declares another err`
		log.Print(err)
	}
	return err
}

func setsCopy(ctx context.Context, p retry.Policy, find func(context.Context, *user) error) (string, error) {
	var found user
	err := retry.Do(ctx, p, func(ctx context.Context) error {
		u := found // want `u is a copy, so found stays zero: set found itself`
		return find(ctx, &u)
	})
	return found.name, err
}

func sameName(ctx context.Context, p retry.Policy, find func(context.Context) (user, error)) (last user, err error) {
	defer func() { log.Print(err) }()
	var found, early user
	address := "example.com"
	log.Print(early)
	_ = retry.Do(ctx, p, func(ctx context.Context) error {
		u, err := find(ctx)
		found = u
		return err
	})
	_ = retry.Do(ctx, p, func(ctx context.Context) error {
		found, err := find(ctx)
		log.Print(found)
		return err
	})
	_ = retry.Do(ctx, p, func(ctx context.Context) error {
		early, err := find(ctx)
		log.Print(early)
		address, ok := ctx.Value(address).(string)
		log.Print(address, ok)
		return err
	})
	log.Print(found, address)
	last, err = retry.DoValue(ctx, p, func(ctx context.Context) (user, error) {
		last, err := find(ctx)
		return last, err
	})
	return last, retry.Do(ctx, p, func(ctx context.Context) error {
		_, err := find(ctx)
		return err
	})
}

func unmarked(ctx context.Context, p retry.Policy, find func(context.Context) error) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		err := find(ctx)
		if errors.Is(err, errGone) {
			err := retry.Permanent(err) // want `this declares another err, and the one outside has no marker: write = instead of :=`
			log.Print(err)
		}
		if err != nil {
			err := retry.Transient(err)
			return err
		}
		return err
	})
}

type cache struct {
	token  string
	loaded time.Time
}

func (c cache) refresh(ctx context.Context, p retry.Policy, get func(context.Context) (string, error)) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		token, err := get(ctx)
		if err != nil {
			return err
		}
		c.token = token // want `the receiver is no pointer, so the caller's keeps its old c.token: make it a pointer`
		return nil
	})
}

func (c cache) get(ctx context.Context, p retry.Policy, get func(context.Context) (string, error)) (string, error) {
	err := retry.Do(ctx, p, func(ctx context.Context) error {
		token, err := get(ctx)
		if err != nil {
			return err
		}
		c.token = token
		return nil
	})
	return c.token, err
}

func (c *cache) renew(ctx context.Context, p retry.Policy, get func(context.Context) (string, error)) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		token, err := get(ctx)
		if err != nil {
			return err
		}
		c.token = token
		return nil
	})
}

func parameters(ctx context.Context, p retry.Policy, find func(context.Context) (user, error), first user, second *user, third *user) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		u, err := find(ctx)
		if err != nil {
			return err
		}
		first = u   // want `this sets a parameter, and the caller does not see first: return the value, or set what a pointer points to`
		second = &u // want `the caller does not see second`
		*third = u
		return nil
	})
}

func elements(ctx context.Context, p retry.Policy, users []user, pointers []*user, greet func(context.Context, user) error) {
	for i, u := range users {
		_ = retry.Do(ctx, p, func(ctx context.Context) error {
			if err := greet(ctx, u); err != nil {
				return err
			}
			u.seen = time.Now() // want `this sets a copy of the element, which keeps its old u.seen: set the element by its index`
			return nil
		})
		_ = retry.Do(ctx, p, func(ctx context.Context) error {
			if err := greet(ctx, users[i]); err != nil {
				return err
			}
			users[i].seen = time.Now()
			return nil
		})
	}
	for i, u := range users {
		_ = retry.Do(ctx, p, func(ctx context.Context) error {
			if err := greet(ctx, u); err != nil {
				return err
			}
			u.seen = time.Now()
			return nil
		})
		users[i] = u
	}
	for _, u := range pointers {
		_ = retry.Do(ctx, p, func(ctx context.Context) error {
			if err := greet(ctx, *u); err != nil {
				return err
			}
			u.seen = time.Now()
			return nil
		})
	}
}

var shared = retry.Policy{MaxAttempts: 5}

func slower(ctx context.Context, op func(context.Context) error) error {
	policy := shared
	policy.AttemptTimeout = time.Second // want `nothing uses policy after this change of policy.AttemptTimeout`
	return retry.Do(ctx, shared, op)
}

func own(ctx context.Context, p retry.Policy, send func(context.Context) error) error {
	start, failed := time.Now(), retry.Attempt{}
	for {
		failed.Err = send(ctx)
		if failed.Err == nil {
			return nil
		}
		failed.Number++
		wait, _ := p.Next(failed, time.Since(start)) // want `nothing looks at the reason of retry.Policy.Next`
		time.Sleep(wait)
	}
}

// lateContext makes the context with the policy after the request.
func lateContext(ctx context.Context, client *http.Client, p retry.Policy) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://example.com/", nil)
	if err != nil {
		return nil, err
	}
	ctx = retryhttp.WithPolicy(ctx, p) // want `nothing uses ctx after this, so retryhttp.WithPolicy has no effect`
	slog.InfoContext(ctx, "sending")
	return client.Do(req)
}

func results(gate *admit.Gate, mux *http.ServeMux, resp *http.Response) error {
	gate.Handler(mux)           // want `admit.Gate.Handler has no effect unless its result is used`
	retryhttp.CheckStatus(resp) // want `retryhttp.CheckStatus has no effect unless its result is used`
	_ = retryhttp.CheckStatus(resp)
	return http.ListenAndServe(":80", gate.Handler(mux))
}
