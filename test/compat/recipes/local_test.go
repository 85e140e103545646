package recipes

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/pubsub/gochannel"
	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
)

// TestBreaker: a call does not wait for an open breaker.
func TestBreaker(t *testing.T) {
	breaker := gobreaker.NewCircuitBreaker[int](gobreaker.Settings{ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures == 6 }})
	hits := 0
	op := func(context.Context) (int, error) { hits++; return 0, errOp }
	policy := quick
	policy.MaxAttempts = 8
	_, err := WithBreaker(t.Context(), policy, breaker, op)
	assert.ErrorIs(t, err, gobreaker.ErrOpenState)
	assert.Equal(t, 6, hits)
	attempts := 0
	policy = policy.With(retry.Hooks{OnAttempt: func(context.Context, retry.Attempt) (context.Context, func(retry.Attempt)) {
		attempts++
		return nil, nil
	}})
	_, err = WithBreaker(t.Context(), policy, breaker, op)
	assert.ErrorIs(t, err, gobreaker.ErrOpenState)
	assert.Equal(t, 6, hits)
	assert.Equal(t, 1, attempts)
}

func TestController(t *testing.T) {
	queue := NewQueue(quick)
	defer queue.ShutDown()
	results := []error{errOp, retry.After(errOp, 5*time.Millisecond), nil, retry.Permanent(errOp)}
	var seen []int
	reconcile := func(context.Context, string) error {
		seen = append(seen, queue.NumRequeues("item"))
		return results[len(seen)-1]
	}
	queue.Add("item")
	for range 3 {
		assert.True(t, Work(t.Context(), queue, quick, reconcile))
	}
	assert.Zero(t, queue.NumRequeues("item"))
	queue.Add("item")
	assert.True(t, Work(t.Context(), queue, quick, reconcile))
	assert.Equal(t, []int{0, 1, 1, 0}, seen)
	queue.ShutDown()
	assert.False(t, Work(t.Context(), queue, quick, reconcile), "a permanent failure is not put back")
}

func TestWaitFor(t *testing.T) {
	address := unused(t)
	time.AfterFunc(50*time.Millisecond, func() {
		if l, err := net.Listen("tcp", address); assert.NoError(t, err) {
			t.Cleanup(func() { _ = l.Close() })
		}
	})
	assert.NoError(t, WaitFor(t.Context(), address))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	assert.ErrorIs(t, WaitFor(ctx, unused(t)), context.DeadlineExceeded)
}

func TestPoll(t *testing.T) {
	policy := retry.Policy{Backoff: retry.Constant(time.Second), MaxAttempts: retry.Unlimited, Rand: func() float64 { return 0 }}
	for name, tt := range map[string]struct {
		jobs   []Job
		result string
		err    error
		took   time.Duration
	}{
		"at once": {[]Job{{Done: true, Result: "r"}}, "r", nil, 0},
		"later":   {[]Job{{}, {Again: time.Minute}, {Done: true, Result: "r"}}, "r", nil, 64 * time.Second},
		"failed":  {[]Job{{}, {Done: true, Err: errOp}}, "", errOp, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, polls := time.Now(), 0
				result, err := Poll(t.Context(), policy, func(context.Context) (Job, error) { polls++; return tt.jobs[polls-1], nil })
				assert.ErrorIs(t, err, tt.err)
				assert.Equal(t, tt.result, result)
				assert.InDelta(t, tt.took, time.Since(start), float64(tt.took/15), "what a server asks for is spread")
			})
		})
	}
}

func TestWatermill(t *testing.T) {
	logger := watermill.NopLogger{}
	channel := gochannel.NewGoChannel(gochannel.Config{}, logger)
	router, err := message.NewRouter(message.RouterConfig{}, logger)
	require.NoError(t, err)
	router.AddMiddleware(RetryMessages(quick))
	calls := make(chan string, 10)
	failures := 2
	router.AddConsumerHandler("handler", "topic", channel, func(m *message.Message) error {
		calls <- string(m.Payload)
		if failures--; failures >= 0 {
			return errOp
		}
		return nil
	})
	go func() { _ = router.Run(t.Context()) }()
	<-router.Running()
	defer func() { _ = router.Close() }()
	m := message.NewMessage("id", []byte("payload"))
	require.NoError(t, channel.Publish("topic", m))
	for range 3 {
		assert.Equal(t, "payload", <-calls)
	}
}
