//go:build linux

package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryconfig"
)

// everywhere runs retry without a terminal and on one, and gives check the status and all
// output, and the time limit that replaced LIMIT in args.
func everywhere(t *testing.T, args []string, check func(t assert.TestingT, status int, output, limit string)) {
	t.Helper()
	with := func(limit string) (all []string) {
		for _, arg := range args {
			all = append(all, strings.ReplaceAll(arg, "LIMIT", limit))
		}
		return all
	}
	t.Run("no terminal", func(t *testing.T) {
		withLimits(t, func(trial assert.TestingT, limit string) {
			r := runRetry(t, with(limit)...)
			check(trial, r.status, r.stdout+r.stderr, limit)
		})
	})
	t.Run("terminal", func(t *testing.T) {
		withLimits(t, func(trial assert.TestingT, limit string) {
			r := openRetry(t, with(limit)...).end()
			check(trial, r.status, strings.ReplaceAll(r.stdout, "\r\n", "\n"), limit)
		})
	})
}

func TestConditions(t *testing.T) {
	for _, test := range []struct {
		name, flags, script string
		status              int
		runs                int
		says                string
	}{
		{"until a status", "--until 3", "[ $RETRY_ATTEMPT = 2 ] && exit 3", 0, 2, ""},
		{"until a range", "--until 0-2", "exit 2", 0, 1, ""},
		{"until, never", "--until 3", "exit 0", 1, 3, "exit 0, but the condition is not met; gave up"},
		{"until, another failure", "--until 3", "exit 4", 4, 3, "exit 4; gave up"},
		{"until, not started", "--until 3", "exit 127", 127, 1, "not retried"},
		{"while", "--while 0", "[ $RETRY_ATTEMPT = 1 ] || exit 9", 0, 2, ""},
		{"while, never", "--while 0", "exit 0", 1, 3, "not met"},
		{"while, killed", "--while 0", "kill -KILL $$", 137, 3, "SIGKILL"},
		{"while, not found", "--while 0", "exit 127", 127, 1, "not retried"},
		{"while, timeout", "--while 0 --timeout LIMIT", "sleep 100", 124, 3, "timeout"},
		{"until output", "--until-output ^Ready$", "[ $RETRY_ATTEMPT = 2 ] && echo Ready", 0, 2, ""},
		{"until output, never", "--until-output Ready", "true", 1, 3, "not met"},
		{"until output, but failed", "--until-output Ready", "echo Ready; exit 5", 5, 3, "exit 5"},
		{"until output with any status", "--until-output Ready --until 0-9", "echo Ready; exit 5", 0, 1, ""},
		{"until output in standard error", "--until-output Ready", "echo Ready >&2", 0, 1, ""},
		{"until output with \\r\\n", "--until-output ^Ready$", `printf 'not yet\r\nReady\r\n'`, 0, 1, ""},
		{"until output with \\r\\n in the pattern", "--until-output Ready\\r\\n", `printf 'Ready\r\n'`, 0, 1, ""},
		{"while output with \\r\\n", "--while-output ^pending$", `[ $RETRY_ATTEMPT = 2 ] || printf 'pending\r\n'`, 0, 2, ""},
		{"while output", "--while-output pending", "[ $RETRY_ATTEMPT = 2 ] || echo pending", 0, 2, ""},
		{"not met wins over retry on", "--retry-on 9 --until-output x", "true", 1, 3, ""},
		{"stop on output", "--stop-on-output fatal --until-output x", "echo fatal", 1, 1, "not retried"},
		{"processes of an attempt that was not enough", "--until-output x --kill-after 50ms", "setsid sleep 1000 >/dev/null 2>&1 & true", 1, 3, ""},
		{"consecutive", "--consecutive 2 -t 9", "[ $RETRY_ATTEMPT != 2 ]", 0, 4, "success 1 of 2 in a row"},
		{"consecutive, never", "--consecutive 2 -t 3", "[ $RETRY_ATTEMPT != 2 ]", 1, 3, "success 1 of 2 in a row; gave up"},
		{"consecutive and a timeout", "--consecutive 2 -t 4 --timeout LIMIT", "[ $RETRY_ATTEMPT != 2 ] || sleep 100", 0, 4, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "runs")
			args := append(strings.Fields(test.flags), "--", "sh", "-c", `echo run >>"$0"; `+test.script, log)
			everywhere(t, args, func(t assert.TestingT, status int, output, _ string) {
				assert.Equal(t, test.status, status, output)
				runs, err := os.ReadFile(log)
				assert.NoError(t, err)
				assert.NoError(t, os.Remove(log))
				assert.Equal(t, test.runs, strings.Count(string(runs), "run"), output)
				assert.Contains(t, output, test.says)
			})
		})
	}
}

// TestForever: attempts go on until shortly before the deadline, even if the waits are longer
// than that.
func TestForever(t *testing.T) {
	log := filepath.Join(t.TempDir(), "runs")
	everywhere(t, []string{"--forever", "--deadline", "LIMIT", "--base", "1h", "--rule", "constant", "sh", "-c", "echo run >>$0; exit 4", log},
		func(t assert.TestingT, status int, output, _ string) {
			assert.Contains(t, []int{4, exitTimeout}, status)
			assert.Contains(t, output, "deadline")
			runs, _ := os.ReadFile(log)
			assert.GreaterOrEqual(t, strings.Count(string(runs), "run"), 2)
			assert.NoError(t, os.RemoveAll(log))
		})
	c := newCommand(t, "-v", "--policy", "standard", "--forever", "--deadline", "500ms", "false")
	assert.Less(t, strings.Count(finish(t, c).stderr, "starts"), 100)
	c = newCommand(t, "--forever", "--base", "1ms", "--cap", "1ms", "--", "sh", "-c", "[ $RETRY_ATTEMPT = 50 ]")
	assert.Equal(t, 0, finish(t, c).status)
}

func TestUntilDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := untilDeadline(retry.Constant(10*time.Second), time.Now().Add(32*time.Second))
		for _, want := range []string{"10s", "10s", "6s", "3s", "1.5s", "750ms", "375ms", "187.5ms", "93.75ms", "10s"} {
			wait := b.Delay(retry.Attempt{}, 0.5)
			assert.Equal(t, want, wait.String())
			time.Sleep(wait)
		}
	})
}

func TestInitialDelay(t *testing.T) {
	everywhere(t, []string{"--initial-delay", "50ms", "--deadline", "1h", "sh", "-c", "exit 3"}, func(t assert.TestingT, status int, output, _ string) {
		assert.Equal(t, 3, status, output)
		assert.Contains(t, output, "attempt 1")
	})
	r := runRetry(t, "--initial-delay", "1h", "--deadline", "50ms", "false")
	assert.Equal(t, exitTimeout, r.status)
	assert.NotContains(t, r.stderr, "attempt")

	k := openRetry(t, "-v", "--initial-delay", "1h", "true")
	eventually(t, "retry to catch signals", func() bool { return catches(k.Process.Pid, syscall.SIGINT) })
	k.keys(ctrlC)
	assert.Equal(t, 130, k.end().status)
}

// TestStagger: the wait before the first run is random, ends with the deadline, and adds to
// --initial-delay.
func TestStagger(t *testing.T) {
	assert.Equal(t, 0, runRetry(t, "--stagger", "1ms", "true").status)
	r := runRetry(t, "--stagger", "1000000h", "--deadline", "50ms", "true")
	assert.Equal(t, exitTimeout, r.status)
	assert.Contains(t, r.stderr, "retry: gave up: the deadline of 50ms is over\n")
	for _, u := range []float64{0, 0.25, 0.75} {
		c := &config{initialDelay: time.Second, stagger: time.Minute}
		assert.Equal(t, time.Second+time.Duration(u*float64(time.Minute)), c.firstWait(u))
	}
}

// catches reports whether a process has a handler for a signal.
func catches(pid int, sig syscall.Signal) bool {
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return false
	}
	_, mask, _ := strings.Cut(string(status), "SigCgt:\t")
	bits, err := strconv.ParseUint(mask[:16], 16, 64)
	return err == nil && bits&(1<<(sig-1)) != 0
}

func TestTargets(t *testing.T) {
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch n := requests.Add(1); {
		case r.URL.Path == "/third" && n < 3, r.URL.Path == "/never":
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.URL.Path == "/moved":
			http.Redirect(w, r, "/never", http.StatusFound)
		case r.URL.Path == "/slow":
			<-r.Context().Done()
		}
	}))
	defer server.Close()
	secure := httptest.NewTLSServer(nil)
	defer secure.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	file := filepath.Join(t.TempDir(), "file")
	writeFile(t, file, "", 0o600)
	socket := filepath.Join(t.TempDir(), "socket")
	local, err := net.Listen("unix", socket)
	require.NoError(t, err)
	defer local.Close()
	for _, test := range []struct {
		name, args string
		status     int
		says       string
	}{
		{"tcp", "tcp:" + server.Listener.Addr().String(), 0, ""},
		{"tcp, refused", "-t 2 tcp:" + closed.Addr().String(), 1, "connection refused; gave up"},
		{"http", server.URL, 0, ""},
		{"http, the third time", "-v " + server.URL + "/third", 0, "attempt 3: success"},
		{"http, status", "-t 2 " + server.URL + "/never", 1, "503 Service Unavailable; gave up"},
		{"http, expected status", "--http-status 500-599 " + server.URL + "/never", 0, ""},
		{"http, redirect", server.URL + "/moved", 0, ""},
		{"http, timeout", "-t 2 --timeout LIMIT " + server.URL + "/slow", 124, "ended by the timeout of LIMIT"},
		{"https, unknown authority", "-t 1 " + secure.URL, 1, "certificate"},
		{"unix", "unix:" + socket, 0, ""},
		{"unix, missing", "-t 2 unix:" + file + "2", 1, "no such file or directory; gave up"},
		{"file", "file:" + file, 0, ""},
		{"flags after the target", "file:" + file + "2 -t 2 --http-status 200", 1, "attempt 2 of 2"},
		{"file, missing", "-t 2 file:" + file + "2", 1, "no such file"},
		{"several", "file:" + file + " " + server.URL + " file:/no/such/file x", 125, "is not a target"},
		{"several, one missing", "-t 2 file:" + file + " file:/no/such/file", 1, "no such file"},
		{"consecutive", "-v --consecutive 3 file:" + file, 0, "attempt 3: success"},
	} {
		t.Run(test.name, func(t *testing.T) {
			everywhere(t, strings.Fields(test.args), func(t assert.TestingT, status int, output, limit string) {
				requests.Store(0)
				assert.Equal(t, test.status, status, output)
				assert.Contains(t, output, strings.ReplaceAll(test.says, "LIMIT", limit))
			})
		})
	}
	everywhere(t, []string{"--deadline", "LIMIT", "tcp:" + closed.Addr().String()}, func(t assert.TestingT, status int, output, _ string) {
		assert.Contains(t, []int{1, exitTimeout}, status, "the deadline came before or in the last attempt")
		assert.Contains(t, output, "gave up")
	})
	t.Run("a file that appears", func(t *testing.T) {
		b := startRetry(t, "next in", "file:"+file+"3")
		writeFile(t, file+"3", "", 0o600)
		assert.Equal(t, 0, b.end().status)
	})
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		b := startRetry(t, "starts", "-v", server.URL+"/slow")
		b.signal(sig)
		assert.Equal(t, 128+int(sig), b.end().status)
	}
}

// TestTargetSecrets: what is secret in the URL of a target is not printed.
func TestTargetSecrets(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	address := server.Listener.Addr().String()
	record := filepath.Join(t.TempDir(), "record")
	for _, target := range []string{
		"http://user:SECRET@" + address + "/path?token=SECRET#SECRET", "http://user:SECRET@127.0.0.1:1/path?token=SECRET",
		"https://SECRET@127.0.0.1:1", "postgres://user:SECRET@127.0.0.1:1/db", "http://user:SECRET@h:x/path", "https://:SECRET@",
	} {
		r := runRetry(t, "-v", "-t", "1", "--json", record, target)
		assert.NotZero(t, r.status, target)
		assert.NotContains(t, r.stderr, "SECRET", target)
	}
	r := runRetry(t, "-t", "1", server.URL, "amqp://user:SECRET@127.0.0.1:1")
	assert.NotContains(t, r.stderr, "SECRET")
	recorded, err := os.ReadFile(record)
	require.NoError(t, err)
	assert.NotContains(t, string(recorded), "SECRET")
}

// TestTargetHints: a server may ask when to come back, and a budget does not end the wait.
func TestTargetHints(t *testing.T) {
	var requests atomic.Int32
	var last, shortest atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := time.Now()
		n := requests.Add(1)
		if before := last.Swap(now.UnixNano()); n > 1 {
			shortest.Store(min(shortest.Load(), now.UnixNano()-before))
		}
		if n < 4 {
			if r.URL.Path == "/hint" {
				w.Header().Set("Retry-After-Ms", "20")
			}
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	for _, test := range []struct {
		name, path string
		status     int
		requests   int32
		wait       time.Duration // at least
	}{
		{"hint", "/hint", 0, 4, 20 * time.Millisecond},
		{"none", "/", 0, 4, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			requests.Store(0)
			shortest.Store(int64(time.Hour))
			r := finish(t, newCommand(t, "--policy", "no-delay attempts=4 budget=shared(reserve=1)", server.URL+test.path))
			assert.Equal(t, test.status, r.status, r.stderr)
			assert.Equal(t, test.requests, requests.Load())
			assert.GreaterOrEqual(t, time.Duration(shortest.Load()), test.wait)
		})
	}
}

// TestForTargets: a hint of minutes does not keep the command from looking.
func TestForTargets(t *testing.T) {
	p := forTargets(retry.Policy{Backoff: retry.Constant(time.Second)})
	wait, err := p.Start().Failed(t.Context(), &outcome{failure: &notReady{hint: time.Hour}})
	require.NoError(t, err)
	assert.Equal(t, 6*time.Second, wait)
	own := forTargets(retry.Policy{Hint: retry.HintIgnore{}})
	assert.Equal(t, retry.HintIgnore{}, own.Hint)
	assert.Nil(t, own.Budget)
}

// TestHintUntilDeadline: a hint does not keep the command from looking until the deadline.
func TestHintUntilDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rule := hintUntilDeadline{awspreset.HintWindow{}, time.Now().Add(8 * time.Second)}
		wait, follows := rule.Wait(time.Second, time.Hour)
		assert.True(t, follows)
		assert.Equal(t, 4*time.Second, wait)
		rule.deadline = time.Now().Add(time.Hour)
		wait, _ = rule.Wait(time.Second, time.Hour)
		assert.Equal(t, 6*time.Second, wait)
	})
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 1 {
			w.Header().Set("Retry-After", "10")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	r := finish(t, newCommand(t, server.URL, "--deadline", "2s"))
	assert.Equal(t, 0, r.status, r.stderr)
}

// TestTargetAndCommand: the command replaces retry when the targets are ready.
func TestTargetAndCommand(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	writeFile(t, plain, "exit 8\n", 0o755)
	for _, test := range []struct {
		name, args, stdout string
		status             int
		says               string
	}{
		{"not ready", "-t 2 file:/no/such/file -- echo no", "", 1, "gave up"},
		{"arguments", "file:/ -t 2 -- echo -t 3 file:/", "-t 3 file:/\n", 0, ""},
		{"status", "file:/ -- sh -c exit\u00a07", "", 7, ""},
		{"signal", "file:/ -- sh -c kill\u00a0-KILL\u00a0$$", "", 137, ""},
		{"a script without #!", "file:/ -- " + plain, "", 8, ""},
		{"not found", "file:/ -- no-such-command", "", 127, "not found"},
		{"not executable", "file:/ -- /", "", 126, "retry: exec: \"/\""},
		{"the file that it waits for", "file:" + plain + " -- " + plain, "", 8, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			args := strings.Split(test.args, " ")
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "\u00a0", " ")
			}
			r := runRetry(t, args...)
			assert.Equal(t, test.stdout, r.stdout)
			assert.Equal(t, test.status, r.status, r.stderr)
			assert.Contains(t, r.stderr, test.says)
		})
	}
	t.Run("own place", func(t *testing.T) {
		b := startRetry(t, "ready", "file:/", "--", "sh", "-c", "trap 'echo caught; exit 9' TERM; echo ready $$; while :; do sleep .01; done")
		assert.Contains(t, b.output(), fmt.Sprintf("ready %d\n", b.Process.Pid))
		b.signal(syscall.SIGTERM)
		<-b.done
		assert.Equal(t, 9, resultOf(b.Cmd, b.err).status)
		assert.Contains(t, b.output(), "caught")
	})
	t.Run("no parent of orphans", func(t *testing.T) {
		orphan, file := filepath.Join(t.TempDir(), "orphan"), filepath.Join(t.TempDir(), "parent")
		writeFile(t, orphan, `parent() { cut -d' ' -f4 /proc/$$/stat; }
			while [ "$(parent)" = "$1" ]; do sleep .01; done
			parent >"$2.new"; mv "$2.new" "$2"`, 0o600)
		r := runRetry(t, "file:/", "--", "sh", "-c", `
			sh -c 'sh "$0" $$ "$1" &' "$0" "$1"
			until [ -e "$1" ]; do sleep .01; done
			[ "$(cat "$1")" != $$ ] && echo free`, orphan, file)
		assert.Equal(t, "free\n", r.stdout, r.stderr)
	})
}

func TestOnFailure(t *testing.T) {
	for _, test := range []struct {
		name, flags, script string
		status              int
		says                string
	}{
		{"gave up", "-t 2", "exit 7", 7, "failed: 7 2\n"},
		{"not retried", "--stop-on 7", "exit 7", 7, "failed: 7 1\n"},
		{"timeout", "--timeout LIMIT -t 2", "sleep 100", 124, "failed: 124 2\n"},
		{"deadline", "--deadline LIMIT", "sleep 100", 124, "failed: 124 1\n"},
		{"before the first run", "--initial-delay 1h --deadline 50ms", "true", 124, "failed: 124 0\n"},
		{"a condition", "-t 2 --until-output x", "true", 1, "failed: 1 2\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			args := append(strings.Fields(test.flags), "--on-failure", "echo failed: $RETRY_LAST_EXIT $RETRY_ATTEMPTS; (setsid sleep 1000 &); exit 1", "--kill-after", "50ms", "sh", "-c", test.script)
			everywhere(t, args, func(t assert.TestingT, status int, output, _ string) {
				assert.Equal(t, test.status, status, output)
				assert.Contains(t, output, test.says)
				assert.Contains(t, output, "retry: --on-failure: exit 1\n")
			})
		})
	}
	everywhere(t, []string{"--on-failure", "echo failed", "true"}, func(t assert.TestingT, status int, output, _ string) {
		assert.Equal(t, 0, status)
		assert.Empty(t, output)
	})
	b := startRetry(t, "ready", "--on-failure", "echo failed", "sh", "-c", "echo ready; exec sleep 1000")
	b.signal(syscall.SIGTERM)
	assert.NotContains(t, b.end().stdout, "failed")
	k := openRetry(t, "--on-failure", "echo rea\"\"dy; exec sleep 1000", "false")
	k.expect("ready")
	eventually(t, "the keyboard", func() bool { return keyboardOf(k.Process.Pid) != "" })
	k.keys(ctrlC)
	assert.Equal(t, 130, k.end().status)
}

// TestDefaultWaits: the waits between three attempts last at least 1.5 s in total.
func TestDefaultWaits(t *testing.T) {
	c, err := parse(t, "", "true")
	require.NoError(t, err)
	plan := retryconfig.NewPlan(c.policy)
	assert.Equal(t, []time.Duration{500 * time.Millisecond, time.Second}, []time.Duration{plan.Retries[0].Min, plan.Retries[1].Min})
	assert.Equal(t, 3*time.Second, plan.Total.Max)
}
