//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestForward(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGCONT} {
		t.Run(signalName(sig), func(t *testing.T) {
			t.Parallel()
			name := strings.TrimPrefix(signalName(sig), "SIG")
			b := startRetry(t, "ready", "sh", "-c", fmt.Sprintf("trap 'echo got; exit 0' %s; echo ready; while :; do sleep .01; done", name))
			b.signal(sig)
			b.expect("got")
			assert.Equal(t, 0, b.end().status)
		})
	}
}

// TestHandled: if the command handles the signal, retry exits with the command's status
// and does not retry.
func TestHandled(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		for _, status := range []int{0, 42} {
			t.Run(fmt.Sprintf("%s %d", signalName(sig), status), func(t *testing.T) {
				t.Parallel()
				name := strings.TrimPrefix(signalName(sig), "SIG")
				b := startRetry(t, "ready", "-v", "sh", "-c", fmt.Sprintf("trap 'exit %d' %s; echo ready; while :; do sleep .01; done", status, name))
				b.signal(sig)
				r := b.end()
				assert.Equal(t, status, r.status)
				assert.NotContains(t, r.stdout, "attempt 2")
			})
		}
	}
}

func TestSignalStates(t *testing.T) {
	stubborn := "trap 'echo got' TERM INT HUP QUIT; echo ready; while :; do sleep .01; done"
	hour := []string{"--rule", "constant", "--base", "1h", "--kill-after", "1h"}
	for _, test := range []struct {
		name  string
		flags []string
		ready string
		args  []string
		twice bool // the first signal does not end the command
	}{
		{"while the command runs", hour, "ready", []string{"sh", "-c", "echo ready; exec sleep 1000"}, false},
		{"during the wait", hour, "next in", []string{"false"}, false},
		{"while the command does not end", hour, "ready", []string{"sh", "-c", stubborn}, true},
		{"while a timeout ends the command", append(hour, "--timeout", "5s"), "got", []string{"sh", "-c", stubborn}, true},
		{"while the rest of a failed attempt ends", hour, "got", []string{"sh", "-c", "f=$(mktemp -u); (trap 'echo got' TERM INT HUP QUIT; : >$f; while :; do sleep .01; done) & until [ -e $f ]; do sleep .01; done; exit 1"}, true},
		{"before a retry", []string{"--rule", "no-delay", "--kill-after", "1h", "--before-retry", "echo ready; exec sleep 1000"}, "ready", []string{"false"}, false},
		{"before a retry that does not end", []string{"--rule", "no-delay", "--kill-after", "1h", "--before-retry", stubborn}, "ready", []string{"false"}, true},
		{"while waiting for input", append(hour, "--stdin", "replay"), "ready", []string{"sh", "-c", "echo ready; exec cat"}, false},
	} {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			t.Run(test.name+" "+signalName(sig), func(t *testing.T) {
				t.Parallel()
				b := &background{Cmd: newCommand(t, slices.Concat([]string{"-v"}, test.flags, test.args)...), t: t, done: make(chan struct{})}
				in, err := b.StdinPipe() // stays open
				assert.NoError(t, err)
				defer in.Close()
				b.begin(test.ready)
				b.signal(sig)
				if test.twice {
					b.expect("ending the command with " + signalName(sig))
					b.signal(syscall.SIGINT)
				}
				r := b.end()
				assert.Equal(t, 128+int(sig), r.status, r.stdout)
				assert.NotContains(t, r.stdout, "attempt 2")
			})
		}
	}
}

// TestIgnored: signals that the caller of retry ignores stay ignored, in the command
// too.
func TestIgnored(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sent")
	b := startShell(t, "ready", "trap '' HUP INT; exec %s --base 1ms -- sh -c 'echo ready; until [ -e "+file+" ]; do sleep .01; done; echo end'")
	b.signal(syscall.SIGHUP)
	b.signal(syscall.SIGINT)
	writeFile(t, file, "", 0o600)
	r := b.end()
	assert.Equal(t, 0, r.status)
	assert.Contains(t, r.stdout, "end")
}

// TestStop: TSTP stops the command and retry, and CONT continues both.
func TestStop(t *testing.T) {
	script := "while :; do echo tick; sleep .01; done"
	b := &background{Cmd: newCommand(t, "sh", "-c", script), t: t, done: make(chan struct{})}
	b.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // SIGTSTP can stop a group whose leader's parent is outside the group
	b.begin("tick")
	b.signal(syscall.SIGTSTP)
	eventually(t, "retry to stop", func() bool { return state(b.Process.Pid) == "T" })
	before := b.output()
	b.signal(syscall.SIGCONT)
	eventually(t, "the command to continue", func() bool { return len(b.output()) > len(before) })
	b.signal(syscall.SIGTERM)
	assert.Equal(t, 143, b.end().status)

	b = &background{Cmd: newCommand(t, "sh", "-c", script), t: t, done: make(chan struct{})}
	b.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	b.begin("tick")
	b.signal(syscall.SIGTSTP) // does not stop retry in an orphaned group, so the command continues too
	time.Sleep(2 * orphaned)
	before = b.output()
	eventually(t, "the command to continue", func() bool { return len(b.output()) > len(before) })
	b.signal(syscall.SIGTERM)
	assert.Equal(t, 143, b.end().status)
}

func TestUnder(t *testing.T) {
	for _, test := range []struct {
		name, line string
		status     int
	}{
		{"timeout", "timeout .1 %s -- sh -c 'setsid sleep 1000 & sleep 1000'", 124},
		{"nohup", "nohup %s -t 2 --base 1ms -- sh -c 'setsid sleep 1000 & exit 7'", 7},
		{"setsid", "setsid -w %s -t 2 --base 1ms -- sh -c 'sleep 1000 & exit 7'", 7},
		{"cron", "env -i " + asRetry + "=1 " + token + "=$" + token + " PATH=/usr/bin:/bin setsid -w %s -t 2 --base 1ms -- sh -c 'sleep 1000 & exit 7' </dev/null", 7},
		{"closed files", "%s -t 2 --base 1ms -- sh -c 'exit 7' <&- >&- 2>&-", 7},
		{"another retry", "%[1]s -q --base 1ms -t 2 -- %[1]s -q --base 1ms -t 2 -- sh -c 'setsid sleep 1000 & exit 7'", 7},
	} {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, test.status, runPipeline(t, test.line).status)
		})
	}
}

// TestStuckOutput: a signal ends retry, too, if nobody reads its output.
func TestStuckOutput(t *testing.T) {
	for name, args := range map[string][]string{
		"while the command runs": {"--retry-on-output", "x", "--", "sh", "-c", "yes & echo ready >&2; exec yes"},
		"after the command":      {"--output", "last", "--", "sh", "-c", "seq 100000; echo ready >&2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read, write, err := os.Pipe()
			require.NoError(t, err)
			defer read.Close()
			defer write.Close()
			c := newCommand(t, append([]string{"--kill-after", "100ms"}, args...)...)
			c.Stdout = write
			var stderr background
			c.Stderr = &stderr
			c.WaitDelay = patience
			require.NoError(t, c.Start())
			full := func() bool { // its capacity is 64 KiB
				n, _ := unix.IoctlGetInt(int(read.Fd()), unix.TIOCINQ)
				return n >= 60<<10
			}
			eventually(t, "a full pipe", full)
			require.NoError(t, c.Process.Signal(syscall.SIGTERM))
			timer := time.AfterFunc(patience, func() { _ = c.Process.Kill() })
			defer timer.Stop()
			assert.Equal(t, syscall.SIGTERM, resultOf(c, c.Wait()).signal)
			eventually(t, "the end of all", func() bool { return len(leftovers(t)) == 0 })
		})
	}
}
