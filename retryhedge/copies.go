package retryhedge

import (
	"sync"

	"github.com/gobackoff/retry"
)

// copies is a Budget of which a copy takes one. A call that ends adds its share of one, and
// up to mostSaved are kept. It is empty at first, and time adds nothing, so a server that
// does not respond gets no copies.
type copies struct {
	share float64

	mu   sync.Mutex
	left float64
}

const mostSaved = 10

func (c *copies) TryWithdraw(retry.Attempt) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	const rounding = 1e-9 // ten tenths add up to slightly less than one
	if c.left < 1-rounding {
		return false
	}
	c.left--
	return true
}

func (c *copies) Deposit(retry.Attempt, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = min(c.left+c.share, mostSaved)
}
