package legacy_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/legacy"
	"github.com/gobackoff/retry/retrytest"
)

var errFailed = errors.New("failed")

func TestClassifiers(t *testing.T) {
	even := legacy.If(func(err error) bool { return errors.Is(err, fs.ErrExist) })
	for _, c := range []struct {
		name       string
		classifier retry.Classifier
		err        error
		class      retry.Class
	}{
		{"all: unknown", legacy.RetryAll{}, errFailed, retry.ClassTransient},
		{"all: one that the default rule calls permanent", legacy.RetryAll{}, fs.ErrNotExist, retry.ClassTransient},
		{"all: marked", legacy.RetryAll{}, fmt.Errorf("x: %w", retry.Permanent(errFailed)), retry.ClassPermanent},
		{"marked: unknown", legacy.RetryMarked{}, errFailed, retry.ClassPermanent},
		{"marked: marked", legacy.RetryMarked{}, fmt.Errorf("x: %w", retry.Transient(errFailed)), retry.ClassTransient},
		{"if: true", even, fs.ErrExist, retry.ClassTransient},
		{"if: false", even, errFailed, retry.ClassPermanent},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.class, retry.Policy{Classifier: c.classifier}.Classify(c.err).Class)
		})
	}
}

func TestBare(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	short, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	quick := retry.Policy{Backoff: retry.NoDelay{}}
	for _, c := range []struct {
		name   string
		ctx    context.Context
		policy retry.Policy
		err    error
		want   error
	}{
		{"success", t.Context(), quick, nil, nil},
		{"attempts used", t.Context(), quick, errFailed, errFailed},
		{"permanent", t.Context(), quick, retry.Permanent(errFailed), errFailed},
		{"marked", t.Context(), quick, retry.Transient(errFailed), errFailed},
		{"context canceled", ended, quick, errFailed, context.Canceled},
		{"wait beyond the deadline", short, retry.Policy{Backoff: retry.Constant(time.Hour)}, errFailed, context.DeadlineExceeded},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := retry.Do(c.ctx, c.policy, func(context.Context) error { return c.err })
			assert.True(t, legacy.Bare(err) == c.want, "%v", legacy.Bare(err))
			value, err := legacy.Value(7, err)
			assert.Equal(t, 7, value)
			assert.True(t, err == c.want)
		})
	}
}

func TestHooks(t *testing.T) {
	var waits []time.Duration
	var numbers []uint
	p := retry.Policy{Backoff: retry.Constant(time.Second), MaxAttempts: 3, Clock: &retrytest.Clock{}}
	p = p.With(legacy.OnRetry(func(err error, d time.Duration) {
		assert.True(t, err == errFailed)
		waits = append(waits, d)
	})).With(legacy.OnFailure(func(n uint, err error) {
		assert.True(t, err == errFailed)
		numbers = append(numbers, n)
	}))
	err := retry.Do(t.Context(), p, legacy.Op(func() error { return retry.Transient(errFailed) }))
	assert.ErrorIs(t, err, retry.ErrMaxAttempts)
	assert.Equal(t, []time.Duration{time.Second, time.Second}, waits)
	assert.Equal(t, []uint{0, 1, 2}, numbers)

	numbers = nil
	_, err = retry.DoValue(t.Context(), p, legacy.OpValue(func() (int, error) { return 0, retry.Permanent(errFailed) }))
	assert.ErrorIs(t, err, errFailed)
	assert.Empty(t, numbers, "of a permanent failure")
}

func TestLimits(t *testing.T) {
	assert.Equal(t, retry.Unlimited, legacy.Attempts(uint(0)))
	assert.Equal(t, 5, legacy.Attempts(uint64(5)))
	assert.Equal(t, retry.Unlimited, legacy.Attempts(uint64(math.MaxUint64)))
	p := legacy.Limit(retry.Policy{MaxAttempts: 9, MaxElapsed: time.Hour}, retry.Policy{MaxAttempts: 2})
	assert.Equal(t, 2, p.MaxAttempts)
	assert.Equal(t, time.Hour, p.MaxElapsed)
}

func TestBackoffs(t *testing.T) {
	const second = retry.Constant(time.Second)
	for name, b := range map[string]retry.Backoff{
		"sum":            legacy.Sum{retry.Exponential{Base: time.Second}, retry.FullJitter{Base: time.Second}},
		"longest sum":    legacy.Sum{retry.Constant(math.MaxInt64), second},
		"jitter":         legacy.Jitter{Of: second, By: time.Minute},
		"longest jitter": legacy.Jitter{Of: retry.Constant(math.MaxInt64), By: math.MaxInt64},
		"longer":         legacy.Steps{Duration: time.Second, Factor: 2, Jitter: 0.5}.Policy().Backoff,
		"longest ever":   legacy.Steps{Duration: math.MaxInt64, Jitter: 0.5}.Policy().Backoff,
	} {
		t.Run(name, func(t *testing.T) { retrytest.TestBackoff(t, b) })
	}
	a := retry.Attempt{Number: 1}
	assert.Equal(t, 1500*time.Millisecond, legacy.Sum{second, retry.Constant(time.Second / 2)}.Delay(a, 0))
	assert.Equal(t, time.Second/2, legacy.Jitter{Of: second, By: time.Second / 2}.Delay(a, 0))
	assert.Equal(t, time.Second, legacy.Jitter{Of: second, By: time.Second / 2}.Delay(a, 0.5))
	assert.Equal(t, 1250*time.Millisecond, legacy.Steps{Duration: time.Second, Jitter: 0.5}.Policy().Backoff.Delay(a, 0.5))
}

func TestUntil(t *testing.T) {
	poll := func(immediate bool) func(func(context.Context) (bool, error)) func(context.Context) error {
		return func(f func(context.Context) (bool, error)) func(context.Context) error {
			return legacy.Poll(immediate, f)
		}
	}
	for _, c := range []struct {
		name string
		op   func(func(context.Context) (bool, error)) func(context.Context) error
		done []bool // results of the condition
		want error
	}{
		{"at once", legacy.Until, []bool{true}, nil},
		{"in the end", legacy.Until, []bool{false, false, true}, nil},
		{"later", legacy.UntilLater, []bool{false, true}, nil},
		{"too late", legacy.UntilLater, []bool{false, false}, context.DeadlineExceeded},
		{"poll at once", poll(true), []bool{false, false, true}, nil},
		{"poll later", poll(false), []bool{false, true}, nil},
		{"never", legacy.Until, []bool{false, false, false}, context.DeadlineExceeded},
	} {
		t.Run(c.name, func(t *testing.T) {
			calls := 0
			err := retry.Do(t.Context(), retry.Policy{Backoff: retry.NoDelay{}, Classifier: legacy.RetryAll{}},
				c.op(func(context.Context) (bool, error) {
					calls++
					return c.done[calls-1], nil
				}))
			assert.ErrorIs(t, err, c.want)
			assert.Len(t, c.done, calls)
		})
	}
	err := retry.Do(t.Context(), retry.Policy{}, legacy.Until(func(context.Context) (bool, error) { return false, errFailed }))
	assert.True(t, legacy.Bare(err) == errFailed)
}

// delays is a backoff of two other libraries, which ends after its last delay.
type delays struct {
	all  []time.Duration
	next int
	ctx  context.Context
}

func (d *delays) Reset()                   { d.next = 0 }
func (d *delays) Context() context.Context { return d.ctx }
func (d *delays) Next() (time.Duration, bool) {
	wait := d.NextBackOff()
	return max(0, wait), wait == -1
}

func (d *delays) NextBackOff() time.Duration {
	d.next++
	if d.next > len(d.all) {
		return -1
	}
	return d.all[d.next-1]
}

func TestAsking(t *testing.T) {
	b := &delays{all: []time.Duration{time.Second, 0, time.Minute}, next: 2}
	for _, c := range []struct {
		name   string
		policy func() retry.Policy
		err    error
		waits  []time.Duration
	}{
		{"reset, all", func() retry.Policy { return legacy.NextBackOff(b) }, errFailed, b.all},
		{"permanent", func() retry.Policy { return legacy.NextBackOff(b) }, retry.Permanent(errFailed), nil},
		{"not marked", func() retry.Policy { return legacy.Next(b) }, errFailed, nil},
		{"continues where the last call ended", func() retry.Policy { b.next = 1; return legacy.Next(b) }, retry.Transient(errFailed), b.all[1:]},
	} {
		t.Run(c.name, func(t *testing.T) {
			var waits []time.Duration
			p := c.policy().With(legacy.OnRetry(func(_ error, d time.Duration) { waits = append(waits, d) }))
			p.Clock = &retrytest.Clock{}
			err := legacy.Bare(retry.Do(t.Context(), p, func(context.Context) error { return c.err }))
			assert.True(t, err == errFailed, "%v", err)
			assert.Equal(t, c.waits, waits)
		})
	}
}

func TestContexts(t *testing.T) {
	assert.Equal(t, t.Context(), legacy.Context(&delays{ctx: t.Context()}))
	assert.Equal(t, context.Background(), legacy.Context(3))

	canceled, cancel := context.WithCancel(t.Context())
	b := legacy.WithContext(&delays{all: []time.Duration{1, 2}}, canceled)
	assert.Equal(t, canceled, legacy.Context(b))
	assert.Equal(t, time.Duration(1), b.NextBackOff())
	cancel()
	assert.Equal(t, time.Duration(-1), b.NextBackOff())

	done := make(chan struct{})
	ctx := legacy.Stop(done)
	assert.NoError(t, ctx.Err())
	close(done)
	<-ctx.Done()
	assert.Equal(t, context.Canceled, ctx.Err())
	err := retry.Do(ctx, retry.Policy{}, func(context.Context) error { return errFailed })
	assert.True(t, legacy.Bare(err) == context.Canceled)
}

func TestSteps(t *testing.T) {
	for _, c := range []struct {
		name     string
		steps    legacy.Steps
		attempts int
		delays   []time.Duration
	}{
		{"none", legacy.Steps{}, 1, nil},
		{"without delays", legacy.Steps{Steps: 3}, 3, []time.Duration{0, 0}},
		{"constant", legacy.Steps{Duration: time.Second, Steps: 3}, 3, []time.Duration{time.Second, time.Second}},
		{"growing", legacy.Steps{Duration: time.Second, Factor: 3, Steps: 3}, 3, []time.Duration{time.Second, 3 * time.Second}},
		{"capped", legacy.Steps{Duration: time.Second, Factor: 2, Steps: 9, Cap: 5 * time.Second}, 3, []time.Duration{time.Second, 2 * time.Second}},
		{"at the cap", legacy.Steps{Duration: time.Second, Factor: 2, Steps: 9, Cap: 4 * time.Second}, 3, []time.Duration{time.Second, 2 * time.Second}},
		{"below the cap", legacy.Steps{Duration: time.Second, Factor: 2, Steps: 3, Cap: time.Hour}, 3, []time.Duration{time.Second, 2 * time.Second}},
		{"above the cap", legacy.Steps{Duration: time.Hour, Factor: 1, Steps: 3, Cap: time.Second}, 1, nil},
		{"a cap never reached", legacy.Steps{Duration: time.Second, Factor: 1, Steps: 3, Cap: time.Hour}, 3, []time.Duration{time.Second, time.Second}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.steps.Policy()
			assert.NoError(t, p.Validate())
			assert.Equal(t, c.attempts, p.MaxAttempts)
			for i, want := range c.delays {
				assert.Equal(t, want, p.Backoff.Delay(retry.Attempt{Number: i + 1}, 0.5))
			}
		})
	}
	p := legacy.Steps{Duration: time.Second, Jitter: 1, Steps: 3}.Policy()
	assert.Equal(t, 1500*time.Millisecond, p.Backoff.Delay(retry.Attempt{Number: 1}, 0.5))
}
