package recipes

import "github.com/gobackoff/retry"

// FleetBudget is the budget of one of very many processes that make few calls each. It holds one token,
// a retry takes it, and ten successes bring it back.
func FleetBudget() *retry.TokenBudget {
	return &retry.TokenBudget{
		Capacity: 1,
		Costs:    retry.TokenCosts{Transient: 1, Timeout: 1, Throttled: 1},
		Success:  0.1,
	}
}
