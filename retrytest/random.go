package retrytest

import (
	"fmt"
	"math/rand/v2"
	"sync"
)

// Fixed returns a source for retry.Policy.Rand that always returns u: 0 gives a policy's
// smallest delays, 0.5 the middle ones.
func Fixed(u float64) func() float64 {
	return func() float64 { return u }
}

// Replay returns a source for retry.Policy.Rand that returns recorded numbers in turn. It
// panics when they are used up, because a test that draws more numbers does not do what was
// recorded. It is safe for concurrent use.
func Replay(us ...float64) func() float64 {
	var mu sync.Mutex
	next := 0
	return func() float64 {
		mu.Lock()
		defer mu.Unlock()
		if next == len(us) {
			panic(fmt.Sprintf("retrytest: random number %d requested, but only %d recorded", next+1, len(us)))
		}
		next++
		return us[next-1]
	}
}

// Seeded returns a source for retry.Policy.Rand whose random numbers depend only on the
// seed. It is safe for concurrent use.
func Seeded(seed uint64) func() float64 {
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(seed, 0))
	return func() float64 {
		mu.Lock()
		defer mu.Unlock()
		return rng.Float64()
	}
}
