package attempt

import (
	"context"
	"log"
	"net/http"
	"slices"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

var servers = []string{"10.0.0.2", "10.0.1.2", "10.0.2.2"}

var numbered = retry.Policy{MaxAttempts: 3}.With(retry.AttemptInContext())

func rotates(ctx context.Context, get func(ctx context.Context, server string) error) error {
	return retry.Do(ctx, numbered, func(ctx context.Context) error {
		a, _ := retry.AttemptFrom(ctx)
		return get(ctx, servers[a.Number]) // want `numbers of attempts begin with 1, so this never gets the first element of servers, and the last attempt panics: use a.Number-1`
	})
}

func pages(page func(context.Context, error)) retry.Policy {
	return retry.Policy{MaxAttempts: 5}.With(retry.Hooks{
		OnRetry: func(ctx context.Context, failed retry.Attempt, _ time.Duration) {
			if failed.Number == 5 { // want `OnRetry is not called after the last attempt, so this is never true: use OnGiveUp`
				page(ctx, failed.Err)
			}
		},
	})
}

func byHand(ctx context.Context, call func(context.Context) error) (err error) {
	for wait := range numbered.Delays() {
		err = call(ctx) // want `a policy has one delay less than attempts, so this loop makes one attempt too few`
		if err == nil {
			return nil
		}
		time.Sleep(wait)
	}
	return err
}

func counts(client *http.Client, req *http.Request, retried func()) (*http.Response, error) {
	resp, err := client.Do(req)
	if retryhttp.AttemptNumber(req.Context()) > 1 { // want `this context is that of the whole call and belongs to no attempt: use that of the response's Request`
		retried()
	}
	return resp, err
}

func indexes(ctx context.Context, get func(ctx context.Context, server string) error, byNumber map[int]string) error {
	var histogram [9]int
	padded := []string{"", "a", "b", "c"}
	longer := make([]int, len(servers)+1)
	err := retry.Do(ctx, numbered, func(ctx context.Context) error {
		a, ok := retry.AttemptFrom(ctx)
		n := a.Number
		if ok && a.Number == 0 { // want `this is never true, because numbers of attempts begin with 1`
			return nil
		}
		if a.Number > 0 { // want `this is always true, because numbers of attempts begin with 1: a retry has a number above 1`
			log.Print("a retry")
		}
		if a.Number > 1 || a.Number == 1 {
			log.Print("a retry")
		}
		histogram[a.Number]++
		log.Print(longer[a.Number], byNumber[a.Number], padded[a.Number])
		log.Print(servers[a.Number-1], servers[(a.Number-1)%len(servers)], servers[a.Number%len(servers)])
		return get(ctx, servers[n]) // want `use n-1`
	})
	log.Print(histogram[3])
	return err
}

// guarded asks the first server if the others are used up.
func guarded(ctx context.Context, get func(ctx context.Context, server string) error, list []string) error {
	return retry.Do(ctx, numbered, func(ctx context.Context) error {
		a, _ := retry.AttemptFrom(ctx)
		if a.Number < len(list) {
			return get(ctx, list[a.Number])
		}
		return get(ctx, list[0])
	})
}

// unknown may run without the hooks, and then has no number.
func unknown(ctx context.Context, p retry.Policy, get func(ctx context.Context) error) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		if a, _ := retry.AttemptFrom(ctx); a.Number > 0 {
			log.Print("attempt ", a.Number)
		}
		return get(ctx)
	})
}

type steps []time.Duration

var first = []time.Duration{time.Second, time.Minute}

func (s steps) Delay(a retry.Attempt, u float64) time.Duration {
	if a.Number < 1 { // a Backoff accepts any number
		return 0
	}
	if u > 0.5 {
		return s[a.Number] // of which the first may be unused
	}
	return first[a.Number] // want `this never gets the first element of first`
}

func header(ctx context.Context, header http.Header) {
	header.Set("Server", servers[retryhttp.AttemptNumber(ctx)]) // want `this never gets the first element of servers`
	if retryhttp.AttemptNumber(ctx) == 0 {
		return // outside of an attempt
	}
}

var hooks = retry.Hooks{
	OnAttempt: func(ctx context.Context, a retry.Attempt) (context.Context, func(retry.Attempt)) {
		if a.Number == 0 { // want `this is never true`
			log.Print("begins")
		}
		if a.Number == numbered.MaxAttempts {
			log.Print("the last attempt")
		}
		return ctx, nil
	},
	OnRetry: func(ctx context.Context, failed retry.Attempt, _ time.Duration) {
		next := servers[failed.Number] // of the retry
		log.Print(next)
		if failed.Number >= numbered.MaxAttempts { // want `OnRetry is not called after the last attempt`
			log.Print("gives up")
		}
		if failed.Number == numbered.MaxAttempts-1 {
			log.Print("the last retry")
		}
		if numbered.Attempts() == failed.Number { // want `OnRetry is not called after the last attempt`
			log.Print("gives up")
		}
		a, _ := retry.AttemptFrom(ctx) // want `the context of this hook belongs to no attempt, so this is always a zero Attempt: use the parameter of the hook`
		log.Print(a)
	},
}

type uploader struct{ policy retry.Policy }

func newUploader(attempts int, page func()) *uploader {
	u := &uploader{policy: retry.Policy{MaxAttempts: attempts}}
	u.policy.OnRetry = func(_ context.Context, failed retry.Attempt, _ time.Duration) {
		if failed.Number >= attempts { // want `OnRetry is not called after the last attempt`
			page()
		}
		if failed.Number == 3 { // of a number that is not known
			page()
		}
	}
	return u
}

var short = retry.Policy{MaxAttempts: 3}

var long = retry.Policy{MaxAttempts: 9}.With(retry.Hooks{OnRetry: func(_ context.Context, failed retry.Attempt, _ time.Duration) {
	if failed.Number == 3 { // short has other hooks
		log.Print(failed.Err)
	}
}})

func delaysRight(ctx context.Context, call func(context.Context) error) error {
	err := call(ctx)
	if err == nil {
		return nil
	}
	for wait := range short.Delays() {
		err = call(ctx)
		if err == nil {
			return nil
		}
		time.Sleep(wait)
	}
	return err
}

func delaysBefore(ctx context.Context, call func(context.Context) error) (err error) {
	for wait := range short.Delays() {
		time.Sleep(wait)
		err = call(ctx)
		if err == nil {
			return nil
		}
	}
	return err
}

func prints(print func(time.Duration) error) error {
	for wait := range short.Delays() {
		err := print(wait)
		if err != nil {
			return err
		}
	}
	return nil
}

func askOutside(ctx context.Context, call func(context.Context) error) error {
	err := retry.Do(ctx, numbered, func(attemptCtx context.Context) error {
		a, _ := retry.AttemptFrom(ctx) // want `this context is that of the whole call and belongs to no attempt`
		log.Print(a.Number)
		b, _ := retry.AttemptFrom(attemptCtx)
		log.Print(b.Number)
		return call(attemptCtx)
	})
	a, _ := retry.AttemptFrom(ctx) // want `this context is that of the whole call and belongs to no attempt: use the context that the operation gets, or the Attempts of the \*retry.Error`
	log.Print(a.Number)
	return err
}

// nested asks for the attempt of the outer call.
func nested(ctx context.Context, call func(context.Context) error) error {
	return retry.Do(ctx, numbered, func(ctx context.Context) error {
		return retry.Do(ctx, numbered, func(inner context.Context) error {
			a, _ := retry.AttemptFrom(ctx)
			log.Print(a.Number)
			return call(inner)
		})
	})
}

func handles(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	log.Print(retryhttp.AttemptNumber(ctx)) // want `the context of a request that a server handles belongs to no attempt`
}

func sends(ctx context.Context, client *http.Client) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://example.com/", nil)
	if err != nil {
		return 0, err
	}
	resp, err := client.Do(req)
	if err != nil {
		info, ok := retryhttp.InfoFrom(ctx) // want `this context is that of the whole call`
		log.Print(info, ok)
		return 0, err
	}
	return retryhttp.AttemptNumber(resp.Request.Context()), resp.Body.Close()
}

type signer struct{ base http.RoundTripper }

func (s signer) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := s.base.RoundTrip(req)
	log.Print(retryhttp.AttemptNumber(req.Context()))
	return resp, err
}

func collected(ctx context.Context, call func(context.Context) error) (err error) {
	waits := slices.Collect(short.Delays())
	for i, wait := range waits {
		err = call(ctx) // want `a policy has one delay less than attempts`
		if err == nil {
			return nil
		}
		log.Print(i)
		time.Sleep(wait)
	}
	return err
}

func pick(n int) string { return servers[n] } // want `this never gets the first element of servers`

func pickRight(n int) string { return servers[n] }

func picks(ctx context.Context, get func(ctx context.Context, server, other string) error) error {
	return retry.Do(ctx, numbered, func(ctx context.Context) error {
		a, _ := retry.AttemptFrom(ctx)
		return get(ctx, pick(a.Number), pickRight(a.Number-1))
	})
}

func switches(attempts int, page func()) (retry.Policy, retry.Hooks) {
	return retry.Policy{MaxAttempts: attempts}, retry.Hooks{OnRetry: func(_ context.Context, failed retry.Attempt, _ time.Duration) {
		switch failed.Number {
		case 0: // want `this is never true`
		case 1:
			log.Print(failed.Err)
		case attempts: // want `OnRetry is not called after the last attempt`
			page()
		}
	}}
}

func reads(client *http.Client, req *http.Request) (int, error) {
	_, content, err := retryhttp.Read(client, req)
	log.Print(retryhttp.AttemptNumber(req.Context())) // want `this context is that of the whole call`
	return len(content), err
}

type metrics struct{ below *retryhttp.Transport }

func (m metrics) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := m.below.RoundTrip(req)
	log.Print(retryhttp.AttemptNumber(req.Context())) // want `this context is that of the whole call`
	return resp, err
}

func early(attempts int, page, note func()) (retry.Policy, retry.Hooks, retry.Hooks) {
	notes := retry.Hooks{OnRetry: func(_ context.Context, failed retry.Attempt, _ time.Duration) {
		note()
		if failed.Number < attempts {
			return
		}
	}}
	return retry.Policy{MaxAttempts: attempts}, notes, retry.Hooks{OnRetry: func(_ context.Context, failed retry.Attempt, _ time.Duration) {
		if failed.Number < attempts { // want `OnRetry is not called after the last attempt, so this is always true, and what follows never runs`
			return
		}
		page()
	}}
}
