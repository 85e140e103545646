package pages

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The map elsewhere contains the commands that other parts of CI run. A key is a folder
// and a command; the value is the file that runs the command and the text in that file
// that does so.
var elsewhere = map[string][2]string{
	". go get github.com/gobackoff/retry":                                                                                        outsider,
	". git clone https://github.com/gobackoff/retry && go -C retry/cmd install ./retry":                                          outsider,
	". git clone https://github.com/gobackoff/retry && go -C retry/cmd install ./retrycheck":                                     outsider,
	". git clone https://github.com/gobackoff/retry && go -C retry/cmd install ./retrymigrate":                                   outsider,
	". git clone https://github.com/gobackoff/retry && go -C retry/cmd install ./retry ./retrycheck ./retrymigrate ./backofflab": outsider,
	". go test ./...":                           {".ci/run", "\n\tgo test ./...\n"},
	". go run ./examples/quickstart":            {".ci/run", "\n\tgo run ./examples/quickstart\n"},
	"test/conformance go run .":                 {".ci/run", "(cd test/conformance && go run . "},
	"test/conformance go run . -newest":         {".github/workflows/sdks.yml", `conformance" -newest`},
	"test/conformance go run . -newest -update": {"test/conformance/newest_test.go", `"-newest", "-update"`},
	"cmd/backofflab go run . playground site":   {".ci/run", "go run ./backofflab playground "},
}

// outsider runs all lines that install something.
var outsider = [2]string{".ci/outsider", "(go get|go install|git clone) .*$root"}

// The map instead contains replacements for commands that are slow or cannot be run as
// written. A key is a folder and a command.
var instead = map[string]string{
	". go run ./examples/limits":      "go run ./examples/limits -for 2s",
	"test/benchmarks go run .":        "go run . -count 1 -benchtime 1us -calls 100",
	"test/benchmarks go run . -short": "go run . -short -count 1 -benchtime 1us -calls 100",
	"test/benchmarks go test -v -timeout 1h ./overload -run TestBudgets -update":                                     "go test ./overload -run TestBudgets",
	"test/conformance go run . -sdk NAME":                                                                            `test "$(go run . -sdk none 2>&1 | head -n 1 | cut -d';' -f1)" = 'conformance: no such SDK: "none"'`,
	"cmd/backofflab python3 -m http.server --directory site":                                                         "python3 -m http.server --directory site --help",
	"cmd/backofflab backofflab init":                                                                                 "backofflab init other.yaml", // another command has already written the default file
	". retry tcp:db:5432 http://web:8080/health file:/run/ready --deadline 10s":                                      "retry file:. --deadline 10s",
	". retry --until-output '^healthy$' --deadline 5m --forever -- docker inspect -f '{{.State.Health.Status}}' web": "retry --until-output '^healthy$' -- sh -c 'docker inspect web && echo healthy'",
	". retry --while 0 --attempts 60 --rule constant -- aws s3 ls s3://bucket/lock":                                  "retry --while 1-9 --attempts 60 --rule constant -- aws s3 ls s3://bucket/lock",
	". retry --consecutive 3 --initial-delay 1s -- curl -fsS https://example.com/health":                             "retry --consecutive 1 --initial-delay 1ms -- curl -fsS https://example.com/health",
	". retry completion bash|zsh|fish":                                                                               "retry completion bash && retry completion zsh && retry completion fish",
}

// placeholders replaces the parts that readers fill in.
var placeholders = strings.NewReplacer(
	`"…"`, `"full base=100ms cap=20s attempts=4"`,
	"https://…", "https://example.com/",
	" … ", " -- curl https://example.com/ ",
	"COMMAND", "storm",
)

// TestCommands: every command in the README, in docs, and in the READMEs of test/benchmarks,
// test/conformance and cmd/backofflab either works or is in the map elsewhere. TestTutorial
// runs those of the tutorial, and TestPage in folder release those of the page about releases.
func TestCommands(t *testing.T) {
	sandbox := newSandbox(t)
	commands := 0
	unused := maps.Clone(elsewhere)
	for _, p := range pages(t) {
		if !regexp.MustCompile(`^(README|docs/.+|(test/benchmarks|test/conformance|cmd/backofflab)/README)\.md$`).MatchString(p.name) || p.name == tutorial || p.name == "docs/maintainers/releasing.md" {
			continue
		}
		for _, command := range p.commands() {
			commands++
			dir := p.dir()
			if prefix, rest, ok := strings.Cut(command, " && "); ok && strings.HasPrefix(prefix, "cd ") {
				dir, command = path.Join(dir, strings.TrimPrefix(prefix, "cd ")), rest
			}
			key := dir + " " + command
			if where, ok := elsewhere[key]; ok {
				delete(unused, key)
				text, err := os.ReadFile(filepath.Join(root, where[0]))
				require.NoError(t, err)
				assert.Contains(t, string(text), where[1], "%s: %s", p.name, command)
				continue
			}
			if other, ok := instead[key]; ok {
				command = other
			}
			t.Run(p.name+"/"+command, func(t *testing.T) { sandbox.run(t, dir, command) })
		}
	}
	assert.Empty(t, slices.Collect(maps.Keys(unused)), "no page has these commands")
	assert.Greater(t, commands, 40)
}

// A sandbox is a folder for commands that do not need the repository, with stubs for
// external programs.
type sandbox struct {
	dir, bin, called string
}

func newSandbox(t *testing.T) sandbox {
	t.Helper()
	s := sandbox{dir: t.TempDir(), bin: t.TempDir()}
	s.called = filepath.Join(s.bin, "called")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", s.bin, "./retry", "./backofflab")
	build.Dir = filepath.Join(root, "cmd")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	stub := []byte("#!/bin/sh\necho \"$0 $*\" >>" + s.called + "\n")
	for _, program := range []string{"bin/curl", "bin/docker", "bin/aws", "bin/psql", "bin/apt-get", "bin/git", "bin/terraform", "bin/goose", "bin/npm", "fetch"} {
		dir := s.dir
		if name, ok := strings.CutPrefix(program, "bin/"); ok {
			dir, program = s.bin, name
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, program), stub, 0o755))
	}
	return s
}

func (s sandbox) run(t *testing.T, dir, command string) {
	dir = filepath.Join(root, dir)
	command = placeholders.Replace(command)
	switch {
	case strings.HasPrefix(command, "go test "):
		// CI runs all tests; check only that this test and its flags exist.
		command = regexp.MustCompile(` -(run|bench) `).ReplaceAllString(strings.Replace(command, " -run '^$'", "", 1), " -list ")
		command = strings.Replace(command, " -v", "", 1)
		if !strings.Contains(command, " -list ") {
			command += " -list ."
		}
	case strings.HasPrefix(command, "go run ./backofflab "), strings.HasPrefix(command, "go run . ") && strings.HasSuffix(dir, "backofflab"):
		_, command, _ = strings.Cut(command, "go run .")
		command = "backofflab " + strings.TrimPrefix(command, "/backofflab ")
		fallthrough
	case strings.HasPrefix(command, "backofflab "):
		command = strings.Replace(command, "backofflab contention", "backofflab contention -trials 1", 1)
		for _, slow := range []string{"storm", "report"} { // a tenth of the load is enough
			command = strings.Replace(command, "backofflab "+slow, "backofflab "+slow+" -trials 1 -rate 70 -capacity 100", 1)
		}
		fallthrough
	case strings.HasPrefix(command, "retry "), strings.HasPrefix(command, "python3 "):
		dir = s.dir
	}
	_ = os.Remove(s.called)
	shell := exec.CommandContext(t.Context(), "bash", "-o", "pipefail", "-c", command)
	shell.Dir = dir
	shell.Env = append(os.Environ(), "PATH="+s.bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "GOBIN="+s.bin, "image=example")
	out, err := shell.CombinedOutput()
	require.NoError(t, err, fmt.Sprintf("%s\n%s", command, out))
	if strings.Contains(command, " -list ") {
		assert.Regexp(t, `(?m)^(Test|Benchmark|Fuzz|Example)`, string(out), command)
	}
	if strings.HasPrefix(command, "retry ") && strings.Contains(command, " -- ") {
		calls, err := os.ReadFile(s.called)
		require.NoError(t, err)
		assert.Equal(t, 1, strings.Count(string(calls), "\n"), command)
	}
}
