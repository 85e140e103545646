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
		"longer":         legacy.Longer{Of: retry.Exponential{Base: time.Second}, By: 0.5},
		"longest ever":   legacy.Longer{Of: retry.Constant(math.MaxInt64), By: 0.5},
	} {
		t.Run(name, func(t *testing.T) { retrytest.TestBackoff(t, b) })
	}
	a := retry.Attempt{Number: 1}
	assert.Equal(t, 1500*time.Millisecond, legacy.Sum{second, retry.Constant(time.Second / 2)}.Delay(a, 0))
	assert.Equal(t, time.Second/2, legacy.Jitter{Of: second, By: time.Second / 2}.Delay(a, 0))
	assert.Equal(t, time.Second, legacy.Jitter{Of: second, By: time.Second / 2}.Delay(a, 0.5))
	assert.Equal(t, 1250*time.Millisecond, legacy.Longer{Of: second, By: 0.5}.Delay(a, 0.5))
}

func TestUntil(t *testing.T) {
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
