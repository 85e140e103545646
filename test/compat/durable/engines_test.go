//go:build unix

package durable

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

// riverClient returns a client that retries under the policy if policy.MaxAttempts is set.
func riverClient(t *testing.T, pool *pgxpool.Pool, policy retry.Policy, work func(context.Context, *river.Job[orderArgs]) error) *river.Client[pgx.Tx] {
	t.Helper()
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(work))
	config := &river.Config{
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 50}},
		Workers:           workers,
		FetchCooldown:     time.Millisecond,
		FetchPollInterval: 10 * time.Millisecond,
		Logger:            slog.New(slog.DiscardHandler),
	}
	if policy.MaxAttempts > 0 {
		require.NoError(t, RetryRiver(config, policy))
	}
	client, err := river.NewClient(riverpgxv5.New(pool), config)
	require.NoError(t, err)
	return client
}

// TestRiverStop: if a worker stops, its job's current attempt does not count, even if it is the
// last one. The job is not canceled, although context.Canceled is a permanent error elsewhere.
func TestRiverStop(t *testing.T) {
	t.Parallel()
	once := retry.Policy{MaxAttempts: 1}
	for name, failure := range map[string]func(context.Context) error{
		"canceled": func(ctx context.Context) error { return ctx.Err() },
		"other":    func(context.Context) error { return errOp },
	} {
		t.Run(name, func(t *testing.T) {
			working := make(chan bool)
			client := riverClient(t, connect(t, database(t, "stop_"+name)), once, func(ctx context.Context, _ *river.Job[orderArgs]) error {
				working <- true
				<-ctx.Done()
				return failure(ctx)
			})
			require.NoError(t, client.Start(t.Context()))
			inserted, err := client.Insert(t.Context(), orderArgs{}, nil)
			require.NoError(t, err)
			<-working
			require.NoError(t, client.StopAndCancel(t.Context()))
			job, err := client.JobGet(t.Context(), inserted.Job.ID)
			require.NoError(t, err)
			assert.Equal(t, rivertype.JobStateAvailable, job.State)
			assert.Zero(t, job.Attempt)
		})
	}
}

// TestRiverPanic: a job that panics is retried after the policy's wait.
func TestRiverPanic(t *testing.T) {
	t.Parallel()
	client := riverClient(t, connect(t, database(t, "panics")), doubling, func(context.Context, *river.Job[orderArgs]) error { panic("bug") })
	require.NoError(t, client.Start(t.Context()))
	begin := time.Now()
	inserted, err := client.Insert(t.Context(), orderArgs{}, nil)
	require.NoError(t, err)
	var job *rivertype.JobRow
	require.Eventually(t, func() bool {
		job, err = client.JobGet(t.Context(), inserted.Job.ID)
		return err == nil && len(job.Errors) > 0
	}, 2*time.Minute, 5*time.Millisecond)
	require.NoError(t, client.Stop(t.Context()))
	assert.Equal(t, doubling.MaxAttempts, job.MaxAttempts)
	assert.GreaterOrEqual(t, job.ScheduledAt.Sub(begin), time.Second)
}

// TestAsynqEnds checks how asynq stores tasks that failed once.
func TestAsynqEnds(t *testing.T) {
	t.Parallel()
	at := redisAt(redisServer.Start(t), 2)
	results := map[string]struct {
		err   error
		state asynq.TaskState
		kept  string // the part of the error's text that must be stored
	}{
		"transient":    {errOp, asynq.TaskStateRetry, errOp.Error()},
		"permanent":    {retry.Permanent(errOp), asynq.TaskStateArchived, "permanent failure: " + errOp.Error()},
		"unrepeatable": {retry.Unrepeatable(errOp), asynq.TaskStateArchived, "not safe to repeat: " + errOp.Error()},
		"own":          {fmt.Errorf("%w: %w", errOp, asynq.SkipRetry), asynq.TaskStateArchived, errOp.Error() + ": skip"},
		"late":         {nil, asynq.TaskStateRetry, context.DeadlineExceeded.Error()},
		"panic":        {nil, asynq.TaskStateRetry, "bug"},
	}
	client := asynq.NewClient(at)
	defer func() { _ = client.Close() }()
	unlimited := doubling
	unlimited.MaxAttempts = retry.Unlimited
	for id := range results {
		options := []asynq.Option{asynq.TaskID(id), AsynqRetries(unlimited)}
		if id == "late" {
			options = append(options, asynq.Deadline(time.Unix(1, 0)))
		}
		_, err := client.Enqueue(asynq.NewTask("order", []byte(id)), options...)
		require.NoError(t, err)
	}
	config, mux := asynq.Config{Concurrency: 1, LogLevel: asynq.FatalLevel}, asynq.NewServeMux()
	require.NoError(t, RetryAsynq(&config, mux, doubling))
	mux.HandleFunc("order", func(_ context.Context, task *asynq.Task) error {
		if string(task.Payload()) == "panic" {
			panic("bug")
		}
		return results[string(task.Payload())].err
	})
	server := asynq.NewServer(at, config)
	begin := time.Now()
	require.NoError(t, server.Start(mux))
	inspector := asynq.NewInspector(at)
	defer func() { _ = inspector.Close() }()
	require.Eventually(t, func() bool {
		info, err := inspector.GetQueueInfo("default")
		return err == nil && info.Retry+info.Archived == len(results)
	}, 2*time.Minute, 5*time.Millisecond)
	server.Shutdown()
	for id, want := range results {
		info, err := inspector.GetTaskInfo("default", id)
		require.NoError(t, err)
		assert.Equal(t, want.state, info.State, id)
		assert.Contains(t, info.LastErr, want.kept)
		if want.state == asynq.TaskStateRetry {
			assert.GreaterOrEqual(t, info.NextProcessAt.Sub(begin), time.Second, id)
			assert.Equal(t, math.MaxInt32-1, info.MaxRetry)
		}
	}
}

// TestAsynqSame: the wait depends only on the task's ID and the number of the failure, even
// if the worker restarts after each failure.
func TestAsynqSame(t *testing.T) {
	t.Parallel()
	at := redisAt(redisServer.Start(t), 4)
	client, inspector := asynq.NewClient(at), asynq.NewInspector(at)
	defer func() { assert.NoError(t, errors.Join(client.Close(), inspector.Close())) }()
	chain := func(id string, restarts bool) (waits []time.Duration) {
		told := make(chan time.Duration)
		start := func() *asynq.Server {
			config := asynq.Config{LogLevel: asynq.FatalLevel, TaskCheckInterval: 10 * time.Millisecond, ShutdownTimeout: time.Minute}
			mux := asynq.NewServeMux()
			require.NoError(t, RetryAsynq(&config, mux, jittered))
			delay := config.RetryDelayFunc
			config.RetryDelayFunc = func(retried int, err error, task *asynq.Task) time.Duration {
				wait := delay(retried, err, task)
				told <- wait
				return wait
			}
			mux.HandleFunc("order", func(context.Context, *asynq.Task) error { return errOp })
			server := asynq.NewServer(at, config)
			require.NoError(t, server.Start(mux))
			return server
		}
		_, err := client.Enqueue(asynq.NewTask("order", nil), asynq.TaskID(id), AsynqRetries(jittered))
		require.NoError(t, err)
		server := start()
		for range 3 {
			waits = append(waits, <-told)
			if restarts {
				server.Shutdown()
			}
			require.Eventually(t, func() bool { return inspector.RunTask("default", id) == nil }, 2*time.Minute, time.Millisecond)
			if restarts {
				server = start()
			}
		}
		<-told
		server.Shutdown()
		require.NoError(t, inspector.DeleteTask("default", id))
		return waits
	}
	first := chain("one", false)
	assert.Equal(t, first, chain("one", true))
	assert.NotEqual(t, first, chain("two", false))
	for i, wait := range first {
		want, reason := adapt.DelayFor(jittered, "one", i+1, errOp)
		require.NoError(t, reason)
		assert.Equal(t, dueAfter(want), wait)
	}
}

// TestThroughput logs a worker's throughput with and without the policy, for jobs that
// succeed.
func TestThroughput(t *testing.T) {
	t.Run("River", func(t *testing.T) {
		pool := connect(t, database(t, "throughput"))
		compareThroughput(t, func(policy retry.Policy, work func()) (stop func()) {
			client := riverClient(t, pool, policy, func(context.Context, *river.Job[orderArgs]) error { work(); return nil })
			params := make([]river.InsertManyParams, *jobs)
			for i := range params {
				params[i].Args = orderArgs{i}
			}
			_, err := client.InsertMany(t.Context(), params)
			require.NoError(t, err)
			require.NoError(t, client.Start(t.Context()))
			return func() { require.NoError(t, client.Stop(t.Context())) }
		})
	})
	t.Run("asynq", func(t *testing.T) {
		at := redisAt(redisServer.Start(t), 3)
		client := asynq.NewClient(at)
		defer func() { _ = client.Close() }()
		compareThroughput(t, func(policy retry.Policy, work func()) (stop func()) {
			config, mux := asynq.Config{Concurrency: 50, LogLevel: asynq.FatalLevel}, asynq.NewServeMux()
			if policy.MaxAttempts > 0 {
				require.NoError(t, RetryAsynq(&config, mux, policy))
			}
			mux.HandleFunc("order", func(context.Context, *asynq.Task) error { work(); return nil })
			for i := range *jobs {
				_, err := client.Enqueue(asynq.NewTask("order", fmt.Append(nil, i)), AsynqRetries(doubling))
				require.NoError(t, err)
			}
			server := asynq.NewServer(at, config)
			require.NoError(t, server.Start(mux))
			return server.Shutdown
		})
	})
}

// compareThroughput alternates runs without and with the policy. It logs their rates and
// this process's CPU time, which other programs affect less. The argument start inserts
// the jobs and runs a worker that calls its argument work for each job.
func compareThroughput(t *testing.T, start func(policy retry.Policy, work func()) (stop func())) {
	rounds := 1
	if *jobs >= 1000 {
		rounds = 31
	}
	run := func(policy retry.Policy) (rate, cpu float64) {
		var begun atomic.Int64
		var first time.Time
		finished := make(chan bool)
		used := cpuTime(t)
		stop := start(policy, func() {
			switch begun.Add(1) {
			case 1:
				first = time.Now()
			case int64(*jobs):
				close(finished)
			}
		})
		<-finished
		rate = float64(*jobs) / time.Since(first).Seconds()
		stop()
		return rate, float64((cpuTime(t) - used).Microseconds()) / float64(*jobs)
	}
	run(doubling) // warm up
	var rates, cpus [2][]float64
	var rateRatios, cpuRatios []float64
	for round := range 2 * rounds {
		i := round % 2
		rate, cpu := run([]retry.Policy{{}, doubling}[i])
		rates[i], cpus[i] = append(rates[i], rate), append(cpus[i], cpu)
		if i == 1 {
			n := round / 2
			rateRatios, cpuRatios = append(rateRatios, rate/rates[0][n]), append(cpuRatios, cpu/cpus[0][n])
		}
	}
	median := func(values []float64) float64 { return slices.Sorted(slices.Values(values))[len(values)/2] }
	t.Logf("%d jobs, %d alternating runs, medians: bare %.0f/s, with the policy %.0f/s, ratio %.3f; CPU time per job %.1f and %.1f µs, ratio %.3f",
		*jobs, rounds, median(rates[0]), median(rates[1]), median(rateRatios), median(cpus[0]), median(cpus[1]), median(cpuRatios))
}

func cpuTime(t *testing.T) time.Duration {
	var usage syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
