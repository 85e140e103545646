package checks

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"
)

// reportOldProgress reports an operation that marks its error with Progress because of what all
// attempts together have brought.
func (p *pass) reportOldProgress(loop *call) {
	for _, c := range p.calls {
		if c.name != ours+".Progress" || !loop.op.Contains(c.Cursor) || p.functionAround(c.Cursor) != loop.op {
			continue
		}
		for test := range c.Enclosing((*ast.IfStmt)(nil)) {
			n := test.Node().(*ast.IfStmt)
			if !loop.op.Contains(test) || n.Else != nil && n.Else.Pos() <= c.Pos() {
				break
			}
			p.reportTotal(loop, n.Cond, c)
		}
	}
}

// reportTotal reports a marker under a condition on a variable that only grows.
func (p *pass) reportTotal(loop *call, condition ast.Expr, marker *call) {
	var total ast.Expr
	switch n := ast.Unparen(condition).(type) {
	case *ast.BinaryExpr:
		if n.Op == token.LAND && p.isFailure(n.X) { // err != nil && total > 0
			p.reportTotal(loop, n.Y, marker)
			return
		}
		value := p.info.Types[n.Y].Value
		if value == nil || value.Kind() != constant.Int {
			return
		}
		total = n.X
		if call, ok := n.X.(*ast.CallExpr); ok && isBuiltin(p.info, call, "len") {
			total = call.Args[0]
		}
	case *ast.Ident, *ast.SelectorExpr:
		total = n.(ast.Expr)
	}
	if total == nil {
		return
	}
	v := p.owner(total)
	if v == nil || !p.survives(v, loop.op) || !p.grows(loop.op, types.ExprString(total)) {
		return
	}
	p.report(marker.Cursor, "%s is what all attempts have brought, so one that brings nothing counts as Progress, too: ask what this attempt has brought", types.ExprString(total))
}

// grows reports whether an operation adds to a variable, or sets it to true, and does nothing else
// to it.
func (p *pass) grows(op inspector.Cursor, name string) bool {
	grows := false
	for c := range op.Preorder((*ast.AssignStmt)(nil), (*ast.IncDecStmt)(nil)) {
		for i, target := range targets(c.Node()) {
			if types.ExprString(target) != name {
				continue
			}
			added, verb := p.added(c)
			n, isAssign := c.Node().(*ast.AssignStmt)
			isTrue := isAssign && len(n.Lhs) == len(n.Rhs) && types.ExprString(n.Rhs[i]) == "true"
			isSum := isAssign && len(n.Rhs) == 1 && isSumWith(n.Rhs[0], name)
			if added == nil && !isTrue && !isSum || verb == "counts in" && c.Node().(*ast.IncDecStmt).Tok == token.DEC {
				return false
			}
			grows = true
		}
	}
	return grows
}

// isSumWith reports whether an expression is name + n.
func isSumWith(e ast.Expr, name string) bool {
	n, ok := ast.Unparen(e).(*ast.BinaryExpr)
	return ok && n.Op == token.ADD && (types.ExprString(n.X) == name || types.ExprString(n.Y) == name)
}
