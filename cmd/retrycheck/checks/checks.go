// Package checks has analyzers for mistakes in code that retries, with this library, with
// others, or with a loop of its own. docs/retrycheck.md describes them.
package checks

import (
	"fmt"
	"go/ast"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
)

const page = "https://github.com/gobackoff/retry/blob/main/docs/retrycheck.md"

// Default returns the analyzers that are on by default.
func Default() []*analysis.Analyzer {
	return []*analysis.Analyzer{Body, Budget, Compare, Dropped, Invalid, NoFail, OpContext, Repeat, Response, Sleep, Transaction, Unit}
}

// Optional returns the analyzers whose findings are often intended.
func Optional() []*analysis.Analyzer {
	return []*analysis.Analyzer{Unbounded}
}

// Compiles reports that a package does not compile, once instead of once for each analyzer,
// which then do nothing.
var Compiles = &analysis.Analyzer{
	Name: "compiles",
	Doc:  "report packages that do not compile",
	Run: func(p *analysis.Pass) (any, error) {
		if len(p.TypeErrors) > 0 {
			return nil, fmt.Errorf("%s is not checked, because it does not compile", p.Pkg.Path())
		}
		return nil, nil
	},
	RunDespiteErrors: true,
}

type pass struct {
	*analysis.Pass
	*indexed
}

func analyzer(name, doc string, run func(*pass)) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name:     name,
		Doc:      doc,
		URL:      page + "#" + name,
		Requires: []*analysis.Analyzer{index},
		Run: func(p *analysis.Pass) (any, error) {
			if x := p.ResultOf[index].(*indexed); x != nil && p.Pkg.Path() != ours && p.Pkg.Path() != ours+"/retryconfig" { // which have tables of zero values
				run(&pass{p, x})
			}
			return nil, nil
		},
		RunDespiteErrors: true, // see Compiles
	}
}

// report reports a mistake at c, unless its file is generated, so that nobody would correct
// it, or a test: tests sleep and pass invalid values on purpose.
func (p *pass) report(c inspector.Cursor, format string, args ...any) {
	file := around(c, (*ast.File)(nil)).Node().(*ast.File)
	if !ast.IsGenerated(file) && !strings.HasSuffix(p.Fset.File(file.FileStart).Name(), "_test.go") {
		p.ReportRangef(c.Node(), format, args...)
	}
}
