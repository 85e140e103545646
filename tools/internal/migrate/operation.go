package migrate

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
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
	cur, ok := r.root.FindNode(call)
	if !ok {
		return true
	}
	switch n := cur.Parent().Node().(type) {
	case *ast.ExprStmt, *ast.GoStmt, *ast.DeferStmt:
		return false
	case *ast.CallExpr:
		return !r.onlyChecks(n)
	case *ast.AssignStmt:
		id, ok := n.Lhs[len(n.Lhs)-1].(*ast.Ident)
		if ok && id.Name == "_" {
			return false
		}
		if obj := r.pass.TypesInfo.ObjectOf(id); ok && obj != nil && len(n.Rhs) == 1 {
			return slices.ContainsFunc(r.until(obj, n.End()), func(use *ast.Ident) bool { return !r.harmless(r.cursors[use]) })
		}
	}
	return true
}

// until returns the uses of a variable after a position, up to its next assignment if it
// is declared with :=, and all uses otherwise.
func (r *rewriter) until(v types.Object, pos token.Pos) []*ast.Ident {
	if !r.isLocal(v) {
		return r.uses[v]
	}
	var out []*ast.Ident
	for _, id := range r.uses[v] {
		if id.Pos() > pos {
			out = append(out, id)
		}
	}
	return out
}

// harmless reports whether a use of an error only asks whether there is one, or shows it
// to a person.
func (r *rewriter) harmless(cur inspector.Cursor) bool {
	switch n := cur.Parent().Node().(type) {
	case *ast.BinaryExpr:
		return r.isNil(n.X) || r.isNil(n.Y)
	case *ast.CallExpr:
		return r.onlyChecks(n)
	case *ast.AssignStmt:
		return slices.Contains(n.Lhs, cur.Node().(ast.Expr))
	}
	return false
}

// onlyChecks reports whether a call is of a function that tests or logs its arguments.
func (r *rewriter) onlyChecks(call *ast.CallExpr) bool {
	f := callee(r.pass.TypesInfo, call)
	if f == nil || f.Pkg() == nil {
		return false
	}
	switch path := f.Pkg().Path(); {
	case strings.HasPrefix(path, "github.com/stretchr/testify/"):
		return f.Name() == "NoError" || f.Name() == "Error" || f.Name() == "Nil" || f.Name() == "NotNil"
	default:
		return slices.Contains([]string{"log", "log/slog", "testing", "go.uber.org/zap", "github.com/sirupsen/logrus"}, path)
	}
}
