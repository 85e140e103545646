//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asRetry is an environment variable that makes the test binary act as retry, so that the
// race detector and the coverage include the command.
const asRetry = "RETRY_TEST_AS_RETRY"

// token is an environment variable that identifies a test's processes: see leftovers.
const token = "RETRY_TEST_TOKEN"

func TestMain(m *testing.M) {
	if os.Getenv(asRetry) != "" || os.Args[0] == keyboardName {
		main()
		return
	}
	// Under nohup or in the background of a script, the tests' processes would inherit
	// ignored signals.
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
	for _, name := range []string{"GITHUB_ACTIONS", "GITHUB_OUTPUT"} { // set where CI runs the tests
		os.Unsetenv(name)
	}
	var err error
	if scratch, err = os.MkdirTemp("", "retry-test-"); err != nil {
		panic(err)
	}
	status := m.Run()
	os.RemoveAll(scratch)
	os.Exit(status)
}

var scratch string // shared by the tests

// patience is the time to wait for an event that takes no time on an idle machine.
const patience = 2 * time.Minute

// trial collects the failures of a test that may be tried again.
type trial struct{ failures []string }

func (r *trial) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

// withLimits tests commands that have to get somewhere before a time limit ends them. If that
// fails, the machine may have stalled, and the test is tried with a longer limit.
func withLimits(t *testing.T, test func(t assert.TestingT, limit string)) {
	t.Helper()
	var r trial
	for _, limit := range []string{"50ms", "1s", "15s"} {
		r = trial{}
		if test(&r, limit); r.failures == nil {
			return
		}
	}
	t.Error(r.failures)
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !done(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			require.Fail(t, "timed out waiting for "+what)
		}
	}
}

func newCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), asRetry+"=1", token+"="+tokenOf(t), "TMPDIR="+t.TempDir(), "GOCOVERDIR="+os.Getenv("GOCOVERDIR"))
	return c
}

func tokenOf(t *testing.T) string { return fmt.Sprintf("%s-%d", t.Name(), os.Getpid()) }

type result struct {
	stdout, stderr string
	status         int // as a shell reports it
	signal         syscall.Signal
}

func resultOf(c *exec.Cmd, err error) result {
	r := result{status: c.ProcessState.ExitCode()}
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		if ws := failed.Sys().(syscall.WaitStatus); ws.Signaled() {
			r.signal, r.status = ws.Signal(), 128+int(ws.Signal())
		}
	}
	return r
}

// runRetry runs retry with short waits, and makes the same checks as finish.
func runRetry(t *testing.T, args ...string) result {
	t.Helper()
	return finish(t, newCommand(t, append([]string{"--base", "1ms"}, args...)...))
}

// finish runs a command and, unless the command succeeds, checks that no process is left.
func finish(t *testing.T, c *exec.Cmd) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if c.Stdout == nil {
		c.Stdout = &stdout
	}
	if c.Stderr == nil {
		c.Stderr = &stderr
	}
	c.WaitDelay = patience
	err := c.Run()
	require.NotNil(t, c.ProcessState, "%v", err)
	r := resultOf(c, err)
	r.stdout, r.stderr = stdout.String(), stderr.String()
	if r.status != 0 {
		assert.Empty(t, leftovers(t), "processes are left")
	}
	return r
}

type background struct {
	*exec.Cmd
	t    *testing.T
	done chan struct{}
	err  error

	mu  sync.Mutex
	out bytes.Buffer // from both streams
}

func (b *background) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.Write(p)
}

func (b *background) output() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.String()
}

// startRetry starts retry and returns when its output contains ready.
func startRetry(t *testing.T, ready string, args ...string) *background {
	t.Helper()
	b := &background{Cmd: newCommand(t, append([]string{"--base", "1ms"}, args...)...), t: t, done: make(chan struct{})}
	b.begin(ready)
	return b
}

// startShell is startRetry for a shell command in which %s stands for retry.
func startShell(t *testing.T, ready, line string) *background {
	t.Helper()
	b := &background{Cmd: newCommand(t), t: t, done: make(chan struct{})}
	b.Path, b.Args = "/bin/sh", []string{"sh", "-c", fmt.Sprintf(line, os.Args[0])}
	b.begin(ready)
	return b
}

// state returns the state of a process as printed by ps, such as T for stopped.
func state(pid int) string {
	out, _ := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return string(append(out, ' ')[:1])
}

func (b *background) begin(ready string) {
	b.t.Helper()
	b.Stdout, b.Stderr = b, b
	b.WaitDelay = patience
	require.NoError(b.t, b.Start())
	go func() {
		b.err = b.Wait()
		close(b.done)
	}()
	b.t.Cleanup(func() {
		_ = b.Process.Kill() // if the test has failed
		<-b.done
	})
	b.expect(ready)
}

func (b *background) expect(text string) {
	b.t.Helper()
	eventually(b.t, fmt.Sprintf("%q in %q", text, b.output()), func() bool { return strings.Contains(b.output(), text) })
}

func (b *background) signal(sig syscall.Signal) {
	b.t.Helper()
	require.NoError(b.t, b.Process.Signal(sig))
}

// end waits until retry has ended, and checks that no process is left.
func (b *background) end() result {
	b.t.Helper()
	select {
	case <-b.done:
	case <-time.After(patience):
		require.Fail(b.t, "retry does not end", "%s", b.output())
	}
	r := resultOf(b.Cmd, b.err)
	r.stdout = b.output()
	assert.Empty(b.t, leftovers(b.t), "processes are left")
	return r
}

// leftovers returns the command lines of the test's living processes, or nil if /proc is
// not mounted.
func leftovers(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(t, err)
	var found []string
	for _, file := range files {
		env, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(append([]byte{0}, env...), []byte("\x00"+token+"="+tokenOf(t)+"\x00")) {
			continue // the environment of a zombie is empty
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		found = append(found, filepath.Base(filepath.Dir(file))+" "+strings.ReplaceAll(string(line), "\x00", " "))
	}
	return found
}

// count counts the occurrences of text in a file that may not exist yet.
func count(t *testing.T, file, text string) int {
	t.Helper()
	data, err := os.ReadFile(file)
	if !errors.Is(err, os.ErrNotExist) {
		require.NoError(t, err)
	}
	return strings.Count(string(data), text)
}
