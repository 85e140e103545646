package retryaws_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryaws"
	"github.com/gobackoff/retry/retrytest"
)

var _ sdkretry.BackoffDelayer = (*retryaws.Delayer)(nil)

func TestDelays(t *testing.T) {
	const s = time.Second
	tests := []struct {
		name    string
		backoff retry.Backoff
		random  float64
		step    step
		want    []time.Duration
	}{
		{"exponential", retry.Exponential{Base: s, Cap: 5 * s}, 0, unavailable, []time.Duration{s, 2 * s, 4 * s, 5 * s}},
		{"full jitter", retry.FullJitter{Base: s}, 0.5, unavailable, []time.Duration{s / 2, s, 2 * s, 4 * s}},
		{"schedule", retry.Schedule{3 * s, s}, 0, unavailable, []time.Duration{3 * s, s, s, s}},
		{"decorrelated", retry.DecorrelatedJitter{Base: s}, 0.5, unavailable, []time.Duration{2 * s, 3500 * time.Millisecond, 5750 * time.Millisecond, 9125 * time.Millisecond}},
		{"by class, throttled", retry.WhenThrottled{Throttled: retry.Constant(3 * s), Else: retry.Constant(s)}, 0, throttled, []time.Duration{3 * s, 3 * s, 3 * s, 3 * s}},
		{"by class, not throttled", retry.WhenThrottled{Throttled: retry.Constant(3 * s), Else: retry.Constant(s)}, 0, unavailable, []time.Duration{s, s, s, s}},
		{"zero policy", nil, 0.5, unavailable, []time.Duration{s / 40, s / 20, s / 10, s / 5}},
		{"negative ends the call", retry.BackoffFunc(func(a retry.Attempt, _ float64) time.Duration { return time.Duration(3-a.Number) * s }), 0, unavailable, []time.Duration{2 * s, s, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inEveryForm(t, func(t *testing.T, f form) {
				p := retry.Policy{Backoff: tt.backoff, MaxAttempts: 5, Rand: retrytest.Fixed(tt.random)}
				assert.Equal(t, tt.want, gaps(t, tt.step, func(transport *script) *dynamodb.Client {
					return newDynamoDB(t, transport, f, p)
				}))
			})
			for _, mode := range modes {
				t.Run(mode.name+"/Delayer", func(t *testing.T) {
					t.Setenv(modeVariable, mode.value)
					standard := sdkretry.NewStandard(func(o *sdkretry.StandardOptions) {
						o.MaxAttempts = 5
						o.Backoff = &retryaws.Delayer{Backoff: tt.backoff, Rand: retrytest.Fixed(tt.random)}
					})
					assert.Equal(t, tt.want, gaps(t, tt.step, func(transport *script) *dynamodb.Client {
						c := newDynamoDB(t, transport, asMiddleware, retry.Policy{})
						return dynamodb.New(c.Options(), func(o *dynamodb.Options) { o.Retryer, o.APIOptions = standard, nil })
					}))
				})
			}
		})
	}
}

// gaps returns the times between the requests of a failing call.
func gaps(t *testing.T, every step, newClient func(*script) *dynamodb.Client) (gaps []time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		transport := newScript(every)
		require.Error(t, getItem(t.Context(), newClient(transport)))
		for i, at := range transport.times[1:] {
			gaps = append(gaps, at.Sub(transport.times[i]))
		}
	})
	return gaps
}

func TestConcurrentStart(t *testing.T) {
	const calls = 50
	inEveryForm(t, func(t *testing.T, f form) {
		synctest.Test(t, func(t *testing.T) {
			seen := &recorder{}
			c := newDynamoDB(t, newScript(unavailable), f, retry.Policy{Backoff: seen, MaxAttempts: 4})
			seen.numbers = nil // of Validate
			var group sync.WaitGroup
			for range calls {
				group.Go(func() { assert.Error(t, getItem(t.Context(), c)) })
			}
			group.Wait()
			// To compute the delay of a retry, the Retryer draws the earlier delays again.
			drawn := map[int]int{1: calls, 2: calls, 3: calls}
			if f.name == asRetryer.name {
				drawn = map[int]int{1: 3 * calls, 2: 2 * calls, 3: calls}
			}
			assert.Equal(t, drawn, seen.counts())
		})
	})
}

type recorder struct {
	mu      sync.Mutex
	numbers []int
}

func (r *recorder) Delay(a retry.Attempt, _ float64) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.numbers = append(r.numbers, a.Number)
	return time.Millisecond
}

func (r *recorder) counts() map[int]int {
	counts := map[int]int{}
	for _, n := range r.numbers {
		counts[n]++
	}
	return counts
}

func TestNumbers(t *testing.T) {
	for _, numbers := range [][]int{
		{1, 2, 3}, {0, 1, 2}, {1, math.MaxInt}, {0, math.MaxInt - 1}, {0, math.MaxInt}, {-1}, {math.MinInt}, {0, math.MinInt},
	} {
		t.Run(fmt.Sprint(numbers), func(t *testing.T) {
			seen := &recorder{}
			d := &retryaws.Delayer{Backoff: seen}
			for _, n := range numbers {
				_, err := d.BackoffDelay(n, errors.New("failed"))
				require.NoError(t, err)
			}
			assert.LessOrEqual(t, len(seen.numbers), len(numbers)*64)
			assert.Positive(t, slices.Min(seen.numbers))
		})
	}
}

// TestChainForgets: a chain of delays that is cut to longestChain ends with the same delay
// as a longer chain.
func TestChainForgets(t *testing.T) {
	limit := 10 * time.Second
	d := &retryaws.Delayer{Backoff: retry.DecorrelatedJitter{Base: time.Second, Cap: limit}, Rand: retrytest.Fixed(0.5)}
	late, _ := d.BackoffDelay(1_000_000, context.DeadlineExceeded)
	assert.Equal(t, limit, late)
}
