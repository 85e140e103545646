package release

import (
	"cmp"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	root    = "github.com/gobackoff/retry"
	version = "v0.1.0"
)

// calls maps commands to their arguments. A command that is not listed is run with --help.
var calls = map[string][]string{
	"backofflab": {"explain", "full base=1s cap=1m attempts=5"},
	"retry":      {"explain", "full base=1s cap=1m attempts=5"},
	"retrycheck": {"help"}, "retrymigrate": {"help"},
}

func TestRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles all modules and their dependencies")
	}
	r := snapshot(t)
	r.announce(t)
	t.Log(r.run(t, ".ci/release", version))
	modules := r.tagged(t)
	assert.Subset(t, modules, []string{"", "cmd", "retryaws"})
	assert.NotContains(t, modules, "test")
	user := r.serve(t, modules)
	for _, dir := range modules {
		t.Run(cmp.Or(strings.ReplaceAll(dir, "/", "-"), "root"), func(t *testing.T) {
			t.Run("as tagged", func(t *testing.T) { buildTagged(t, r, user, dir) })
			examples, commands := r.examples(t, dir), r.commands(t, dir)
			assert.NotEmpty(t, slices.Concat(examples, commands), "the module has neither examples nor commands")
			if len(examples) > 0 {
				t.Run("examples", func(t *testing.T) { runExamples(t, r, user, dir, examples) })
			}
			for _, command := range commands {
				t.Run("command "+path.Base(command), func(t *testing.T) { runCommand(t, user, dir, command) })
			}
		})
	}
}

// TestPage runs the commands of docs/maintainers/releasing.md as a maintainer does, in a clone whose origin is
// a folder that is also the public repository.
func TestPage(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles all commands")
	}
	page, err := os.ReadFile("../../../docs/maintainers/releasing.md")
	require.NoError(t, err)
	origin := snapshot(t)
	origin.announce(t)
	origin.run(t, "git", "checkout", "--quiet", "-B", "main")
	clone, empty, bin := t.TempDir(), t.TempDir(), t.TempDir()
	common.run(t, clone, "git", "clone", "--quiet", origin.dir, ".")
	outside := append(slices.Clip(common), "GONOPROXY="+root, "GOMODCACHE="+t.TempDir(), "GOBIN="+bin, "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=url.file://"+origin.dir+".insteadOf", "GIT_CONFIG_VALUE_0=https://"+root, "GIT_PAGER=cat", "GOPROXY="+proxies(t))
	said := ""
	for _, block := range strings.Split(string(page), "```sh\n")[1:] {
		commands, _, _ := strings.Cut(block, "```")
		for command := range strings.Lines(commands) {
			command = strings.TrimSpace(command)
			switch {
			case strings.HasPrefix(command, "go "):
				outside.run(t, empty, "sh", "-c", command)
			case strings.HasPrefix(command, "git push"):
				assert.Equal(t, command, lastLine(said), "what .ci/release says")
				common.run(t, clone, "sh", "-c", command)
			default:
				said = common.run(t, clone, "sh", "-c", command)
				assert.NotEmpty(t, said, command)
			}
		}
	}
	for tag := range strings.FieldsSeq(origin.run(t, "git", "tag")) {
		assert.Contains(t, string(page), "| `"+tag+"` | `"+path.Join(root, path.Dir(tag))+"` |")
	}
	installed, err := os.ReadDir(bin)
	require.NoError(t, err)
	assert.Len(t, installed, 4)
	assert.Contains(t, outside.run(t, empty, filepath.Join(bin, "retry"), "version"), "retry "+version+" ")
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndex(text, "\n")+1:]
}

// proxies returns the sources of other modules: what is in the cache of this machine, and then
// what the go command uses.
func proxies(t *testing.T) string {
	inherited := strings.Fields(common.run(t, t.TempDir(), "go", "env", "GOMODCACHE", "GOPROXY"))
	require.Len(t, inherited, 2)
	return "file://" + filepath.Join(inherited[0], "cache", "download") + "," + inherited[1]
}

// buildTagged checks out a module's tag and builds the module. A tidy go.sum contains the
// checksums of the served modules.
func buildTagged(t *testing.T, r repository, user environment, dir string) {
	r.run(t, "git", "checkout", "--quiet", path.Join(dir, version))
	defer r.run(t, "git", "checkout", "--quiet", "-")
	folder := filepath.Join(r.dir, dir)
	text, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	require.NoError(t, err)
	assert.NotContains(t, string(text), "=>")
	assert.NotContains(t, string(text), " v0.0.0\n")
	user.run(t, folder, "go", "mod", "tidy", "-diff")
	user.run(t, folder, "go", "build", "./...")
}

// runExamples runs a module's examples in another module that has no other requirement.
// Examples without output are only compiled.
func runExamples(t *testing.T, r repository, user environment, dir string, examples []string) {
	consumer := t.TempDir()
	user.run(t, consumer, "go", "mod", "init", "example.com/consumer")
	user.run(t, consumer, "go", "get", path.Join(root, dir)+"@"+version)
	var ran strings.Builder
	for n, file := range examples {
		text, err := os.ReadFile(filepath.Join(r.dir, file))
		require.NoError(t, err)
		folder := filepath.Join(consumer, fmt.Sprint("example", n))
		require.NoError(t, os.Mkdir(folder, 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(folder, filepath.Base(file)), text, 0o666))
		out, err := user.try(folder, "go", "test", "-mod=mod", "-v", "-run", "^Example", ".")
		assert.NoError(t, err, "%s must not use declarations of other files", file)
		ran.WriteString(out)
	}
	assert.Contains(t, ran.String(), "--- PASS: Example", "no example has output")
}

func runCommand(t *testing.T, user environment, dir, command string) {
	bin := t.TempDir()
	append(slices.Clip(user), "GOBIN="+bin).run(t, bin, "go", "install", command+"@"+version)
	program := filepath.Join(bin, path.Base(command))
	info, err := buildinfo.ReadFile(program)
	require.NoError(t, err)
	assert.Equal(t, path.Join(root, dir), info.Main.Path)
	assert.Equal(t, version, info.Main.Version)
	if args, known := calls[path.Base(command)]; known {
		assert.NotEmpty(t, user.run(t, bin, program, args...))
	} else {
		user.run(t, bin, program, "--help")
	}
}

func TestRefusals(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a repository for each case")
	}
	for _, c := range []struct {
		name    string
		prepare []string // a command
		args    []string
		message string
	}{
		{"no version", nil, nil, "release: usage: .ci/release VERSION"},
		{"version without v", nil, []string{"0.1.0"}, `release: version "0.1.0" is not of the form`},
		{"version of two numbers", nil, []string{"v0.1"}, `release: version "v0.1" is not of the form`},
		{"major version without its module path", nil, []string{"v2.0.0"}, `release: version "v2.0.0" is not of the form`},
		{"no heading in CHANGELOG.md", nil, []string{"v0.99.0"}, `release: CHANGELOG.md has no heading "## v0.99.0"`},
		{"uncommitted changes", []string{"sh", "-c", "echo >> README.md"}, []string{version}, "release: the working tree is not clean"},
		{"untracked files", []string{"sh", "-c", "echo > new"}, []string{version}, "release: the working tree is not clean"},
		{"released before", []string{"git", "tag", "cmd/" + version}, []string{version}, "release: the tag cmd/v0.1.0 exists"},
		{"an unreleased requirement", []string{"sh", "-c", "cd cmd && go mod edit -require=" + root + "/test@v0.0.0 && git commit -aqm x"},
			[]string{version}, "release: cmd requires github.com/gobackoff/retry/test, which is not released"},
		{"a failure after the first tag", []string{"sh", "-c", "cd cmd && go mod edit -replace=golang.org/x/term=../term && git commit -aqm x"},
			[]string{version}, "release: cmd/go.mod still has a replace directive"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := snapshot(t)
			r.announce(t)
			if c.prepare != nil {
				r.run(t, c.prepare[0], c.prepare[1:]...)
			}
			before := r.run(t, "git", "tag")
			_, err := r.try(r.dir, ".ci/release", c.args...)
			assert.ErrorContains(t, err, c.message)
			assert.Equal(t, before, r.run(t, "git", "tag"), "tags")
			assert.Equal(t, 1, strings.Count(r.run(t, "git", "worktree", "list"), "\n"), "working trees")
		})
	}
}

type environment []string

// common disables local configuration: a go.work file and git's configuration files. Without the
// paths of the temporary folders, what one test has compiled serves the others.
var common = environment{
	"GOWORK=off", "GOFLAGS=-modcacherw -trimpath", "GONOSUMDB=" + root,
	"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
	"GIT_AUTHOR_NAME=Release", "GIT_AUTHOR_EMAIL=release@example.com",
	"GIT_COMMITTER_NAME=Release", "GIT_COMMITTER_EMAIL=release@example.com",
}

// try returns the command's standard output. Its error includes everything printed.
func (e environment) try(dir, name string, args ...string) (string, error) {
	if strings.Contains(name, "/") && !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	c := exec.Command(name, args...)
	c.Dir, c.Env = dir, slices.Concat(os.Environ(), e, []string{"PWD=" + dir})
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out), err
}

func (e environment) run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	out, err := e.try(dir, name, args...)
	require.NoError(t, err)
	return out
}

// A repository is a git repository that contains this project's files in a single commit.
type repository struct {
	environment
	dir string
}

// snapshot returns a repository that includes uncommitted changes.
func snapshot(t *testing.T) repository {
	here, err := filepath.Abs("../../..")
	require.NoError(t, err)
	r := repository{common, t.TempDir()}
	r.run(t, "git", "init", "--quiet")
	git := []string{"--git-dir", filepath.Join(r.dir, ".git"), "--work-tree", here}
	common.run(t, here, "git", append(git, "add", "--all")...)
	r.run(t, "git", "commit", "--quiet", "--message", "All")
	r.run(t, "git", "reset", "--quiet", "--hard")
	return r
}

// announce adds the version to CHANGELOG.md.
func (r repository) announce(t *testing.T) {
	t.Helper()
	r.run(t, "sh", "-c", `printf '\n## %s - 2026-11-23\n' "$0" >>CHANGELOG.md`, version)
	r.run(t, "git", "commit", "--quiet", "--all", "--message", "Announce")
}

func (r repository) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	return r.environment.run(t, r.dir, name, args...)
}

// tagged returns the folders of the tagged modules, "" for the root.
func (r repository) tagged(t *testing.T) []string {
	var dirs []string
	for tag := range strings.FieldsSeq(r.run(t, "git", "tag")) {
		dir, tagged := path.Split(tag)
		assert.Equal(t, version, tagged)
		dirs = append(dirs, strings.TrimSuffix(dir, "/"))
	}
	return dirs
}

// serve returns the environment of a user with an empty cache and a module proxy for
// the repository. The proxy is the module cache of a go command that downloads the
// modules, because such a cache has the layout of a proxy.
func (r repository) serve(t *testing.T, modules []string) environment {
	args := []string{"mod", "download"}
	for _, dir := range modules {
		args = append(args, path.Join(root, dir)+"@"+version)
	}
	served, here := t.TempDir(), t.TempDir()
	slices.Concat(common, environment{
		"GOMODCACHE=" + served, "GOPROXY=direct",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url.file://" + r.dir + ".insteadOf", "GIT_CONFIG_VALUE_0=https://" + root,
	}).run(t, here, "go", args...)
	return append(slices.Clip(common), "GOMODCACHE="+t.TempDir(), "GOENV=off", "GOPRIVATE=", "GONOPROXY=",
		fmt.Sprintf("GOPROXY=file://%s,%s", filepath.Join(served, "cache", "download"), proxies(t)))
}

func (r repository) examples(t *testing.T, dir string) []string {
	var files []string
	for file := range strings.FieldsSeq(r.run(t, "git", "ls-files", "example_test.go", "*/example_test.go")) {
		if r.moduleOf(file) == dir && !strings.Contains("/"+file, "/internal/") {
			files = append(files, file)
		}
	}
	return files
}

func (r repository) moduleOf(file string) string {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if _, err := os.Stat(filepath.Join(r.dir, dir, "go.mod")); err == nil {
			return dir
		}
	}
	return ""
}

// commands returns the import paths of a module's commands.
func (r repository) commands(t *testing.T, dir string) []string {
	out := r.environment.run(t, filepath.Join(r.dir, dir), "go", "list", "-f", `{{if eq .Name "main"}}{{.ImportPath}}{{end}}`, "./...")
	return slices.DeleteFunc(strings.Fields(out), func(p string) bool { return strings.Contains(p, "/internal/") })
}
