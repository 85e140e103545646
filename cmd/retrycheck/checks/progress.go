package checks

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
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
		p.reportUnlessNone(loop, c)
	}
}

// reportUnlessNone reports a marker behind a statement that returns if all attempts together have
// brought nothing.
func (p *pass) reportUnlessNone(loop, marker *call) {
	ret := around(marker.Cursor, (*ast.ReturnStmt)(nil), (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))
	if _, ok := ret.Node().(*ast.ReturnStmt); !ok {
		return
	}
	list, _ := following(ret)
	for _, s := range list {
		test, ok := s.(*ast.IfStmt)
		if !ok || test.Pos() > ret.Node().Pos() || len(test.Body.List) == 0 || !leavesBlock(test.Body.List[len(test.Body.List)-1]) {
			continue
		}
		switch n := test.Cond.(type) {
		case *ast.UnaryExpr:
			if n.Op == token.NOT {
				p.reportTotal(loop, n.X, marker)
			}
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.LEQ {
				p.reportTotal(loop, n, marker)
			}
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
		total = counted(n.X)
	case *ast.Ident, *ast.SelectorExpr, *ast.CallExpr:
		total = counted(n)
	}
	if total == nil {
		return
	}
	v := p.owner(total)
	name := types.ExprString(total)
	if v == nil || !p.survives(v, loop.op) || !p.grows(loop.op, name) && !p.isAddedTo(loop.op, name) {
		return
	}
	p.report(marker.Cursor, "%s is what all attempts have brought, so one that brings nothing counts as Progress, too: ask what this attempt has brought", name)
}

// counted returns x of len(x), x.Len() and x.Load().
func counted(e ast.Expr) ast.Expr {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return e
	}
	switch fn := call.Fun.(type) {
	case *ast.Ident:
		if fn.Name == "len" && len(call.Args) == 1 {
			return call.Args[0]
		}
	case *ast.SelectorExpr:
		if (fn.Sel.Name == "Len" || fn.Sel.Name == "Load") && len(call.Args) == 0 {
			return fn.X
		}
	}
	return nil
}

// Methods that add to their receiver, and that begin anew.
var (
	addsBy  = names(`Add|Write\w*|ReadFrom|Store|Push\w*`)
	renewed = names(`Reset|Truncate|Swap|CompareAndSwap|Init|Next|Read\w*`)
)

// isAddedTo reports whether an operation only adds to a counter or a buffer, by its methods or by
// io.Copy.
func (p *pass) isAddedTo(op inspector.Cursor, name string) bool {
	filled := false
	for c := range op.Preorder((*ast.CallExpr)(nil)) {
		n := c.Node().(*ast.CallExpr)
		if copying.MatchString(p.callee(n)) && types.ExprString(p.plain(c.ChildAt(edge.CallExpr_Args, 0)).Node().(ast.Expr)) == name {
			filled = true
		}
		sel, ok := n.Fun.(*ast.SelectorExpr)
		if !ok || types.ExprString(sel.X) != name {
			continue
		}
		if renewed.MatchString(sel.Sel.Name) {
			return false
		}
		if sel.Sel.Name == "Store" && types.ExprString(n.Args[0]) != "true" {
			return false
		}
		filled = filled || addsBy.MatchString(sel.Sel.Name)
	}
	return filled
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
