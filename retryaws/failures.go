package retryaws

import (
	"errors"
	"reflect"
	"slices"
	"sync"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

// A failure is a failed attempt for which the SDK has not yet decided whether to
// retry.
type failure struct {
	err      error
	paid     retry.Attempt // the failure before the attempt, if its retry was charged
	canceled bool
}

// failures matches the SDK's calls to the Retryer about the same failed attempt, by
// their common error: the SDK first returns the attempt's tokens and then calls
// IsErrorRetryable or GetRetryToken. Both happen in one goroutine without a wait in
// between, so the list is short. A failure stays in the list only if a wrapper ended
// the call without consulting the Retryer.
type failures struct {
	mu   sync.Mutex
	list []failure
}

// maxFailures bounds the list. The oldest failure is dropped.
const maxFailures = 256

// add returns false if the error is already in the list, because the attempt's other
// token has been returned.
func (f *failures) add(n failure) bool {
	n.err = adapt.Finite(n.err)
	if !reflect.ValueOf(n.err).Comparable() {
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.index(n.err) >= 0 {
		return false
	}
	if len(f.list) == maxFailures {
		f.list = slices.Delete(f.list, 0, 1)
	}
	f.list = append(f.list, n)
	return true
}

// take removes and returns the failure whose error is err or is wrapped by err: the SDK
// wraps errors that it attributes to a wrong clock.
func (f *failures) take(err error) (failure, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for err := adapt.Finite(err); err != nil; err = errors.Unwrap(err) {
		if !reflect.ValueOf(err).Comparable() {
			continue
		}
		if i := f.index(err); i >= 0 {
			found := f.list[i]
			f.list = slices.Delete(f.list, i, i+1)
			return found, true
		}
	}
	return failure{}, false
}

func (f *failures) index(err error) int {
	for i, n := range slices.Backward(f.list) {
		if n.err == err {
			return i
		}
	}
	return -1
}
