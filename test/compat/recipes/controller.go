package recipes

import (
	"context"

	"k8s.io/client-go/util/workqueue"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

// NewQueue returns a work queue whose delays have jitter.
func NewQueue(policy retry.Policy) workqueue.TypedRateLimitingInterface[string] {
	return workqueue.NewTypedRateLimitingQueue[string](&adapt.RateLimiter[string]{Backoff: policy.Backoff})
}

// Work processes one item of the queue. A failed item is put back, after the server's
// hint if there is one. After a permanent failure, only a change of the object puts it
// back.
func Work(ctx context.Context, queue workqueue.TypedRateLimitingInterface[string], policy retry.Policy, reconcile func(context.Context, string) error) bool {
	item, shutdown := queue.Get()
	if shutdown {
		return false
	}
	defer queue.Done(item)
	err := reconcile(ctx, item)
	verdict := policy.Classify(err)
	switch {
	case err == nil, verdict.Class == retry.ClassPermanent, verdict.Unrepeatable:
		queue.Forget(item)
	case verdict.Hint > 0:
		queue.AddAfter(item, verdict.Hint)
	default:
		queue.AddRateLimited(item)
	}
	return true
}
