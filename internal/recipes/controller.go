package recipes

import (
	"context"

	"k8s.io/client-go/util/workqueue"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

// NewQueue returns a work queue whose items wait with jitter.
func NewQueue(policy retry.Policy) workqueue.TypedRateLimitingInterface[string] {
	return workqueue.NewTypedRateLimitingQueue[string](&adapt.RateLimiter[string]{Backoff: policy.Backoff})
}

// Work takes one item from the queue. A failure puts it back, after the server's hint
// if there is one; a permanent failure does not: a change of the object brings it back.
func Work(ctx context.Context, queue workqueue.TypedRateLimitingInterface[string], policy retry.Policy, reconcile func(context.Context, string) error) bool {
	item, shutdown := queue.Get()
	if shutdown {
		return false
	}
	defer queue.Done(item)
	failed := policy.Classify(reconcile(ctx, item))
	switch {
	case failed.Err == nil, failed.Class == retry.ClassPermanent:
		queue.Forget(item)
	case failed.Hint > 0:
		queue.AddAfter(item, failed.Hint)
	default:
		queue.AddRateLimited(item)
	}
	return true
}
