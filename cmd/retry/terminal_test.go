//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type console struct {
	*exec.Cmd
	t    *testing.T
	tty  *os.File
	done chan struct{} // program and output have ended
	err  error

	mu   sync.Mutex
	text string
	seen int // length of the output that expect has consumed
}

func open(t *testing.T, c *exec.Cmd) *console {
	t.Helper()
	tty, err := pty.StartWithSize(c, &pty.Winsize{Rows: 24, Cols: 100})
	require.NoError(t, err)
	tty = interruptible(t, tty)
	k := &console{Cmd: c, t: t, tty: tty, done: make(chan struct{})}
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 4096)
		for {
			n, err := tty.Read(buf)
			k.mu.Lock()
			k.text += string(buf[:n])
			k.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	go func() {
		k.err = c.Wait()
		select {
		case <-read:
		case <-time.After(patience): // processes are left; the test will report them
		}
		close(k.done)
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		tty.Close()
		<-k.done
	})
	return k
}

// interruptible replaces f, which package pty has made blocking, with a non-blocking file,
// so that Close ends a Read.
func interruptible(t *testing.T, f *os.File) *os.File {
	t.Helper()
	fd, err := syscall.Dup(int(f.Fd()))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	syscall.CloseOnExec(fd)
	require.NoError(t, syscall.SetNonblock(fd, true))
	return os.NewFile(uintptr(fd), "pty")
}

func openRetry(t *testing.T, args ...string) *console {
	t.Helper()
	return open(t, newCommand(t, append([]string{"--base", "1ms"}, args...)...))
}

// openShell starts a shell with job control, in which $retry stands for retry.
func openShell(t *testing.T) *console {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("needs bash")
	}
	c := newCommand(t)
	c.Path, c.Args = bash, []string{"bash", "--norc", "--noprofile", "-i"}
	c.Env = append(c.Env, "PS1=prompt> ", "TERM=dumb", "retry="+os.Args[0]+" --base 1ms")
	k := open(t, c)
	k.expect("prompt> ")
	return k
}

func (k *console) keys(text string) {
	k.t.Helper()
	_, err := k.tty.WriteString(text)
	require.NoError(k.t, err)
}

const (
	ctrlC         = "\x03"
	ctrlZ         = "\x1a"
	ctrlBackslash = "\x1c"
)

// expect waits until text appears after the previously expected text.
func (k *console) expect(text string) {
	k.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		k.mu.Lock()
		rest := k.text[k.seen:]
		i := strings.Index(rest, text)
		if i >= 0 {
			k.seen += i + len(text)
		}
		k.mu.Unlock()
		if i >= 0 {
			return
		}
		if time.Now().After(end) {
			require.Fail(k.t, "not on the terminal", "%q is not in %q", text, rest)
		}
	}
}

// end waits until the program has ended, and checks that no process is left.
func (k *console) end() result {
	k.t.Helper()
	select {
	case <-k.done:
	case <-time.After(patience):
		require.Fail(k.t, "no end", "%q", k.text)
	}
	r := resultOf(k.Cmd, k.err)
	k.mu.Lock()
	defer k.mu.Unlock()
	r.stdout = k.text
	assert.Empty(k.t, leftovers(k.t), "processes are left")
	return r
}

func TestTerminal(t *testing.T) {
	t.Run("each attempt reads", func(t *testing.T) {
		k := openRetry(t, "sh", "-c", "[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && printf 'name? ' && read name && echo hello $name; [ $RETRY_ATTEMPT = 2 ]")
		for range 2 {
			k.expect("name? ")
			k.keys("world\n")
			k.expect("hello world")
		}
		assert.Equal(t, 0, k.end().status)
	})
	t.Run("a prompt on the terminal while input is a pipe", func(t *testing.T) {
		k := openShell(t)
		k.keys("echo data | $retry --stdin replay -- sh -c 'printf \"pass\"word: >/dev/tty; stty -echo </dev/tty; read p </dev/tty; stty echo </dev/tty; echo $p $(cat) $RETRY_ATTEMPT; [ $RETRY_ATTEMPT = 2 ]'\n")
		for i := range 2 {
			k.expect("password:")
			k.keys("secret\n")
			k.expect(fmt.Sprintf("secret data %d", i+1))
		}
		k.expect("prompt> ")
		k.keys("exit\n")
		assert.Equal(t, 0, k.end().status)
	})
	t.Run("a reader in the same pipeline", func(t *testing.T) {
		k := openShell(t)
		k.keys("$retry -- sh -c 'echo from retry' | sh -c 'cat; printf \"mo\"re? >/dev/tty; read x </dev/tty; echo got $x'\n")
		k.expect("more?")
		k.keys("yes\n")
		k.expect("got yes")
		k.expect("prompt> ")
		k.keys("exit\n")
		k.end()
	})
	t.Run("modes are restored after a timeout", func(t *testing.T) {
		k := openShell(t)
		k.keys("$retry -t 1 --timeout 200ms -- sh -c 'stty -echo raw; sleep 1000'; stty -a | grep -q ' icanon .* echo ' && echo so''und\n")
		k.expect("timeout of 200ms")
		k.expect("sound")
		k.expect("prompt> ")
		k.keys("exit\n")
		k.end()
	})
	t.Run("size", func(t *testing.T) {
		k := openRetry(t, "sh", "-c", "trap 'stty size; exit' WINCH; echo ready; while :; do sleep .01; done")
		k.expect("ready")
		require.NoError(t, pty.Setsize(k.tty, &pty.Winsize{Rows: 33, Cols: 77}))
		k.expect("33 77")
		assert.Equal(t, 0, k.end().status)
	})
}

func TestCtrlC(t *testing.T) {
	for _, test := range []struct {
		name  string
		flags string
		args  []string
		ready string
		keys  []string
		want  int
	}{
		{"command", "", []string{"sh", "-c", "echo ready; exec sleep 1000"}, "ready", []string{ctrlC}, 130},
		{"command, Ctrl-\\", "", []string{"sh", "-c", "ulimit -c 0; echo ready; exec sleep 1000"}, "ready", []string{ctrlBackslash}, 131},
		{"wait", "--rule constant --base 1h", []string{"false"}, "next in", []string{ctrlC}, 130},
		{"wait, Ctrl-\\", "--rule constant --base 1h", []string{"false"}, "next in", []string{ctrlBackslash}, 131},
		{"before a retry", "--before-retry", []string{"echo ready; exec sleep 1000", "false"}, "ready", []string{ctrlC}, 130},
		{"reading", "", []string{"sh", "-c", "echo ready; read x"}, "ready", []string{ctrlC}, 130},
		{"command that then exits", "", []string{"sh", "-c", "trap 'exit 1' INT; echo ready; while :; do sleep .01; done"}, "ready", []string{ctrlC}, 1},
		{"command that ignores it, then timeout", "--timeout 5s -t 1", []string{"sh", "-c", "trap '' INT; echo ready; exec sleep 1000"}, "ready", []string{ctrlC}, 124},
		{"command that ignores it, twice", "", []string{"sh", "-c", "trap 'echo got' INT; echo ready; while :; do sleep .01; done"}, "ready", []string{ctrlC, ctrlC}, 130},
		{"kept output", "--output last", []string{"sh", "-c", "echo ready >/dev/tty; exec sleep 1000"}, "ready", []string{ctrlC}, 130},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			k := openRetry(t, append(strings.Fields(test.flags), test.args...)...)
			k.expect(test.ready)
			last := ""
			for i, key := range test.keys {
				if i > 0 {
					k.expect("got")
				}
				// Until a new keyboard child runs, retry cannot notice the key.
				if test.ready == "ready" {
					next := ""
					eventually(t, "the keyboard", func() bool {
						next = keyboardOf(k.Process.Pid)
						return next != "" && next != last
					})
					last = next
				}
				k.keys(key)
			}
			r := k.end()
			assert.Equal(t, test.want, r.status, r.stdout)
			assert.NotContains(t, r.stdout, "attempt 2")
		})
	}
}

// keyboardOf returns the ID of the keyboard child of a process, or "".
func keyboardOf(pid int) string {
	out, _ := exec.Command("ps", "-o", "pid=,args=", "--ppid", strconv.Itoa(pid)).Output()
	for line := range strings.Lines(string(out)) {
		if id, args, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(args, keyboardName) {
			return id
		}
	}
	return ""
}

func TestCtrlCStopsTheScript(t *testing.T) {
	k := openShell(t)
	k.keys("for i in 1 2 3; do $retry -- sh -c \"echo r\"eady\"; exec sleep 1000\"; done; echo after $?\n")
	k.expect("ready")
	k.keys(ctrlC)
	k.expect("prompt> ")
	k.keys("echo next\n")
	k.expect("next\r\n")
	k.keys("exit 0\n")
	assert.Equal(t, 1, strings.Count(k.end().stdout, "ready\r"))
}

func TestJobControl(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script")
	writeFile(t, script, "trap 'echo continued' CONT; echo ready; until [ \"$x\" = three ]; do read x; echo read $x; done", 0o600)
	for _, flags := range []string{"", "--retry-on-output never"} {
		t.Run(flags, func(t *testing.T) {
			k := openShell(t)
			k.keys("$retry " + flags + " -- sh " + script + "\n")
			k.expect("ready")
			for _, word := range []string{"one", "two"} {
				k.keys(ctrlZ)
				k.expect("Stopped")
				k.expect("prompt> ")
				k.keys("echo sh'ell'\n")
				k.expect("shell")
				k.keys("fg\n")
				k.expect("continued")
				k.keys(word + "\n")
				k.expect("read " + word)
			}
			k.keys("three\n")
			k.expect("read three")
			k.expect("prompt> ")
			k.keys("echo status $?; exit\n")
			k.expect("status 0")
			k.end()
		})
	}
	t.Run("a background job that reads", func(t *testing.T) {
		k := openShell(t)
		k.keys("$retry -- sh -c 'read x; echo re\"\"ad $x' &\n")
		k.expect("prompt> ")
		eventually(t, "the job to stop", func() bool { // which the shell reports with the next prompt
			k.keys("\n")
			k.expect("prompt> ")
			k.mu.Lock()
			defer k.mu.Unlock()
			return strings.Contains(k.text, "Stopped")
		})
		k.keys("fg\n")
		k.expect("sh -c")
		k.keys("word\n")
		k.expect("read word")
		k.expect("prompt> ")
		k.keys("exit\n")
		k.end()
	})
	t.Run("Ctrl-Z during the wait", func(t *testing.T) {
		k := openShell(t)
		k.keys("$retry -t 2 --rule constant --base 5s -- false\n")
		k.expect("next in")
		k.keys(ctrlZ)
		k.expect("Stopped")
		k.keys("fg\n")
		k.expect("gave up")
		k.expect("prompt> ")
		k.keys("exit\n")
		k.end()
	})
	t.Run("bg during the wait", func(t *testing.T) {
		k := openShell(t)
		k.keys("$retry -t 2 --rule constant --base 5s -- false\n")
		k.expect("next in")
		k.keys(ctrlZ)
		k.expect("Stopped")
		k.expect("prompt> ")
		k.keys("bg\n")
		k.expect("prompt> ")
		k.expect("gave up")
		k.keys("\nexit\n")
		text := k.end().stdout
		_, text, _ = strings.Cut(text, "bg\r\n")
		assert.NotContains(t, text, "next in", "no countdown on the shell's line")
		assert.NotContains(t, text, "waited")
	})
	t.Run("a command that stops itself", func(t *testing.T) {
		k := openShell(t)
		k.keys("$retry -- sh -c 'kill -STOP $$; echo o\"\"n'\n")
		k.expect("Stopped")
		k.keys("fg\n")
		k.expect("on\r")
		k.expect("prompt> ")
		k.keys("exit\n")
		k.end()
	})
}

func TestHangup(t *testing.T) {
	k := openRetry(t, "--kill-after", "50ms", "sh", "-c", "trap '' HUP; echo ready; setsid sleep 1000 & sleep 1000")
	k.expect("ready")
	require.NoError(t, k.tty.Close())
	r := k.end()
	assert.Equal(t, 128+int(syscall.SIGHUP), r.status)
}

// TestStreamsOnTerminal: flags for streams work on a terminal as elsewhere.
func TestStreamsOnTerminal(t *testing.T) {
	for flags, want := range map[string]string{
		"--json /dev/stderr": `"type":"summary"`,
		"--json -":           `"type":"summary"`,
		"--output success":   "attempt 1",
		"--stdin replay":     "attempt 2",
		"--stdin none":       "attempt 2",
	} {
		k := openRetry(t, append(strings.Fields("-q "+flags), "sh", "-c", "echo attempt $RETRY_ATTEMPT; [ $RETRY_ATTEMPT = 2 ]")...)
		r := k.end()
		assert.Equal(t, 0, r.status, flags)
		assert.Contains(t, r.stdout, want, flags)
	}
	c := newCommand(t, "false")
	c.Env = append(c.Env, "RETRY_ATTEMPTS=2", "RETRY_BASE=1ms", "GITHUB_ACTIONS=true")
	r := open(t, c).end()
	assert.Equal(t, 1, r.status)
	assert.Contains(t, r.stdout, "::warning title=retry::attempt 1 of 2: exit 1; next in ")
}

// TestCountdown: waits are counted down in place on a terminal, and printed once
// elsewhere.
func TestCountdown(t *testing.T) {
	k := openRetry(t, "-t", "2", "--rule", "constant", "--base", "3s", "--deadline", "1h", "sh", "-c", "exit 7")
	r := k.end()
	assert.Equal(t, 7, r.status)
	lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
	require.Len(t, lines, 2, r.stdout)
	assert.Regexp(t, `^retry: attempt 1 of 2: exit 7; next in 3s, deadline in (1h0m0s|59m\d+s) *\r.*next in ([12](\.\d)?|\d+m)s.*\r.*; waited [\d.]+m?s *\r$`, lines[0])
	assert.Contains(t, lines[1], "attempt 2 of 2: exit 7; gave up")

	failure := "file:/no/such/" + strings.Repeat("ファイル/", 40)
	k = openRetry(t, "-t", "2", "--rule", "constant", "--base", "1s", failure)
	line, _, _ := strings.Cut(k.end().stdout, "\n")
	assert.Regexp(t, `^retry: attempt 1 of 2: stat /no/such/ファ.*\.\.\.; next in 1s\r.*; waited [\d.]+m?s$`, strings.TrimSpace(line))
	for part := range strings.SplitSeq(line, "\r") {
		assert.Less(t, cells(part), 100)
	}

	k = openRetry(t, "--rule", "constant", "--base", "1h", "false")
	k.expect("next in")
	k.keys(ctrlC)
	line, _, _ = strings.Cut(k.end().stdout, "\n")
	assert.Regexp(t, `; waited [\d.]+(µs|ms|s)$`, strings.TrimSpace(line))

	plain := finish(t, newCommand(t, "-t", "2", "--rule", "constant", "--base", "30ms", "sh", "-c", "exit 7"))
	assert.Regexp(t, `^retry: attempt 1 of 2: exit 7; next in 30ms\nretry: attempt 2 of 2: exit 7; gave up after \S+\n$`, plain.stderr)
}
