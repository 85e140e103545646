package checks_test

import (
	"os/exec"
	"slices"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/gobackoff/retry/tools/retrycheck/checks"
)

// TestAnalyzers: each analyzer finds the mistakes marked in its package of testdata, and
// nothing else there. testdata is a module that uses the real libraries.
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
			analysistest.Run(t, analysistest.TestData(), a, "./"+a.Name)
		})
	}
}
