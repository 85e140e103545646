package cookbook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
	"github.com/gobackoff/retry/retryhttp"
)

// A Provider is one of several that can answer a question.
type Provider struct {
	Name string
	Ask  func(ctx context.Context, question string) (string, error)
}

// AskAny asks one provider after the other. It does not ask the next one if the question
// itself is wrong, or if ctx has ended.
func AskAny(ctx context.Context, policy retry.Policy, providers []Provider, question string) (string, error) {
	var failures []error
	for _, p := range providers {
		answer, err := retry.DoValue(ctx, policy, func(ctx context.Context) (string, error) {
			return p.Ask(ctx, question)
		})
		if err == nil {
			return answer, nil
		}
		failures = append(failures, fmt.Errorf("%s: %w", p.Name, err))
		if ctx.Err() != nil || policy.Classify(err).Class == retry.ClassPermanent {
			break
		}
	}
	return "", errors.Join(failures...)
}

// Tenants keeps what the calls of one tenant share.
type Tenants struct {
	Limiter func(tenant string) retry.Limiter // such as a *rate.Limiter of golang.org/x/time/rate

	policies sync.Map
}

// Policy returns the policy for the calls of a tenant.
func (t *Tenants) Policy(tenant string) retry.Policy {
	policy, ok := t.policies.Load(tenant)
	if !ok {
		policy, _ = t.policies.LoadOrStore(tenant, retry.Policy{
			MaxAttempts: 4,
			Budget:      new(retry.SharedBudget),
			Limiter:     t.Limiter(tenant),
		})
	}
	return policy.(retry.Policy)
}

// A Delivery is a webhook that a program stores until it is delivered.
type Delivery struct {
	ID     string
	Failed int       // attempts that have failed
	Due    time.Time // when to try next
}

var webhooks = retry.Policy{
	Backoff: retry.Spread{Fraction: 0.1, Of: retry.Schedule{
		5 * time.Second, time.Minute, 10 * time.Minute, time.Hour, 4 * time.Hour, 8 * time.Hour, 11 * time.Hour,
	}},
}

// Deliver tries once and reports whether the delivery is finished; otherwise d says when to
// try again, and has to be stored. ctx is that of the program.
func Deliver(ctx context.Context, d *Delivery, send func(context.Context) error) (finished bool, err error) {
	err = send(ctx)
	outcome := adapt.Settle(ctx, webhooks, d.ID, d.Failed+1, err)
	switch outcome.Action {
	case adapt.Ack:
		return true, nil
	case adapt.DeadLetter:
		d.Failed++
		return true, outcome.Err
	case adapt.Redeliver:
		d.Failed++
		d.Due = time.Now().Add(outcome.Wait)
	}
	return false, err // GiveBack, at a shutdown, counts nothing
}

var receivers = &http.Client{Timeout: 10 * time.Second}

// Post sends a webhook once.
func Post(ctx context.Context, id, address string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return retry.Permanent(err)
	}
	req.Header.Set("Webhook-Id", id) // by which the receiver recognizes a repetition
	resp, err := receivers.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return retryhttp.CheckStatus(resp)
}
