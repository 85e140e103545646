package checks_test

import (
	"fmt"
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
			reported := map[string]string{} // by file and line
			for _, result := range analysistest.Run(t, analysistest.TestData(), a, "./"+a.Name+"/...") {
				for _, d := range result.Diagnostics {
					at := result.Pass.Fset.Position(d.Pos)
					reported[position(at.Filename, at.Line)] += d.Message
				}
			}
			checkPage(t, a.Name, reported)
		})
	}
}

func position(file string, line int) string { return fmt.Sprintf("%s:%d", file, line) }

// A line of a package of testdata.
type line struct{ text, at string }

// linesOf returns the lines of a package of testdata: first those of the file with its name.
func linesOf(t *testing.T, name string) (all []line) {
	dir := filepath.Join(analysistest.TestData(), name)
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	first := filepath.Join(dir, name+".go")
	files = slices.DeleteFunc(files, func(file string) bool { return file == first })
	for _, file := range append([]string{first}, files...) {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range strings.Split(string(source), "\n") {
			all = append(all, line{text, position(file, i+1)})
		}
	}
	return all
}

// checkPage compares the code in a section of the page with the package of testdata.
func checkPage(t *testing.T, name string, reported map[string]string) {
	page, err := os.ReadFile("../../../docs/retrycheck.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(page), "\n## "+name+"\n")
	if !ok {
		t.Fatal("docs/retrycheck.md has no section")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	lines, at := linesOf(t, name), 0
	for i, block := range strings.Split(section, "```") {
		for shown := range strings.Lines(strings.TrimPrefix(block, "go\n")) {
			if i%2 == 0 {
				continue // text between the blocks
			}
			code, comment, _ := strings.Cut(shown, " // ")
			next := slices.IndexFunc(lines[at:], func(l line) bool {
				text, _, _ := strings.Cut(l.text, " // ")
				return strings.TrimSpace(text) == strings.TrimSpace(code)
			})
			if next < 0 {
				t.Fatalf("docs/retrycheck.md: %q is not in testdata, or not after the line above it", code)
			}
			found := lines[at+next].at
			at += next + 1
			if comment = strings.TrimSpace(comment); !strings.Contains(reported[found], comment) {
				t.Errorf("docs/retrycheck.md: %s: %q is not reported, but %q", code, comment, reported[found])
			}
		}
	}
}
