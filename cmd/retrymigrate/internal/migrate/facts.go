package migrate

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// movable reports whether x has the same value at another position: it has no calls but of
// the library, and names nothing that changes, but for one variable, or that is not in sight.
func (r *rewriter) movable(x ast.Expr, to token.Pos, but *types.Var) bool {
	for n := range ast.Preorder(x) {
		switch n := n.(type) {
		case *ast.CallExpr:
			if call, _ := r.own(n); call == nil && !r.pass.TypesInfo.Types[n.Fun].IsType() {
				return false
			}
		case *ast.Ident:
			v, ok := r.pass.TypesInfo.Uses[n].(*types.Var)
			if !ok || v.IsField() || v == but {
				continue
			}
			if _, found := r.pass.Pkg.Scope().Innermost(to).LookupParent(n.Name, to); found != v || r.reassigned(v) {
				return false
			}
		}
	}
	return true
}

// initial returns the expression that a variable alone is declared with, or nil.
func (r *rewriter) initial(v *types.Var) ast.Expr {
	if r.decls[v] == nil {
		return nil
	}
	switch def := r.cursors[r.decls[v]].Parent().Node().(type) {
	case *ast.AssignStmt:
		if len(def.Lhs) == 1 && len(def.Rhs) == 1 {
			return def.Rhs[0]
		}
	case *ast.ValueSpec:
		if len(def.Names) == 1 && len(def.Values) == 1 {
			return def.Values[0]
		}
	}
	return nil
}

// reassigned reports whether v changes after its declaration, as far as its name tells.
func (r *rewriter) reassigned(v *types.Var) bool {
	return slices.ContainsFunc(r.uses[v], r.changes)
}

// changes reports whether a use of a variable sets it or takes its address.
func (r *rewriter) changes(id *ast.Ident) bool {
	switch n := r.cursors[id].Parent().Node().(type) {
	case *ast.AssignStmt:
		return slices.Contains(n.Lhs, ast.Expr(id))
	case *ast.UnaryExpr:
		return n.Op == token.AND
	case *ast.IncDecStmt:
		return true
	}
	return false
}

func (r *rewriter) isLocal(obj types.Object) bool {
	v, ok := obj.(*types.Var)
	return ok && !v.IsField() && v.Parent() != nil && v.Parent() != r.pass.Pkg.Scope()
}

// unkeyed reports whether a literal of the package sets a field without its name.
func (r *rewriter) unkeyed(field *types.Var) bool {
	for cur := range r.root.Preorder((*ast.CompositeLit)(nil)) {
		lit := cur.Node().(*ast.CompositeLit)
		t, ok := r.pass.TypesInfo.TypeOf(lit).Underlying().(*types.Struct)
		if ok && len(lit.Elts) > 0 && slices.Contains(slices.Collect(t.Fields()), field) {
			if _, keyed := lit.Elts[0].(*ast.KeyValueExpr); !keyed {
				return true
			}
		}
	}
	return false
}

// object returns the variable, field or function that x names, or nil.
func (r *rewriter) object(x ast.Expr) types.Object {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		if obj := r.pass.TypesInfo.ObjectOf(x); obj != nil && obj.Name() != "_" {
			return obj
		}
	case *ast.SelectorExpr:
		return r.pass.TypesInfo.ObjectOf(x.Sel)
	}
	return nil
}

// statement returns the innermost statement that contains n.
func (r *rewriter) statement(n ast.Node) ast.Stmt {
	cur, _ := r.root.FindNode(n)
	for up := range cur.Enclosing() {
		if stmt, ok := up.Node().(ast.Stmt); ok {
			return stmt
		}
	}
	return nil
}

// block returns the node that directly contains a statement.
func (r *rewriter) block(stmt ast.Node) ast.Node {
	cur, _ := r.root.FindNode(stmt)
	return cur.Parent().Node()
}

// shown returns the source of an expression in one line.
func (r *rewriter) shown(x ast.Expr) string {
	content, base := r.edits.source(x.Pos())
	s := string(content[int(x.Pos())-base : int(x.End())-base])
	if line, _, more := strings.Cut(s, "\n"); more {
		return line + " …"
	}
	return s
}
