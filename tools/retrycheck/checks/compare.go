package checks

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
)

// Compare reports comparisons that are always false, because Do returns a *retry.Error
// that matches the reason, not the reason itself.
var Compare = analyzer("compare", "report reasons for giving up that are compared with == instead of errors.Is", func(p *pass) {
	for c := range p.root.Preorder((*ast.BinaryExpr)(nil), (*ast.SwitchStmt)(nil)) {
		switch n := c.Node().(type) {
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				p.compare(c, n.X, n.Y)
				p.compare(c, n.Y, n.X)
			}
		case *ast.SwitchStmt:
			for _, clause := range n.Body.List {
				for _, value := range clause.(*ast.CaseClause).List {
					if n.Tag != nil {
						p.compare(c, n.Tag, value)
					}
				}
			}
		}
	}
})

// compare checks a comparison of an error with a reason. A hook's e.Reason may be one.
func (p *pass) compare(c inspector.Cursor, err, reason ast.Expr) {
	sel, ok := ast.Unparen(reason).(*ast.SelectorExpr)
	if !ok {
		return
	}
	v, ok := p.info.Uses[sel.Sel].(*types.Var)
	if !ok || v.IsField() || !strings.HasPrefix(nameOf(v), ours+".Err") || v.Name() == "ErrNoReturn" || v.Name() == "ErrPermanent" {
		return // hooks receive ErrNoReturn, and Policy.Next returns ErrPermanent
	}
	if field, ok := ast.Unparen(err).(*ast.SelectorExpr); ok && field.Sel.Name == "Reason" {
		return
	}
	p.report(c, "Do returns an error that matches retry.%[1]s but is not equal to it: use errors.Is(err, retry.%[1]s)", v.Name())
}
