package dropped

import (
	"context"
	"log"
	"log/slog"
	"net/http"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
	"github.com/gobackoff/retry/admit"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/ratelimit"
	"github.com/gobackoff/retry/retrybatch"
	"github.com/gobackoff/retry/retryhedge"
	"github.com/gobackoff/retry/retryhttp"
)

func ownUnread(ctx context.Context, p retry.Policy, send func(context.Context) error) error {
	for n := 1; ; n++ {
		err := send(ctx)
		if err == nil {
			return nil
		}
		log.Print(err)
		wait, err := p.Next(retry.Attempt{Number: n, Err: err}, time.Hour) // want `the reason of retry.Policy.Next does not end this loop`
		time.Sleep(wait)
	}
}

func ownLogged(ctx context.Context, p retry.Policy, send func(context.Context) error) {
	for n := 1; ; n++ {
		err := send(ctx)
		if err == nil {
			return
		}
		wait, reason := p.Next(retry.Attempt{Number: n, Err: err}, 0) // want `the reason of retry.Policy.Next does not end this loop`
		if reason != nil {
			log.Print("giving up: ", reason)
		}
		time.Sleep(wait)
	}
}

func ownRight(ctx context.Context, p retry.Policy, send func(context.Context) error) error {
	for n := 1; ; n++ {
		err := send(ctx)
		if err == nil {
			return nil
		}
		wait, reason := p.Next(retry.Attempt{Number: n, Err: err}, 0)
		if reason != nil {
			log.Print("giving up: ", reason)
			return err
		}
		time.Sleep(wait)
	}
}

func ownBreaks(ctx context.Context, p retry.Policy, send func(context.Context) error) (err error) {
	var wait time.Duration
	for n := 1; err == nil; n++ {
		failed := send(ctx)
		if failed == nil {
			return nil
		}
		wait, err = p.Next(retry.Attempt{Number: n, Err: failed}, 0)
		time.Sleep(wait)
	}
	return err
}

func ownCondition(ctx context.Context, p retry.Policy, send func(context.Context) error) {
	done := false
	for n := 1; !done; n++ {
		failed := send(ctx)
		wait, reason := p.Next(retry.Attempt{Number: n, Err: failed}, 0)
		if reason != nil {
			done = true
		}
		time.Sleep(wait)
	}
}

func ownSwitch(ctx context.Context, p retry.Policy, send func(context.Context) error) error {
	for n := 1; ; n++ {
		err := send(ctx)
		wait, reason := p.Next(retry.Attempt{Number: n, Err: err}, 0)
		switch {
		case err == nil:
			return nil
		case reason != nil:
			return reason
		}
		time.Sleep(wait)
	}
}

// table prints the delays of a policy, and retries nothing.
func table(p retry.Policy) (waits []time.Duration) {
	failed := retry.Attempt{Err: errGone}
	for failed.Number = 1; failed.Number < 10; failed.Number++ {
		failed.Waited, _ = p.Next(failed, 0)
		waits = append(waits, failed.Waited)
	}
	return waits
}

func redeliver(p retry.Policy, id string, n int, err error, again func(time.Duration), limit int) {
	wait, _ := adapt.DelayFor(p, id, n, err) // want `nothing looks at the reason of adapt.DelayFor`
	again(wait)
	assumed, _ := adapt.DelayFor(p, id, n, errGone)
	marked, _ := adapt.DelayFor(p, id, n, retry.Transient(errGone))
	again(assumed + marked)
}

func sequence(p retry.Policy, err error) time.Duration {
	delay, _ := adapt.NewSequence(p).Retry(err) // want `nothing looks at the second result of adapt.Sequence.Retry`
	return delay
}

func configured() retry.Policy {
	p, _ := awspreset.FromEnv(awspreset.Standard21, "sqs") // want `nothing looks at the error of awspreset.FromEnv`
	return p
}

func opened(ctx context.Context, h *retryhedge.Hedge, get func(context.Context, int) (*http.Response, error)) (*http.Response, error) {
	resp, _, err := retryhedge.Open(ctx, h, "get", get, nil) // want `nothing looks at the function done of retryhedge.Open`
	return resp, err
}

func enters(gate *admit.Gate, next http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ticket, _ := gate.Enter(admit.Caller{}) // want `nothing looks at the error of admit.Gate.Enter`
		defer gate.Leave(ticket)
		if _, err := gate.Enter(admit.Caller{}); err != nil { // want `nothing has the ticket, so the request never leaves the gate`
			return
		}
		next.ServeHTTP(w, r)
	}
}

func entersRight(gate *admit.Gate, next http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ticket, err := gate.Enter(admit.Caller{})
		if err != nil {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		defer gate.Leave(ticket)
		next.ServeHTTP(w, r)
	}
}

func unusedResults(ctx context.Context, p retry.Policy, resp *http.Response, req *http.Request, budget *retry.SharedBudget, b retrybatch.Batch[int],
	send func(context.Context, []int) (map[int]error, error)) {
	p.Validate()                            // want `Policy.Validate has no effect unless its result is used`
	retryhttp.CheckStatus(resp)             // want `retryhttp.CheckStatus has no effect`
	req.WithContext(ctx)                    // want `Request.WithContext returns a copy of the request, which nothing uses`
	budget.TryWithdraw(retry.Attempt{})     // takes a token
	retryhttp.WithPolicy(ctx, p)            // want `retryhttp.WithPolicy has no effect`
	retrybatch.Do(ctx, b, []int{1}, send)   // want `the error of retrybatch.Do is not used`
	_, _ = retrybatch.Do(ctx, b, nil, send) // says so
	budget.Deposit(retry.Attempt{}, nil)
}

func lateRequest(client *http.Client, req *http.Request) error {
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	req = req.WithContext(ratelimit.WithCost(req.Context(), 3)) // want `nothing uses req after this, so ratelimit.WithCost has no effect`
	return resp.Body.Close()
}

func lateMark(ctx context.Context, p retry.Policy, find func(context.Context) error) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		err := find(ctx)
		if err == errGone {
			err = retry.Permanent(err) // want `nothing uses err after this, so retry.Permanent has no effect`
		}
		return find(ctx)
	})
}

func rightContext(ctx context.Context, client *http.Client, p retry.Policy, slow bool) (*http.Response, error) {
	if slow {
		ctx = retryhttp.WithPolicy(ctx, p)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://example.com/", nil)
	if err != nil {
		return nil, err
	}
	req = req.WithContext(retryhttp.WithoutRetry(req.Context()))
	return client.Do(req)
}

// inLoop uses the context in the next round.
func contextInLoop(ctx context.Context, client *http.Client, p retry.Policy) error {
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://example.com/", nil)
		if err != nil {
			return err
		}
		if _, err := client.Do(req); err == nil {
			return nil
		}
		ctx = retryhttp.WithPolicy(ctx, p)
	}
}

func corrects(ctx context.Context, client *http.Client, req *http.Request, real float64) {
	costs := ratelimit.WithCost(ctx, 100)
	_, _ = client.Do(req.WithContext(costs))
	ratelimit.Correct(ctx, real) // want `ctx has no cost, so this does nothing`
	ratelimit.Correct(costs, real)
}

func correctsRight(ctx context.Context, client *http.Client, req *http.Request, real float64) {
	ctx = ratelimit.WithCost(ctx, 100)
	_, _ = client.Do(req.WithContext(ctx))
	ratelimit.Correct(ctx, real)
}

func otherContext(ctx context.Context, client *http.Client, p retry.Policy) (*http.Response, error) {
	patient := retryhttp.WithPolicy(ctx, p) // want `nothing uses patient after this, so retryhttp.WithPolicy has no effect`
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://example.com/", nil)
	if err != nil {
		return nil, err
	}
	slog.InfoContext(patient, "sending")
	return client.Do(req)
}

func logsOnly(p retry.Policy, id string, n int, err error, again, bury func(time.Duration), save func(time.Duration, error)) {
	wait, reason := adapt.DelayFor(p, id, n, err) // want `nothing looks at the reason of adapt.DelayFor`
	if reason != nil {
		log.Printf("%s: %v", id, reason)
	}
	again(wait)
	wait, reason = adapt.DelayFor(p, id, n+1, err)
	save(wait, reason)
	wait, reason = adapt.DelayFor(p, id, n+2, err)
	if reason != nil {
		bury(wait)
	}
	wait, reason = adapt.DelayFor(p, id, n+3, err)
	if reason != nil {
		log.Print(reason)
	} else {
		again(wait)
	}
}
