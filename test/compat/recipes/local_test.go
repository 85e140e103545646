package recipes

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/pubsub/gochannel"
	"github.com/coder/websocket"
	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/memnet"
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

// TestConsume: broken connections are replaced, and no message is lost.
func TestConsume(t *testing.T) {
	var connections atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		n := connections.Add(1)
		if n == 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		conn, err := websocket.Accept(w, req, nil)
		if err != nil {
			return
		}
		_ = conn.Write(req.Context(), websocket.MessageText, []byte{byte('0' + n)})
		_ = conn.Close(websocket.StatusGoingAway, "")
	}))
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var got string
	err := Consume(ctx, s.URL, nil, func(m []byte) {
		if got += string(m); len(got) == 3 {
			cancel()
		}
	})
	assert.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, "134", got)
}

// TestConsumeThrownOut: a server that accepts its clients, greets them and closes the
// connection is called less and less often. One whose connections live for ten minutes is
// called again soon.
func TestConsumeThrownOut(t *testing.T) {
	for name, tt := range map[string]struct {
		life        time.Duration
		least, most int // connections in an hour
	}{
		"at once":           {20 * time.Millisecond, 60, 600},
		"after ten minutes": {10 * time.Minute, 6, 7},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				network, connections := memnet.New(), 0
				server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
					connections++
					conn, err := websocket.Accept(w, req, nil)
					if err != nil {
						return
					}
					defer func() { _ = conn.CloseNow() }()
					_ = conn.Write(req.Context(), websocket.MessageText, []byte("welcome"))
					_ = retry.SystemClock{}.Sleep(ctx, tt.life)
				})}
				go func() { _ = server.Serve(network) }()
				defer func() { _ = server.Close() }()
				transport := &http.Transport{DialContext: network.Dial}
				defer transport.CloseIdleConnections()
				err := Consume(ctx, "http://server", &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}}, func([]byte) {})
				assert.ErrorIs(t, err, context.DeadlineExceeded)
				assert.GreaterOrEqual(t, connections, tt.least)
				assert.LessOrEqual(t, connections, tt.most)
			})
		})
	}
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
	policy := retry.Policy{Backoff: retry.Constant(time.Second), MaxAttempts: retry.Unlimited}
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
