package label

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryotel"
)

type metric interface{ Inc() }

// counter is like a CounterVec of Prometheus.
type counter interface{ WithLabelValues(...string) metric }

type documents struct {
	policy retry.Policy
	base   *url.URL
	name   string
}

func (d *documents) load(ctx context.Context, customer string, op func(context.Context) error) error {
	target := d.base.JoinPath("customers", customer).String()
	policy := retryotel.Instrument(d.policy, "GET "+target) // want `the name is a label of every metric, and this one is different for each request, so the metrics grow without end: use a constant name`
	return retry.Do(ctx, policy, op)
}

func (d *documents) loadToo(ctx context.Context, customer string, userID int, r *http.Request, op func(context.Context) error) error {
	policy := retryotel.Instrument(d.policy, fmt.Sprintf("user %d", userID)) // want `the name is a label of every metric`
	policy = retryotel.Instrument(policy, "load "+customer)                  // want `the name is a label of every metric`
	policy = retryotel.Instrument(policy, r.Method+" "+d.base.String())      // want `the name is a label of every metric`
	return retry.Do(ctx, policy, op)
}

const service = "documents"

func (d *documents) named(ctx context.Context, route, id string, op func(context.Context) error) error {
	policy := retryotel.Instrument(d.policy, "load document")
	policy = retryotel.Instrument(policy, service+" load")
	policy = retryotel.Instrument(policy, "GET "+route) // a pattern, of which there are few
	policy = retryotel.Instrument(policy, route)
	policy = retryotel.Instrument(policy, fmt.Sprintf("%s load", service))
	return retry.Do(ctx, policy, op)
}

func newDocuments(name string, p retry.Policy) *documents {
	return &documents{policy: retryotel.Instrument(p, "client "+name), name: name} // made once
}

func hooks(retries, failures counter) retry.Hooks {
	return retry.Hooks{
		OnRetry: func(_ context.Context, failed retry.Attempt, _ time.Duration) {
			retries.WithLabelValues(failed.Err.Error()).Inc() // want `the text of an error may be different for each failure, so the metrics grow without end`
			retries.WithLabelValues(failed.Class.String()).Inc()
		},
		OnGiveUp: func(_ context.Context, e *retry.Error) {
			failures.WithLabelValues("load", fmt.Sprint(e.Error())).Inc() // want `the text of an error may be different for each failure`
			failures.WithLabelValues("load", e.ReasonLabel()).Inc()
		},
	}
}

func elsewhere(failures counter) {
	failures.WithLabelValues(errors.ErrUnsupported.Error()).Inc()
}
