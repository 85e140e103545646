package migrate

import (
	"go/ast"
	"go/types"
	"slices"
)

// call rewrites the parts of a call: the function, the arguments in front of the
// operation, and what the operation takes. Those behind it are removed.
func (r *rewriter) call(s *site, op ast.Expr, data bool, front text) {
	r.function(s.call, data)
	r.insert(op.Pos(), join(front, ", ")...)
	r.operation(op, data)
	r.replaceRange(op.End(), s.call.Rparen)
}

// function replaces the function of a call, and keeps the errors that it returns.
func (r *rewriter) function(call *ast.CallExpr, data bool) {
	name, bare := ".Do", ".Bare("
	if data {
		name, bare = ".DoValue", ".Value("
	}
	fun := call.Fun
	if index, ok := fun.(*ast.IndexExpr); ok {
		fun = index.X
	}
	r.replace(fun, retryPkg, name)
	if r.bare(call) {
		r.insert(call.Pos(), legacyPkg, bare)
		r.insert(call.End(), ")")
	}
}

// operation gives the operation of a call a context as its parameter.
func (r *rewriter) operation(op ast.Expr, data bool) {
	if lit := r.onlyLiteral(op); lit != nil {
		r.insert(lit.Type.Params.Opening+1, contextPkg, ".Context")
		return
	}
	name := ".Op("
	if data {
		name = ".OpValue("
	}
	r.insert(op.Pos(), legacyPkg, name)
	r.insert(op.End(), ")")
}

// onlyLiteral returns the function literal that op is, or that op names if nothing else
// uses the variable; nil if there is none.
func (r *rewriter) onlyLiteral(op ast.Expr) *ast.FuncLit {
	switch x := ast.Unparen(op).(type) {
	case *ast.FuncLit:
		return x
	case *ast.Ident:
		v, ok := r.pass.TypesInfo.Uses[x].(*types.Var)
		if !ok || !r.isLocal(v) || len(r.uses[v]) != 1 || r.decls[v] == nil {
			return nil
		}
		cur := r.cursors[r.decls[v]]
		switch def := cur.Parent().Node().(type) {
		case *ast.AssignStmt:
			if len(def.Rhs) == len(def.Lhs) {
				lit, _ := def.Rhs[cur.ParentEdgeIndex()].(*ast.FuncLit)
				return lit
			}
		case *ast.ValueSpec:
			if len(def.Values) == len(def.Names) && def.Type == nil {
				lit, _ := def.Values[cur.ParentEdgeIndex()].(*ast.FuncLit)
				return lit
			}
		}
	}
	return nil
}

// bare reports whether the error of a call reaches code that may compare or print it, so
// that it must stay what it was.
func (r *rewriter) bare(call *ast.CallExpr) bool {
	cur, _ := r.root.FindNode(call)
	switch n := cur.Parent().Node().(type) {
	case *ast.ExprStmt, *ast.GoStmt, *ast.DeferStmt:
		return false
	case *ast.AssignStmt:
		id, ok := n.Lhs[len(n.Lhs)-1].(*ast.Ident)
		if v, isVar := r.pass.TypesInfo.ObjectOf(id).(*types.Var); ok && isVar && r.isLocal(v) {
			return slices.ContainsFunc(r.uses[v], func(use *ast.Ident) bool {
				compared, ok := r.cursors[use].Parent().Node().(*ast.BinaryExpr)
				return !ok || !r.isNil(compared.X) && !r.isNil(compared.Y)
			})
		}
		return !ok || id.Name != "_"
	}
	return true
}
