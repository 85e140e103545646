package awspreset

import (
	"fmt"
	"math"
	"strings"
	"sync/atomic"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/dur"
)

// TokenCosts are the tokens that a retry takes from a [TokenBudget], by the class of
// the failure. 0 is free; all 0 means the default costs.
type TokenCosts struct {
	Transient float64 // after ClassTransient and any other class
	Timeout   float64 // after ClassTimeout
	Throttled float64 // after ClassThrottled
}

func (c TokenCosts) of(class retry.Class) float64 {
	switch class {
	case retry.ClassTimeout:
		return c.Timeout
	case retry.ClassThrottled:
		return c.Throttled
	}
	return c.Transient
}

// TokenBudget is a [retry.Budget] of tokens that retries take and successes return. It is
// the retry quota of the AWS SDKs, for the policies of this package. Use a
// [retry.SharedBudget] for other servers. Time does not refill a TokenBudget.
//
// The zero value is the quota of [Standard21], except that a permanent failure counts as a
// success. A TokenBudget may be shared by pointer. It must not be copied or changed after its
// first use.
type TokenBudget struct {
	Capacity float64    // maximum tokens; 0: 500
	Costs    TokenCosts // all zero: 14, or 5 after throttling
	Success  float64    // tokens returned by a success without a retry; 0: 1; below 0: none

	// NoRefund changes what a success after retries returns. By default, it returns the cost
	// of the last retry, or Success if that is more. With NoRefund, it returns Success.
	NoRefund bool

	// SuccessOnly makes a permanent failure return nothing, as in the AWS SDKs.
	// Otherwise it counts as a success.
	SuccessOnly bool

	// Deficit is the number of tokens missing at the start.
	Deficit float64

	spent atomic.Int64 // in thousandths, net of deposits
}

// TryWithdraw implements [retry.Budget].
func (b *TokenBudget) TryWithdraw(failed retry.Attempt) bool {
	cost := thousandths(b.costs().of(failed.Class))
	for {
		spent := b.spent.Load()
		if cost > b.full()-spent {
			return false
		}
		if b.spent.CompareAndSwap(spent, spent+cost) {
			return true
		}
	}
}

// Deposit implements [retry.Budget].
func (b *TokenBudget) Deposit(paid retry.Attempt, err error) {
	tokens := thousandths(b.gain(&paid, err))
	lowest := -thousandths(b.Deficit)
	for {
		spent := b.spent.Load()
		after := max(lowest, spent-tokens)
		if after == spent || b.spent.CompareAndSwap(spent, after) {
			return
		}
	}
}

func (b *TokenBudget) gain(paid *retry.Attempt, err error) float64 {
	if err != nil && b.SuccessOnly {
		return 0
	}
	tokens := b.Success
	if tokens == 0 {
		tokens = 1
	}
	if paid.Number != 0 && !b.NoRefund {
		tokens = max(tokens, b.costs().of(paid.Class))
	}
	return tokens
}

// Validate reports numbers that are negative, infinite or NaN, and a budget whose Capacity is
// too small for any retry.
func (b *TokenBudget) Validate() error {
	var faults []string
	for _, f := range []struct {
		name   string
		tokens float64
	}{
		{"Capacity", b.Capacity}, {"Success", max(0, b.Success)}, {"Deficit", b.Deficit},
		{"Costs.Transient", b.Costs.Transient}, {"Costs.Timeout", b.Costs.Timeout}, {"Costs.Throttled", b.Costs.Throttled},
	} {
		if !(f.tokens >= 0 && f.tokens <= math.MaxFloat64) {
			faults = append(faults, fmt.Sprintf("%s %v is not a number of at least 0", f.name, f.tokens))
		}
	}
	costs := b.costs()
	least := min(costs.Transient, costs.Timeout, costs.Throttled)
	switch {
	case faults != nil:
	case b.full() < 0:
		faults = append(faults, "Deficit is above Capacity")
	case thousandths(least) > thousandths(b.capacity()):
		faults = append(faults, fmt.Sprintf("Capacity %v is below the cost %v of a retry, so there would be no retry", b.capacity(), least))
	}
	if faults == nil {
		return nil
	}
	return fmt.Errorf("%w TokenBudget: %s", retry.ErrInvalid, strings.Join(faults, "; "))
}

// Balance returns the tokens that are left.
func (b *TokenBudget) Balance() float64 { return float64(b.full()-b.spent.Load()) / 1000 }

// full returns the balance at the start, in thousandths.
func (b *TokenBudget) full() int64 { return thousandths(b.capacity()) - thousandths(b.Deficit) }

func (b *TokenBudget) capacity() float64 {
	if b.Capacity == 0 {
		return quotaCapacity
	}
	return b.Capacity
}

func (b *TokenBudget) costs() TokenCosts {
	if b.Costs == (TokenCosts{}) {
		return costs21
	}
	return b.Costs
}

const mostTokens = 1 << 50 // in thousandths

// thousandths maps NaN and negative numbers to 0.
func thousandths(tokens float64) int64 {
	return int64(dur.Saturate(math.Round(tokens*1000), mostTokens))
}
