package adapt

import (
	"math/rand/v2"
	"time"

	"github.com/gobackoff/retry"
)

// OneBased returns a function that maps the number of a retry to the delay of the
// policy's Backoff, for libraries that count the first retry as 1:
//
//	elasticsearch.Config{MaxRetries: 3, RetryBackoff: adapt.OneBased(policy)}
//	kgo.NewClient(kgo.RetryBackoffFn(adapt.OneBased(policy)))
//	nats.Connect(url, nats.CustomReconnectDelay(adapt.OneBased(policy)))
//
// The library decides which failures it retries, and how often. All failures count as
// transient; an n below 1 counts as 1. If a rule derives each delay from the previous
// one, as [retry.DecorrelatedJitter] does, each call draws all delays again, from the
// first retry on: the results have the right distribution, but successive results do not
// form a chain. The function may be shared if the policy's Rand may.
func OneBased(p retry.Policy) func(n int) time.Duration {
	random := p.Rand
	if random == nil {
		random = rand.Float64
	}
	return func(n int) time.Duration {
		last := walk(p.Backoff, n, func(int) float64 { return random() })
		return last.next(p.Backoff, random())
	}
}

// ZeroBased is [OneBased] for libraries that count the first retry as 0. Wrap it for hooks with
// more parameters:
//
//	delay := adapt.ZeroBased(policy)
//	asynq.Config{RetryDelayFunc: func(n int, _ error, _ *asynq.Task) time.Duration { return delay(n) }}
//	client.Backoff = func(_, _ time.Duration, n int, _ *http.Response) time.Duration { return delay(n) }
func ZeroBased(p retry.Policy) func(n int) time.Duration {
	delay := OneBased(p)
	return func(n int) time.Duration { return delay(increment(n)) }
}
