package checks

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// Hooks reports hooks that replace others, and hooks that each call adds again.
var Hooks = analyzer("hooks", "report hooks that replace those of a policy, or that each call adds to it again", func(p *pass) {
	p.reportUseOfHooks()
	for _, call := range p.operations {
		p.reportUnnumbered(call)
	}
	for _, call := range p.loops {
		if doers.MatchString(call.name) && len(call.Args) > 1 {
			p.reportAskedOutside(call)
		}
	}
	for c := range p.root.Preorder((*ast.AssignStmt)(nil)) {
		assign := c.Node().(*ast.AssignStmt)
		p.reportAddedInLoop(c)
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

// reportUnnumbered reports an operation that asks for its attempt, if the policy of the call is
// in sight and has no hooks, without which there is no answer.
func (p *pass) reportUnnumbered(loop *call) {
	if !loop.policy.Valid() {
		return
	}
	lit, ok := p.value(loop.policy).Node().(*ast.CompositeLit)
	if !ok || p.names(loop.policy, "Hooks") || p.names(loop.policy, "With") {
		return
	}
	if id, ok := loop.policy.Node().(*ast.Ident); ok && len(p.vars[p.info.ObjectOf(id)].sets) > 1 || typeName(p.info.TypeOf(lit)) != ours+".Policy" {
		return
	}
	for _, c := range p.calls {
		if c.name != ours+".AttemptFrom" || !loop.op.Contains(c.Cursor) {
			continue
		}
		assign, ok := c.Parent().Node().(*ast.AssignStmt)
		if ok && len(assign.Lhs) == 2 && types.ExprString(assign.Lhs[1]) == "_" {
			p.report(c.Cursor, "the policy has no hooks that put the attempt into the context, so this is always a zero Attempt: use policy.With(retry.AttemptInContext())")
		}
	}
}

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

// hookless has functions that return policies without hooks.
var hookless = names(ours+`/retryconfig\.Parse`, ours+`/awspreset\.(Preset\.Policy|FromEnv)`)

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
	if hookless.MatchString(p.callee(declared.Node())) {
		return true
	}
	if p.setsHooks(declared) {
		return false
	}
	lit, ok := p.value(declared).Node().(*ast.CompositeLit)
	return ok && !slices.ContainsFunc(lit.Elts, func(e ast.Expr) bool {
		field, ok := e.(*ast.KeyValueExpr)
		return ok && lastName(field.Key).Name == "Hooks"
	})
}

// setsHooks reports whether statements give hooks to the policy that a value is a copy of.
func (p *pass) setsHooks(value inspector.Cursor) bool {
	id, ok := value.Node().(*ast.Ident)
	return ok && slices.ContainsFunc(p.vars[p.info.Uses[id]].sets, func(set inspector.Cursor) bool {
		sel, isField := set.Node().(*ast.SelectorExpr)
		return isField && (sel.Sel.Name == "Hooks" || hookFields.MatchString(objectName(p.info.Uses[sel.Sel])))
	})
}

// isParameter reports whether a variable is a parameter, whose value comes from the caller.
func (p *pass) isParameter(v types.Object) bool {
	return slices.ContainsFunc(p.vars[v].sets, func(set inspector.Cursor) bool {
		return set.ParentEdgeKind() == edge.Field_Names
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
	sets := ok && (strings.HasPrefix(fn.Name.Name, "Set") || strings.HasPrefix(fn.Name.Name, "With") || fn.Name.Name == "init")
	return ok && !sets && (v.Pos() < body(around(c, (*ast.FuncDecl)(nil))).Pos() && p.retries(c))
}

// retries reports whether the function around c calls an operation with retries.
func (p *pass) retries(c inspector.Cursor) bool {
	fn := around(c, (*ast.FuncDecl)(nil))
	if _, ok := fn.Node().(*ast.FuncDecl); !ok {
		return false // a variable of the package
	}
	return slices.ContainsFunc(p.loops, func(call *call) bool { return fn.Contains(call.Cursor) })
}

// Fake reports what package retrytest has for tests, in other code.
var Fake = analyzer("fake", "report clocks and random numbers of tests in other code", func(p *pass) {
	for c := range p.root.Preorder((*ast.KeyValueExpr)(nil)) {
		p.reportFake(c, p.field(c), c.ChildAt(edge.KeyValueExpr_Value, -1))
	}
	for c := range p.root.Preorder((*ast.AssignStmt)(nil)) {
		n := c.Node().(*ast.AssignStmt)
		for i, left := range n.Lhs {
			sel, ok := left.(*ast.SelectorExpr)
			if ok && len(n.Lhs) == len(n.Rhs) {
				p.reportFake(c.ChildAt(edge.AssignStmt_Lhs, i), objectName(p.info.Uses[sel.Sel]), c.ChildAt(edge.AssignStmt_Rhs, i))
			}
		}
	}
	for _, c := range p.calls {
		if twice.MatchString(c.name) && !p.isTesting(c.Cursor) {
			p.report(c.Cursor, "%s is for tests: it executes the operation twice", shortName(c.name))
		}
	}
})

var (
	fakedFields = names(ours + `(/\w+)*\.(Clock|Rand)`)
	twice       = names(ours + `/retrytest\.Twice(Value)?`)
)

// reportFake reports a clock or random numbers of package retrytest that are given to a field in
// other code than tests.
func (p *pass) reportFake(c inspector.Cursor, field string, value inspector.Cursor) {
	if !fakedFields.MatchString(field) || p.simulates(value) {
		return
	}
	value = p.value(value)
	made := p.callee(value.Node())
	if lit, ok := value.Node().(*ast.CompositeLit); ok {
		made = typeName(p.info.TypeOf(lit))
	}
	if call, ok := value.Node().(*ast.CallExpr); ok && isBuiltin(p.info, call, "new") {
		made = typeName(p.info.TypeOf(call))
	}
	if strings.HasPrefix(made, ours+"/retrytest.") && !p.isTesting(c) {
		p.report(c, "%s is for tests: with it, retries do not wait", shortName(made))
	}
}

// simulates reports whether a program asks a clock for its waits, or advances it, so that it does
// not mean to wait.
func (p *pass) simulates(clock inspector.Cursor) bool {
	id, ok := clock.Node().(*ast.Ident)
	return ok && slices.ContainsFunc(p.vars[p.info.Uses[id]].uses, func(use inspector.Cursor) bool {
		method, _ := field(use)
		return method == "Waits" || method == "Advance"
	})
}

// isTesting reports whether the file around c imports package testing.
func (p *pass) isTesting(c inspector.Cursor) bool {
	file := around(c, (*ast.File)(nil)).Node().(*ast.File)
	return slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing"` })
}
