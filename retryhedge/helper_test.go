package retryhedge_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/retryhedge"
)

const ms = time.Millisecond

// after waits in a bubble, and returns early if ctx ends.
func after(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// teach makes h expect calls of 20 ms, of which every tenth takes 40 ms.
func teach(t *testing.T, h *retryhedge.Hedge, key string, calls int) {
	t.Helper()
	for i := range calls {
		d := 20 * ms
		if i%10 == 0 {
			d = 40 * ms
		}
		_, err := retryhedge.Do(t.Context(), h, key, func(ctx context.Context) (int, error) {
			return 0, after(ctx, d)
		})
		require.NoError(t, err)
	}
}

// events records what a Hedge reports.
type events struct {
	mu  sync.Mutex
	all []retryhedge.Event
}

func (e *events) add(_ context.Context, event retryhedge.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, event)
}

func (e *events) kinds() (kinds []retryhedge.EventKind) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, event := range e.all {
		kinds = append(kinds, event.Kind)
	}
	return kinds
}
