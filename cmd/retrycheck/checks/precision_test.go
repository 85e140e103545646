package checks_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gobackoff/retry/cmd/retrycheck/checks"
)

// TestPrecision: of the findings of the analyzers that are on by default, at least nine in
// ten are mistakes, and the table of the documentation says how many there are.
func TestPrecision(t *testing.T) {
	found, mistakes := map[string]int{}, map[string]int{}
	for key, verdict := range judged(t) {
		name := key[strings.LastIndex(key, "\t")+1:]
		found[name]++
		switch verdict {
		case "yes":
			mistakes[name]++
		case "no":
		default:
			t.Errorf("%s: is it a mistake? %q", key, verdict)
		}
	}
	page, err := os.ReadFile("../../../docs/retrycheck.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range checks.Default() {
		if 10*mistakes[a.Name] < 9*found[a.Name] {
			t.Errorf("%s: %d of %d findings are mistakes", a.Name, mistakes[a.Name], found[a.Name])
		}
	}
	for name := range found {
		row := fmt.Sprintf("| %s | %d | %d |", name, found[name], mistakes[name])
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/retrycheck.md has no row %s", row)
		}
	}
}
