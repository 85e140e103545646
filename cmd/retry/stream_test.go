//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func zeros(n int64) io.Reader { return io.LimitReader(devZero{}, n) }

type devZero struct{}

func (devZero) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// builtRetry builds the command as released, to measure its size and memory.
var builtRetry = sync.OnceValues(func() (string, error) {
	file := filepath.Join(scratch, "retry")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", file, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return file, nil
})

func installed(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	file, err := builtRetry()
	require.NoError(t, err)
	c := newCommand(t, args...)
	c.Path = file
	return c
}

// BenchmarkStart measures the overhead of retry for a command that succeeds at once.
func BenchmarkStart(b *testing.B) {
	file, err := builtRetry()
	require.NoError(b, err)
	for _, args := range [][]string{{"true"}, {file, "--", "true"}} {
		b.Run(filepath.Base(args[0]), func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, exec.Command(args[0], args[1:]...).Run())
			}
		})
	}
}

func TestStdin(t *testing.T) {
	text := strings.Repeat("line of input\n", 1<<18) // more than is kept in memory
	file := filepath.Join(t.TempDir(), "input")
	writeFile(t, file, "skipped\n"+text, 0o600)
	sum := "cksum; [ $RETRY_ATTEMPT = 3 ]"
	var sums bytes.Buffer
	expected := exec.Command("cksum")
	expected.Stdin, expected.Stdout = strings.NewReader(text), &sums
	require.NoError(t, expected.Run())

	for _, test := range []struct {
		name, flags, script string
		stdin               func() io.Reader
		want                string
	}{
		{name: "pipe", flags: "--stdin replay", script: sum, stdin: func() io.Reader { return strings.NewReader(text) }, want: strings.Repeat(sums.String(), 3)},
		{name: "file, from its position", script: sum, stdin: func() io.Reader {
			f, err := os.Open(file)
			require.NoError(t, err)
			_, err = f.Seek(8, io.SeekStart)
			require.NoError(t, err)
			t.Cleanup(func() { f.Close() })
			return f
		}, want: strings.Repeat(sums.String(), 3)},
		{name: "attempts that read a part", flags: "--stdin replay", script: "head -c $RETRY_ATTEMPT; [ $RETRY_ATTEMPT = 3 ]", stdin: func() io.Reader { return strings.NewReader("abc") }, want: "aababc"},
		{name: "empty", script: "wc -c; [ $RETRY_ATTEMPT = 2 ]", stdin: func() io.Reader { return strings.NewReader("") }, want: "0\n0\n"},
		{name: "pass", flags: "--stdin pass", script: "read x; echo $x; [ $RETRY_ATTEMPT = 1 ] && exit 1; cat", stdin: func() io.Reader {
			f, err := os.Open(file)
			require.NoError(t, err)
			t.Cleanup(func() { f.Close() })
			return f
		}, want: "skipped\nline of input\n" + text[14:]},
		{name: "none", flags: "--stdin none", script: "cat; [ $RETRY_ATTEMPT = 2 ]", stdin: func() io.Reader { return strings.NewReader("abc") }, want: ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCommand(t, append(append([]string{"--base", "1ms"}, strings.Fields(test.flags)...), "sh", "-c", test.script)...)
			c.Stdin = test.stdin()
			r := finish(t, c)
			assert.Equal(t, 0, r.status, r.stderr)
			assert.Equal(t, test.want, r.stdout)
		})
	}
}

// TestWhileRead: retry leaves piped input that its commands do not read to others, and does
// not retry a command that has read from it.
func TestWhileRead(t *testing.T) {
	r := runPipeline(t, `printf '1\n2\n3\n' | while read x; do %s --base 1ms -- sh -c "echo $x; [ \$RETRY_ATTEMPT = 2 ]"; done`)
	assert.Equal(t, "1\n1\n2\n2\n3\n3\n", r.stdout)
	for flags, want := range map[string]string{"": "1\n", "--stdin replay": "1\n1\n1\n", "--stdin pass": "1\n2\n3\n", "--stdin none": "\n\n\n"} {
		r = runPipeline(t, "printf '1\n2\n3\n' | %s --base 1ms "+flags+" -- sh -c 'read x; echo $x; exit 1'")
		assert.Equal(t, want, r.stdout, flags)
		assert.Equal(t, flags == "", strings.Contains(r.stderr, "it has read piped input; see --stdin replay; not retried"), r.stderr)
	}
}

// TestEndlessStdin: retry reads no more input than the commands do.
func TestEndlessStdin(t *testing.T) {
	r := runPipeline(t, "yes | %s --stdin replay --base 1ms -- sh -c 'head -c 4; [ $RETRY_ATTEMPT = 3 ]'")
	assert.Equal(t, "y\ny\ny\ny\ny\ny\n", r.stdout)
	assert.Equal(t, 0, r.status)
}

// runPipeline runs a shell command in which %s stands for retry.
func runPipeline(t *testing.T, line string) result {
	t.Helper()
	c := newCommand(t)
	c.Path, c.Args = "/bin/sh", []string{"sh", "-c", fmt.Sprintf(line, os.Args[0])}
	return finish(t, c)
}

// TestPipedOutput: a command that reads the output does not get a part of it before the whole,
// unless --output asks for that.
func TestPipedOutput(t *testing.T) {
	for _, tool := range []string{"tar", "jq", "sqlite3", "tee"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("no " + tool)
		}
	}
	for name, tt := range map[string]struct {
		part, whole string // what the failing and the succeeding run do
		consumer    string
		want        string // with --output success
	}{
		"tar":     {"tar c file | head -c 600", "tar c file", "tar tf - && echo complete", "file\ncomplete\n"},
		"jq":      {`echo '{"a": 1}'; echo '{"a":'`, `echo '{"a": 1}'`, "jq -c .a", "1\n"},
		"sqlite3": {"echo 'create table t(n); insert into t values(1);'", "echo 'create table t(n); insert into t values(1); select n from t;'", "sqlite3 -bail :memory:", "1\n"},
		"tee":     {"echo part", "echo whole", "tee log", "whole\n"},
	} {
		for _, flags := range []string{"", "--output success", "--output pass"} {
			t.Run(name+" "+flags, func(t *testing.T) {
				dir := t.TempDir()
				require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), []byte(strings.Repeat("x", 9000)), 0o600))
				script := fmt.Sprintf("echo >>runs; if [ $(wc -l <runs) = 2 ]; then %s; else %s; exit 1; fi", tt.whole, tt.part)
				require.NoError(t, os.WriteFile(filepath.Join(dir, "produce"), []byte(script), 0o600))
				c := newCommand(t)
				c.Dir = dir
				c.Path, c.Args = "/bin/sh", []string{"sh", "-c", fmt.Sprintf("%s --base 1ms %s sh ./produce | { %s; }", os.Args[0], flags, tt.consumer)}
				r := finish(t, c)
				runs, err := os.ReadFile(filepath.Join(dir, "runs"))
				require.NoError(t, err)
				switch flags {
				case "":
					assert.Contains(t, r.stderr, "another command has its output; see --output success; not retried")
					assert.Len(t, runs, 1)
				case "--output success":
					assert.Equal(t, tt.want, r.stdout)
					fallthrough
				default:
					assert.Len(t, runs, 2)
				}
			})
		}
	}
	// What people read, and what conditions poll for, goes on.
	for name, line := range map[string]string{
		"standard error through the same pipe": "%s --base 1ms sh -c 'echo part; exit 1' 2>&1 | cat",
		"a condition":                          "%s --base 1ms --until-output done sh -c 'echo waiting' | cat >&2",
		"read by what retry descends from":     "%s --base 1ms sh -c 'echo part >&2; echo part; exit 1'",
	} {
		r := runPipeline(t, line)
		assert.Contains(t, r.stdout+r.stderr, "attempt 3 of 3", name)
	}
}

// peak is a command that prints the peak memory of retry in kB.
const peak = "awk '/VmHWM/ { print $2 }' /proc/$PPID/status"

func TestStdinMemory(t *testing.T) {
	const size = 300e6
	c := installed(t, "-q", "--stdin", "replay", "--base", "1ms", "-t", "2", "sh", "-c", "wc -c; "+peak+" >&2; exit 1")
	c.Stdin = zeros(size)
	r := finish(t, c)
	assert.Equal(t, strings.Repeat(strconv.Itoa(size)+"\n", 2), r.stdout)
	checkPeaks(t, r.stderr, 2)
}

func checkPeaks(t *testing.T, text string, n int) {
	t.Helper()
	peaks := strings.Fields(text)
	require.Len(t, peaks, n)
	for _, p := range peaks {
		kB, err := strconv.Atoi(p)
		require.NoError(t, err)
		assert.Less(t, kB, 100_000)
	}
	t.Log(peaks, "kB")
}

// TestFlood: a gigabyte of output needs little memory in every mode.
func TestFlood(t *testing.T) {
	if testing.Short() {
		t.Skip("writes gigabytes")
	}
	const size = 1 << 30
	for _, flags := range []string{"", "--retry-on-output nothing", "--output last"} {
		t.Run(flags, func(t *testing.T) {
			c := installed(t, append(strings.Fields(flags), "-t", "1", "sh", "-c", fmt.Sprintf("head -c %d /dev/zero; %s >&2", size, peak))...)
			got := new(counter)
			c.Stdout = got
			r := finish(t, c)
			assert.Equal(t, 0, r.status, r.stderr)
			assert.Equal(t, int64(size), got.n)
			checkPeaks(t, r.stderr, 1)
		})
	}
}

type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

func TestOutput(t *testing.T) {
	script := "echo out $RETRY_ATTEMPT; echo err $RETRY_ATTEMPT >&2; [ $RETRY_ATTEMPT = 3 ]"
	r := runRetry(t, "-q", "sh", "-c", script)
	assert.Equal(t, "out 1\nout 2\nout 3\n", r.stdout)
	assert.Equal(t, "err 1\nerr 2\nerr 3\n", r.stderr)
	r = runRetry(t, "-q", "--output", "last", "sh", "-c", script)
	assert.Equal(t, "out 3\n", r.stdout)
	assert.Equal(t, "err 3\n", r.stderr)
	r = runRetry(t, "-q", "--output", "last", "-t", "2", "sh", "-c", script)
	assert.Equal(t, "out 2\n", r.stdout, "all have failed")

	r = runRetry(t, "-q", "--output", "success", "sh", "-c", script)
	assert.Equal(t, "out 3\n", r.stdout)
	assert.ElementsMatch(t, strings.Fields("out 1 err 1 out 2 err 2 err 3"), strings.Fields(r.stderr))
	r = runRetry(t, "-q", "--output", "success", "-t", "2", "sh", "-c", script)
	assert.Empty(t, r.stdout)
	assert.ElementsMatch(t, strings.Fields("out 1 err 1 out 2 err 2"), strings.Fields(r.stderr))

	var ordered string
	for _, pause := range []string{".02", ".2", "2"} { // on a busy machine, two writes may be read together
		both := newCommand(t, "--output", "last", "sh", "-c", "for i in 1 2 3; do echo out $i; sleep "+pause+"; echo err $i >&2; sleep "+pause+"; done")
		file, err := os.Create(filepath.Join(t.TempDir(), "both"))
		require.NoError(t, err)
		defer file.Close()
		both.Stdout, both.Stderr = file, file
		finish(t, both)
		data, err := os.ReadFile(file.Name())
		require.NoError(t, err)
		ordered = string(data)
		if ordered == "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n" {
			break
		}
	}
	assert.Equal(t, "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n", ordered, "the order is kept")

	large := runRetry(t, "-q", "--output", "last", "sh", "-c", "seq 300000; [ $RETRY_ATTEMPT = 2 ]")
	assert.Equal(t, 300000, strings.Count(large.stdout, "\n"))
	assert.True(t, strings.HasSuffix(large.stdout, "\n300000\n"))

	b := startRetry(t, "now", "--retry-on-output", "never", "sh", "-c", "printf now; exec sleep 1000")
	b.signal(syscall.SIGTERM) // searched output is passed on at once
	b.end()
}

// TestOutputOfFailedRun: if a failed run has written to a file or a pipe, retry says once that
// this output stays, and how to avoid it.
func TestOutputOfFailedRun(t *testing.T) {
	const notice = "--output success writes only that of a successful run"
	const writes, silent = "echo $RETRY_ATTEMPT; [ $RETRY_ATTEMPT = 3 ]", "[ $RETRY_ATTEMPT = 3 ] && echo 3"
	toFile := func(script string, args ...string) (output, said string) {
		c := newCommand(t, append(args, "--base", "1ms", "sh", "-c", script)...)
		file, err := os.Create(filepath.Join(t.TempDir(), "output"))
		require.NoError(t, err)
		defer file.Close()
		var stderr bytes.Buffer
		c.Stdout, c.Stderr = file, &stderr
		require.NoError(t, c.Run())
		data, err := os.ReadFile(file.Name())
		require.NoError(t, err)
		return string(data), stderr.String()
	}
	output, said := toFile(writes)
	assert.Equal(t, "1\n2\n3\n", output)
	assert.Equal(t, 1, strings.Count(said, notice), said)
	output, said = toFile(silent)
	assert.Equal(t, "3\n", output)
	assert.NotContains(t, said, notice)
	output, said = toFile(writes, "--output", "success")
	assert.Equal(t, "3\n", output)
	assert.NotContains(t, said, notice)
	output, said = toFile(writes, "--output", "pass")
	assert.Equal(t, "1\n2\n3\n", output)
	assert.NotContains(t, said, notice, "it was asked for")

	piped := runRetry(t, "--base", "1ms", "sh", "-c", writes) // stdout is a pipe
	assert.Equal(t, "1\n2\n3\n", piped.stdout)
	assert.Equal(t, 1, strings.Count(piped.stderr, notice), piped.stderr)
	piped = runRetry(t, "--base", "1ms", "sh", "-c", silent)
	assert.NotContains(t, piped.stderr, notice)
}

// TestOwnOutput: what retry itself writes to standard output is not the command's output.
func TestOwnOutput(t *testing.T) {
	const silent = " --base 1ms --before-retry 'echo before' -- sh -c '[ $RETRY_ATTEMPT = 3 ] && echo done'"
	for name, line := range map[string]string{
		"notes in a pipe": "%s" + silent + " 2>&1 | cat",
		"notes in a file": "cd " + t.TempDir() + " && %s" + silent + " >log 2>&1; cat log",
		"JSON in a pipe":  "%s --json -" + silent + " | cat",
	} {
		r := runPipeline(t, line)
		assert.Contains(t, r.stdout, "done\n", name)
		assert.NotContains(t, r.stdout+r.stderr, "--output success", name)
	}
}

// TestClosedOutput: a command whose output has no reader is not retried.
func TestClosedOutput(t *testing.T) {
	for _, flags := range []string{"", "--retry-on-output x", "--output last"} {
		t.Run(flags, func(t *testing.T) {
			r := runPipeline(t, "%s -v --base 1ms "+flags+" -- seq 1000000 | head -n 1; true")
			assert.Equal(t, "1\n", r.stdout)
			assert.Equal(t, 0, strings.Count(r.stderr, "next in"), r.stderr)
		})
	}
}

// TestFullDisk: output that cannot be written is a failure, and no data is lost if the
// temporary folder is full.
func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("needs /dev/full")
	}
	for _, flags := range []string{"--retry-on-output x", "--output last", "--output last --on-failure true"} {
		r := runPipeline(t, "%s "+flags+" -- echo text >/dev/full")
		assert.Equal(t, exitFailure, r.status, flags)
		assert.Contains(t, r.stderr, "no space left on device")
		assert.Equal(t, 0, strings.Count(r.stderr, "next in"), r.stderr)
	}
	r := runPipeline(t, "%s --json /dev/full -- true")
	assert.Equal(t, 0, r.status)
	assert.Contains(t, r.stderr, "--json: write /dev/full: no space left on device")

	dir := t.TempDir()
	if err := exec.Command("mount", "-t", "tmpfs", "-o", "size=2m", "none", dir).Run(); err != nil {
		t.Skip("needs permission to mount")
	}
	defer func() { assert.NoError(t, exec.Command("umount", dir).Run()) }()
	full := func(args ...string) *exec.Cmd {
		c := newCommand(t, append([]string{"--base", "1ms"}, args...)...)
		c.Env = append(c.Env, "TMPDIR="+dir)
		return c
	}
	c := full("--stdin", "replay", "sh", "-c", "wc -c; exit 3")
	c.Stdin = zeros(10e6)
	r = finish(t, c)
	assert.Equal(t, "10000000\n", r.stdout, "the running attempt gets all of it")
	assert.Equal(t, 3, r.status)
	assert.Contains(t, r.stderr, "standard input cannot be replayed")

	r = finish(t, full("--output", "last", "sh", "-c", "seq 1000000; exit 3"))
	assert.Equal(t, 1000000, strings.Count(r.stdout, "\n"))
	assert.True(t, strings.HasPrefix(r.stdout, "1\n2\n") && strings.HasSuffix(r.stdout, "\n1000000\n"))
	assert.Equal(t, 3, r.status)
	assert.Contains(t, r.stderr, "cannot keep its output")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries, "no temporary file is left")
}

func TestEnvironment(t *testing.T) {
	const show = "echo $RETRY_ATTEMPT ${RETRY_MAX_ATTEMPTS} ${RETRY_LAST_EXIT-none} ${RETRY_DEADLINE_AT-none}"
	r := runRetry(t, "-q", "--deadline", "1h", "-t", "2", "sh", "-c", show+"; exit $((6 + RETRY_ATTEMPT))")
	assert.Regexp(t, `^1 2 none (\d+)\n2 2 7 \d+\n$`, r.stdout)
	c := newCommand(t, "-t", "unlimited", "sh", "-c", show)
	c.Env = append(c.Env, "RETRY_LAST_EXIT=9", "RETRY_DEADLINE_AT=9", "RETRY_ATTEMPT=9")
	assert.Equal(t, "1 unlimited none none\n", finish(t, c).stdout)
}

func TestBeforeRetry(t *testing.T) {
	r := runRetry(t, "-q", "--before-retry", "echo before $RETRY_ATTEMPT after $RETRY_LAST_EXIT", "sh", "-c", "echo attempt $RETRY_ATTEMPT >&2; exit 5")
	assert.Equal(t, "attempt 1\nbefore 2 after 5\nattempt 2\nbefore 3 after 5\nattempt 3\n", r.stderr)
	assert.Empty(t, r.stdout)
	assert.Equal(t, 5, r.status)

	failing := []string{"-t", "2", "--before-retry", "exit 9", "sh", "-c", "[ $RETRY_ATTEMPT = 2 ]"}
	r = runRetry(t, failing...)
	assert.Equal(t, 9, r.status)
	assert.Regexp(t, `retry: attempt 1 of 2: exit 1; gave up after \S+: --before-retry: exit 9\n$`, r.stderr)
	r = runRetry(t, append([]string{"--before-retry-may-fail"}, failing...)...)
	assert.Equal(t, 0, r.status)
	assert.Contains(t, r.stderr, "retry: --before-retry: exit 9\n")
	r = runRetry(t, append([]string{"--on-failure", "echo failed with $RETRY_LAST_EXIT after $RETRY_ATTEMPTS"}, failing...)...)
	assert.Contains(t, r.stderr, "failed with 9 after 1\n")

	withLimits(t, func(trial assert.TestingT, limit string) {
		r := runRetry(t, "--deadline", limit, "--kill-after", "20ms", "--before-retry", "trap '' TERM; sleep 1000", "false")
		assert.Equal(trial, 1, r.status)
		assert.Contains(trial, r.stderr, "ended by the deadline of "+limit)
	})
}
