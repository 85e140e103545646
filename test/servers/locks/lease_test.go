package locks

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
)

const ttl = 30 * time.Second

var errDown = errors.New("the store is down")

// memory is a Lease in this process.
type memory struct {
	mu     sync.Mutex
	token  string
	until  time.Time
	fence  int64
	calls  int
	before func(ctx context.Context) error // a fault before a call takes effect; nil: none
	after  func(ctx context.Context) error // a fault after it has; nil: none
}

// call executes one call. Its faults are those of its beginning.
func (m *memory) call(ctx context.Context, effect func()) error {
	m.mu.Lock()
	before, after := m.before, m.after
	m.calls++
	m.mu.Unlock()
	if before != nil {
		err := before(ctx)
		if err != nil {
			return err
		}
	}
	m.mu.Lock()
	effect()
	m.mu.Unlock()
	if after != nil {
		return after(ctx)
	}
	return nil
}

func (m *memory) Acquire(ctx context.Context, token string, ttl time.Duration) (fence int64, err error) {
	err = m.call(ctx, func() {
		now := time.Now()
		if m.token != token && now.Before(m.until) {
			return
		}
		if m.token != token {
			m.fence++
		}
		m.token, m.until, fence = token, now.Add(ttl), m.fence
	})
	return fence, err
}

func (m *memory) Renew(ctx context.Context, token string, ttl time.Duration) (held bool, err error) {
	err = m.call(ctx, func() {
		now := time.Now()
		held = m.token == token && now.Before(m.until)
		if held {
			m.until = now.Add(ttl)
		}
	})
	return held, err
}

func (m *memory) Release(ctx context.Context, token string) error {
	return m.call(ctx, func() {
		if m.token == token {
			m.token, m.until = "", time.Time{}
		}
	})
}

// breaks changes the lease at a time, and reports when it would have ended.
func (m *memory) breaks(after time.Duration, fault func()) (until <-chan time.Time) {
	ends := make(chan time.Time, 1)
	time.AfterFunc(after, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		ends <- m.until
		fault()
	})
	return ends
}

func down(context.Context) error { return errDown }

func hangs(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func isStuck(context.Context) error {
	time.Sleep(time.Hour)
	return nil
}

// TestLost: when the context of work ends, if something happens to the lease after 61 s.
func TestLost(t *testing.T) {
	for name, tt := range map[string]struct {
		fault func(m *memory)
		lost  bool
		says  error
	}{
		"nothing": {fault: func(*memory) {}},
		"down for 10 s": {fault: func(m *memory) {
			back := time.Now().Add(10 * time.Second)
			m.before = func(context.Context) error {
				if time.Now().Before(back) {
					return errDown
				}
				return nil
			}
		}},
		"one response is lost": {fault: func(m *memory) {
			m.after = func(context.Context) error { m.after = nil; return errDown }
		}},
		"down":                 {fault: func(m *memory) { m.before = down }, lost: true, says: errDown},
		"it hangs":             {fault: func(m *memory) { m.before = hangs }, lost: true},
		"it is stuck":          {fault: func(m *memory) { m.before = isStuck }, lost: true},
		"no response":          {fault: func(m *memory) { m.after = hangs }, lost: true},
		"it forgot the holder": {fault: func(m *memory) { m.token = "another" }, lost: true, says: ErrHeld},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				defer cancel()
				m := &memory{}
				ends := m.breaks(61*time.Second, func() { tt.fault(m) })
				var ended time.Time
				err := Hold(ctx, retry.Policy{}, m, ttl, func(ctx context.Context, fence int64) error {
					assert.EqualValues(t, 1, fence)
					<-ctx.Done()
					ended = time.Now()
					return ctx.Err()
				})
				require.Error(t, err)
				assert.Equal(t, tt.lost, errors.Is(err, ErrLost), err)
				if tt.says != nil {
					assert.ErrorIs(t, err, tt.says)
				}
				if tt.lost {
					assert.False(t, ended.After((<-ends).Add(-ttl/10)), "before the lease ends")
				} else {
					assert.ErrorIs(t, err, context.DeadlineExceeded)
				}
			})
		})
	}
}

// TestAcquire: what is asked of the store until the lease is there, and with which result.
func TestAcquire(t *testing.T) {
	patient := retry.Policy{MaxElapsed: time.Minute, Backoff: retry.Constant(time.Second)}
	for name, tt := range map[string]struct {
		prepare func(m *memory)
		policy  retry.Policy
		want    error // nil: work ran
		after   time.Duration
	}{
		"free":                     {prepare: func(*memory) {}},
		"held for longer":          {prepare: func(m *memory) { m.token, m.until = "x", time.Now().Add(time.Hour) }, want: ErrHeld},
		"held for 10 s":            {prepare: func(m *memory) { m.token, m.until = "x", time.Now().Add(10*time.Second) }, policy: patient, after: 10 * time.Second},
		"down":                     {prepare: func(m *memory) { m.before = down }, want: errDown},
		"the response is lost":     {prepare: func(m *memory) { m.after = func(context.Context) error { m.after = nil; return errDown } }, policy: patient, after: time.Second},
		"all responses are lost":   {prepare: func(m *memory) { m.after = down }, want: errDown},
		"the response is too late": {prepare: func(m *memory) { m.after = func(context.Context) error { m.after = nil; time.Sleep(ttl); return nil } }, policy: patient, after: ttl + time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &memory{}
				tt.prepare(m)
				begun := time.Now()
				ran := false
				err := Hold(t.Context(), tt.policy, m, ttl, func(ctx context.Context, fence int64) error {
					ran = true
					assert.NoError(t, ctx.Err())
					assert.EqualValues(t, 1, fence, "repeated calls are one")
					return nil
				})
				assert.Equal(t, tt.want == nil, ran)
				if tt.want != nil {
					assert.ErrorIs(t, err, tt.want)
				} else {
					assert.NoError(t, err)
					assert.Equal(t, tt.after, time.Since(begun))
				}
				if tt.want == ErrHeld {
					assert.Equal(t, "x", m.token)
				} else {
					assert.Empty(t, m.token, "it was released")
				}
			})
		})
	}
}

// TestWork: what Hold returns, and that others can have the lease then.
func TestWork(t *testing.T) {
	errWork := errors.New("work failed")
	m := &memory{}
	assert.ErrorIs(t, Hold(t.Context(), retry.Policy{}, m, ttl, func(context.Context, int64) error { return errWork }), errWork)
	assert.Empty(t, m.token)
	assert.PanicsWithValue(t, "x", func() {
		_ = Hold(t.Context(), retry.Policy{}, m, ttl, func(context.Context, int64) error { panic("x") })
	})
	assert.Empty(t, m.token)
	calls := m.calls
	assert.ErrorIs(t, Hold(t.Context(), retry.Policy{}, m, time.Millisecond, func(context.Context, int64) error { return nil }), retry.ErrInvalid)
	assert.Equal(t, calls, m.calls)
	ctx, cancel := context.WithCancel(t.Context())
	err := Hold(ctx, retry.Policy{}, m, ttl, func(ctx context.Context, _ int64) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	})
	assert.Equal(t, context.Canceled, err)
	assert.Empty(t, m.token, "although the context has ended")
	assert.EqualValues(t, 3, m.fence)
}

// TestRenewals: how often a lease is renewed in an hour.
func TestRenewals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		require.NoError(t, Hold(t.Context(), retry.Policy{}, m, ttl, func(ctx context.Context, _ int64) error {
			time.Sleep(time.Hour)
			return ctx.Err()
		}))
		assert.InDelta(t, 360, m.calls, 3)
	})
}
