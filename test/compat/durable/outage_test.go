//go:build unix

package durable

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/test/outages"
)

// through is a policy with which jobs live through an outage of three executions.
var through = retry.Policy{Backoff: retry.Constant(10 * time.Millisecond), MaxAttempts: 10}

// A service is away for the first three calls of each job.
type service struct {
	calls map[string]func(context.Context) error

	mu    sync.Mutex
	count map[string]int
}

func newService() *service {
	return &service{calls: outages.Calls(), count: map[string]int{}}
}

func (s *service) names() []string {
	var names []string
	for name := range s.calls {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (s *service) call(ctx context.Context, job string) error {
	s.mu.Lock()
	s.count[job]++
	away := s.count[job] <= 3
	s.mu.Unlock()
	if !away {
		return nil
	}
	err := s.calls[job](ctx)
	if err == nil {
		return retry.Permanent(errors.New("the call did not fail"))
	}
	return err
}

// TestRiverOutage: no job ends because a call of this module's packages gave up.
func TestRiverOutage(t *testing.T) {
	t.Parallel()
	s := newService()
	names := s.names()
	client := riverClient(t, connect(t, database(t, "outage")), through, func(ctx context.Context, job *river.Job[orderArgs]) error {
		return s.call(ctx, names[job.Args.Job])
	})
	require.NoError(t, client.Start(t.Context()))
	ids := make([]int64, len(names))
	for i := range names {
		inserted, err := client.Insert(t.Context(), orderArgs{Job: i}, nil)
		require.NoError(t, err)
		ids[i] = inserted.Job.ID
	}
	for i, id := range ids {
		var job *rivertype.JobRow
		require.Eventually(t, func() bool {
			var err error
			job, err = client.JobGet(t.Context(), id)
			return err == nil && job.FinalizedAt != nil
		}, 2*time.Minute, 5*time.Millisecond)
		assert.Equal(t, rivertype.JobStateCompleted, job.State, names[i])
		assert.Equal(t, 4, job.Attempt, names[i])
	}
	require.NoError(t, client.Stop(t.Context()))
}

// TestAsynqOutage: the same of asynq, whose waits last a second at least.
func TestAsynqOutage(t *testing.T) {
	t.Parallel()
	at := redisAt(redisServer.Start(t), 5)
	s := newService()
	client := asynq.NewClient(at)
	defer func() { _ = client.Close() }()
	for _, name := range s.names() {
		_, err := client.Enqueue(asynq.NewTask("order", []byte(name)), asynq.TaskID(name), AsynqRetries(through), asynq.Retention(time.Hour))
		require.NoError(t, err)
	}
	config, mux := asynq.Config{Concurrency: 10, LogLevel: asynq.FatalLevel, DelayedTaskCheckInterval: 10 * time.Millisecond}, asynq.NewServeMux()
	require.NoError(t, RetryAsynq(&config, mux, through))
	mux.HandleFunc("order", func(ctx context.Context, task *asynq.Task) error { return s.call(ctx, string(task.Payload())) })
	server := asynq.NewServer(at, config)
	require.NoError(t, server.Start(mux))
	inspector := asynq.NewInspector(at)
	defer func() { _ = inspector.Close() }()
	var queue *asynq.QueueInfo
	require.Eventually(t, func() bool {
		var err error
		queue, err = inspector.GetQueueInfo("default")
		return err == nil && queue.Completed+queue.Archived == len(s.calls)
	}, 2*time.Minute, 5*time.Millisecond)
	server.Shutdown()
	assert.Zero(t, queue.Archived)
	assert.Equal(t, len(s.calls), queue.Completed)
}
