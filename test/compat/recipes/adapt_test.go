package recipes

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"
	backoffv4 "github.com/cenkalti/backoff/v4"
	backoffv5 "github.com/cenkalti/backoff/v5"
	backoffv6 "github.com/cenkalti/backoff/v6"
	backoffv7 "github.com/cenkalti/backoff/v7"
	"github.com/elastic/elastic-transport-go/v8/elastictransport"
	"github.com/googleapis/gax-go/v2"
	"github.com/hashicorp/go-retryablehttp"
	"github.com/hibiken/asynq"
	"github.com/nats-io/nats.go"
	goretry "github.com/sethvargo/go-retry"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"k8s.io/client-go/util/workqueue"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

var errOp = errors.New("operation failed")

var (
	_ backoffv4.BackOff                            = (*adapt.Sequence)(nil)
	_ backoffv5.BackOff                            = (*adapt.Sequence)(nil)
	_ backoffv6.BackOff                            = (*adapt.Sequence)(nil)
	_ backoffv7.BackOff                            = (*adapt.Sequence)(nil)
	_ goretry.Backoff                              = (*adapt.Sequence)(nil)
	_ gax.Retryer                                  = (*adapt.Sequence)(nil)
	_ workqueue.TypedRateLimiter[string]           = (*adapt.RateLimiter[string])(nil)
	_ func(func(int) time.Duration) kgo.Opt        = kgo.RetryBackoffFn
	_ func(nats.ReconnectDelayHandler) nats.Option = nats.CustomReconnectDelay
)

// quick waits 1, 2, 4 … ms, so that each delay identifies its retry.
var quick = retry.Policy{Backoff: retry.Exponential{Base: time.Millisecond}, MaxAttempts: 4}

// TestSequence: the loops of these libraries make the policy's number of attempts.
func TestSequence(t *testing.T) {
	for name, run := range map[string]func(s *adapt.Sequence, op func() error) error{
		"cenkalti v4": func(s *adapt.Sequence, op func() error) error { return backoffv4.Retry(op, s) },
		"cenkalti v5": func(s *adapt.Sequence, op func() error) error {
			_, err := backoffv5.Retry(t.Context(), func() (int, error) { return 0, op() }, backoffv5.WithBackOff(s))
			return err
		},
		"cenkalti v6": func(s *adapt.Sequence, op func() error) error {
			_, err := backoffv6.Retry(t.Context(), func() (int, error) { return 0, op() }, backoffv6.WithBackOff(s))
			return err
		},
		"cenkalti v7": func(s *adapt.Sequence, op func() error) error {
			_, err := backoffv7.Retry(t.Context(), func() (int, error) { return 0, op() }, backoffv7.WithBackOff(s))
			return err
		},
		"sethvargo": func(s *adapt.Sequence, op func() error) error {
			return goretry.Do(t.Context(), s, func(context.Context) error { return goretry.RetryableError(op()) })
		},
		"gax": func(s *adapt.Sequence, op func() error) error {
			return gax.Invoke(t.Context(), func(context.Context, gax.CallSettings) error { return op() },
				gax.WithRetry(func() gax.Retryer { return s }))
		},
	} {
		t.Run(name, func(t *testing.T) {
			calls, start := 0, time.Now()
			err := run(adapt.NewSequence(quick), func() error { calls++; return errOp })
			assert.ErrorIs(t, err, errOp)
			assert.Equal(t, 4, calls)
			assert.GreaterOrEqual(t, time.Since(start), 7*time.Millisecond)
		})
	}
	t.Run("gax passes the error", func(t *testing.T) {
		calls := 0
		err := gax.Invoke(t.Context(), func(context.Context, gax.CallSettings) error { calls++; return retry.Permanent(errOp) },
			gax.WithRetry(func() gax.Retryer { return adapt.NewSequence(quick) }))
		assert.ErrorIs(t, err, errOp)
		assert.Equal(t, 1, calls)
	})
}

// numbers records the numbers that a function is called with.
type numbers struct {
	mu   sync.Mutex
	seen []int
}

func (n *numbers) of(delay func(int) time.Duration) func(int) time.Duration {
	return func(i int) time.Duration {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.seen = append(n.seen, i)
		return delay(i)
	}
}

func (n *numbers) first(count int) []int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.seen[:min(count, len(n.seen))]
}

// unavailable returns the address of a server that always fails.
func unavailable(t *testing.T) (address string, hits *numbers) {
	t.Helper()
	hits = &numbers{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hits.of(func(int) time.Duration { return 0 })(0)
		w.WriteHeader(503)
	}))
	t.Cleanup(s.Close)
	return s.URL, hits
}

func TestZeroBased(t *testing.T) {
	t.Run("go-retryablehttp", func(t *testing.T) {
		var seen numbers
		delay := seen.of(adapt.ZeroBased(quick))
		address, hits := unavailable(t)
		client := retryablehttp.NewClient()
		client.Logger, client.RetryMax = nil, 3
		client.Backoff = func(_, _ time.Duration, n int, _ *http.Response) time.Duration { return delay(n) }
		_, err := client.Get(address)
		assert.Error(t, err)
		assert.Equal(t, []int{0, 1, 2}, seen.seen)
		assert.Len(t, hits.seen, 4)
	})
	t.Run("sarama", func(t *testing.T) {
		var seen numbers
		delay := seen.of(adapt.ZeroBased(quick))
		config := sarama.NewConfig()
		config.Metadata.Retry.Max = 3
		config.Metadata.Retry.BackoffFunc = func(retries, _ int) time.Duration { return delay(retries) }
		_, err := sarama.NewClient([]string{unused(t)}, config)
		assert.Error(t, err)
		assert.Equal(t, []int{0, 1, 2}, seen.first(3))
	})
	t.Run("asynq", func(t *testing.T) { // measured on Redis: 0 for the first retry
		delay := adapt.ZeroBased(quick)
		config := asynq.Config{RetryDelayFunc: func(n int, _ error, _ *asynq.Task) time.Duration { return delay(n) }}
		assert.Equal(t, time.Millisecond, config.RetryDelayFunc(0, errOp, nil))
	})
}

// unused returns an address without a listener.
func unused(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}

func TestOneBased(t *testing.T) {
	t.Run("elastic transport", func(t *testing.T) {
		var seen numbers
		address, hits := unavailable(t)
		u, err := url.Parse(address)
		require.NoError(t, err)
		transport, err := elastictransport.NewClient(elastictransport.WithURLs(u), elastictransport.WithMaxRetries(3),
			elastictransport.WithRetryBackoff(seen.of(adapt.OneBased(quick))))
		require.NoError(t, err)
		req, err := http.NewRequest("POST", "/_search", strings.NewReader("{}"))
		require.NoError(t, err)
		resp, err := transport.Perform(req)
		require.NoError(t, err)
		assert.Equal(t, 503, resp.StatusCode)
		assert.Equal(t, []int{1, 2, 3}, seen.first(3)) // then also 4, because it waits even after the last attempt
		assert.Len(t, hits.seen, 4)
	})
	t.Run("franz-go", func(t *testing.T) {
		var seen numbers
		cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
		require.NoError(t, err)
		defer cluster.Close()
		client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.RequestRetries(3), kgo.RetryBackoffFn(seen.of(adapt.OneBased(quick))))
		require.NoError(t, err)
		defer client.Close()
		require.NoError(t, client.Ping(t.Context()))
		cluster.ControlKey(int16(kmsg.ListGroups), func(kmsg.Request) (kmsg.Response, error, bool) {
			cluster.KeepControl()
			return nil, errOp, true // the connection is closed
		})
		_, err = kmsg.NewPtrListGroupsRequest().RequestWith(t.Context(), client)
		assert.Error(t, err)
		assert.Equal(t, []int{1, 2}, seen.first(2))
	})
	t.Run("nats", func(t *testing.T) {
		var seen numbers
		closed := make(chan struct{})
		conn, err := nats.Connect("nats://"+unused(t), nats.RetryOnFailedConnect(true), nats.MaxReconnects(3),
			nats.CustomReconnectDelay(seen.of(adapt.OneBased(quick))), nats.ClosedHandler(func(*nats.Conn) { close(closed) }))
		require.NoError(t, err)
		defer conn.Close()
		<-closed
		assert.Equal(t, []int{1, 2, 3}, seen.first(3))
	})
}

func TestRateLimiter(t *testing.T) {
	limiter := &adapt.RateLimiter[string]{Backoff: quick.Backoff}
	queue := workqueue.NewTypedRateLimitingQueue[string](limiter)
	defer queue.ShutDown()
	start := time.Now()
	queue.AddRateLimited("item")
	for n := 1; n <= 3; n++ {
		item, _ := queue.Get()
		assert.Equal(t, "item", item)
		assert.Equal(t, n, queue.NumRequeues("item"))
		queue.AddRateLimited("item")
		queue.Done("item")
	}
	item, _ := queue.Get()
	assert.GreaterOrEqual(t, time.Since(start), 15*time.Millisecond)
	queue.Forget(item)
	queue.Done(item)
	assert.Zero(t, queue.NumRequeues("item"))
}
