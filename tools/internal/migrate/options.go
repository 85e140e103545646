package migrate

import (
	"go/ast"
	"go/types"
	"slices"
)

// definition returns the value of x if it names a variable of the package that is
// declared with a value and never changed; otherwise x. Declarations that only calls use
// that are rewritten are removed in the end.
func (r *rewriter) definition(x ast.Expr) ast.Expr {
	x = ast.Unparen(x)
	id, ok := x.(*ast.Ident)
	if !ok {
		return x
	}
	v, ok := r.pass.TypesInfo.Uses[id].(*types.Var)
	if !ok || r.decls[v] == nil {
		return x
	}
	if r.reassigned(v, 0, 1<<40) || v.Exported() && !r.private() {
		return x
	}
	cur := r.cursors[r.decls[v]]
	i := cur.ParentEdgeIndex()
	switch def := cur.Parent().Node().(type) {
	case *ast.AssignStmt:
		if len(def.Lhs) == len(def.Rhs) {
			r.followed[v] = def
			return r.definition(def.Rhs[i])
		}
	case *ast.ValueSpec:
		if len(def.Names) == len(def.Values) {
			r.followed[v] = def
			return r.definition(def.Values[i])
		}
	}
	return x
}

// removeFollowed removes the declarations of the variables that only rewritten calls used.
func (r *rewriter) removeFollowed() {
	gone := func(id *ast.Ident) bool {
		for cur := range r.cursors[id].Enclosing() {
			switch n := cur.Node().(type) {
			case *ast.CallExpr:
				if s := r.sites[n]; s != nil && s.why == "" && !contains(s.op, id) {
					return true
				}
			case *ast.AssignStmt, *ast.ValueSpec:
				if slices.Contains(r.removed, n) {
					return true
				}
			}
		}
		return false
	}
	for again := true; again; {
		again = false
		for v, def := range r.followed {
			if slices.Contains(r.removed, def) || slices.ContainsFunc(r.uses[v], func(id *ast.Ident) bool { return !gone(id) }) {
				continue
			}
			switch def := def.(type) {
			case *ast.AssignStmt:
				if len(def.Lhs) > 1 {
					continue
				}
			case *ast.ValueSpec:
				if len(def.Names) > 1 {
					continue
				}
			}
			r.removed, again = append(r.removed, def), true
			r.remove(r.declared(def))
		}
	}
}

// declared returns the declaration of which def is the only part, or def.
func (r *rewriter) declared(def ast.Node) ast.Node {
	cur, _ := r.root.FindNode(def)
	if decl, ok := cur.Parent().Node().(*ast.GenDecl); ok && len(decl.Specs) == 1 {
		if up := cur.Parent().Parent().Node(); isStmt(up) {
			return up
		}
		return decl
	}
	return def
}

func isStmt(n ast.Node) bool { _, ok := n.(*ast.DeclStmt); return ok }

func contains(n ast.Node, id *ast.Ident) bool {
	return n != nil && n.Pos() <= id.Pos() && id.End() <= n.End()
}
