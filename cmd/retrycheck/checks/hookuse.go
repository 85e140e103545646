package checks

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// hookFields has the fields of Hooks.
var hookFields = names(ours + `\.(OnAttempt|OnRetry|OnGiveUp)`)

// reportUseOfHooks reports what functions of hooks must not do.
func (p *pass) reportUseOfHooks() {
	p.reportEarlyLogger()
	for c := range p.root.Preorder((*ast.KeyValueExpr)(nil)) {
		if hookFields.MatchString(p.field(c)) {
			p.reportHook(c, p.field(c), p.function(c.ChildAt(edge.KeyValueExpr_Value, -1)))
		}
	}
	for c := range p.root.Preorder((*ast.AssignStmt)(nil)) {
		n := c.Node().(*ast.AssignStmt)
		for i, left := range n.Lhs {
			sel, ok := left.(*ast.SelectorExpr)
			if ok && len(n.Lhs) == len(n.Rhs) && hookFields.MatchString(objectName(p.info.Uses[sel.Sel])) {
				p.reportHook(c.ChildAt(edge.AssignStmt_Lhs, i), objectName(p.info.Uses[sel.Sel]), p.function(c.ChildAt(edge.AssignStmt_Rhs, i)))
			}
		}
	}
}

// reportEarlyLogger reports hooks of a variable of the package that log with the default logger,
// which main sets later.
func (p *pass) reportEarlyLogger() {
	sets := slices.ContainsFunc(p.calls, func(c *call) bool { return c.name == "log/slog.SetDefault" && !p.inTest(c.Cursor) })
	for _, c := range p.calls {
		if c.name == ours+"/retryslog.Hooks" && sets && p.callee(c.Args[0]) == "log/slog.Default" && around(c.Cursor, (*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) == p.root {
			p.report(c.Cursor, "this takes the default logger before slog.SetDefault sets another one: pass nil, which means the default when a line is logged")
		}
	}
}

// reportHook reports what the function of a hook, which is set at c, must not do.
func (p *pass) reportHook(c inspector.Cursor, name string, hook inspector.Cursor) {
	if !hook.Valid() {
		return
	}
	for at := range hook.Preorder((*ast.CallExpr)(nil)) {
		n := at.Node().(*ast.CallExpr)
		switch {
		case p.runsAside(at, hook):
		case p.callee(n) == "time.Sleep":
			p.report(at, "Do waits by itself between attempts, so a hook that sleeps makes the wait longer, even if the context is done: set the wait in the policy's Backoff")
		case isBuiltin(p.info, n, "panic") && name != ours+".OnAttempt" && !hook.Contains(around(at, (*ast.CaseClause)(nil))):
			p.report(at, "Do returns a panic of a hook as an error, so it ends only this call: let the operation, or the caller of Do, decide")
		}
	}
	p.reportSelfCall(c, hook)
	params := p.signature(hook).Params()
	if name == ours+".OnAttempt" && params.Len() == 2 {
		p.reportOwnContext(hook)
		p.reportEarlierFailure(hook, params.At(1))
	}
	if name == ours+".OnGiveUp" && params.Len() == 2 {
		p.reportNoFailure(hook, params.At(1))
	}
}

// runsAside reports whether c is in a function literal within fn that is started in a goroutine, or
// handed to another function.
func (p *pass) runsAside(c, fn inspector.Cursor) bool {
	for lit := range c.Enclosing((*ast.FuncLit)(nil)) {
		if lit == fn {
			return false
		}
		if kind := lit.ParentEdgeKind(); kind == edge.CallExpr_Args || lit.Parent().ParentEdgeKind() == edge.GoStmt_Call {
			return true
		}
	}
	return false
}

// reportSelfCall reports a hook that calls Do with the policy that it is a hook of, by itself or in a
// method of the package: if that fails, too, it calls the hook again, and so on.
func (p *pass) reportSelfCall(c, hook inspector.Cursor) {
	field := p.policyField(c)
	if field == nil {
		return
	}
	uses := func(fn inspector.Cursor) bool {
		return slices.ContainsFunc(p.loops, func(loop *call) bool {
			if !fn.Contains(loop.Cursor) || !loop.policy.Valid() {
				return false
			}
			id := lastName(loop.policy.Node().(ast.Expr))
			return id != nil && p.info.Uses[id] == field
		})
	}
	for at := range hook.Preorder((*ast.CallExpr)(nil)) {
		decl := p.declaration(at.Node().(*ast.CallExpr))
		if decl.Valid() && uses(decl) {
			p.report(at, "this calls Do with the policy that the hook belongs to, so its failure calls the hook again, without end: use another policy, without the hook")
		}
	}
	if uses(hook) {
		p.report(c, "this hook calls Do with the policy that it belongs to, so its failure calls the hook again, without end: use another policy, without the hook")
	}
}

// policyField returns the field or the variable of the package with the policy that what is made at
// c is a part of.
func (p *pass) policyField(c inspector.Cursor) (none types.Object) {
	if sel, ok := c.Node().(*ast.SelectorExpr); ok { // c.policy.OnRetry = f
		return p.policyOf(sel)
	}
	for kv := range c.Enclosing((*ast.KeyValueExpr)(nil)) {
		key, ok := kv.Node().(*ast.KeyValueExpr).Key.(*ast.Ident)
		if ok && typeName(p.info.TypeOf(kv.Node().(*ast.KeyValueExpr).Value)) == ours+".Policy" {
			return p.info.Uses[key]
		}
	}
	c = p.whole(c)
	assign, ok := c.Parent().Node().(*ast.AssignStmt)
	kind, i := c.ParentEdge()
	if !ok || kind != edge.AssignStmt_Rhs || i >= len(assign.Lhs) {
		return none
	}
	return p.policyOf(assign.Lhs[i])
}

// policyOf returns the field with the policy that an expression is, or is a part of.
func (p *pass) policyOf(e ast.Expr) (none types.Object) {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return none
	}
	if v, isVar := p.info.Uses[sel.Sel].(*types.Var); isVar && typeName(v.Type()) == ours+".Policy" && v.Name() != "Policy" {
		return v
	}
	return p.policyOf(sel.X)
}

// reportOwnContext reports an OnAttempt that returns a context which does not end with the call.
func (p *pass) reportOwnContext(hook inspector.Cursor) {
	for ret := range hook.Preorder((*ast.ReturnStmt)(nil)) {
		if around(ret, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) != hook || len(ret.Node().(*ast.ReturnStmt).Results) != 2 {
			continue
		}
		for c := range p.value(ret.ChildAt(edge.ReturnStmt_Results, 0)).Preorder((*ast.CallExpr)(nil)) {
			if p.isBackground(c.Node()) {
				p.report(ret, "this replaces the context of the attempt, which then ends neither with the call nor after AttemptTimeout: derive it from the one that the hook receives")
			}
		}
	}
}

// reportEarlierFailure reports a callback of an OnAttempt that looks at the failure of the attempt
// before, which the hook received, instead of the one that it receives itself.
func (p *pass) reportEarlierFailure(hook inspector.Cursor, earlier *types.Var) {
	for lit := range hook.Preorder((*ast.FuncLit)(nil)) {
		params := p.signature(lit).Params()
		if lit == hook || lit.ParentEdgeKind() != edge.ReturnStmt_Results || params.Len() != 1 || typeName(params.At(0).Type()) != ours+".Attempt" {
			continue
		}
		for _, use := range p.vars[earlier].uses {
			name, _ := field(use)
			if lit.Contains(use) && ofFailure.MatchString(name) && !p.asksFor(lit, params.At(0)) {
				p.report(use.Parent(), "%s.%s is the failure of the attempt before this one: use the Attempt that the function itself receives", earlier.Name(), name)
			}
		}
	}
}

var ofFailure = names(`Err|Class|Verdict|Hint|Unrepeatable`)

// asksFor reports whether a function looks at the failure of an attempt.
func (p *pass) asksFor(fn inspector.Cursor, attempt *types.Var) bool {
	return slices.ContainsFunc(p.vars[attempt].uses, func(use inspector.Cursor) bool {
		name, _ := field(use)
		return fn.Contains(use) && (name == "" || ofFailure.MatchString(name))
	})
}

// reportNoFailure reports e.Err.Error() in an OnGiveUp that never compares e.Err with nil, which it
// is if the context was done before the first attempt.
func (p *pass) reportNoFailure(hook inspector.Cursor, e *types.Var) {
	var called inspector.Cursor
	for _, use := range p.vars[e].uses {
		name, parent := field(use)
		if name != "Err" || !hook.Contains(use) {
			continue
		}
		if compares(parent) {
			return
		}
		if sel, ok := parent.Node().(*ast.SelectorExpr); ok && sel.Sel.Name == "Error" {
			called = parent
		}
	}
	if called.Valid() {
		p.report(called, "%s.Err is nil if the context was done before the first attempt, and then this panics: use %[1]s itself", e.Name())
	}
}

// reportAddedInLoop reports v = v.With(hooks) in a loop that also calls Do with v, or in a function
// that does so with a variable of the package, which then has the hooks once more each time.
func (p *pass) reportAddedInLoop(c inspector.Cursor) {
	n := c.Node().(*ast.AssignStmt)
	if len(n.Lhs) != 1 || n.Tok != token.ASSIGN || p.callee(n.Rhs[0]) != ours+".Policy.With" {
		return
	}
	name := types.ExprString(n.Lhs[0])
	from, ok := n.Rhs[0].(*ast.CallExpr).Fun.(*ast.SelectorExpr)
	v := p.owner(n.Lhs[0])
	if !ok || v == nil || types.ExprString(from.X) != name {
		return
	}
	again := around(c, (*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))
	what := "round of this loop"
	switch again.Node().(type) {
	case *ast.ForStmt, *ast.RangeStmt:
	default:
		if v.Kind() != types.PackageVar || p.inMain(c) {
			return
		}
		what = "call of this function"
	}
	resets := slices.ContainsFunc(p.vars[v].sets, func(set inspector.Cursor) bool {
		return set.Parent() != c && again.Contains(set) && types.ExprString(set.Node().(ast.Expr)) == name
	})
	called := slices.ContainsFunc(p.loops, func(loop *call) bool {
		return again.Contains(loop.Cursor) && loop.policy.Valid() && types.ExprString(loop.policy.Node().(ast.Expr)) == name
	})
	if called && !resets && outside(v, again) {
		p.report(c, "each %s adds the hooks once more: add them where the policy is made, or to a copy", what)
	}
}

// reportAskedOutside reports AttemptFrom for the context of a call of Do instead of that of the
// operation: behind the call, and in the operation.
func (p *pass) reportAskedOutside(loop *call) {
	ctx, ok := loop.Args[0].(*ast.Ident)
	if !ok {
		return
	}
	v := p.info.Uses[ctx]
	for _, c := range p.calls {
		if c.name != ours+".AttemptFrom" || v == nil {
			continue
		}
		arg, isName := c.Args[0].(*ast.Ident)
		if !isName || p.info.Uses[arg] != v {
			continue
		}
		inOperation := loop.op.Valid() && loop.op.Contains(c.Cursor) && outside(v, loop.op)
		behind := c.Node().Pos() > loop.Cursor.Node().End() && block(c.Cursor) == block(loop.Cursor) && !p.isOfAttempt(v)
		if inOperation || behind {
			p.report(c.Cursor, "%s is the context of the whole call, which has no attempt: ask the context that %s gives the operation", arg.Name, shortName(loop.name))
		}
	}
}

// isOfAttempt reports whether a context is that of an operation.
func (p *pass) isOfAttempt(ctx types.Object) bool {
	return slices.ContainsFunc(p.operations, func(loop *call) bool {
		params := p.signature(loop.op).Params()
		return params.Len() > 0 && params.At(0) == ctx
	})
}
