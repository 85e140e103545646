package migrate_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	projects = flag.String("projects", "", "rewrite the modules in testdata/projects.txt whose path matches this regular expression")
	keep     = flag.String("keep", "", "keep the rewritten modules in this folder")
)

// TestProjects downloads public modules that use another retry library, rewrites them,
// and runs their tests before and after. Its log has a row for each module. It needs the
// network and many minutes:
//
//	go test ./internal/migrate -run TestProjects -projects . -timeout 3h -v
func TestProjects(t *testing.T) {
	if *projects == "" {
		t.Skip("needs -projects")
	}
	list, err := os.ReadFile("testdata/projects.txt")
	if err != nil {
		t.Fatal(err)
	}
	tool := filepath.Join(t.TempDir(), "retrymigrate")
	shell(t, ".", "go", "build", "-o", tool, "../..")
	for line := range strings.Lines(string(list)) {
		module := strings.TrimSpace(line)
		if !strings.HasPrefix(module, "#") && regexp.MustCompile(*projects).MatchString(module) {
			t.Run(module, func(t *testing.T) { migrateProject(t, tool, module) })
		}
	}
}

// migrateProject rewrites a module. The tests that passed before must pass after; others
// may need what is not there, such as a server. The row that it logs has the packages that
// use another library, their calls, those rewritten, and the tests that pass before and after.
func migrateProject(t *testing.T, tool, module string) {
	dir := download(t, module)
	packages := affected(t, dir)
	if len(packages) == 0 {
		t.Fatal("no package of the module uses a library that is known")
	}
	compile := slices.Concat([]string{"go", "test", "-vet=off", "-run=^$"}, packages)
	shell(t, dir, compile...)
	before := passing(t, dir, packages)
	report, _ := try(dir, slices.Concat([]string{"go", "vet", "-vettool=" + tool}, packages)...)
	rewritten, left := strings.Count(report, ": can be rewritten"), strings.Count(report, ": left alone: ")
	t.Logf("%s", report)
	shell(t, dir, slices.Concat([]string{"go", "fix", "-fixtool=" + tool}, packages)...)
	useRetry(t, dir)
	if again, _ := try(dir, slices.Concat([]string{"go", "vet", "-vettool=" + tool}, packages)...); strings.Contains(again, ": can be rewritten") {
		t.Errorf("a second run would rewrite more: %s", again)
	}
	if out, err := try(dir, compile...); err != nil {
		t.Errorf("does not compile: %s", tail(out))
	}
	after := passing(t, dir, packages)
	for test := range before {
		if !after[test] {
			t.Errorf("%s fails after", test)
		}
	}
	t.Logf("| %s | %d | %d | %d | %d | %d |", module, len(packages), rewritten+left, rewritten, len(before), len(after))
}

// passing returns the tests of packages that pass, by package and name.
func passing(t *testing.T, dir string, packages []string) map[string]bool {
	out, _ := try(dir, slices.Concat([]string{"go", "test", "-json", "-vet=off", "-count=1", "-timeout=5m"}, packages)...)
	passed := map[string]bool{}
	var text strings.Builder
	for line := range strings.Lines(out) {
		var event struct{ Action, Package, Test, Output string }
		if json.Unmarshal([]byte(line), &event) != nil {
			continue
		}
		if event.Action == "pass" {
			passed[event.Package+" "+event.Test] = true
		} else if strings.HasPrefix(event.Action, "build-") || event.Action == "output" && strings.Contains(event.Output, "FAIL") {
			text.WriteString(event.Output)
		}
	}
	t.Logf("tests that fail: %s", tail(text.String()))
	return passed
}

// download returns a writable copy of a module.
func download(t *testing.T, module string) string {
	var info struct{ Dir string }
	if err := json.Unmarshal([]byte(shell(t, t.TempDir(), "go", "mod", "download", "-json", module)), &info); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "module")
	if *keep != "" {
		dir = filepath.Join(*keep, regexp.MustCompile(`[^\w.]+`).ReplaceAllString(module, "_"))
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(dir, os.DirFS(info.Dir)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// affected returns the packages of a module that import another retry library.
func affected(t *testing.T, dir string) []string {
	out := shell(t, dir, "go", "list", "-e", "-f", `{{.ImportPath}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}`, "./...")
	var packages []string
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if slices.ContainsFunc(fields[1:], known.MatchString) {
			packages = append(packages, fields[0])
		}
	}
	return packages
}

var known = regexp.MustCompile(`^(github\.com/cenkalti/backoff(/v[3-7])?|github\.com/avast/retry-go(/v[3-5])?|` +
	`github\.com/sethvargo/go-retry|github\.com/hashicorp/go-retryablehttp|k8s\.io/apimachinery/pkg/util/wait)$`)

func try(dir string, command ...string) (string, error) {
	c := exec.Command(command[0], command[1:]...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	c.WaitDelay = time.Minute
	out, err := c.CombinedOutput()
	return string(out), err
}

func shell(t *testing.T, dir string, command ...string) string {
	t.Helper()
	c := exec.Command(command[0], command[1:]...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatal(fmt.Sprint(command, ": ", err, "\n", stderr.String()))
	}
	return string(out)
}

func tail(s string) string { return s[max(0, len(s)-3000):] }
