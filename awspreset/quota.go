package awspreset

import (
	"sync/atomic"

	"github.com/gobackoff/retry"
)

// goQuota is the quota of the AWS SDK for Go v2 before 2026: a success after retries
// returns one token more than the last retry took.
type goQuota struct{ *TokenBudget }

func (q goQuota) Deposit(paid retry.Attempt, err error) {
	q.TokenBudget.Deposit(paid, err)
	if paid.Number != 0 {
		q.TokenBudget.Deposit(retry.Attempt{}, err)
	}
}

// growingQuota is the quota of @smithy/util-retry before 4.3.0. A success sets the
// balance to the larger of the capacity and the new balance, instead of the smaller, so
// it fills the quota or makes it grow.
type growingQuota struct{ balance atomic.Int64 }

const (
	growingCost          = 10
	growingThrottledCost = 5
)

func newGrowingQuota() *growingQuota {
	q := new(growingQuota)
	q.balance.Store(quotaCapacity)
	return q
}

func (*growingQuota) cost(class retry.Class) int64 {
	if class == retry.ClassThrottled {
		return growingThrottledCost
	}
	return growingCost
}

func (q *growingQuota) TryWithdraw(failed retry.Attempt) bool {
	cost := q.cost(failed.Class)
	for {
		balance := q.balance.Load()
		if cost > balance {
			return false
		}
		if q.balance.CompareAndSwap(balance, balance-cost) {
			return true
		}
	}
}

func (q *growingQuota) Deposit(paid retry.Attempt, err error) {
	if err != nil {
		return
	}
	tokens := int64(1)
	if paid.Number != 0 {
		tokens = q.cost(paid.Class)
	}
	for {
		balance := q.balance.Load()
		if q.balance.CompareAndSwap(balance, max(quotaCapacity, balance+tokens)) {
			return
		}
	}
}

// Balance returns the tokens left.
func (q *growingQuota) Balance() float64 { return float64(q.balance.Load()) }
