// Package checks has analyzers for mistakes in code that retries, with this library, with
// others, or with a loop of its own.
//
// An analyzer called sleep has these parts:
//
//   - sleep.go, with the analyzer and what only it needs;
//   - sleep.txt, which says what it finds, why that is a mistake, and what to write instead;
//   - testdata/sleep, with mistakes and, beside them, right programs that look like them;
//   - a place in [All], and a row in docs/retrycheck.md.
//
// index.go collects the calls and the variables of a package, and the operations that loops repeat.
// trace.go follows values and conditions from there. CONTRIBUTING.md says which mistakes are
// worth an analyzer. A new form of a mistake goes to the analyzer that finds its other forms.
package checks

import (
	"embed"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
)

const page = "https://github.com/gobackoff/retry/blob/main/docs/retrycheck.md"

// All returns the analyzers of this package except Compiles.
func All() []*analysis.Analyzer {
	return []*analysis.Analyzer{
		Argument, Body, Budget, Classify, Compare, Dropped, Escape, Fake, Hooks, Invalid, Limit, NoFail,
		Once, OpContext, Race, Repeat, Response, Sleep, Transaction, Unit,
	}
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
	reported map[string]bool
}

// texts has what is said about each analyzer, beside it: a title, and then the rest.
//
//go:embed *.txt
var texts embed.FS

func analyzer(name string, run func(*pass)) *analysis.Analyzer {
	text, err := texts.ReadFile(name + ".txt")
	if err != nil {
		panic(err)
	}
	return &analysis.Analyzer{
		Name:     name,
		Doc:      strings.TrimSpace(string(text)),
		URL:      page + "#" + name,
		Requires: []*analysis.Analyzer{index},
		Run: func(p *analysis.Pass) (any, error) {
			if x := p.ResultOf[index].(*indexed); x != nil && p.Pkg.Path() != ours && p.Pkg.Path() != ours+"/retryconfig" { // which have tables of zero values
				run(&pass{p, x, map[string]bool{}})
			}
			return nil, nil
		},
		RunDespiteErrors: true, // see Compiles
	}
}

// importsUs reports whether the package imports one of this library.
func (p *pass) importsUs() bool {
	return slices.ContainsFunc(p.Pkg.Imports(), func(imported *types.Package) bool { return strings.HasPrefix(imported.Path(), ours) })
}

// isError reports whether an expression is an error, as far as its type is known.
func (p *pass) isError(e ast.Expr) bool {
	t := p.info.TypeOf(e)
	return t != nil && types.Implements(t, errorType)
}

// report reports a mistake at c, once. It does not report what nobody would correct: generated
// code, tests, which sleep and pass invalid values on purpose, and what a comment accepts.
func (p *pass) report(c inspector.Cursor, format string, args ...any) {
	if !p.inTest(c) {
		p.reportAnywhere(c, format, args...)
	}
}

// inTest reports whether c is in a file of tests.
func (p *pass) inTest(c inspector.Cursor) bool {
	return strings.HasSuffix(p.Fset.Position(c.Node().Pos()).Filename, "_test.go")
}

// reportAnywhere is report for a mistake that is one in tests, too.
func (p *pass) reportAnywhere(c inspector.Cursor, format string, args ...any) {
	file := around(c, (*ast.File)(nil)).Node().(*ast.File)
	position := p.Fset.Position(c.Node().Pos())
	if ast.IsGenerated(file) || p.accepted(file, position.Line) {
		return
	}
	message := fmt.Sprintf(format, args...)
	key := position.String() + message
	if !p.reported[key] {
		p.reported[key] = true
		p.ReportRangef(c.Node(), "%s", message)
	}
}

// acceptance begins a comment that accepts the findings of an analyzer in its line, or in the
// line below it: //retrycheck:ignore sleep the driver has no context.
const acceptance = "//retrycheck:ignore "

// accepted reports whether a comment accepts the findings of the analyzer in a line. It has to
// give a reason.
func (p *pass) accepted(file *ast.File, line int) bool {
	for _, group := range file.Comments {
		for _, comment := range group.List {
			text, ok := strings.CutPrefix(comment.Text, acceptance)
			name, reason, _ := strings.Cut(strings.TrimSpace(text), " ")
			at := p.Fset.Position(comment.Pos()).Line
			if ok && name == p.Analyzer.Name && strings.TrimSpace(reason) != "" && (at == line || at == line-1) {
				return true
			}
		}
	}
	return false
}
