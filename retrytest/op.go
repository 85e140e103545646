package retrytest

import (
	"context"
	"slices"
	"sync"
)

// Op is an operation that fails according to a script. Pass its Run method to retry.Do.
// It is safe for concurrent use and must not be copied.
type Op struct {
	mu       sync.Mutex
	outcomes []error
	calls    int
}

// Script returns an operation whose calls return the outcomes in turn, nil for success. The
// last outcome is that of all further calls. Without outcomes, all calls succeed.
func Script(outcomes ...error) *Op { return &Op{outcomes: slices.Clone(outcomes)} }

// Fail returns an operation that fails n times with err and then succeeds.
func Fail(n int, err error) *Op {
	outcomes := make([]error, max(0, n)+1)
	for i := range max(0, n) {
		outcomes[i] = err
	}
	return Script(outcomes...)
}

// Run performs one call of the operation.
func (o *Op) Run(context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls++
	if len(o.outcomes) == 0 {
		return nil
	}
	return o.outcomes[min(o.calls, len(o.outcomes))-1]
}

// Calls returns how many times Run was called.
func (o *Op) Calls() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.calls
}
