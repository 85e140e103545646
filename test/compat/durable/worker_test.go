//go:build unix

package durable

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/hibiken/asynq"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"github.com/gobackoff/retry"
)

var killsPolicy = retry.Policy{
	Backoff:     retry.FullJitter{Base: 400 * time.Millisecond, Cap: 3 * time.Second},
	MaxAttempts: 6,
}

const longHint = 7 * time.Second // too long for River's workers, so River's leader ends the wait

var errGone = errors.New("the order is gone") // which no rule of a Classifier knows

// script returns the outcome of an attempt, given the numbers of the job and the attempt.
func script(job, attempt int) error {
	switch job % 20 {
	case 0:
		return retry.Permanent(errGone)
	case 1:
		return retry.Unrepeatable(errGone)
	case 2:
		return errOp // always
	case 3:
		if attempt == 1 {
			return retry.After(errOp, longHint)
		}
	case 4, 5, 6:
		if attempt == 1 {
			return retry.Throttled(errOp)
		}
	case 7, 8:
		if attempt <= 2 {
			return errOp
		}
	}
	return nil
}

// An event is a line printed by a worker. It survives a kill.
type event struct {
	Kind    string `json:"e"`
	ID      string `json:"id"`
	Attempt int    `json:"k"`
	At      int64  `json:"t"`           // Unix time in nanoseconds
	Rescued bool   `json:"r,omitempty"` // the engine had ended the previous attempt
	Least   int64  `json:"l,omitempty"` // lower bound of the wait passed to the engine
	Most    int64  `json:"m,omitempty"` // upper bound of that wait
}

const (
	started = "start"
	ended   = "end"
	waits   = "wait"
)

func (e event) print() {
	line, _ := json.Marshal(e)
	_, _ = os.Stdout.Write(append(line, '\n'))
}

func attempt(id string, job, number int, rescued bool) error {
	event{Kind: started, ID: id, Attempt: number, At: time.Now().UnixNano(), Rescued: rescued}.print()
	time.Sleep(time.Duration(20+job*37%80) * time.Millisecond)
	err := script(job, number)
	event{Kind: ended, ID: id, Attempt: number, At: time.Now().UnixNano()}.print()
	return err
}

// work is the main function of a worker process, which ends when its standard input
// ends.
func work(engine, address string) error {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	if engine == "river" {
		return workRiver(address)
	}
	return workAsynq(address)
}

type orderArgs struct {
	Job int `json:"job"`
}

func (orderArgs) Kind() string { return "order" }

type orderWorker struct {
	river.WorkerDefaults[orderArgs]
}

func (orderWorker) Work(_ context.Context, job *river.Job[orderArgs]) error {
	rescued := len(job.Errors) > 0 && job.Errors[len(job.Errors)-1].Error == "Stuck job rescued by JobRescuer"
	return attempt(strconv.FormatInt(job.ID, 10), job.Args.Job, job.Attempt, rescued)
}

type spy struct{ river.ClientRetryPolicy }

func (s spy) NextRetry(job *rivertype.JobRow) time.Time {
	before := time.Now()
	next := s.ClientRetryPolicy.NextRetry(job)
	event{Kind: waits, ID: strconv.FormatInt(job.ID, 10), Attempt: job.Attempt,
		Least: int64(time.Until(next)), Most: int64(next.Sub(before))}.print()
	return next
}

func workRiver(url string) error {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, orderWorker{})
	config := &river.Config{
		Queues:               map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 10}},
		Workers:              workers,
		FetchCooldown:        20 * time.Millisecond,
		FetchPollInterval:    100 * time.Millisecond,
		JobTimeout:           2 * time.Second,
		RescueStuckJobsAfter: 3 * time.Second,
		Logger:               slog.New(slog.DiscardHandler),
	}
	if err := RetryRiver(config, killsPolicy); err != nil {
		return err
	}
	config.RetryPolicy = spy{config.RetryPolicy}
	client, err := river.NewClient(riverpgxv5.New(pool), config)
	if err != nil {
		return err
	}
	if err := client.Start(ctx); err != nil {
		return err
	}
	select {}
}

func workAsynq(addr string) error {
	config := asynq.Config{
		Concurrency:              10,
		TaskCheckInterval:        50 * time.Millisecond,
		DelayedTaskCheckInterval: 200 * time.Millisecond,
		LogLevel:                 asynq.FatalLevel,
	}
	mux := asynq.NewServeMux()
	if err := RetryAsynq(&config, mux, killsPolicy); err != nil {
		return err
	}
	delay := config.RetryDelayFunc
	config.RetryDelayFunc = func(retried int, err error, task *asynq.Task) time.Duration {
		wait := delay(retried, err, task)
		event{Kind: waits, ID: "order-" + string(task.Payload()), Attempt: retried + 1, Least: int64(wait), Most: int64(wait)}.print()
		return wait
	}
	inspector := asynq.NewInspector(redisAt(addr, killsDB))
	mux.HandleFunc("order", func(ctx context.Context, task *asynq.Task) error {
		job, err := strconv.Atoi(string(task.Payload()))
		if err != nil {
			return retry.Permanent(err)
		}
		id, _ := asynq.GetTaskID(ctx)
		retried, _ := asynq.GetRetryCount(ctx)
		rescued := false
		if retried > 0 {
			info, err := inspector.GetTaskInfo("default", id)
			if err != nil {
				return err
			}
			rescued = info.LastErr == asynq.ErrLeaseExpired.Error()
		}
		return attempt(id, job, retried+1, rescued)
	})
	return asynq.NewServer(redisAt(addr, killsDB), config).Run(mux)
}
