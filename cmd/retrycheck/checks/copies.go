package checks

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// forTests has what a test sets in a policy, and what no test of copies itself does.
var forTests = names(`Clock`, `Rand`, `OnAttempt`, `OnRetry`, `OnGiveUp`)

// reportLostChanges reports what a function changes in a copy of a policy, or of a struct with
// one, that nothing uses afterwards.
func (p *pass) reportLostChanges() {
	for c := range p.root.Preorder((*ast.AssignStmt)(nil)) {
		assign := c.Node().(*ast.AssignStmt)
		if assign.Tok != token.ASSIGN {
			continue
		}
		for i, target := range assign.Lhs {
			at := c.ChildAt(edge.AssignStmt_Lhs, i)
			v := p.copied(target)
			if v == nil || !p.isLost(v, c) {
				continue
			}
			name := types.ExprString(target)
			if !p.inTest(at) {
				p.report(at, "%s", p.lostIn(v, at, name))
			} else if id := lastName(target); forTests.MatchString(id.Name) {
				p.reportAnywhere(at, "%s", p.lostIn(v, at, name))
			}
		}
	}
}

// copied returns the variable of a function that has target and a copy of its own of it, if target
// is a policy, a part of one, or has another type of this library.
func (p *pass) copied(target ast.Expr) *types.Var {
	isOurs := false
	for e := ast.Unparen(target); ; {
		isOurs = isOurs || strings.HasPrefix(p.structName(e), ours)
		switch n := e.(type) {
		case *ast.Ident:
			v, ok := p.info.ObjectOf(n).(*types.Var)
			if !ok || !isOurs || v.Kind() == types.PackageVar || v.Kind() == types.ResultVar {
				return nil
			}
			return v
		case *ast.SelectorExpr:
			selection, isField := p.info.Selections[n]
			if !isField || selection.Indirect() {
				return nil
			}
			e = ast.Unparen(n.X)
		default:
			return nil
		}
	}
}

// structName names the type of an expression, if it is a struct and no pointer to one.
func (p *pass) structName(e ast.Expr) string {
	t := p.info.TypeOf(e)
	if t == nil {
		return ""
	}
	if _, isStruct := t.Underlying().(*types.Struct); !isStruct {
		return ""
	}
	return typeName(t)
}

// isLost reports whether nothing can use v after a statement that changes it.
func (p *pass) isLost(v *types.Var, statement inspector.Cursor) bool {
	again := p.repeats(v, statement)
	fn := around(statement, (*ast.FuncDecl)(nil), (*ast.FuncLit)(nil))
	for _, set := range p.vars[v].sets {
		if _, isAddress := set.Parent().Node().(*ast.UnaryExpr); isAddress {
			return false
		}
	}
	return !slices.ContainsFunc(p.vars[v].uses, func(use inspector.Cursor) bool {
		if p.onlyChanges(use, v) {
			return false
		}
		later := use.Node().Pos() >= statement.Node().End()
		elsewhere := around(use, (*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) != fn
		repeated := again.Valid() && again.Contains(use) && !statement.Contains(use)
		return later || elsewhere || repeated || p.takesAddress(use)
	})
}

// onlyChanges reports whether a use of v is in a statement such as v = v.With(hooks).
func (p *pass) onlyChanges(use inspector.Cursor, v *types.Var) bool {
	assign, ok := around(use, (*ast.AssignStmt)(nil), (*ast.FuncLit)(nil)).Node().(*ast.AssignStmt)
	if !ok || len(assign.Lhs) != 1 || !pure.MatchString(p.callee(assign.Rhs[0])) {
		return false
	}
	target, ok := assign.Lhs[0].(*ast.Ident)
	return ok && p.info.Uses[target] == v
}

// repeats returns the outermost loop around a statement that v outlives, if there is one.
func (p *pass) repeats(v *types.Var, statement inspector.Cursor) (loop inspector.Cursor) {
	for c := range statement.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil)) {
		if outside(v, c) {
			loop = c
		}
	}
	return loop
}

// takesAddress reports whether a use is a call or a value of a method of the pointer.
func (p *pass) takesAddress(use inspector.Cursor) bool {
	for c := use; c.ParentEdgeKind() == edge.SelectorExpr_X; c = c.Parent() {
		method, ok := p.info.Uses[c.Parent().Node().(*ast.SelectorExpr).Sel].(*types.Func)
		if !ok {
			continue
		}
		if recv := method.Signature().Recv(); recv != nil {
			_, isPointer := recv.Type().(*types.Pointer)
			return isPointer
		}
	}
	return false
}

// lostIn says why a change of v is lost.
func (p *pass) lostIn(v *types.Var, at inspector.Cursor, name string) string {
	switch kind := p.declaredIn(v); {
	case v.Kind() == types.RecvVar:
		return v.Name() + " is a copy of the receiver, so this change of " + name + " is lost: use a pointer as the receiver"
	case v.Kind() == types.ParamVar:
		return v.Name() + " is a copy of what the caller has, so this change of " + name + " is lost: return the copy, or take a pointer"
	case kind == edge.RangeStmt_Value:
		return v.Name() + " is a copy of the element, so this change of " + name + " is lost: change the element by its index"
	}
	return "nothing uses " + v.Name() + " after this change of " + name + ", and the values that " + v.Name() + " was copied from or to do not have it"
}

// declaredIn returns the place in a statement where a variable is set first.
func (p *pass) declaredIn(v *types.Var) edge.Kind {
	for _, set := range p.vars[v].sets {
		if set.Node().Pos() == v.Pos() {
			return set.ParentEdgeKind()
		}
	}
	return edge.Invalid
}

// fakes has what package retrytest makes, and the methods that only ask what happened to it.
var (
	fakes   = names(ours + `/retrytest\.(Clock|Op)`)
	inquiry = names(`Waits`, `Now`, `Advance`, `Calls`)
)

// reportUnusedFakes reports a clock whose waits, and an operation whose calls, a test asks for,
// although nothing has it.
func (p *pass) reportUnusedFakes() {
	for obj, variable := range p.vars {
		v, ok := obj.(*types.Var)
		if !ok || !fakes.MatchString(typeName(v.Type())) || v.Kind() != types.LocalVar || len(variable.values) != 1 || !p.isMade(v, variable.values[0]) {
			continue
		}
		var asked inspector.Cursor
		given := false
		for _, use := range variable.uses {
			method, called := field(use)
			_, isCall := called.Node().(*ast.CallExpr)
			switch {
			case !isCall || !inquiry.MatchString(method):
				given = true
			case method == "Waits" || method == "Calls":
				asked = called
			}
		}
		if asked.Valid() && !given {
			p.reportAnywhere(asked, "nothing uses %s, so this is always empty or 0: set it in the policy, or pass its method Run to the call", v.Name())
		}
	}
}

// isMade reports whether the only value of a variable is new.
func (p *pass) isMade(v *types.Var, value inspector.Cursor) bool {
	if !value.Valid() {
		spec, ok := p.vars[v].sets[0].Parent().Node().(*ast.ValueSpec)
		return ok && len(spec.Values) == 0 // var clock retrytest.Clock
	}
	switch n := p.plain(value).Node().(type) {
	case *ast.CompositeLit:
		return true
	case *ast.CallExpr:
		return strings.HasPrefix(p.callee(n), ours+"/retrytest.") || isBuiltin(p.info, n, "new")
	}
	return false
}
