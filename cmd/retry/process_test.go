//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// trees contains commands that do not end on their own, or that leave behind processes that
// do not end. They print "ready" when all their processes have started.
var trees = []struct{ name, script string }{
	{"one process", "echo ready; exec sleep 1000"},
	{"ignores TERM", "trap '' TERM INT HUP QUIT; echo ready; while :; do sleep .1; done"},
	{"children and grandchildren", "sh -c 'sleep 1000 & sleep 1000 & wait' & sleep 1000 & echo ready; wait"},
	{"leader exits", "sleep 1000 & sleep 1000 & echo ready; exit 1"},
	{"leader exits, the rest ignores TERM", "trap '' TERM INT HUP QUIT; sleep 1000 & sleep 1000 & echo ready; exit 1"},
	{"double fork", "(sh -c 'sleep 1000 & exit 0' &); echo ready; exec sleep 1000"},
	{"double fork and leader exits", "(sh -c 'sleep 1000 & exit 0' &); echo ready; exit 1"},
	{"own session", "setsid sh -c 'sleep 1000 & sleep 1000' & echo ready; exec sleep 1000"},
	{"own session, double fork, ignores TERM", "trap '' TERM INT HUP QUIT; setsid sh -c '(sleep 1000 &)' & sleep .05; echo ready; exit 1"},
	{"own process groups", "set -m; sleep 1000 & sleep 1000 & echo ready; exec sleep 1000"},
	{"stops itself", "echo ready; kill -STOP $$"},
	{"stops itself, ignores TERM", "trap '' TERM INT HUP QUIT; echo ready; kill -STOP $$; exec sleep 1000"},
	{"closes its outputs", "echo ready; exec >&- 2>&-; exec sleep 1000"},
	{"forks again when asked to end", "trap '(sleep 1000 &)' TERM INT HUP QUIT; echo ready; while :; do sleep .01; done"},
}

func TestTreeAfterFailure(t *testing.T) {
	for _, tree := range trees {
		for _, flags := range []string{"", "--output last"} {
			t.Run(tree.name+flags, func(t *testing.T) {
				t.Parallel()
				args := append(strings.Fields(flags), "-t", "2", "--timeout", "200ms", "--kill-after", "50ms", "sh", "-c", tree.script)
				r := runRetry(t, args...)
				assert.Contains(t, []int{1, exitTimeout}, r.status, r.stderr)
				assert.Contains(t, r.stderr, "attempt 2 of 2")
			})
		}
	}
}

func TestTreeAfterSignal(t *testing.T) {
	for _, tree := range trees {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT} {
			t.Run(fmt.Sprintf("%s, %s", tree.name, signalName(sig)), func(t *testing.T) {
				t.Parallel()
				b := startRetry(t, "ready", "--rule", "constant", "--base", "1h", "--kill-after", "50ms", "sh", "-c", tree.script)
				b.signal(sig)
				r := b.end()
				if strings.HasSuffix(tree.script, "exit 1") && r.status == 1 {
					return // the command ended on its own at the same moment
				}
				assert.Equal(t, 128+int(sig), r.status, r.stdout)
				assert.Equal(t, 0, strings.Count(r.stdout, "attempt 2"), r.stdout)
			})
		}
	}
}

// TestProcessesLeft: a command that became another user cannot be ended. It is not started a
// second time beside the first, and the deadline is kept.
func TestProcessesLeft(t *testing.T) {
	setpriv, err := exec.LookPath("setpriv")
	if os.Getuid() != 0 || err != nil {
		t.Skip("only root can start a process of another user, with setpriv")
	}
	for name, script := range map[string]string{
		"the command":         "exec setpriv --reuid 65534 --clear-groups sleep 1000",
		"a child, which ends": "setpriv --reuid 65534 --clear-groups sleep 1000 & sleep .2; exit 7",
	} {
		for _, flags := range []string{"--timeout 300ms --deadline 600ms", "--timeout 300ms --deadline 10m --output last", "--deadline 300ms"} {
			t.Run(name+" "+flags, func(t *testing.T) {
				t.Parallel()
				args := append([]string{"--base", "1ms"}, strings.Fields(flags)...)
				c := newCommand(t, append(args, "sh", "-c", script)...)
				// Without CAP_KILL, root signals only its own processes, as others do.
				c.Args = append([]string{"setpriv", "--bounding-set", "-kill"}, append([]string{os.Args[0]}, c.Args[1:]...)...)
				c.Path = setpriv
				stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr")) // not a pipe, which the process that is left would hold
				require.NoError(t, err)
				defer stderr.Close()
				c.Stderr = stderr
				_ = c.Run()
				data, err := os.ReadFile(stderr.Name())
				require.NoError(t, err)
				said := string(data)
				_, pid, found := strings.Cut(said, "processes left: could not end ")
				require.True(t, found, said)
				pid, _, _ = strings.Cut(pid, ";")
				number, err := strconv.Atoi(pid)
				require.NoError(t, err)
				require.NoError(t, syscall.Kill(number, syscall.SIGKILL))
				assert.Contains(t, said, "attempt 1 of 3")
				assert.NotContains(t, said, "attempt 2")
			})
		}
	}
}

// TestBetweenAttempts: no process of an earlier attempt is left when an attempt
// begins.
func TestBetweenAttempts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	r := runRetry(t, "--kill-after", "50ms", "-t", "3", "sh", "-c", `
		if [ -f "$0" ] && kill -0 $(cat "$0"); then exit 77; fi
		trap "" TERM; setsid sleep 1000 & echo $! >"$0"; exit 1`, file)
	assert.Equal(t, 1, r.status, r.stderr)
}

func TestBackgroundStays(t *testing.T) {
	for _, flags := range []string{"", "--output last"} {
		t.Run(flags, func(t *testing.T) {
			start := time.Now()
			r := runRetry(t, append(strings.Fields(flags), "sh", "-c", "echo said; exec >/dev/null 2>&1; sleep 1000 & (setsid sleep 1000 &) ; exit 0")...)
			assert.Equal(t, 0, r.status)
			assert.Equal(t, "said\n", r.stdout)
			assert.Less(t, time.Since(start), patience)
			eventually(t, "the two that stay", func() bool { return len(leftovers(t)) >= 2 })
			left := leftovers(t)
			assert.Len(t, left, 2)
			for _, line := range left {
				pid, _, _ := strings.Cut(line, " ")
				require.NoError(t, exec.Command("kill", "-KILL", pid).Run())
			}
		})
	}
}

// TestOthersAreSpared: children that retry inherits through exec, and processes that a
// successful --before-retry command leaves behind, are not ended.
func TestOthersAreSpared(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pids")
	script := fmt.Sprintf(`sleep 1000 & echo $! >%[2]s
		exec %[1]s --base 1ms --kill-after 50ms --before-retry 'setsid sleep 1000 & echo $! >>%[2]s' -t 3 -- sh -c 'setsid sleep 1001 & exit 1'`, os.Args[0], file)
	c := newCommand(t)
	c.Path, c.Args = "/bin/sh", []string{"sh", "-c", script}
	err := c.Run()
	assert.Equal(t, 1, resultOf(c, err).status)
	eventually(t, "the three that stay", func() bool { return len(leftovers(t)) >= 3 })
	var left []string
	for _, line := range leftovers(t) {
		assert.Contains(t, line, "sleep 1000")
		pid, _, _ := strings.Cut(line, " ")
		left = append(left, pid)
		assert.NoError(t, exec.Command("kill", "-KILL", pid).Run())
	}
	pids, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.ElementsMatch(t, strings.Fields(string(pids)), left)
	assert.Len(t, left, 3)
}

func TestKilled(t *testing.T) {
	b := startRetry(t, "ready", "sh", "-c", "echo ready; exec sleep 1000")
	b.signal(syscall.SIGKILL)
	<-b.done
	eventually(t, "the end of the command", func() bool { return len(leftovers(t)) == 0 })
}

func needsNamespaces(t *testing.T) {
	t.Helper()
	probe := exec.Command("true")
	probe.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
	if probe.Run() != nil {
		t.Skip("needs permission to create a PID namespace")
	}
}

// inNamespace runs a script in a new PID namespace that sees the /proc of the outer one, as
// unshare --fork --pid does.
func inNamespace(t *testing.T, script string, args ...string) result {
	t.Helper()
	c := newCommand(t)
	c.Path, c.Args = "/bin/sh", append([]string{"sh", "-c", script, os.Args[0]}, args...)
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	return finish(t, c)
}

// TestForeignProc: in a PID namespace that sees another one's /proc, retry ends the
// command's process group, and no process whose number it has read there.
func TestForeignProc(t *testing.T) {
	needsNamespaces(t)
	const flags = " -t 2 --base 1ms --timeout 200ms --kill-after 50ms -- sh -c "
	for _, test := range []struct{ name, start string }{{"PID 1", "exec "}, {"not PID 1", ""}} {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			r := inNamespace(t, test.start+`"$0"`+flags+`'
				if [ -f "$0" ] && kill -0 $(cat "$0"); then exit 77; fi
				trap "" TERM; echo $$ >"$0"; sleep 1000 & wait' "$1"`, file)
			assert.Equal(t, exitTimeout, r.status, r.stderr)
			assert.Contains(t, r.stderr, "attempt 2 of 2: ended by the timeout of 200ms")
		})
	}
	t.Run("a number of another process", func(t *testing.T) {
		const last = "/proc/sys/kernel/ns_last_pid" // the next process gets the next number
		// In the outer namespace, this test has the number of retry, and its child has
		// that of the bystander.
		r := inNamespace(t, `
			read outer rest </proc/self/stat
			echo $((outer - 1)) >`+last+` || exit 99
			sleep 1000 &
			bystander=$!
			echo $(($1 - 1)) >`+last+`
			"$0"`+flags+`'sleep 1000' &
			echo $bystander = $outer, $! = $1
			wait $!
			kill -0 $bystander && echo spared`, strconv.Itoa(os.Getpid()))
		if r.status == 99 {
			t.Skip("needs a kernel with ns_last_pid, to choose the number of a process")
		}
		numbers, spared, _ := strings.Cut(r.stdout, "\n")
		for pair := range strings.SplitSeq(numbers, ", ") {
			inner, outer, _ := strings.Cut(pair, " = ")
			require.Equal(t, outer, inner)
		}
		assert.Equal(t, "spared\n", spared, r.stderr)
	})
}

func TestIsOwn(t *testing.T) {
	for _, test := range []struct {
		name, status string
		want         bool
	}{
		{"own namespace", "Name:\tretry\nPid:\t7\nPPid:\t1\nNSpid:\t7\n", true},
		{"outer namespace", "Name:\tretry\nPid:\t4711\nPPid:\t4710\nNSpid:\t4711\t7\n", false},
		{"outer namespace, same number", "Name:\tretry\nPid:\t7\nPPid:\t6\nNSpid:\t7\t7\n", false},
		{"old kernel, own namespace", "Name:\tretry\nPid:\t7\nPPid:\t1\n", true},
		{"old kernel, outer namespace", "Name:\tretry\nPid:\t4711\nPPid:\t7\n", false},
		{"a name like a field", "Name:\tPid:\t7\nPid:\t4711\nNSpid:\t4711\t7\n", false},
		{"not mounted", "", false},
	} {
		t.Run(test.name, func(t *testing.T) { assert.Equal(t, test.want, isOwn([]byte(test.status), 7)) })
	}
	status, err := os.ReadFile("/proc/self/status")
	require.NoError(t, err)
	assert.True(t, isOwn(status, os.Getpid()), "%s", status)
}

// TestWithoutProc: without a usable /proc, signals go to the process group.
func TestWithoutProc(t *testing.T) {
	c := newCommand(t)
	c.Path, c.Args = "/bin/sh", []string{"sh", "-c", "setsid sleep 1000 & sleep 1001 & wait"}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, c.Start())
	asleep := func(line string) bool { return strings.HasSuffix(line, " sleep 1000 ") } // setsid has become sleep
	eventually(t, "setsid", func() bool { return slices.ContainsFunc(leftovers(t), asleep) })
	p := &process{ps: &processes{}, pid: c.Process.Pid}
	p.signalTree(syscall.SIGKILL)
	assert.Error(t, c.Wait())
	eventually(t, "the end of the group", func() bool { return len(leftovers(t)) == 1 })
	pid, _, _ := strings.Cut(leftovers(t)[0], " ")
	assert.True(t, asleep(leftovers(t)[0]))
	assert.NoError(t, exec.Command("kill", "-KILL", pid).Run())
}

// TestNoProc: without /proc, retry says once what it cannot do.
func TestNoProc(t *testing.T) {
	needsNamespaces(t)
	const strays, input = "cannot end processes that have left the command's process group", "cannot see whether the command has read piped input"
	const leave = `rm -f "$0"; setsid sh -c 'echo >"$0"; exec sleep 1' "$0" & until [ -e "$0" ]; do sleep .01; done; `
	for _, test := range []struct {
		name, flags, script string
		strays, input       int // how often it is said
	}{
		{"nothing to say", "", "sleep 1000 & exit 3", 0, 0},
		{"a process that leaves the group", "", leave + "exit 3", 1, 0},
		{"one that a hook has left", "--before-retry 'setsid sleep 1 &'", "exit 3", 0, 0},
		{"input", "--stdin auto", "exit 3", 0, 1},
		{"input that is passed on", "--stdin pass", "exit 3", 0, 0},
		{"quiet", "--stdin auto -q", leave + "exit 3", 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCommand(t)
			c.Path = "/bin/sh"
			c.Args = []string{"sh", "-c", "mount -t tmpfs none /proc && exec \"$0\" --base 1ms --kill-after 50ms " + test.flags + ` -- sh -c "$1" "$2"`, os.Args[0], test.script, filepath.Join(t.TempDir(), "left")}
			c.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
			if strings.Contains(test.flags, "--stdin") {
				c.Stdin = strings.NewReader("text")
			}
			var stderr strings.Builder
			c.Stderr = &stderr
			err := c.Run()
			assert.Equal(t, 3, resultOf(c, err).status, stderr.String())
			assert.Equal(t, test.strays, strings.Count(stderr.String(), strays), stderr.String())
			assert.Equal(t, test.input, strings.Count(stderr.String(), input), stderr.String())
			eventually(t, "the processes that have left the group", func() bool { return len(leftovers(t)) == 0 })
		})
	}
}

// TestPID1: as PID 1, retry reaps orphans, passes signals on and exits with a status,
// because the kernel does not let a signal end PID 1.
func TestPID1(t *testing.T) {
	unshare := func(b *background) {
		b.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
	}
	needsNamespaces(t)
	retry := func(args string) string { return fmt.Sprintf("mount -t proc proc /proc; exec %s %s", os.Args[0], args) }
	start := func(t *testing.T, ready, script string) *background {
		t.Helper()
		b := &background{Cmd: newCommand(t), t: t, done: make(chan struct{})}
		b.Path, b.Args = "/bin/sh", []string{"sh", "-c", script}
		unshare(b)
		b.begin(ready)
		return b
	}
	t.Run("reaps", func(t *testing.T) {
		b := start(t, "no zombies", retry(`-- sh -c '(true & true & true &); while cat /proc/[0-9]*/stat | grep -q ") Z "; do sleep .01; done; echo no zombies'`))
		assert.Equal(t, 0, b.end().status)
	})
	t.Run("status", func(t *testing.T) {
		b := start(t, "", retry("-t 2 --base 1ms -- sh -c 'setsid sleep 1000 & exit 42'"))
		assert.Equal(t, 42, b.end().status)
	})
	t.Run("signal", func(t *testing.T) {
		b := start(t, "ready", retry("-- sh -c 'echo ready; exec sleep 1000'"))
		b.signal(syscall.SIGTERM)
		r := b.end()
		assert.Equal(t, 143, r.status)
		assert.Zero(t, r.signal)
	})
}
