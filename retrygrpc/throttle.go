package retrygrpc

import (
	"fmt"
	"math"
	"strings"
	"sync/atomic"

	"github.com/gobackoff/retry"
)

// ThrottleBudget is the [retry.Budget] of gRPC's retry throttling (proposal A6). A failure
// that could be retried takes one token, and is retried only if more than half of the tokens
// are left. A failure whose retry is refused takes a token as well. Unlike in gRPC, a failed
// last attempt takes none.
//
// Use it if a service config or another client prescribes it, and otherwise a
// [retry.SharedBudget]. It may be shared by pointer. It must not be copied or changed after
// its first use.
type ThrottleBudget struct {
	MaxTokens  float64 // maximum and initial tokens; 0: 10
	TokenRatio float64 // tokens returned by a success; 0: 0.1

	missing atomic.Int64 // thousandths below MaxTokens
}

// TryWithdraw implements [retry.Budget].
func (b *ThrottleBudget) TryWithdraw(retry.Attempt) bool {
	full := b.full()
	missing := b.add(1000, full)
	return full-missing > full/2
}

// Deposit implements [retry.Budget].
func (b *ThrottleBudget) Deposit(_ retry.Attempt, err error) {
	ratio := b.TokenRatio
	if ratio == 0 {
		ratio = 0.1
	}
	if err == nil {
		b.add(-thousandths(ratio), b.full())
	}
}

// Validate reports numbers that are negative, infinite or NaN, at most two MaxTokens, which
// would allow no retry, and a TokenRatio above 1, which may be meant as percent.
func (b *ThrottleBudget) Validate() error {
	var faults []string
	switch most := b.MaxTokens; {
	case !(most >= 0 && most <= math.MaxFloat64):
		faults = append(faults, fmt.Sprintf("MaxTokens %v is not a number of at least 0", most))
	case most > 0 && most <= 2:
		faults = append(faults, fmt.Sprintf("MaxTokens %v allows no retry: after a failure, more than half must be left", most))
	}
	if !(b.TokenRatio >= 0 && b.TokenRatio <= 1) {
		faults = append(faults, fmt.Sprintf("TokenRatio %v is not between 0 and 1", b.TokenRatio))
	}
	if faults == nil {
		return nil
	}
	return fmt.Errorf("%w ThrottleBudget: %s", retry.ErrInvalid, strings.Join(faults, "; "))
}

// Balance returns the tokens that are left.
func (b *ThrottleBudget) Balance() float64 { return float64(b.full()-b.missing.Load()) / 1000 }

func (b *ThrottleBudget) full() int64 {
	if b.MaxTokens == 0 {
		return 10_000
	}
	return thousandths(b.MaxTokens)
}

// add adds delta to missing, within [0, full], and returns the result.
func (b *ThrottleBudget) add(delta, full int64) int64 {
	for {
		missing := b.missing.Load()
		after := min(max(0, missing+delta), full)
		if after == missing || b.missing.CompareAndSwap(missing, after) {
			return after
		}
	}
}

// thousandths maps NaN and negative numbers to 0.
func thousandths(tokens float64) int64 {
	const most = 1 << 50
	switch thousandths := math.Round(tokens * 1000); {
	case thousandths >= most:
		return most
	case thousandths > 0:
		return int64(thousandths)
	}
	return 0
}
