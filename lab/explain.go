package lab

// The waits of one policy.

import (
	"slices"
	"time"

	"github.com/gobackoff/retry"
)

// Waits draws the waits of a number of calls whose attempts all fail with transient errors
// without a hint. It returns them by retry, in ascending order: Waits(p, 1000, 0)[1][500]
// is the median wait before the second retry. At most 100 retries per call are drawn. The
// same seed gives the same waits.
func Waits(p retry.Policy, calls int, seed uint64) [][]time.Duration {
	var waits [][]time.Duration
	for call := range calls {
		s := newStream(derive(seed, uint64(call)), 0, 0)
		p.Rand = s.uniform
		retries := 0
		for wait := range p.Delays() {
			if retries == mostWaits {
				break
			}
			if retries == len(waits) {
				waits = append(waits, nil)
			}
			waits[retries] = append(waits[retries], wait)
			retries++
		}
	}
	for _, list := range waits {
		slices.Sort(list)
	}
	return waits
}

const mostWaits = 100
