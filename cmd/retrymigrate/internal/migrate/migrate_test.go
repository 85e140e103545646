package migrate_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/gobackoff/retry/cmd/retrymigrate/internal/migrate"
)

// calls is a module with calls of the real libraries.
const calls = "testdata/calls"

func TestRewrites(t *testing.T) {
	shell(t, calls, "go", "mod", "download") // because analysistest has no network
	dir, err := filepath.Abs(calls)
	if err != nil {
		t.Fatal(err)
	}
	analysistest.RunWithSuggestedFixes(t, dir, migrate.Analyzer, "./...")
}

// TestRewritesCompile: what the golden files show is a program.
func TestRewritesCompile(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(calls)); err != nil {
		t.Fatal(err)
	}
	golden, err := filepath.Glob(filepath.Join(dir, "*", "*.golden"))
	if err != nil || len(golden) == 0 {
		t.Fatal("no golden files", err)
	}
	for _, file := range golden {
		if err := os.Rename(file, strings.TrimSuffix(file, ".golden")); err != nil {
			t.Fatal(err)
		}
	}
	useRetry(t, dir)
	shell(t, dir, "go", "vet", "./...")
	if out, err := exec.Command("gofmt", "-l", dir).CombinedOutput(); err != nil || len(out) > 0 {
		t.Error("not formatted:", string(out), err)
	}
}

// useRetry makes the module in dir require the code of this repository.
func useRetry(t *testing.T, dir string) {
	shell(t, dir, "go", "mod", "edit", "-replace=github.com/gobackoff/retry="+root(t), "-require=github.com/gobackoff/retry@v0.0.0")
	shell(t, dir, "go", "mod", "tidy", "-e")
}

func root(t *testing.T) string {
	dir, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
