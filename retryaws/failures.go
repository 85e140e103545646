package retryaws

import (
	"errors"
	"reflect"
	"slices"
	"sync"

	"github.com/gobackoff/retry"
)

// A failure is an attempt that failed and about which the SDK has not said yet
// whether it ends the call.
type failure struct {
	err      error
	paid     retry.Class // of the failure before the attempt; ClassUnknown for a first attempt
	canceled bool
}

// failures connects what the SDK says about one failed attempt. It first gives
// back the attempt's tokens and then asks for a decision; only the error is the
// same in both. All of it happens in one goroutine and without a wait in
// between, so the list is short. What remains in it are last attempts about
// which a wrapper decided without asking.
type failures struct {
	mu   sync.Mutex
	list []failure
}

// maxFailures bounds the list; the oldest failure is dropped.
const maxFailures = 256

// add adds a failure, and reports false if its error is in the list: then
// another token of the same attempt has been given back.
func (f *failures) add(n failure) bool {
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

// take removes the failure with the error err, or with one that err wraps: the
// SDK wraps errors that it puts down to a wrong clock.
func (f *failures) take(err error) (failure, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for ; err != nil; err = errors.Unwrap(err) {
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

// index returns the position of the failure with a comparable error, -1 if
// there is none. It begins with the newest.
func (f *failures) index(err error) int {
	for i, n := range slices.Backward(f.list) {
		if n.err == err {
			return i
		}
	}
	return -1
}
