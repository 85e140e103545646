// Backoff with state.
package stateful

import (
	"time"

	"github.com/gobackoff/retry"
)

type growing struct{ next time.Duration }

func (g *growing) Delay(retry.Attempt, float64) time.Duration {
	if g.next == 0 {
		g.next = 100 * time.Millisecond // mistake
	}
	d := g.next
	g.next *= 2 // mistake
	return d
}

var P = retry.Policy{Backoff: &growing{}, MaxAttempts: 5}
