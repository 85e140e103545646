package retrybatch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrybatch"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retrytest"
)

type status int

func (s status) Error() string       { return fmt.Sprint("status ", int(s)) }
func (s status) HTTPStatusCode() int { return int(s) }

var errDial = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}

func sequence(n int) []int {
	items := make([]int, n)
	for i := range items {
		items[i] = i
	}
	return items
}

// failing returns the errors of a batch whose items, except for the first few, fail with err.
func failing(batch []int, accepted int, err error) map[int]error {
	failed := map[int]error{}
	for i := range batch {
		if i >= accepted {
			failed[i] = err
		}
	}
	return failed
}

// fates returns the items by fate.
func fates(failed []retrybatch.Failure[int]) map[retrybatch.Fate][]int {
	all := map[retrybatch.Fate][]int{}
	for _, f := range failed {
		all[f.Fate] = append(all[f.Fate], f.Item)
	}
	return all
}

// TestThrottlingTable: a table accepts five items of each call. All items are stored, and
// the waits grow, because each call is throttled in part.
func TestThrottlingTable(t *testing.T) {
	clock := &retrytest.Clock{}
	policy := retry.Policy{Clock: clock, Backoff: retry.Exponential{Base: time.Second, Cap: 20 * time.Second}}
	stored := map[int]int{}
	failed, err := retrybatch.Do(t.Context(), retrybatch.Batch[int]{Policy: policy, MaxItems: 25}, sequence(60), func(_ context.Context, batch []int) (map[int]error, error) {
		for _, item := range batch[:min(5, len(batch))] {
			stored[item]++
		}
		return failing(batch, 5, retry.Throttled(errors.New("unprocessed"))), nil
	})
	require.NoError(t, err)
	assert.Empty(t, failed)
	assert.Len(t, stored, 60)
	for item, times := range stored {
		assert.Equal(t, 1, times, item)
	}
	s := time.Second
	assert.Equal(t, []time.Duration{s, 2 * s, 4 * s, 8 * s, 16 * s, 20 * s, 20 * s, 20 * s, 20 * s, 20 * s, 20 * s}, clock.Waits())
}

// TestDelaysRestart: after a call without an item to retry, the waits start again.
func TestDelaysRestart(t *testing.T) {
	clock := &retrytest.Clock{}
	policy := retry.Policy{Clock: clock, Backoff: retry.DecorrelatedJitter{Base: time.Second, Cap: time.Minute}, Rand: retrytest.Fixed(0.5)}
	calls := 0
	accepted := []int{1, 1, 2, 1, 2} // of two
	_, err := retrybatch.Do(t.Context(), retrybatch.Batch[int]{Policy: policy, MaxItems: 2}, sequence(7), func(_ context.Context, batch []int) (map[int]error, error) {
		calls++
		return failing(batch, accepted[calls-1], status(503)), nil
	})
	require.NoError(t, err)
	s := time.Second
	assert.Equal(t, []time.Duration{2 * s, 7 * s / 2, 2 * s}, clock.Waits(), "1 + 0.5 · (3 · the last wait − 1) seconds")
}

// TestFates: what becomes of items, by what the server answers.
func TestFates(t *testing.T) {
	const accepted, refused, unknown, givenUp, notSent = retrybatch.Accepted, retrybatch.Refused, retrybatch.Unknown, retrybatch.GivenUp, retrybatch.NotSent
	always := func(int) bool { return true }
	odd := func(item int) bool { return item%2 == 1 }
	late := context.DeadlineExceeded
	type answer struct {
		failed map[int]error
		err    error
	}
	for name, tt := range map[string]struct {
		mayRepeat func(int) bool
		answers   []answer // of the calls; the last one repeats
		want      []retrybatch.Fate
		calls     [][]int
		reason    error
	}{
		"all accepted": {
			answers: []answer{{}},
			want:    []retrybatch.Fate{accepted, accepted, accepted, accepted},
			calls:   [][]int{{0, 1}, {2, 3}},
		},
		"a nil error": {
			answers: []answer{{failed: map[int]error{0: nil, 1: nil}}},
			want:    []retrybatch.Fate{accepted, accepted, accepted, accepted},
			calls:   [][]int{{0, 1}, {2, 3}},
		},
		"one refused": {
			answers: []answer{{failed: map[int]error{1: status(400)}}, {}},
			want:    []retrybatch.Fate{accepted, refused, accepted, accepted},
			calls:   [][]int{{0, 1}, {2, 3}},
		},
		"sent again, filled up": {
			answers: []answer{{failed: map[int]error{1: status(503)}}, {}},
			want:    []retrybatch.Fate{accepted, accepted, accepted, accepted},
			calls:   [][]int{{0, 1}, {1, 2}, {3}},
		},
		"an item that may not be repeated": {
			mayRepeat: always,
			answers:   []answer{{failed: map[int]error{1: retry.Unrepeatable(status(503))}}, {}},
			want:      []retrybatch.Fate{accepted, unknown, accepted, accepted},
			calls:     [][]int{{0, 1}, {2, 3}},
		},
		"an item that never succeeds": {
			answers: []answer{{failed: map[int]error{0: status(503)}}},
			want:    []retrybatch.Fate{givenUp, accepted, accepted, accepted},
			calls:   [][]int{{0, 1}, {0, 2}, {0, 3}, {0}, {0}},
		},
		"a refused call": {
			answers: []answer{{}, {err: status(403)}},
			want:    []retrybatch.Fate{accepted, accepted, refused, refused},
			calls:   [][]int{{0, 1}, {2, 3}},
			reason:  status(403),
		},
		"the first call is refused": {
			answers: []answer{{err: status(403)}},
			want:    []retrybatch.Fate{refused, refused, notSent, notSent},
			calls:   [][]int{{0, 1}},
			reason:  status(403),
		},
		"calls are throttled": {
			answers: []answer{{err: status(429)}},
			want:    []retrybatch.Fate{givenUp, givenUp, notSent, notSent},
			calls:   [][]int{{0, 1}, {0, 1}, {0, 1}},
			reason:  retry.ErrMaxAttempts,
		},
		"no connection": {
			answers: []answer{{err: errDial}, {}},
			want:    []retrybatch.Fate{accepted, accepted, accepted, accepted},
			calls:   [][]int{{0, 1}, {0, 1}, {2, 3}},
		},
		"421": {
			answers: []answer{{err: retry.Transient(status(421))}, {}},
			want:    []retrybatch.Fate{accepted, accepted, accepted, accepted},
			calls:   [][]int{{0, 1}, {0, 1}, {2, 3}},
		},
		"a lost response": {
			answers: []answer{{err: io.ErrUnexpectedEOF}, {}},
			want:    []retrybatch.Fate{unknown, unknown, accepted, accepted},
			calls:   [][]int{{0, 1}, {2, 3}},
		},
		"a lost response to the last call": {
			answers: []answer{{}, {err: late}},
			want:    []retrybatch.Fate{accepted, accepted, unknown, unknown},
			calls:   [][]int{{0, 1}, {2, 3}},
			reason:  retry.ErrUnrepeatable,
		},
		"a lost response, some may be repeated": {
			mayRepeat: odd,
			answers:   []answer{{err: late}, {}},
			want:      []retrybatch.Fate{unknown, accepted, accepted, accepted},
			calls:     [][]int{{0, 1}, {1, 2}, {3}},
		},
		"a lost response, marked": {
			mayRepeat: always,
			answers:   []answer{{err: retry.Unrepeatable(io.EOF)}, {}},
			want:      []retrybatch.Fate{accepted, accepted, accepted, accepted},
			calls:     [][]int{{0, 1}, {0, 1}, {2, 3}},
		},
		"a failure, marked as safe": {
			answers: []answer{{err: retry.Transient(io.EOF)}, {}},
			want:    []retrybatch.Fate{accepted, accepted, accepted, accepted},
			calls:   [][]int{{0, 1}, {0, 1}, {2, 3}},
		},
		"a hint is no proof": {
			answers: []answer{{err: retry.After(io.EOF, time.Second)}, {}},
			want:    []retrybatch.Fate{unknown, unknown, accepted, accepted},
			calls:   [][]int{{0, 1}, {2, 3}},
		},
		"lost, then refused": {
			mayRepeat: always,
			answers:   []answer{{err: io.EOF}, {failed: map[int]error{0: status(409), 1: status(429)}}, {}},
			want:      []retrybatch.Fate{unknown, accepted, accepted, accepted},
			calls:     [][]int{{0, 1}, {0, 1}, {1, 2}, {3}},
		},
		"lost, then throttled for ever": {
			mayRepeat: always,
			answers:   []answer{{err: io.EOF}, {err: status(429)}},
			want:      []retrybatch.Fate{unknown, unknown, notSent, notSent},
			calls:     [][]int{{0, 1}, {0, 1}, {0, 1}},
			reason:    retry.ErrMaxAttempts,
		},
		"lost for ever, one call after the other": {
			answers: []answer{{err: io.EOF}},
			want:    []retrybatch.Fate{unknown, unknown, unknown, unknown},
			calls:   [][]int{{0, 1}, {2, 3}},
			reason:  retry.ErrUnrepeatable,
		},
		"an own cancellation": {
			answers: []answer{{err: context.Canceled}},
			want:    []retrybatch.Fate{unknown, unknown, notSent, notSent},
			calls:   [][]int{{0, 1}},
			reason:  context.Canceled,
		},
		"an inner loop gave up": {
			mayRepeat: odd,
			answers:   []answer{{err: &retry.Error{Err: errDial, Reason: retry.ErrMaxAttempts}}},
			want:      []retrybatch.Fate{unknown, unknown, notSent, notSent},
			calls:     [][]int{{0, 1}},
			reason:    errDial,
		},
		"an inner loop for an item gave up": {
			answers: []answer{{failed: map[int]error{0: &retry.Error{Err: status(503), Reason: retry.ErrMaxAttempts}}}, {}},
			want:    []retrybatch.Fate{unknown, accepted, accepted, accepted},
			calls:   [][]int{{0, 1}, {2, 3}},
		},
		"no such item": {
			answers: []answer{{failed: map[int]error{2: status(503)}}},
			want:    []retrybatch.Fate{unknown, unknown, notSent, notSent},
			calls:   [][]int{{0, 1}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			counts := map[retrybatch.Fate]int{}
			b := retrybatch.Batch[int]{
				Policy: retry.Policy{Clock: &retrytest.Clock{}}, MaxItems: 2, MayRepeat: tt.mayRepeat,
				OnItems: func(_ context.Context, fate retrybatch.Fate, n int) { counts[fate] += n },
			}
			var calls [][]int
			failed, err := retrybatch.Do(t.Context(), b, sequence(4), func(_ context.Context, batch []int) (map[int]error, error) {
				calls = append(calls, slices.Clone(batch))
				a := tt.answers[min(len(calls), len(tt.answers))-1]
				return a.failed, a.err
			})
			got := []retrybatch.Fate{accepted, accepted, accepted, accepted}
			want := map[retrybatch.Fate]int{}
			for _, f := range failed {
				got[f.Index] = f.Fate
				assert.Equal(t, f.Index, f.Item)
				assert.Error(t, f.Err)
				assert.ErrorIs(t, err, cmpNotSent(f.Err, err))
			}
			for _, fate := range got {
				want[fate]++
			}
			assert.Equal(t, tt.want, got)
			assert.Equal(t, tt.calls, calls)
			assert.Equal(t, want, counts, "OnItems")
			assert.Equal(t, len(failed) > 0, err != nil)
			if tt.reason != nil {
				assert.ErrorIs(t, err, tt.reason)
			}
			if err != nil {
				assert.Equal(t, retry.ClassPermanent, retry.Policy{}.Classify(err).Class)
			}
		})
	}
}

// cmpNotSent returns the error that the summary must match.
func cmpNotSent(err, summary error) error {
	if err == retrybatch.ErrNotSent { // the Reason says why
		return summary
	}
	return err
}

// TestCanceled: the caller ends the context during a call.
func TestCanceled(t *testing.T) {
	for name, tt := range map[string]struct {
		fails error
		want  map[retrybatch.Fate][]int
	}{
		"canceled":              {context.Canceled, map[retrybatch.Fate][]int{retrybatch.Unknown: {0, 1}, retrybatch.NotSent: {2}}},
		"refused":               {status(400), map[retrybatch.Fate][]int{retrybatch.Refused: {0, 1}, retrybatch.NotSent: {2}}},
		"throttled":             {status(429), map[retrybatch.Fate][]int{retrybatch.GivenUp: {0, 1}, retrybatch.NotSent: {2}}},
		"accepted nevertheless": {nil, map[retrybatch.Fate][]int{retrybatch.NotSent: {2}}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			failed, err := retrybatch.Do(ctx, retrybatch.Batch[int]{MaxItems: 2}, sequence(3), func(context.Context, []int) (map[int]error, error) {
				cancel()
				return nil, tt.fails
			})
			assert.Equal(t, tt.want, fates(failed))
			assert.Error(t, err)
		})
	}
	t.Run("before the first call", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		failed, err := retrybatch.Do(ctx, retrybatch.Batch[int]{}, sequence(2), func(context.Context, []int) (map[int]error, error) {
			t.Error("called")
			return nil, nil
		})
		assert.Equal(t, map[retrybatch.Fate][]int{retrybatch.NotSent: {0, 1}}, fates(failed))
		assert.ErrorIs(t, err, context.Canceled)
		assert.EqualError(t, err, "2 of 2 items were not accepted (2 not sent): gave up before the first attempt (context canceled)")
	})
}

// TestAttemptTimeout: a call that takes too long has an unknown outcome, whatever its client
// calls that.
func TestAttemptTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := retrybatch.Batch[int]{MaxItems: 1, Policy: retry.Policy{AttemptTimeout: time.Second}}
		calls := 0
		failed, err := retrybatch.Do(t.Context(), b, sequence(2), func(ctx context.Context, _ []int) (map[int]error, error) {
			if calls++; calls > 1 {
				return nil, nil
			}
			<-ctx.Done()
			return nil, context.Canceled
		})
		assert.Equal(t, map[retrybatch.Fate][]int{retrybatch.Unknown: {0}}, fates(failed))
		assert.ErrorIs(t, err, context.Canceled)
		assert.EqualError(t, err, "1 of 2 items were not accepted (1 unknown): context canceled")
	})
}

// TestWait: the worst class and the longest hint of the items decide about the wait.
func TestWait(t *testing.T) {
	throttled := retry.Throttled(errors.New("slow down"))
	policy := retry.Policy{Backoff: retry.WhenThrottled{Throttled: retry.Constant(time.Minute), Else: retry.Constant(time.Second)}}
	for name, tt := range map[string]struct {
		errs []error
		want time.Duration
	}{
		"transient":                        {[]error{status(503), status(503)}, time.Second},
		"one is throttled":                 {[]error{status(503), throttled}, time.Minute},
		"the other is throttled":           {[]error{status(429), retry.Transient(io.EOF)}, time.Minute},
		"throttled for a custom rule":      {[]error{errCustom, status(503)}, time.Minute},
		"a hint":                           {[]error{retry.After(io.EOF, time.Hour), throttled}, time.Hour},
		"the longest hint":                 {[]error{retry.After(io.EOF, 30*time.Minute), retry.After(throttled, 2*time.Minute)}, 30 * time.Minute},
		"the hint of a refused item":       {[]error{retry.Permanent(retry.After(io.EOF, time.Hour)), status(503)}, time.Second},
		"the hint of a throttled item, 0":  {[]error{retry.After(throttled, 0), retry.After(io.EOF, 2*time.Second)}, time.Minute},
		"a transient mark before a worse":  {[]error{retry.Transient(status(429)), status(429)}, time.Minute},
		"a timeout is worse than an error": {[]error{context.DeadlineExceeded, status(503)}, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			clock := &retrytest.Clock{}
			p := policy
			p.Clock, p.Rand = clock, retrytest.Fixed(0)
			p.Classifier = retry.FirstOf(retry.ClassifierFunc(func(err error) retry.Verdict {
				if err == errCustom { // fails for a wrapped error
					return retry.Verdict{Class: retry.ClassThrottled}
				}
				return retry.Verdict{}
			}), retry.DefaultClassifier{})
			calls := 0
			_, _ = retrybatch.Do(t.Context(), retrybatch.Batch[int]{Policy: p}, sequence(2), func(context.Context, []int) (map[int]error, error) {
				if calls++; calls > 1 {
					return nil, nil
				}
				return map[int]error{0: tt.errs[0], 1: tt.errs[1]}, nil
			})
			assert.Equal(t, []time.Duration{tt.want}, clock.Waits())
		})
	}
}

var errCustom = errors.New("custom")

// TestBounds: batches by count and by size.
func TestBounds(t *testing.T) {
	size := func(n int) int { return n }
	for name, tt := range map[string]struct {
		batch   retrybatch.Batch[int]
		want    [][]int
		refused []int
	}{
		"none":            {retrybatch.Batch[int]{}, [][]int{{5, 1, 4, 9, 1, 1, -3}}, nil},
		"count":           {retrybatch.Batch[int]{MaxItems: 3}, [][]int{{5, 1, 4}, {9, 1, 1}, {-3}}, nil},
		"size":            {retrybatch.Batch[int]{MaxSize: 10, Size: size}, [][]int{{5, 1, 4}, {9, 1}, {1, -3}}, nil},
		"both":            {retrybatch.Batch[int]{MaxItems: 2, MaxSize: 10, Size: size}, [][]int{{5, 1}, {4}, {9, 1}, {1, -3}}, nil},
		"too large":       {retrybatch.Batch[int]{MaxSize: 8, Size: size}, [][]int{{5, 1}, {4, 1, 1, -3}}, []int{9}},
		"all too large":   {retrybatch.Batch[int]{MaxSize: 1, Size: func(int) int { return 2 }}, nil, []int{5, 1, 4, 9, 1, 1, -3}},
		"a key":           {retrybatch.Batch[int]{Key: func(n int) string { return fmt.Sprint(n) }}, [][]int{{5, 1, 4, 9, -3}, {1}, {1}}, nil},
		"a key and large": {retrybatch.Batch[int]{MaxSize: 8, Size: size, Key: func(n int) string { return fmt.Sprint(n % 4) }}, [][]int{{5}, {4, -3, 1}, {1}, {1}}, []int{9}},
	} {
		t.Run(name, func(t *testing.T) {
			var calls [][]int
			refused := 0
			tt.batch.OnItems = func(_ context.Context, fate retrybatch.Fate, n int) {
				if fate == retrybatch.Refused {
					refused += n
				}
			}
			failed, err := retrybatch.Do(t.Context(), tt.batch, []int{5, 1, 4, 9, 1, 1, -3}, func(_ context.Context, batch []int) (map[int]error, error) {
				calls = append(calls, batch)
				return nil, nil
			})
			assert.Equal(t, tt.want, calls)
			assert.Equal(t, tt.refused, fates(failed)[retrybatch.Refused])
			assert.Equal(t, len(tt.refused), refused)
			if tt.refused != nil {
				assert.ErrorIs(t, err, retrybatch.ErrTooLarge)
			}
		})
	}
}

// counter counts the questions to a Budget and a Limiter.
type counter struct{ waits, observed, withdrawals, deposits int }

func (c *counter) Wait(context.Context) error       { c.waits++; return nil }
func (c *counter) Observe(retry.Attempt)            { c.observed++ }
func (c *counter) TryWithdraw(retry.Attempt) bool   { c.withdrawals++; return true }
func (c *counter) Deposit(_ retry.Attempt, _ error) { c.deposits++ }

// TestPerCall: the Budget and the Limiter are asked for each call, not for each item.
func TestPerCall(t *testing.T) {
	c := &counter{}
	b := retrybatch.Batch[int]{MaxItems: 10, Policy: retry.Policy{Backoff: retry.NoDelay{}, Budget: c, Limiter: c}}
	calls := 0
	_, err := retrybatch.Do(t.Context(), b, sequence(40), func(_ context.Context, batch []int) (map[int]error, error) {
		if calls++; calls%2 == 1 {
			return nil, status(429)
		}
		return nil, nil
	})
	require.NoError(t, err)
	assert.Equal(t, 8, calls)
	assert.Equal(t, counter{waits: 8, observed: 8, withdrawals: 4, deposits: 4}, *c)
}

func TestInvalid(t *testing.T) {
	send := func(context.Context, []int) (map[int]error, error) { t.Error("called"); return nil, nil }
	for name, tt := range map[string]struct {
		ctx   context.Context
		batch retrybatch.Batch[int]
		send  func(context.Context, []int) (map[int]error, error)
		says  string
	}{
		"no context":        {nil, retrybatch.Batch[int]{}, send, "nil"},
		"no send":           {t.Context(), retrybatch.Batch[int]{}, nil, "nil"},
		"negative count":    {t.Context(), retrybatch.Batch[int]{MaxItems: -1}, send, "MaxItems"},
		"negative size":     {t.Context(), retrybatch.Batch[int]{MaxSize: -1}, send, "MaxSize"},
		"no Size":           {t.Context(), retrybatch.Batch[int]{MaxSize: 1}, send, "Size"},
		"an invalid Policy": {t.Context(), retrybatch.Batch[int]{Policy: retry.Policy{MaxElapsed: -1}}, send, "MaxElapsed"},
	} {
		t.Run(name, func(t *testing.T) {
			failed, err := retrybatch.Do(tt.ctx, tt.batch, sequence(2), tt.send)
			assert.ErrorIs(t, err, retry.ErrInvalid)
			assert.ErrorContains(t, err, tt.says)
			assert.Len(t, failed, 2)
		})
	}
}

func TestNoItems(t *testing.T) {
	failed, err := retrybatch.Do(t.Context(), retrybatch.Batch[int]{}, nil, func(context.Context, []int) (map[int]error, error) {
		t.Error("called")
		return nil, nil
	})
	assert.Empty(t, failed)
	assert.NoError(t, err)
}

func TestError(t *testing.T) {
	b := retrybatch.Batch[int]{MaxItems: 3, Policy: retry.Policy{Clock: &retrytest.Clock{}, MaxAttempts: 2}}
	calls := 0
	_, err := retrybatch.Do(t.Context(), b, sequence(5), func(_ context.Context, batch []int) (map[int]error, error) {
		if calls++; calls == 1 {
			return map[int]error{0: status(404), 1: status(429)}, nil
		}
		return nil, status(429)
	})
	e, ok := errors.AsType[*retrybatch.Error](err)
	require.True(t, ok)
	assert.Equal(t, 5, e.Items)
	assert.Equal(t, map[retrybatch.Fate]int{retrybatch.Accepted: 1, retrybatch.Refused: 1, retrybatch.GivenUp: 3}, e.Counts)
	assert.EqualError(t, err, "4 of 5 items were not accepted (1 refused, 3 given up): gave up after 2 attempts (all attempts used): status 429")
	assert.ErrorIs(t, err, retry.ErrMaxAttempts)
	assert.ErrorIs(t, err, status(404))
	for fate, want := range map[retrybatch.Fate]string{retrybatch.NotSent: "not sent", retrybatch.GivenUp: "given up", -1: "fate(-1)", 5: "fate(5)"} {
		assert.Equal(t, want, fate.String())
	}
}

// TestOuterDo: an outer loop does not send the batch again.
func TestOuterDo(t *testing.T) {
	runs := 0
	err := retry.Do(t.Context(), retry.Policy{Backoff: retry.NoDelay{}}, func(ctx context.Context) error {
		runs++
		_, err := retrybatch.Do(ctx, retrybatch.Batch[int]{Policy: retry.Policy{MaxAttempts: 1}}, sequence(2), func(context.Context, []int) (map[int]error, error) {
			return map[int]error{0: retry.Throttled(io.EOF)}, nil
		})
		return err
	})
	assert.ErrorIs(t, err, io.EOF)
	assert.Equal(t, 1, runs)
}

// server accepts, refuses and loses at random.
type server struct {
	t                         *testing.T
	rng                       *rand.Rand
	bad, busy, cut, lost, off float64
	batch                     retrybatch.Batch[int]
	accepted, sent, doubts    map[int]int
	lastOf                    map[string]int // the last item of each key that was sent
}

func (s *server) send(_ context.Context, batch []int) (map[int]error, error) {
	total := 0
	keys := map[string]bool{}
	for _, item := range batch {
		s.sent[item]++
		total += s.batch.Size(item)
		if s.accepted[item] > 0 {
			assert.True(s.t, s.batch.MayRepeat(item) && s.doubts[item] > 0, "item %d is sent again", item)
		}
		if s.batch.Key == nil {
			continue
		}
		key := s.batch.Key(item)
		assert.False(s.t, keys[key], "two items of a key")
		keys[key] = true
		assert.GreaterOrEqual(s.t, item, s.lastOf[key], "the order of a key")
		s.lastOf[key] = item
	}
	assert.LessOrEqual(s.t, len(batch), s.batch.MaxItems)
	assert.LessOrEqual(s.t, total, s.batch.MaxSize)
	assert.NotEmpty(s.t, batch)
	switch x := s.rng.Float64(); {
	case x < s.cut:
		for _, item := range batch {
			s.doubts[item]++
		}
		return nil, io.EOF
	case x < s.cut+s.off:
		return nil, []error{errDial, status(429), retry.After(status(429), time.Second)}[s.rng.IntN(3)]
	case x < s.cut+s.off+s.lost:
		for _, item := range batch {
			s.doubts[item]++
			s.accepted[item]++
		}
		return nil, io.ErrUnexpectedEOF
	case x > 0.999:
		return nil, status(403)
	}
	failed := map[int]error{}
	for i, item := range batch {
		switch x := s.rng.Float64(); {
		case x < s.bad:
			failed[i] = status(400)
		case x < s.bad+s.busy:
			failed[i] = []error{status(429), status(503), retry.After(status(503), time.Second), retry.Throttled(io.EOF)}[s.rng.IntN(4)]
		default:
			s.accepted[item]++
		}
	}
	return failed, nil
}

// TestRandomServers: each item has one fate, it is true, and nothing accepted is sent again.
func TestRandomServers(t *testing.T) {
	seen := map[retrybatch.Fate]int{}
	runs := uint64(5000)
	if testing.Short() {
		runs = 500
	}
	for seed := range runs {
		rng := rand.New(rand.NewPCG(seed, 63))
		s := &server{
			t: t, rng: rng, bad: 0.1 * rng.Float64(), busy: 0.8 * rng.Float64(), cut: 0.1 * rng.Float64(), lost: 0.1 * rng.Float64(), off: 0.2 * rng.Float64(),
			accepted: map[int]int{}, sent: map[int]int{}, doubts: map[int]int{}, lastOf: map[string]int{},
		}
		if rng.IntN(2) == 0 {
			s.cut, s.lost = 0, 0
		}
		counts := map[retrybatch.Fate]int{}
		s.batch = retrybatch.Batch[int]{
			Policy:    retry.Policy{Clock: &retrytest.Clock{}, MaxAttempts: 1 + rng.IntN(8), Rand: rng.Float64},
			MaxItems:  1 + rng.IntN(12),
			MaxSize:   20 + rng.IntN(100),
			Size:      func(item int) int { return item * 7 % 23 },
			MayRepeat: func(item int) bool { return item%3 > 0 },
			OnItems:   func(_ context.Context, fate retrybatch.Fate, n int) { counts[fate] += n },
		}
		if rng.IntN(2) == 0 {
			keys := 1 + rng.IntN(20)
			s.batch.Key = func(item int) string { return fmt.Sprint(item * 5 % keys) }
		}
		items := sequence(rng.IntN(80))
		failed, err := retrybatch.Do(t.Context(), s.batch, items, s.send)
		assert.Equal(t, len(failed) > 0, err != nil)
		assert.Equal(t, sequence(len(items)), items, "the items are unchanged")
		got := map[int]retrybatch.Fate{}
		for i, f := range failed {
			assert.True(t, i == 0 || failed[i-1].Index < f.Index, "the order of the failures")
			got[f.Item] = f.Fate
		}
		total := map[retrybatch.Fate]int{}
		for _, item := range items {
			fate, listed := got[item]
			if !listed {
				fate = retrybatch.Accepted
			}
			total[fate]++
			seen[fate]++
			switch fate {
			case retrybatch.Accepted:
				assert.NotZero(t, s.accepted[item])
			case retrybatch.Unknown:
				assert.NotZero(t, s.doubts[item])
			case retrybatch.NotSent:
				assert.Zero(t, s.sent[item])
			default:
				assert.Zero(t, s.accepted[item])
				assert.Zero(t, s.doubts[item])
			}
			if !s.batch.MayRepeat(item) {
				assert.LessOrEqual(t, s.accepted[item], 1)
			}
		}
		assert.Equal(t, total, counts)
		if t.Failed() {
			t.Fatal("seed ", seed)
		}
	}
	assert.Len(t, seen, 5, "every fate occurs")
	t.Log(seen)
}

// FuzzDo: a script of answers decides what the server does.
func FuzzDo(f *testing.F) {
	f.Add([]byte("accepted and refused"), uint8(10), uint8(3), true)
	f.Fuzz(func(t *testing.T, script []byte, n, most uint8, ordered bool) {
		answers := []error{nil, nil, status(429), status(400), retry.Unrepeatable(io.EOF), retry.After(io.EOF, time.Second), retry.Transient(status(404))}
		b := retrybatch.Batch[int]{Policy: retry.Policy{Clock: &retrytest.Clock{}}, MaxItems: int(most)}
		if ordered {
			b.Key = func(item int) string { return fmt.Sprint(item % 3) }
		}
		accepted := map[int]int{}
		failed, _ := retrybatch.Do(t.Context(), b, sequence(int(n)), func(_ context.Context, batch []int) (map[int]error, error) {
			next := byte(0)
			if len(script) > 0 {
				next, script = script[0], script[1:]
			}
			if next >= 0xf0 {
				return nil, answers[2+int(next)%5]
			}
			errs := map[int]error{}
			for i, item := range batch {
				if errs[i] = answers[(int(next)+item*i)%len(answers)]; errs[i] == nil {
					accepted[item]++
				}
			}
			return errs, nil
		})
		for _, f := range failed {
			accepted[f.Item]++
		}
		for item := range int(n) {
			if accepted[item] != 1 {
				t.Errorf("item %d has %d fates", item, accepted[item])
			}
		}
	})
}

// TestAttempts: Do makes as many calls as retry.Do makes attempts, also if there are no waits
// or if only the server asks for them.
func TestAttempts(t *testing.T) {
	never := retry.BackoffFunc(func(retry.Attempt, float64) time.Duration { return 0 })
	hint := retry.After(errDial, time.Second)
	for name, tt := range map[string]struct {
		policy retry.Policy
		fails  error
	}{
		"default":                      {retry.Policy{}, errDial},
		"a Schedule":                   {retry.Policy{Backoff: retry.Schedule{time.Second, time.Minute, time.Hour}}, errDial},
		"a Schedule and MaxElapsed":    {retry.Policy{Backoff: retry.Schedule{time.Second, time.Second, time.Second}, MaxElapsed: time.Hour}, errDial},
		"no waits":                     {retry.Policy{Backoff: retry.NoDelay{}, MaxElapsed: time.Minute}, errDial},
		"no waits of a function":       {retry.Policy{Backoff: never, MaxElapsed: time.Minute}, errDial},
		"no waits but those of hints":  {retry.Policy{Backoff: retry.NoDelay{}, MaxElapsed: time.Minute, Hint: retry.HintAtLeast{Exact: true}}, hint},
		"waits of hints in a function": {retry.Policy{Backoff: never, MaxElapsed: time.Minute, Hint: retry.HintAtLeast{Exact: true}}, hint},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				const tooMany = 1000
				want, got := 0, 0
				assert.Error(t, retry.Do(ctx, tt.policy, func(context.Context) error { want++; return tt.fails }))
				_, err := retrybatch.Do(ctx, retrybatch.Batch[int]{Policy: tt.policy}, sequence(1), func(context.Context, []int) (map[int]error, error) {
					if got++; got > tooMany {
						cancel()
					}
					return map[int]error{0: tt.fails}, nil
				})
				assert.Error(t, err)
				assert.Equal(t, want, got)
			})
		})
	}
}

// TestLostCalls: calls that fail as a whole make no progress, although none of their items is
// sent again.
func TestLostCalls(t *testing.T) {
	calls := 0
	batch := retrybatch.Batch[int]{MaxItems: 1, Policy: retry.Policy{Backoff: retry.NoDelay{}}}
	failed, err := retrybatch.Do(t.Context(), batch, sequence(5), func(context.Context, []int) (map[int]error, error) {
		calls++
		return nil, io.EOF
	})
	assert.ErrorIs(t, err, retry.ErrMaxAttempts)
	assert.Equal(t, 3, calls)
	assert.Equal(t, map[retrybatch.Fate][]int{retrybatch.Unknown: {0, 1, 2}, retrybatch.NotSent: {3, 4}}, fates(failed))
}

// TestUnsentCalls: if nothing left, no item is in doubt, so the call is repeated.
func TestUnsentCalls(t *testing.T) {
	proxy := &url.URL{Scheme: "http", Host: "127.0.0.1:1"}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy)}}
	_, proxyDown := client.Post("https://example.com/", "", nil)
	require.Error(t, proxyDown)
	for name, tt := range map[string]struct {
		err  error
		sent bool
	}{
		"connection refused":              {err: errDial},
		"proxy down":                      {err: proxyDown},
		"unknown host":                    {err: &net.DNSError{IsNotFound: true}},
		"said by a client":                {err: fmt.Errorf("call: %w", retryhttp.Unsent(errors.New("no token")))},
		"several connections refused":     {err: errors.Join(errDial, errDial)},
		"misdirected":                     {err: status(421)},
		"too early":                       {err: status(425)},
		"lost":                            {err: &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}, sent: true},
		"one refused, one lost":           {err: errors.Join(errDial, io.EOF), sent: true},
		"the server could not connect":    {err: badGateway{status(502), errDial}, sent: true},
		"one client says so, one is lost": {err: errors.Join(retryhttp.Unsent(errors.New("no token")), io.EOF), sent: true},
	} {
		calls := 0
		batch := retrybatch.Batch[int]{Policy: retry.Policy{Backoff: retry.NoDelay{}}}
		failed, _ := retrybatch.Do(t.Context(), batch, sequence(3), func(context.Context, []int) (map[int]error, error) {
			calls++
			return nil, tt.err
		})
		if tt.sent {
			assert.Equal(t, 1, calls, name)
			assert.Equal(t, map[retrybatch.Fate][]int{retrybatch.Unknown: {0, 1, 2}}, fates(failed), name)
			continue
		}
		assert.Equal(t, 3, calls, name)
		assert.Equal(t, map[retrybatch.Fate][]int{retrybatch.GivenUp: {0, 1, 2}}, fates(failed), name)
	}
}

// badGateway is a response of a server that could not reach another one.
type badGateway struct {
	status
	err error
}

func (b badGateway) Unwrap() error { return b.err }
