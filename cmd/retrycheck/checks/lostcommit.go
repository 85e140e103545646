package checks

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"
)

// mayLoseCommit has the loops whose last error may be that of a lost COMMIT. Once recognizes a
// repetition.
var mayLoseCommit = names(ours + `/retrysql\.InTx(Func)?`)

// isOfLostCommit reports whether a marker at c is also that of a lost COMMIT in the call from: the
// transaction is not read-only, and the function asks for no errors but its own before.
func (p *pass) isOfLostCommit(c, from inspector.Cursor) bool {
	if !mayLoseCommit.MatchString(p.callee(from.Node())) || p.names(from, "ReadOnly") {
		return false
	}
	fn := p.functionAround(c)
	for test := range c.Enclosing((*ast.IfStmt)(nil), (*ast.CaseClause)(nil), (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
		if test == fn {
			break
		}
		n, ok := test.Node().(*ast.IfStmt)
		if !ok || !p.isFailure(n.Cond) {
			return false
		}
	}
	for other := range fn.Preorder((*ast.IfStmt)(nil), (*ast.SwitchStmt)(nil)) {
		n, isIf := other.Node().(*ast.IfStmt)
		before := from.Node().End() <= other.Node().Pos() && other.Node().Pos() < c.Node().Pos()
		if before && (!isIf || !p.isFailure(n.Cond) && !p.asksForOwn(n.Cond)) {
			return false
		}
	}
	return true
}

// asksForOwn reports whether a condition looks for an error of this package.
func (p *pass) asksForOwn(cond ast.Expr) bool {
	asks, ok := cond.(*ast.CallExpr)
	if !ok || p.callee(asks) != "errors.Is" {
		return false
	}
	target, ok := p.info.Uses[lastName(asks.Args[1])].(*types.Var)
	return ok && target.Pkg() == p.Pkg
}
