package adapt

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gobackoff/retry"
)

// A RateLimiter computes the delays of the items in a work queue. It is a
// workqueue.TypedRateLimiter of k8s.io/client-go, and fits the Options of a
// controller-runtime controller:
//
//	controller.Options{RateLimiter: &adapt.RateLimiter[reconcile.Request]{Backoff: rule}}
//
// Each item has its own chain of delays, which restarts after Forget. All failures count
// as transient, and the number of retries is not limited, because a work queue does not
// drop items. The default limiter of client-go has no jitter, so items that failed
// together are retried together. The default limiter also limits all items together to 10
// a second; a RateLimiter does not.
//
// A RateLimiter is safe for concurrent use if Rand is. It must not be copied.
type RateLimiter[T comparable] struct {
	Backoff retry.Backoff  // nil: the rule of the zero [retry.Policy], from 50 ms to 20 s
	Rand    func() float64 // uniform in [0, 1); nil: math/rand/v2.Float64

	mu    sync.Mutex
	items map[T]link
}

// When counts a failure of an item and returns the delay before the item's next retry.
func (r *RateLimiter[T]) When(item T) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, failed := r.items[item]
	if !failed {
		last.number = 1
		if r.items == nil {
			r.items = make(map[T]link)
		}
	}
	wait := last.next(r.Backoff, r.random())
	last.after(wait)
	r.items[item] = last
	return wait
}

// Forget ends the chain of an item that has succeeded or will not be retried.
func (r *RateLimiter[T]) Forget(item T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.items, item)
}

// NumRequeues returns how often an item has failed since it was last forgotten.
func (r *RateLimiter[T]) NumRequeues(item T) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(0, r.items[item].number-1)
}

func (r *RateLimiter[T]) random() float64 {
	if r.Rand == nil {
		return rand.Float64()
	}
	return r.Rand()
}
