package checks

import (
	"go/ast"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// Fake reports what package retrytest has for tests, in other code.
var Fake = analyzer("fake", func(p *pass) {
	for c := range p.root.Preorder((*ast.KeyValueExpr)(nil)) {
		name := p.field(c)
		if name != ours+".Clock" && name != ours+".Rand" {
			continue
		}
		value := p.value(c.ChildAt(edge.KeyValueExpr_Value, -1))
		made := p.callee(value.Node())
		if lit, ok := value.Node().(*ast.CompositeLit); ok {
			made = typeName(p.info.TypeOf(lit))
		}
		if strings.HasPrefix(made, ours+"/retrytest.") && !p.isTesting(c) {
			p.report(c, "%s is for tests: with it, retries do not wait", shortName(made))
		}
	}
})

// isTesting reports whether the file around c imports package testing.
func (p *pass) isTesting(c inspector.Cursor) bool {
	file := around(c, (*ast.File)(nil)).Node().(*ast.File)
	return slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing"` })
}
