// Retrycheck reports mistakes in code that retries.
//
//	go vet -vettool=$(which retrycheck) ./...
//
// It also runs by itself, as retrycheck ./..., with the flags of go vet. A flag such as
// -sleep runs that analyzer alone, -sleep=false all but one, and -optional those,
// too, that are off by default. docs/retrycheck.md describes them.
package main

import (
	"flag"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/gobackoff/retry/cmd/retrycheck/checks"
)

func main() {
	optional := flag.Bool("optional", false, "run the analyzers that are off by default, too")
	analyzers := append(checks.Default(), checks.Compiles)
	for _, a := range checks.Optional() {
		analyzers = append(analyzers, onDemand(a, optional))
	}
	for _, a := range analyzers {
		sign(a)
	}
	multichecker.Main(analyzers...)
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

// onDemand makes an analyzer run only if its own flag or -optional is set.
func onDemand(a *analysis.Analyzer, optional *bool) *analysis.Analyzer {
	run := a.Run
	a.Doc += " (off by default)"
	a.Run = func(p *analysis.Pass) (any, error) {
		asked := *optional
		flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == a.Name }) // of those that were set
		if !asked {
			return nil, nil
		}
		return run(p)
	}
	return a
}
