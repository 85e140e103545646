package checks

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// Hooks reports hooks that replace others, and hooks that each call adds again.
var Hooks = analyzer("hooks", func(p *pass) {
	for c := range p.root.Preorder((*ast.AssignStmt)(nil)) {
		assign := c.Node().(*ast.AssignStmt)
		for i, left := range assign.Lhs {
			sel, ok := left.(*ast.SelectorExpr)
			if !ok || i >= len(assign.Rhs) {
				continue
			}
			right := c.ChildAt(edge.AssignStmt_Rhs, min(i, len(assign.Rhs)-1))
			if objectName(p.info.Uses[sel.Sel]) == ours+".Hooks" && !p.isFresh(sel.X) && !isZero(right) && !p.readsHooks(c, sel) {
				p.report(c, "this replaces the hooks that the policy has: use policy = policy.With(hooks)")
			}
			if p.addsAgain(c, sel, c.ChildAt(edge.AssignStmt_Rhs, i)) {
				p.report(c, "each call of this function adds the hooks once more: add them where the policy is made, or to a copy")
			}
		}
	}
})

// isZero reports whether hooks are removed on purpose.
func isZero(hooks inspector.Cursor) bool {
	lit, ok := hooks.Node().(*ast.CompositeLit)
	return ok && len(lit.Elts) == 0
}

// readsHooks reports whether the function around an assignment also reads the hooks that it
// replaces, perhaps to add them again.
func (p *pass) readsHooks(assign inspector.Cursor, replaced *ast.SelectorExpr) bool {
	for c := range around(assign, (*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)).Preorder((*ast.SelectorExpr)(nil)) {
		same := types.ExprString(c.Node().(ast.Expr)) == types.ExprString(replaced)
		if same && c.Node() != replaced && c.ParentEdgeKind() != edge.AssignStmt_Lhs {
			return true
		}
	}
	return false
}

// isFresh reports whether a policy is a variable that its function declares without hooks.
func (p *pass) isFresh(policy ast.Expr) bool {
	id, ok := policy.(*ast.Ident)
	if !ok {
		return false
	}
	v := p.info.ObjectOf(id)
	declared := p.declared(v)
	if !declared.Valid() {
		return len(p.vars[v].values) == 1 && v.Parent() != p.Pkg.Scope() && !p.isParameter(v) // var p retry.Policy
	}
	lit, ok := declared.Node().(*ast.CompositeLit)
	return ok && !slices.ContainsFunc(lit.Elts, func(e ast.Expr) bool {
		field, ok := e.(*ast.KeyValueExpr)
		return ok && objectName(p.info.Uses[lastName(field.Key)]) == ours+".Hooks"
	})
}

// addsAgain reports whether a statement sets a field to what With makes of it, in a function
// that did not make the value with the field.
func (p *pass) addsAgain(c inspector.Cursor, left *ast.SelectorExpr, right inspector.Cursor) bool {
	call, ok := right.Node().(*ast.CallExpr)
	if !ok || p.callee(call) != ours+".Policy.With" {
		return false
	}
	from, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || types.ExprString(from.X) != types.ExprString(left) {
		return false
	}
	root, ok := left.X.(*ast.Ident)
	if !ok {
		return false
	}
	fn, ok := around(c, (*ast.FuncDecl)(nil)).Node().(*ast.FuncDecl)
	v := p.info.ObjectOf(root)
	return ok && v.Pos() < fn.Body.Pos() && p.retries(c)
}
