package locks

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gobackoff/retry"
)

// A Lease is a lock in a store that ends by itself. A token names one holder.
type Lease interface {
	// Acquire takes the lease for ttl, unless another token has it. It returns its fence, a number
	// that grows with each holder, or 0 if another token has the lease. A token that already has
	// it gets its fence again, so a call whose response was lost can be repeated.
	Acquire(ctx context.Context, token string, ttl time.Duration) (fence int64, err error)
	// Renew lets the lease last for ttl from now. It reports whether token still has the lease.
	Renew(ctx context.Context, token string, ttl time.Duration) (bool, error)
	// Release ends the lease, if token has it.
	Release(ctx context.Context, token string) error
}

var (
	// ErrHeld means that another token has the lease. The policy decides how long to ask for it.
	ErrHeld = errors.New("another process has the lease")
	// ErrLost is why work was canceled: its lease could not be renewed.
	ErrLost = errors.New("the lease is lost")
)

// Hold acquires a lease, calls work and releases the lease. Meanwhile, it renews the lease every
// third of ttl. If it cannot, it cancels the context of work when a tenth of ttl is left, so work
// must end within that time. work runs once; only Acquire is retried, under the policy. It must
// pass the fence to what it changes: see docs/libraries.md. ttl must be at least 30 ms.
func Hold(ctx context.Context, policy retry.Policy, lease Lease, ttl time.Duration, work func(ctx context.Context, fence int64) error) error {
	if ttl < 30*time.Millisecond {
		return fmt.Errorf("%w lease: ttl is %v", retry.ErrInvalid, ttl)
	}
	h := &holder{lease: lease, token: rand.Text(), ttl: ttl}
	defer h.release(ctx) // also if the response to Acquire was lost
	fence, err := h.acquire(ctx, policy)
	if err != nil {
		return err
	}
	working, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(h.left(), func() { cancel(ErrLost) }) // even if Renew hangs
	defer late.Stop()
	var renewing sync.WaitGroup
	renewing.Go(func() {
		err := h.renew(working, late)
		if working.Err() == nil {
			cancel(fmt.Errorf("%w: %w", ErrLost, err))
		}
	})
	defer renewing.Wait()
	defer cancel(nil)
	err = work(working, fence)
	lost := context.Cause(working)
	if err != nil && errors.Is(lost, ErrLost) {
		return fmt.Errorf("%w: %w", lost, err)
	}
	return err
}

type holder struct {
	lease Lease
	token string // one for all attempts
	ttl   time.Duration
	until time.Time // the store has the lease for us at least until then
}

func (h *holder) acquire(ctx context.Context, policy retry.Policy) (fence int64, err error) {
	return retry.DoValue(ctx, policy, func(ctx context.Context) (int64, error) {
		sent := time.Now()
		fence, err := h.lease.Acquire(ctx, h.token, h.ttl)
		if err == nil && fence == 0 {
			err = ErrHeld
		}
		h.until = sent.Add(h.ttl)
		if err == nil && h.left() <= 0 {
			err = ErrLost // the response came too late; the next attempt renews the lease
		}
		return fence, err
	})
}

// left returns the time until work has to end.
func (h *holder) left() time.Duration { return time.Until(h.until) - h.ttl/10 }

// renew renews the lease until ctx ends, or until it cannot.
func (h *holder) renew(ctx context.Context, late *time.Timer) error {
	policy := retry.Policy{MaxAttempts: retry.Unlimited, Backoff: retry.Constant(h.ttl / 30), AttemptTimeout: h.ttl / 6}
	for {
		err := retry.SystemClock{}.Sleep(ctx, time.Until(h.until)-h.ttl*2/3)
		if err != nil {
			return err
		}
		limited, cancel := context.WithTimeout(ctx, h.left())
		err = retry.Do(limited, policy, func(ctx context.Context) error {
			sent := time.Now()
			held, err := h.lease.Renew(ctx, h.token, h.ttl)
			switch {
			case err != nil:
				return err
			case !held:
				return retry.Permanent(ErrHeld)
			}
			h.until = sent.Add(h.ttl)
			return nil
		})
		cancel()
		if err != nil {
			return err
		}
		late.Reset(h.left())
	}
}

// release lets others have the lease before it ends. If it fails, they wait for the end.
func (h *holder) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), h.ttl/3)
	defer cancel()
	_ = retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error { return h.lease.Release(ctx, h.token) })
}
