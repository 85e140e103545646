package dropped

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrytest"
)

func fetch(ctx context.Context, op func(context.Context) error) error {
	return retry.Do(ctx, shared, op)
}

func TestOfCopy(t *testing.T) {
	clock := &retrytest.Clock{}
	policy := shared
	policy.Clock = clock               // want `nothing uses policy after this change of policy.Clock`
	policy.Rand = retrytest.Fixed(0.5) // want `nothing uses policy after this change of policy.Rand`
	op := retrytest.Fail(1, io.ErrUnexpectedEOF)
	if err := fetch(t.Context(), op.Run); err != nil || len(clock.Waits()) > 0 {
		t.Error(err)
	}
}

func TestOfOther(t *testing.T) {
	clock := &retrytest.Clock{}
	op := retrytest.Fail(1, io.ErrUnexpectedEOF)
	if err := fetch(t.Context(), func(context.Context) error { return nil }); err != nil || op.Calls() != 2 { // want `nothing uses op, so this is always empty or 0`
		t.Error(err)
	}
	for _, wait := range clock.Waits() { // want `nothing uses clock, so this is always empty or 0: set it in the policy, or pass its method Run to the call`
		if wait > time.Second {
			t.Error(wait)
		}
	}
}

// A test of a copy itself, and one whose clock the policy has.
func TestIndependent(t *testing.T) {
	q := shared
	q.MaxAttempts = 99
	if shared.MaxAttempts == 99 {
		t.Error("shared")
	}
	clock := &retrytest.Clock{}
	p := shared
	p.Clock = clock
	op := retrytest.Fail(1, io.ErrUnexpectedEOF)
	if err := retry.Do(t.Context(), p, op.Run); err != nil || op.Calls() != 2 || len(clock.Waits()) != 1 {
		t.Error(err)
	}
}

func TestClock(t *testing.T) {
	clock := &retrytest.Clock{}
	_ = clock.Sleep(t.Context(), time.Second)
	if len(clock.Waits()) != 1 {
		t.Error("waits")
	}
}

// A clock from a function that may have given it to the policy.
func TestMade(t *testing.T) {
	p, clock := onClock()
	if err := fetch(t.Context(), retrytest.Fail(1, io.ErrUnexpectedEOF).Run); err != nil || len(clock.Waits()) != 0 {
		t.Error(err, p)
	}
	var unset retrytest.Clock
	if len(unset.Waits()) != 0 { // want `nothing uses unset`
		t.Error("waits")
	}
}

func onClock() (retry.Policy, *retrytest.Clock) {
	clock := &retrytest.Clock{}
	return retry.Policy{Clock: clock}, clock
}
