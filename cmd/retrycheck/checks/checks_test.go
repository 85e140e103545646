package checks_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/gobackoff/retry/cmd/retrycheck/checks"
)

// TestAnalyzers: each analyzer finds the mistakes marked in its package of testdata, and
// nothing else there. No analyzer finds anything in testdata/right. testdata is a module that uses
// the real libraries, which are read once for all analyzers.
func TestAnalyzers(t *testing.T) {
	if testing.Short() {
		t.Skip("reads all dependencies from source")
	}
	prepare := exec.Command("go", "list", "-deps", "./...") // analysistest loads packages offline
	prepare.Dir = analysistest.TestData()
	if out, err := prepare.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ran := map[string]bool{}
	each := &analysis.Analyzer{
		Name:     "each",
		Doc:      "run the analyzer that the folder is named for",
		Requires: checks.All()[0].Requires,
		Run: func(p *analysis.Pass) (any, error) {
			folder := strings.Split(strings.TrimPrefix(p.Pkg.Path(), p.Module.Path+"/"), "/")[0]
			for _, a := range checks.All() {
				if a.Name != folder && folder != "right" {
					continue
				}
				ran[a.Name] = ran[a.Name] || a.Name == folder
				pass := *p
				pass.Analyzer = a
				if _, err := a.Run(&pass); err != nil {
					return nil, err
				}
			}
			return nil, nil
		},
	}
	analysistest.Run(t, analysistest.TestData(), each, "./...")
	for _, a := range checks.All() {
		if !ran[a.Name] {
			t.Errorf("testdata/%s is missing", a.Name)
		}
	}
}

// TestTexts: docs/retrycheck.md lists each analyzer, and the code in its text is a line of its
// package of testdata.
func TestTexts(t *testing.T) {
	page, err := os.ReadFile("../../../docs/retrycheck.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range checks.All() {
		if !strings.Contains(string(page), `<a id="`+a.Name+`"></a>`+a.Name+" |") {
			t.Errorf("docs/retrycheck.md does not list %s", a.Name)
		}
		files, err := filepath.Glob(filepath.Join("testdata", a.Name, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		var source strings.Builder
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			source.Write(text)
		}
		for line := range strings.Lines(a.Doc) {
			if strings.HasPrefix(line, "\t") && !strings.Contains(source.String(), strings.TrimSpace(line)) {
				t.Errorf("%s.txt has code that is not in testdata/%s: %s", a.Name, a.Name, strings.TrimSpace(line))
			}
		}
	}
}
