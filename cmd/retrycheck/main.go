// Retrycheck reports mistakes in code that retries.
//
//	go vet -vettool=$(which retrycheck) ./...
//
// It also runs by itself, as retrycheck ./..., with the flags of go vet. A flag such as
// -sleep runs that analyzer alone, and -sleep=false all but one. retrycheck -explain lists the
// analyzers, and retrycheck -explain sleep says what one finds, why that is a mistake, and what
// to write instead.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/gobackoff/retry/cmd/internal/nearest"
	"github.com/gobackoff/retry/cmd/retrycheck/checks"
)

func main() {
	if names, asked := explained(os.Args[1:]); asked {
		if err := explain(os.Stdout, names); err != nil {
			fmt.Fprintln(os.Stderr, "retrycheck:", err)
			os.Exit(2)
		}
		return
	}
	analyzers := append(checks.All(), checks.Compiles)
	for _, a := range analyzers {
		sign(a)
	}
	multichecker.Main(analyzers...)
}

// explained returns the names after a first argument -explain, and whether there is one. go vet
// never gives it.
func explained(args []string) (names []string, asked bool) {
	if len(args) == 0 {
		return nil, false
	}
	flag, name, hasName := strings.Cut(strings.TrimPrefix(args[0], "-"), "=")
	if flag != "-explain" && flag != "explain" || !strings.HasPrefix(args[0], "-") {
		return nil, false
	}
	if hasName {
		names = []string{name}
	}
	return append(names, args[1:]...), true
}

// explain writes what is said about the named analyzers, or a list of all.
func explain(w io.Writer, names []string) error {
	known := map[string]*analysis.Analyzer{}
	var all []string
	for _, a := range checks.All() {
		known[a.Name] = a
		all = append(all, a.Name)
	}
	for _, name := range names {
		if known[name] != nil {
			continue
		}
		if near := nearest.Name(name, all); near != "" {
			return fmt.Errorf("unknown analyzer %q; did you mean %s?", name, near)
		}
		return fmt.Errorf("unknown analyzer %q; retrycheck -explain lists them", name)
	}
	for i, name := range names {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s: %s\n", name, known[name].Doc)
	}
	if len(names) > 0 {
		return nil
	}
	for _, name := range all {
		title, _, _ := strings.Cut(known[name].Doc, "\n")
		fmt.Fprintf(w, "%-12s %s\n", name, title)
	}
	return nil
}

// sign adds an analyzer's name to its findings.
func sign(a *analysis.Analyzer) {
	run := a.Run
	a.Run = func(p *analysis.Pass) (any, error) {
		report := p.Report
		p.Report = func(d analysis.Diagnostic) {
			d.Message += " (" + a.Name + ")"
			report(d)
		}
		return run(p)
	}
}
