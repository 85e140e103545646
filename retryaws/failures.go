package retryaws

import (
	"errors"
	"reflect"
	"slices"
	"sync"

	"github.com/gobackoff/retry"
)

// A failure is a failed attempt for which the SDK has not yet decided whether it
// ends the call.
type failure struct {
	err      error
	paid     retry.Class // class of the failure before the attempt; ClassUnknown for a first attempt
	canceled bool
}

// failures connects the SDK's calls for one failed attempt. The SDK first returns
// the attempt's tokens and then asks for a decision; only the error is the same in
// both calls. Both happen in one goroutine without a wait in between, so the list
// is short. Only last attempts for which a wrapper decided without asking remain in
// it.
type failures struct {
	mu   sync.Mutex
	list []failure
}

// maxFailures bounds the list; the oldest failure is dropped.
const maxFailures = 256

// add adds a failure, or returns false if its error is in the list: then
// another token of the same attempt has already been returned.
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

// take removes the failure with the error err or with one that err wraps, because
// the SDK wraps errors that it attributes to a wrong clock.
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

// index returns the position of the newest failure with a comparable error, or
// -1 if there is none.
func (f *failures) index(err error) int {
	for i, n := range slices.Backward(f.list) {
		if n.err == err {
			return i
		}
	}
	return -1
}
