package checks_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/gobackoff/retry/cmd/retrycheck/checks"
)

// TestAnalyzers: each analyzer finds the mistakes marked in its package of testdata, and
// nothing else there. The code in its section of docs/retrycheck.md is in that package, and
// what the page says of a line is reported there. testdata is a module that uses the real
// libraries.
func TestAnalyzers(t *testing.T) {
	if testing.Short() {
		t.Skip("reads all dependencies from source for each analyzer")
	}
	prepare := exec.Command("go", "list", "-deps", "./...") // analysistest loads packages offline
	prepare.Dir = analysistest.TestData()
	if out, err := prepare.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, a := range slices.Concat(checks.Default(), checks.Optional()) {
		t.Run(a.Name, func(t *testing.T) {
			reported := map[int]string{} // by line
			for _, result := range analysistest.Run(t, analysistest.TestData(), a, "./"+a.Name+"/...") {
				for _, d := range result.Diagnostics {
					reported[result.Pass.Fset.Position(d.Pos).Line] += d.Message
				}
			}
			checkPage(t, a.Name, reported)
		})
	}
}

// checkPage compares the code in a section of the page with the package of testdata.
func checkPage(t *testing.T, name string, reported map[int]string) {
	page, err := os.ReadFile("../../../docs/retrycheck.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join("testdata", name, name+".go"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(page), "\n## "+name+"\n")
	if !ok {
		t.Fatal("docs/retrycheck.md has no section")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	lines, at := strings.Split(string(source), "\n"), 0
	for i, block := range strings.Split(section, "```") {
		for shown := range strings.Lines(strings.TrimPrefix(block, "go\n")) {
			if i%2 == 0 {
				continue // text between the blocks
			}
			code, comment, _ := strings.Cut(shown, " // ")
			next := slices.IndexFunc(lines[at:], func(line string) bool {
				line, _, _ = strings.Cut(line, " // ")
				return strings.TrimSpace(line) == strings.TrimSpace(code)
			})
			if next < 0 {
				t.Fatalf("docs/retrycheck.md: %q is not in testdata, or not after the line above it", code)
			}
			at += next + 1
			if comment = strings.TrimSpace(comment); !strings.Contains(reported[at], comment) {
				t.Errorf("docs/retrycheck.md: %s: %q is not reported, but %q", code, comment, reported[at])
			}
		}
	}
}
