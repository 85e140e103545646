//go:build unix

package durable

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

// killsDB is the number of the Redis database that TestKills uses.
const killsDB = 1

type engine interface {
	insert(t *testing.T, first, end int) map[string]int // returns the jobs' numbers by ID
	unfinished(ctx context.Context) (int, error)
	// rescueNow is called once, when all workers have been killed. In a short run, it makes
	// the engine rescue their jobs at once.
	rescueNow(t *testing.T)
	results(t *testing.T) map[string]result
	asked(wait time.Duration) time.Duration // the wait requested from the engine
	unseenID(id string) string              // replaces the ID after an unreported failure
}

type result struct {
	end      string
	reason   string
	attempts int
}

const (
	done      = "done"
	forbidden = "given up by the policy"
	exhausted = "all attempts used"
)

// TestKills: although workers are killed while working, no job is lost, none is retried
// before the policy's wait, and every process computes the same waits.
func TestKills(t *testing.T) {
	t.Parallel() // waits most of the time
	t.Run("River", func(t *testing.T) {
		t.Parallel()
		url := database(t, "kills")
		withKills(t, "river", url, newRiverEngine(t, url))
	})
	t.Run("asynq", func(t *testing.T) {
		t.Parallel()
		addr := redisServer.Start(t)
		withKills(t, "asynq", addr, newAsynqEngine(t, addr))
	})
}

func withKills(t *testing.T, name, address string, e engine) {
	fleet := &fleet{engine: name, address: address}
	t.Cleanup(func() { fleet.killAll() })
	for range 3 {
		fleet.start(t)
	}
	// A hundred jobs arrive a second; with 2,000 jobs, a worker is killed once a second.
	numbers, kills := make(map[string]int), 0
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for batch := 1; len(numbers) < *jobs; batch++ {
		<-tick.C
		maps.Copy(numbers, e.insert(t, len(numbers), min(len(numbers)+10, *jobs)))
		if batch%max(3, *jobs/200) == 0 {
			fleet.kill(0)
			fleet.start(t)
			kills++
		}
	}
	kills += fleet.killAll()
	e.rescueNow(t)
	for range 3 {
		fleet.start(t)
	}
	begin := time.Now()
	require.Eventually(t, func() bool {
		n, err := e.unfinished(t.Context())
		return err == nil && n == 0
	}, 15*time.Minute, 200*time.Millisecond)
	t.Logf("%d kills; the last job ended %.0f s after the last kill", kills, time.Since(begin).Seconds())
	fleet.killAll()
	verify(t, e, numbers, fleet.events)
}

func verify(t *testing.T, e engine, numbers map[string]int, events []event) {
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.At, b.At) })
	type key struct {
		id      string
		attempt int
	}
	starts, ends := make(map[key]event), make(map[key]event)
	var executions, duplicated, cut int
	var late, lateByScheduler, rescued []time.Duration
	finished := make(map[string]bool)
	for _, v := range events {
		k := key{v.ID, v.Attempt}
		number, known := numbers[v.ID]
		require.True(t, known, "%+v", v)
		err := script(number, v.Attempt)
		switch v.Kind {
		case started:
			executions++
			if finished[v.ID] {
				duplicated++
			}
			assert.NotContains(t, starts, k, "attempt numbers are unique")
			starts[k] = v
		case ended:
			ends[k] = v
			finished[v.ID] = err == nil || final(err)
		case waits:
			seen, reason := adapt.DelayFor(killsPolicy, v.ID, v.Attempt, err)
			interrupted := unseen(killsPolicy, e.unseenID(v.ID), v.Attempt)
			if err == nil || reason != nil { // the engine needs no wait
				seen = interrupted
			}
			told := func(wait time.Duration) bool {
				asked := int64(e.asked(wait))
				return v.Least <= asked && asked <= v.Most
			}
			assert.True(t, told(seen) || told(interrupted), "%+v, not %v", v, seen)
		}
	}
	for k, start := range starts {
		before := key{k.id, k.attempt - 1}
		switch end, ok := ends[before]; {
		case k.attempt == 1:
		case start.Rescued:
			if lost, ok := starts[before]; ok { // unless the worker was killed before it printed the start
				rescued = append(rescued, time.Duration(start.At-lost.At))
			}
		default:
			require.True(t, ok, "%+v", start)
			wait, reason := adapt.DelayFor(killsPolicy, before.id, before.attempt, script(numbers[k.id], before.attempt))
			require.NoError(t, reason)
			over := time.Duration(start.At-end.At) - wait
			assert.GreaterOrEqual(t, over, time.Duration(0), "early: %+v", start)
			if wait >= longHint {
				lateByScheduler = append(lateByScheduler, over)
			} else {
				late = append(late, over)
			}
		}
		if _, ok := ends[k]; !ok {
			cut++
		}
	}
	count := make(map[string]int)
	results := e.results(t)
	assert.Len(t, results, len(numbers), "no job is lost")
	for id, number := range numbers {
		r, last := results[id], 0
		count[r.end]++
		for attempt := 1; attempt <= killsPolicy.MaxAttempts; attempt++ {
			if _, ok := starts[key{id, attempt}]; ok {
				last = attempt
			}
		}
		_, ok := ends[key{id, last}]
		err := script(number, last)
		switch r.end {
		case done:
			assert.True(t, ok && err == nil, "job %d is not done", number)
		case forbidden:
			assert.True(t, ok && final(err), "job %d has no reason to end", number)
			reason := retry.ErrPermanent
			if number%20 == 1 {
				reason = retry.ErrUnrepeatable
			}
			assert.Contains(t, r.reason, reason.Error()+": "+errGone.Error())
		case exhausted:
			assert.Equal(t, killsPolicy.MaxAttempts, r.attempts, "job %d had attempts left", number)
			assert.False(t, final(script(number, 1)), "job %d should have been ended by the policy", number)
		default:
			assert.Fail(t, "unfinished", "job %d: %+v", number, r)
		}
	}
	t.Logf("jobs %d: done %d, permanent %d, exhausted %d; executions %d, interrupted %d, duplicated %d",
		len(numbers), count[done], count[forbidden], count[exhausted], executions, cut, duplicated)
	t.Logf("late after the policy's wait: %s", quantiles(late))
	t.Logf("late after a hint of %v: %s", longHint, quantiles(lateByScheduler))
	t.Logf("after a kill, from the start of the interrupted attempt: %s", quantiles(rescued))
}

func final(err error) bool {
	failed := killsPolicy.Classify(err)
	return failed.Class == retry.ClassPermanent || failed.Unrepeatable
}

func quantiles(d []time.Duration) string {
	if len(d) == 0 {
		return "none"
	}
	slices.Sort(d)
	at := func(q float64) time.Duration { return d[int(q*float64(len(d)-1))].Round(time.Millisecond) }
	return fmt.Sprintf("%d, least %v, p50 %v, p99 %v, most %v", len(d), at(0), at(0.5), at(0.99), at(1))
}

type fleet struct {
	engine, address string

	workers []*exec.Cmd
	readers sync.WaitGroup
	mu      sync.Mutex
	events  []event
}

func (f *fleet) start(t *testing.T) {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(program, f.address)
	cmd.Env = append(os.Environ(), workerVariable+"="+f.engine)
	cmd.Stderr = os.Stderr
	_, err = cmd.StdinPipe() // the pipe ends with this process, and then the worker ends
	require.NoError(t, err)
	output, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	f.workers = append(f.workers, cmd)
	f.readers.Go(func() {
		f.read(output)
		_ = cmd.Wait() // it was killed
	})
}

func (f *fleet) read(output io.Reader) {
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue // the last line may be cut
		}
		f.mu.Lock()
		f.events = append(f.events, e)
		f.mu.Unlock()
	}
}

func (f *fleet) kill(i int) {
	_ = f.workers[i].Process.Kill()
	f.workers = slices.Delete(f.workers, i, i+1)
}

func (f *fleet) killAll() (kills int) {
	for ; len(f.workers) > 0; kills++ {
		f.kill(0)
	}
	f.readers.Wait()
	return kills
}

type riverEngine struct {
	pool   *pgxpool.Pool
	client *river.Client[pgx.Tx]
}

func newRiverEngine(t *testing.T, url string) *riverEngine {
	config := &river.Config{}
	require.NoError(t, RetryRiver(config, killsPolicy))
	pool := connect(t, url)
	client, err := river.NewClient(riverpgxv5.New(pool), config)
	require.NoError(t, err)
	return &riverEngine{pool, client}
}

func (e *riverEngine) insert(t *testing.T, first, end int) map[string]int {
	var params []river.InsertManyParams
	for i := first; i < end; i++ {
		params = append(params, river.InsertManyParams{Args: orderArgs{i}})
	}
	rows, err := e.client.InsertMany(t.Context(), params)
	require.NoError(t, err)
	numbers := make(map[string]int)
	for _, row := range rows {
		require.Equal(t, killsPolicy.MaxAttempts, row.Job.MaxAttempts)
		var args orderArgs
		require.NoError(t, json.Unmarshal(row.Job.EncodedArgs, &args))
		numbers[strconv.FormatInt(row.Job.ID, 10)] = args.Job
	}
	return numbers
}

func (e *riverEngine) unfinished(ctx context.Context) (n int, err error) {
	err = e.pool.QueryRow(ctx, "SELECT count(*) FROM river_job WHERE finalized_at IS NULL").Scan(&n)
	return n, err
}

// In a short run, rescueNow ages the jobs of killed workers and ends the term of a
// killed leader at once; River itself always waits 15 s for the term to end.
func (e *riverEngine) rescueNow(t *testing.T) {
	if *jobs >= 1000 {
		return
	}
	_, err := e.pool.Exec(t.Context(), "UPDATE river_job SET attempted_at = attempted_at - interval '1 minute' WHERE state = 'running'; DELETE FROM river_leader")
	require.NoError(t, err)
}

func (e *riverEngine) asked(wait time.Duration) time.Duration { return wait }

func (e *riverEngine) unseenID(id string) string { return id }

func (e *riverEngine) results(t *testing.T) map[string]result {
	rows, err := e.pool.Query(t.Context(), "SELECT id, state, coalesce(errors[array_upper(errors, 1)]->>'error', ''), attempt FROM river_job")
	require.NoError(t, err)
	results := make(map[string]result)
	var id int64
	var state, reason string
	var attempts int
	_, err = pgx.ForEachRow(rows, []any{&id, &state, &reason, &attempts}, func() error {
		end := map[rivertype.JobState]string{
			rivertype.JobStateCompleted: done, rivertype.JobStateCancelled: forbidden, rivertype.JobStateDiscarded: exhausted,
		}[rivertype.JobState(state)]
		results[strconv.FormatInt(id, 10)] = result{end, reason, attempts}
		return nil
	})
	require.NoError(t, err)
	return results
}

type asynqEngine struct {
	client    *asynq.Client
	inspector *asynq.Inspector
	redis     *redis.Client
}

func newAsynqEngine(t *testing.T, addr string) *asynqEngine {
	at := redisAt(addr, killsDB)
	e := &asynqEngine{client: asynq.NewClient(at), inspector: asynq.NewInspector(at), redis: at.MakeRedisClient().(*redis.Client)}
	t.Cleanup(func() { assert.NoError(t, errors.Join(e.client.Close(), e.inspector.Close(), e.redis.Close())) })
	return e
}

func (e *asynqEngine) insert(t *testing.T, first, end int) map[string]int {
	numbers := make(map[string]int)
	for i := first; i < end; i++ {
		info, err := e.client.EnqueueContext(t.Context(), asynq.NewTask("order", fmt.Append(nil, i)),
			asynq.TaskID(fmt.Sprint("order-", i)), AsynqRetries(killsPolicy), asynq.Retention(time.Hour))
		require.NoError(t, err)
		require.Equal(t, killsPolicy.MaxAttempts-1, info.MaxRetry)
		numbers[info.ID] = i
	}
	return numbers
}

func (e *asynqEngine) unfinished(context.Context) (int, error) {
	info, err := e.inspector.GetQueueInfo("default")
	if err != nil {
		return 0, err
	}
	return *jobs - info.Completed - info.Archived, nil
}

// rescueNow ends the leases of killed workers in a short run: asynq always waits 30 s for
// the end of a lease, and 30 s more.
func (e *asynqEngine) rescueNow(t *testing.T) {
	if *jobs >= 1000 {
		return
	}
	const leases = "asynq:{default}:lease"
	ids, err := e.redis.ZRange(t.Context(), leases, 0, -1).Result()
	require.NoError(t, err)
	for _, id := range ids {
		require.NoError(t, e.redis.ZAddXX(t.Context(), leases, redis.Z{Member: id, Score: 1}).Err())
	}
}

func (e *asynqEngine) asked(wait time.Duration) time.Duration { return dueAfter(wait) }

func (e *asynqEngine) unseenID(id string) string { return "order" + strings.TrimPrefix(id, "order-") }

func (e *asynqEngine) results(t *testing.T) map[string]result {
	results := make(map[string]result)
	completed, err := e.inspector.ListCompletedTasks("default", asynq.PageSize(*jobs))
	require.NoError(t, err)
	for _, task := range completed {
		results[task.ID] = result{done, task.LastErr, task.Retried + 1}
	}
	archived, err := e.inspector.ListArchivedTasks("default", asynq.PageSize(*jobs))
	require.NoError(t, err)
	for _, task := range archived {
		end := forbidden
		if strings.HasPrefix(task.LastErr, retry.ErrMaxAttempts.Error()) || task.LastErr == asynq.ErrLeaseExpired.Error() {
			end = exhausted
		}
		results[task.ID] = result{end, task.LastErr, task.Retried + 1}
	}
	return results
}
