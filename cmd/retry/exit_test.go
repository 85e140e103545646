//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExitStatus(t *testing.T) {
	for _, test := range []struct {
		name   string
		flags  string
		script string // runs after a line that logs the run
		status int
		runs   int
		says   string
	}{
		{name: "success", script: "exit 0", status: 0, runs: 1},
		{name: "success at last", script: "[ $RETRY_ATTEMPT = 3 ]", status: 0, runs: 3},
		{name: "own status", script: "exit 42", status: 42, runs: 3, says: "attempt 3 of 3: exit 42; gave up"},
		{name: "status 255", script: "exit 255", status: 255, runs: 3},
		{name: "attempts", flags: "--attempts 5", script: "exit 1", status: 1, runs: 5},
		{name: "one attempt", flags: "-t 1", script: "exit 9", status: 9, runs: 1},
		{name: "unlimited", flags: "--rule constant --base 1ms -t unlimited", script: "[ $RETRY_ATTEMPT = 20 ]", status: 0, runs: 20},
		{name: "segmentation fault", script: "kill -SEGV $$", status: 139, runs: 3, says: "signal 11 (SIGSEGV)"},
		{name: "killed", script: "kill -KILL $$", status: 137, runs: 3, says: "signal 9 (SIGKILL)"},
		{name: "terminated", script: "kill -TERM $$", status: 143, runs: 3},
		{name: "127 of the command", script: "exit 127", status: 127, runs: 1, says: "not retried"},
		{name: "126 of the command", script: "exit 126", status: 126, runs: 1},
		{name: "127 if listed", flags: "--retry-on 127", script: "exit 127", status: 127, runs: 3},
		{name: "timeout", flags: "--timeout LIMIT", script: "sleep 100", status: 124, runs: 3, says: "ended by the timeout of LIMIT"},
		{name: "timeout wins over the status", flags: "--timeout LIMIT -t 1", script: "trap 'exit 0' TERM; while :; do sleep .01; done", status: 124, runs: 1},
		{name: "deadline in an attempt", flags: "--deadline LIMIT", script: "sleep 100", status: 124, runs: 1, says: "ended by the deadline of LIMIT"},
		{name: "deadline before a wait", flags: "--deadline 1h --rule constant --base 2h", script: "exit 3", status: 3, runs: 1, says: "a wait of 2h0m0s would end after the deadline"},
		{name: "MaxElapsed of a policy", flags: "--policy schedule,delays=1ms/2h,elapsed=1h", script: "exit 3", status: 3, runs: 2, says: "elapsed=1h0m0s of the policy"},
		{name: "retry on: listed", flags: "--retry-on 7,40-50", script: "exit 42", status: 42, runs: 3},
		{name: "retry on: not listed", flags: "--retry-on 7,40-50", script: "exit 51", status: 51, runs: 1},
		{name: "retry on timeout", flags: "--retry-on timeout --timeout LIMIT", script: "[ $RETRY_ATTEMPT = 2 ] && exit 5; sleep 100", status: 5, runs: 2},
		{name: "retry on signal", flags: "--retry-on signal", script: "[ $RETRY_ATTEMPT = 2 ] && exit 5; kill -KILL $$", status: 5, runs: 2},
		{name: "retry on a signal's name", flags: "--retry-on SIGKILL", script: "[ $RETRY_ATTEMPT = 2 ] && kill -TERM $$; kill -KILL $$", status: 143, runs: 2},
		{name: "stop on", flags: "--stop-on 42", script: "[ $RETRY_ATTEMPT = 2 ] && exit 42; exit 41", status: 42, runs: 2},
		{name: "stop on timeout", flags: "--stop-on timeout --timeout LIMIT", script: "sleep 100", status: 124, runs: 1},
		{name: "stop wins", flags: "--retry-on 1-100 --stop-on 42", script: "exit 42", status: 42, runs: 1},
		{name: "retry on output", flags: "--retry-on-output try.again", script: "[ $RETRY_ATTEMPT = 2 ] && exit 5; echo try again >&2; exit 1", status: 5, runs: 2},
		{name: "retry on output or status", flags: "--retry-on-output x --retry-on 5", script: "exit 5", status: 5, runs: 3},
		{name: "stop on output", flags: "--stop-on-output ^fatal", script: "echo fatal; exit 1", status: 1, runs: 1},
		{name: "output of a success", flags: "--retry-on-output error", script: "echo error", status: 0, runs: 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			withLimits(t, func(trial assert.TestingT, limit string) {
				log := filepath.Join(t.TempDir(), "runs")
				flags := append(strings.Fields(strings.ReplaceAll(test.flags, "LIMIT", limit)), "--", "sh", "-c", `echo run >>"$0"; `+test.script, log)
				var r result
				if strings.Contains(test.flags, "--policy") || strings.Contains(test.flags, "--base") {
					r = finish(t, newCommand(t, flags...))
				} else {
					r = runRetry(t, flags...)
				}
				assert.Equal(trial, test.status, r.status, r.stderr)
				assert.Zero(trial, r.signal)
				assert.Equal(trial, test.runs, count(t, log, "run"), r.stderr)
				assert.Contains(trial, r.stderr, strings.ReplaceAll(test.says, "LIMIT", limit))
			})
		})
	}
}

// TestNotStarted: commands that cannot be started are not retried.
func TestNotStarted(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script")
	writeFile(t, script, "exit 3\n", 0o644)
	plain := filepath.Join(t.TempDir(), "plain")
	writeFile(t, plain, "exit 3\n", 0o755)
	interpreter := filepath.Join(t.TempDir(), "interpreter")
	writeFile(t, interpreter, "#!/no/such/interpreter\n", 0o755)
	for _, test := range []struct {
		name, command string
		status, lines int
		says          string
	}{
		{"not found", "no-such-command-anywhere", 127, 1, "not found in $PATH"},
		{"no such file", "/no/such/file", 127, 1, "no such file"},
		{"no such interpreter", interpreter, 127, 1, "no such file"},
		{"not executable", script, 126, 1, "permission denied"},
		{"a folder", "/", 126, 1, ""},
		{"an address", "localhost:5432", 127, 1, "to wait for it: retry tcp:localhost:5432; not retried"},
		{"an address of IPv6", "[::1]:443", 127, 1, "to wait for it: retry tcp:[::1]:443;"},
		{"UDP", "udp:localhost:53", 127, 1, "nothing tells whether a UDP port is open"},
		{"another scheme", "redis://localhost:6379", 127, 1, "redis cannot be waited for: use tcp:HOST:PORT"},
		{"a line of a shell", "echo hello | grep hello", 127, 1, "for a line of a shell: retry -- bash -o pipefail -ec 'LINE'"},
		{"a line with a path", "/bin/echo hello", 127, 1, "for a line of a shell: retry -- bash -o pipefail -ec 'LINE'"},
		{"a function", "my_function", 127, 1, "if it is a function of bash: export -f my_function; retry -- bash -c 'my_function ARGUMENT…'"},
		{"a variable", "FOO=1", 127, 1, "for a variable of the command: FOO=VALUE retry -- COMMAND; not retried"},
		{"a script without #!", plain, 3, 3, "exit 3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := runRetry(t, test.command)
			assert.Equal(t, test.status, r.status)
			assert.Equal(t, test.lines, strings.Count(r.stderr, "\n"), r.stderr)
			assert.Contains(t, r.stderr, test.says)
		})
	}
}

// TestInterrupted: if SIGINT ends the command, even below a shell, retry ends the same
// way, so that a calling shell stops too.
func TestInterrupted(t *testing.T) {
	r := runRetry(t, "sh", "-c", "kill -INT $$")
	assert.Equal(t, syscall.SIGINT, r.signal)
	assert.Equal(t, 1, strings.Count(r.stderr, "attempt"))
	r = runRetry(t, "sh", "-c", "exit 130")
	assert.Equal(t, 130, r.status)
	assert.Equal(t, 1, strings.Count(r.stderr, "attempt"))
	r = runRetry(t, "--retry-on", "130", "sh", "-c", "exit 130")
	assert.Equal(t, 130, r.status)
	assert.Equal(t, 3, strings.Count(r.stderr, "attempt"))
}

// TestUsage: if retry itself fails, it prints one line and exits with 125.
func TestUsage(t *testing.T) {
	for _, test := range []struct {
		name, args, says string
	}{
		{"no command", "", "missing command"},
		{"no command after flags", "-q --", "missing command"},
		{"unknown flag", "--atempts 3 true", `unknown flag --atempts; did you mean "--attempts"?`},
		{"unknown letter", "-z true", "unknown flag -z"},
		{"no value", "--timeout", "--timeout needs a value"},
		{"bare number", "--timeout 5 true", "needs a unit, as in 5s"},
		{"not a duration", "--deadline soon true", "must be a duration"},
		{"negative", "--base -1s true", "must be positive"},
		{"attempts", "--attempts 0 true", "at least 1"},
		{"codes in a policy", "--policy retry-on=7 true", "write --retry-on LIST for statuses of the command"},
		{"rule for no retry", "--rule none true", "write --attempts 1 for one run, or --rule no-delay for runs without waits"},
		{"unknown policy", "--policy standrad true", `did you mean "standard"?`},
		{"unknown preset", "--policy aws-standart-2.1 true", `did you mean "aws-standard-2.1"?`},
		{"unknown key", "--policy standard,atempts=4 true", `unknown key "atempts"`},
		{"unknown rule", "--rule exponentail true", `did you mean "exponential"?`},
		{"base above cap", "--base 2s --cap 1s true", "above Cap"},
		{"policy and base", "--policy full,base=1s --base 1s true", "cannot be combined"},
		{"status 0", "--retry-on 0 true", "which is success"},
		{"status", "--stop-on 300 true", "1-255"},
		{"status word", "--retry-on timeuot true", "is not an exit status"},
		{"expression", "--retry-on-output ( true", "missing closing"},
		{"stdin", "--stdin keep true", "replay, pass, none"},
		{"conditions", "--until 1 --while 2 true", "--while and --until cannot be combined"},
		{"until a name", "--until timeout true", "is not a status"},
		{"consecutive", "--consecutive 4 true", "needs as many --attempts"},
		{"delay", "--initial-delay -1s true", "must be positive"},
		{"target without a port", "tcp:localhost", "must be tcp:HOST:PORT"},
		{"target without a host", "http:///path", "is not a URL with a host"},
		{"target without a path", "file:", "must be file:PATH"},
		{"target without a socket", "unix:", "must be unix:PATH"},
		{"target and command", "file:/ true", "retry TARGET -- COMMAND"},
		{"flag of another tool", "-n 3 true", "write --attempts N, which includes the first run"},
		{"letter with its value", "-n3 true", "unknown flag -n; write --attempts N"},
		{"list of waits", "-d 1,2,5 true", `write --rule constant --base 2s, or --policy "schedule delays=1s/2s/5s"`},
		{"delay of another tool", "--delay=3s true", "unknown flag --delay; write --rule constant --base 2s"},
		{"retries", "--retries 2 true", "unknown flag --retries; write --attempts N, which includes the first run"},
		{"a letter of another tool", "-a 3 true", "unknown flag -a; write --attempts N"},
		{"a limit of curl", "--max-time 10 true", "unknown flag --max-time; write --deadline 1m"},
		{"jitter", "--jitter true", "unknown flag --jitter; write --rule full"},
		{"statuses", "--on-exit 5 true", "unknown flag --on-exit; write --retry-on LIST"},
		{"seconds of another tool", "-s 5 true", "unknown flag -s; write --rule constant --base 2s"},
		{"runs of another tool", "-r 5 true", "unknown flag -r; write --attempts N"},
		{"count", "--count 5 true", "unknown flag --count; write --attempts N"},
		{"a hook", "--on-retry cleanup true", "unknown flag --on-retry; write --before-retry CMD"},
		{"the longest wait", "--max-delay 5s true", "unknown flag --max-delay; write --cap D"},
		{"growth", "--factor 3 true", `unknown flag --factor; write --policy "exponential base=1s cap=20s factor=3"`},
		{"minutes", "--timeout-minutes 5 true", "unknown flag --timeout-minutes; write --timeout 10m"},
		{"a status", "--exit-code 5 true", "unknown flag --exit-code; write --retry-on LIST"},
		{"silent", "--silent true", "unknown flag --silent; write --quiet"},
		{"no end", "--until-success true", "unknown flag --until-success; write --forever, or --attempts N"},
		{"underscores", "--max_attempts 5 true", "unknown flag --max_attempts; write --attempts N"},
		{"the first wait", "-m 5 true", "unknown flag -m; write --base D"},
		{"curl's conditions", "--retry-all-errors true", "unknown flag --retry-all-errors; write nothing: every failure is retried"},
		{"a command between runs", "--new-command-on-retry cleanup true", "unknown flag --new-command-on-retry; write --before-retry CMD"},
		{"a shell", "--shell bash true", "unknown flag --shell; write retry -- bash -o pipefail -ec 'LINE'"},
		{"one dash", "-attempts 3 true", `unknown flag -attempts; did you mean "--attempts"?`},
		{"nothing like it", "--fetch true", "unknown flag --fetch; see retry --help-all"},
		{"flag after a target", "file:/ --dedline 3s", `did you mean "--deadline"?`},
		{"output", "--output lasst true", `did you mean "last"?`},
		{"json", "--json /no/such/folder/file true", "no such file"},
		{"explain", "explain fulll", `did you mean "full"?`},
		{"completion", "completion bush", `did you mean "bash"?`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := finish(t, newCommand(t, strings.Fields(test.args)...))
			assert.Equal(t, exitFailure, r.status)
			assert.Contains(t, r.stderr, test.says)
			assert.Equal(t, 1, strings.Count(r.stderr, "\n"), r.stderr)
			assert.Empty(t, r.stdout)
		})
	}
}

func TestSubcommands(t *testing.T) {
	r := finish(t, newCommand(t, "presets"))
	require.Equal(t, 0, r.status)
	assert.Contains(t, r.stdout, "aws-standard-2.1")
	r = runRetry(t, "--", "presets")
	assert.Equal(t, 127, r.status)
	for flag, command := range map[string]string{"--version": "version", "--help": "help"} {
		text := finish(t, newCommand(t, flag)).stdout
		assert.Equal(t, "retry ", text[:6])
		assert.Equal(t, text, finish(t, newCommand(t, command)).stdout)
	}
	for _, name := range []string{"version", "help", "man", "presets"} {
		r := finish(t, newCommand(t, name, "x"))
		assert.Equal(t, exitFailure, r.status)
		assert.Equal(t, "retry: "+name+" takes no arguments, got \"x\"\n", r.stderr)
	}
}
