// Hook counts without a lock.
package counting

import (
	"context"
	"fmt"

	"github.com/gobackoff/retry"
)

type Stats struct {
	retries int
	byErr   map[string]int
}

func (s *Stats) Policy() retry.Policy {
	return retry.Policy{Hooks: retry.Hooks{OnGiveUp: func(_ context.Context, e *retry.Error) {
		s.retries++                     // mistake
		s.byErr[fmt.Sprint(e.Reason)]++ // mistake
	}}}
}
