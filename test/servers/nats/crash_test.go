//go:build unix

package nats_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrynats"
)

var messages = flag.Int("messages", 2000, "number of messages that TestCrash sends")

const (
	workers    = 3
	workTime   = 5 * time.Millisecond
	ackWait    = 5 * time.Second
	killEvery  = time.Second
	mostLag    = 3 * time.Second         // for most scheduled redeliveries, which are usually only milliseconds late
	settleTime = 2500 * time.Millisecond // a restarted server checks within 1.5 s which deliveries are due
)

var crashPolicy = retry.Policy{Backoff: retry.FullJitter{Base: 200 * time.Millisecond, Cap: 2 * time.Second}, MaxAttempts: 5}

const (
	succeeds = iota
	recovers // in the third delivery
	permanent
	hopeless // every attempt fails
)

func fate(i int) int {
	switch i % 50 {
	case 7:
		return permanent
	case 17:
		return hopeless
	case 3, 13, 23, 33, 43:
		return recovers
	}
	return succeeds
}

func TestMain(m *testing.M) {
	if url := os.Getenv("RETRYNATS_WORKER"); url != "" {
		if path := os.Getenv("RETRYNATS_LOG"); path != "" {
			work(url, path)
		}
		panicAtWork(url)
	}
	os.Exit(m.Run())
}

// work is a worker process. It runs until it is killed or its standard input ends, which
// happens at the latest when the test ends.
func work(url, path string) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	log, err := os.Create(path)
	must(err)
	// Each line is written with one system call, so it survives if the process is killed.
	note := func(kind string, seq uint64, k int, wait time.Duration) {
		_, err := fmt.Fprintf(log, "%s %d %d %d %d\n", kind, seq, k, time.Now().UnixNano(), wait)
		must(err)
	}
	conn, err := nats.Connect(url, nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1),
		nats.ReconnectWait(50*time.Millisecond), nats.ReconnectJitter(0, 0))
	must(err)
	js, err := jetstream.New(conn)
	must(err)

	var seq uint64 // of the current message
	policy := crashPolicy.With(retry.Hooks{
		OnRetry:  func(_ context.Context, a retry.Attempt, wait time.Duration) { note("retry", seq, a.Number, wait) },
		OnGiveUp: func(_ context.Context, e *retry.Error) { note("over", seq, e.Attempts, 0) },
	})
	worker := retrynats.Worker{Policy: policy, JetStream: js, DeadLetter: "dead.work"}
	var consumer jetstream.Consumer
	var handle jetstream.MessageHandler
	patient := retry.Policy{Backoff: retry.Constant(50 * time.Millisecond), MaxAttempts: retry.Unlimited}
	must(retry.Do(ctx, patient, func(ctx context.Context) (err error) {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		if consumer, err = js.Consumer(ctx, "WORK", "worker"); err != nil {
			return retry.Transient(err)
		}
		handle, err = worker.Handle(context.Background(), consumer, func(_ context.Context, msg jetstream.Msg) error {
			meta, err := msg.Metadata()
			must(err)
			k := int(meta.NumDelivered)
			note("begin", seq, k, 0)
			time.Sleep(workTime)
			i, err := strconv.Atoi(string(msg.Data()))
			must(err)
			switch fate(i) {
			case permanent:
				return retry.Permanent(fmt.Errorf("message %d is malformed", i))
			case hopeless:
				return fmt.Errorf("message %d cannot reach its server", i)
			case recovers:
				if k < 3 {
					return errors.New("not yet")
				}
			}
			note("done", seq, k, 0)
			return nil
		})
		return retry.Transient(err)
	}))
	consuming, err := consumer.Consume(func(msg jetstream.Msg) {
		meta, err := msg.Metadata()
		must(err)
		seq = meta.Sequence.Stream
		handle(msg)
		i, _ := strconv.Atoi(string(msg.Data()))
		// Once the server has the outcome, it alone determines the delay.
		if f := fate(i); (f == hopeless || f == recovers) && conn.FlushTimeout(time.Second) == nil {
			note("sent", seq, int(meta.NumDelivered), 0)
		}
	}, jetstream.PullMaxMessages(10), jetstream.PullExpiry(5*time.Second))
	must(err)
	<-ctx.Done()
	consuming.Stop()
	os.Exit(0)
}

func panicAtWork(url string) {
	ctx := context.Background()
	conn, err := nats.Connect(url, nats.Timeout(soon))
	must(err)
	js, err := jetstream.New(conn)
	must(err)
	consumer, err := js.Consumer(ctx, "WORK", "worker")
	must(err)
	w := retrynats.Worker{JetStream: js, Policy: quick, DeadLetter: "dead.work"}
	handle, err := w.Handle(ctx, consumer, func(context.Context, jetstream.Msg) error { panic("ouch") })
	must(err)
	// One message, because one that is delivered to a process that is ending is not delivered
	// again until AckWait has passed.
	msg, err := consumer.Next(jetstream.FetchMaxWait(soon))
	must(err)
	handle(msg)
}

// TestPanic: a worker that panics reports the failure before its process ends. After four
// panics, and before AckWait ends, the message becomes a dead letter.
func TestPanic(t *testing.T) {
	server := newProcess(t)
	conn, err := nats.Connect(server.url, nats.Timeout(soon))
	require.NoError(t, err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	createConsumer(t, js, func(c *jetstream.ConsumerConfig) { c.AckWait = 5 * time.Minute })
	createDead(t, js)
	publish(t, js, 1)
	for range quick.MaxAttempts {
		require.Equal(t, 1, left(t, js, "WORK"))
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "RETRYNATS_WORKER="+server.url)
		out, err := cmd.CombinedOutput()
		require.Contains(t, string(out), "panic: ouch")
		require.Error(t, err)
	}
	assert.Zero(t, left(t, js, "WORK"))
	assert.Equal(t, 1, left(t, js, "DEAD"))
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type process struct {
	command []string
	url     string
	cmd     *exec.Cmd
	life    io.WriteCloser
}

// untilSignal is a shell script that runs a program and sends it the signal named by a
// line of standard input, or KILL if standard input ends, as it does when the test is
// killed.
const untilSignal = `exec 3<&0; "$0" "$@" </dev/null 3<&- & server=$!
	{ read signal <&3; kill -${signal:-KILL} $server; } >/dev/null 2>&1 &
	wait $server`

func newProcess(t *testing.T) *process {
	binary := filepath.Join(t.TempDir(), "nats-server")
	out, err := exec.Command("go", "build", "-o", binary, "github.com/nats-io/nats-server/v2").CombinedOutput()
	require.NoError(t, err, "%s", out)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := listener.Addr().(*net.TCPAddr).Port
	require.NoError(t, listener.Close())
	p := &process{
		command: []string{"-c", untilSignal, binary, "-a", "127.0.0.1", "-p", strconv.Itoa(port), "-js", "-sd", t.TempDir()},
		url:     fmt.Sprintf("nats://127.0.0.1:%d", port),
	}
	p.start(t)
	t.Cleanup(func() { p.stop("KILL") })
	return p
}

func (p *process) start(t *testing.T) {
	p.cmd = exec.Command("/bin/sh", p.command...)
	var err error
	p.life, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	require.Eventually(t, func() bool {
		conn, err := nats.Connect(p.url, nats.Timeout(time.Second))
		if err != nil {
			return false
		}
		defer conn.Close()
		js, err := jetstream.New(conn)
		if err != nil {
			return false
		}
		_, err = js.AccountInfo(t.Context())
		return err == nil
	}, time.Minute, 20*time.Millisecond)
}

func (p *process) stop(signal string) {
	_, _ = fmt.Fprintln(p.life, signal)
	_ = p.cmd.Wait()
}

type worker struct {
	*exec.Cmd
	path string // of its log
}

type crew struct {
	url, dir string
	running  [workers]worker
	logs     []string
	killed   int
}

// hasWorked reports whether the worker has handled a message: on a slow machine, it may take
// longer to start than others live.
func (c *crew) hasWorked(slot int) bool {
	info, err := os.Stat(c.running[slot].path)
	return err == nil && info.Size() > 0
}

func (c *crew) start(t *testing.T, slot int) {
	path := filepath.Join(c.dir, fmt.Sprintf("worker-%d-%d", slot, len(c.logs)))
	c.logs = append(c.logs, path)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "RETRYNATS_WORKER="+c.url, "RETRYNATS_LOG="+path)
	cmd.Stderr = os.Stderr
	_, err := cmd.StdinPipe() // the worker ends when this pipe is closed
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	c.running[slot] = worker{cmd, path}
}

func (c *crew) kill(slot int) {
	_ = c.running[slot].Process.Kill()
	_ = c.running[slot].Wait()
}

// An outage lasts from the stop of the server until the restarted server has checked which
// deliveries are due.
type outage struct{ from, to time.Time }

// TestCrash: a worker is killed every second, and the server is restarted twice, after SIGTERM
// and after SIGKILL. No message is lost, each message that is given up has one dead letter,
// and scheduled redeliveries are on time.
func TestCrash(t *testing.T) {
	server := newProcess(t)
	conn, err := nats.Connect(server.url, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	require.NoError(t, err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	createConsumer(t, js, func(c *jetstream.ConsumerConfig) { c.AckWait = ackWait })
	createDead(t, js)
	for i := range *messages {
		_, err := js.PublishAsync("work.do", []byte(strconv.Itoa(i)))
		require.NoError(t, err)
	}
	select {
	case <-js.PublishAsyncComplete():
	case <-time.After(time.Minute):
		t.Fatal("the server did not store the messages")
	}

	c := &crew{url: server.url, dir: t.TempDir()}
	for slot := range workers {
		c.start(t, slot)
	}
	defer func() {
		for slot := range workers {
			c.kill(slot)
		}
	}()
	var outages []outage
	start, next := time.Now(), time.Now().Add(killEvery)
	restarts := []struct {
		left   int
		signal string
	}{{*messages * 2 / 3, "TERM"}, {*messages / 3, "KILL"}}
	for left := *messages; left > 0; time.Sleep(20 * time.Millisecond) {
		if slot := c.killed % workers; time.Now().After(next) && c.hasWorked(slot) {
			c.kill(slot)
			c.start(t, slot)
			c.killed++
			next = time.Now().Add(killEvery)
		}
		if len(restarts) > 0 && left <= restarts[0].left {
			from := time.Now()
			server.stop(restarts[0].signal)
			server.start(t)
			outages = append(outages, outage{from, time.Now().Add(settleTime)})
			restarts = restarts[1:]
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		if stream, err := js.Stream(ctx, "WORK"); err == nil {
			left = int(stream.CachedInfo().State.Msgs)
		}
		cancel()
	}
	require.Empty(t, restarts)
	took := time.Since(start)
	for slot := range workers {
		c.kill(slot)
	}

	letters := checkLetters(t, js)
	s := readLogs(t, c.logs)
	s.check(t, outages)
	t.Logf("%d messages in %v, %d workers killed, server restarted twice", *messages, took.Round(100*time.Millisecond), c.killed)
	t.Logf("done %d, dead-lettered %d, executions %d (of messages that succeeded: %d more than once)", len(s.done), letters, s.executions, s.duplicates)
	t.Logf("redeliveries by the policy: %d, early 0, lateness p50 %v p99 %v max %v", len(s.late), quantile(s.late, 0.5), quantile(s.late, 0.99), quantile(s.late, 1))
	t.Logf("redeliveries by AckWait after a kill: %d; across a restart of the server: %d, early %d (by at most %v)", s.byAckWait, s.byRestart, s.early, s.earliest)
}

// checkLetters asserts that the dead letters are exactly the messages that must be given up,
// each once and with its reason.
func checkLetters(t *testing.T, js jetstream.JetStream) int {
	want := map[string]string{}
	for i := range *messages {
		switch fate(i) {
		case permanent:
			want[strconv.Itoa(i)] = fmt.Sprintf("permanent: message %d is malformed", i)
		case hopeless:
			want[strconv.Itoa(i)] = fmt.Sprintf("attempts: message %d cannot reach its server", i)
		}
	}
	found := map[string]string{}
	dead, err := js.Stream(t.Context(), "DEAD")
	require.NoError(t, err)
	state := dead.CachedInfo().State
	for seq := state.FirstSeq; seq <= state.LastSeq; seq++ {
		letter, err := dead.GetMsg(t.Context(), seq)
		require.NoError(t, err)
		data, h := string(letter.Data), letter.Header
		require.NotContains(t, found, data, "stored twice")
		found[data] = h.Get(retrynats.HeaderReason) + ": " + h.Get(retrynats.HeaderError)
		require.Equal(t, "work.do", h.Get(retrynats.HeaderSubject))
		if i, _ := strconv.Atoi(data); fate(i) == hopeless {
			attempts, err := strconv.Atoi(h.Get(retrynats.HeaderAttempts))
			require.NoError(t, err)
			require.GreaterOrEqual(t, attempts, crashPolicy.MaxAttempts)
		}
	}
	require.Equal(t, want, found)
	return len(found)
}

type sums struct {
	bySeq                map[uint64][]event
	done                 map[uint64]bool
	executions           int
	duplicates           int
	byAckWait, byRestart int
	early                int
	earliest             time.Duration
	late                 []time.Duration
}

type event struct {
	kind string
	k    int
	at   time.Time
	wait time.Duration
}

func readLogs(t *testing.T, paths []string) *sums {
	s := &sums{bySeq: map[uint64][]event{}, done: map[uint64]bool{}}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue // killed before its first line
		}
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			var e event
			var seq uint64
			var at int64
			_, err := fmt.Sscanf(line, "%s %d %d %d %d\n", &e.kind, &seq, &e.k, &at, &e.wait)
			require.NoError(t, err, "%q", line)
			e.at = time.Unix(0, at)
			s.bySeq[seq] = append(s.bySeq[seq], e)
		}
	}
	return s
}

// check asserts that each message was done or given up, and counts the deliveries by cause.
func (s *sums) check(t *testing.T, outages []outage) {
	across := func(from, to time.Time) bool {
		return slices.ContainsFunc(outages, func(o outage) bool { return from.Before(o.to) && to.After(o.from) })
	}
	for i := range *messages {
		seq := uint64(i + 1)
		events := s.bySeq[seq]
		slices.SortStableFunc(events, func(a, b event) int { return a.at.Compare(b.at) })
		retried, sent := map[int]event{}, map[int]bool{}
		succeeded := 0
		for _, e := range events {
			switch e.kind {
			case "retry":
				retried[e.k], sent[e.k] = e, false
			case "sent":
				sent[e.k] = true
			case "done":
				succeeded++
			case "begin":
				s.executions++
				if e.k == 1 {
					continue
				}
				before, ok := retried[e.k-1]
				late := e.at.Sub(before.at.Add(before.wait))
				switch {
				case !ok || !sent[e.k-1]:
					s.byAckWait++
				case across(before.at, e.at):
					s.byRestart++
					if late < 0 {
						s.early, s.earliest = s.early+1, max(s.earliest, -late)
					}
				default:
					assert.GreaterOrEqual(t, late, time.Duration(0), "message %d, delivery %d is early", i, e.k)
					s.late = append(s.late, late)
				}
			}
		}
		switch fate(i) {
		case succeeds, recovers:
			assert.Positive(t, succeeded, "message %d is lost", i)
			s.done[seq] = true
			s.duplicates += succeeded - 1
		default:
			assert.Zero(t, succeeded, "message %d", i)
		}
	}
	slices.Sort(s.late)
	assert.NotEmpty(t, s.late)
	assert.LessOrEqual(t, quantile(s.late, 0.5), mostLag)
}

func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(q*float64(len(sorted)-1))].Round(100 * time.Microsecond)
}
