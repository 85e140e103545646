package checks

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

const attemptFrom = ours + ".AttemptFrom"

// Attempt reports what counts attempts wrongly, or asks for the number of an attempt where there
// is none.
var Attempt = analyzer("attempt", "report attempts that are counted or asked for wrongly", func(p *pass) {
	if !p.importsUs() {
		return
	}
	for c := range p.root.Preorder((*ast.IndexExpr)(nil), (*ast.BinaryExpr)(nil), (*ast.SwitchStmt)(nil), (*ast.RangeStmt)(nil)) {
		switch n := c.Node().(type) {
		case *ast.IndexExpr:
			p.reportIndex(c)
		case *ast.BinaryExpr:
			p.reportFirst(c)
			p.reportLast(c)
		case *ast.SwitchStmt:
			if n.Tag != nil {
				p.reportCases(c)
			}
		case *ast.RangeStmt:
			p.reportDelays(c)
		}
	}
	for _, c := range p.calls {
		p.reportNoAttempt(c)
	}
})

// What a number of an attempt belongs to.
const (
	begins = iota + 1 // the attempt that runs or begins
	failed            // one that has failed, in the hook OnRetry
	ruled             // one that has failed, in a rule for delays
)

// numberOf says which attempt's number an expression is: of a hook, of a rule, or of the operation
// in which it stands. 0 means that it is not known to be one.
func (p *pass) numberOf(c inspector.Cursor) int {
	c = p.value(c)
	if p.callee(c.Node()) == ours+"/retryhttp.AttemptNumber" {
		return begins
	}
	if id, ok := c.Node().(*ast.Ident); ok {
		return p.numberPassed(id)
	}
	sel, ok := c.Node().(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Number" || typeName(p.info.TypeOf(sel.X)) != ours+".Attempt" {
		return 0
	}
	id, ok := sel.X.(*ast.Ident)
	if !ok {
		return 0
	}
	v, ok := p.info.Uses[id].(*types.Var)
	if !ok {
		return 0
	}
	if value := p.declared(v); value.Valid() && p.callee(value.Node()) == attemptFrom {
		return begins
	}
	return p.parameterOf(v)
}

// numberPassed says which attempt's number a parameter of a function of the package is, if all
// calls of the function pass one.
func (p *pass) numberPassed(id *ast.Ident) int {
	v, ok := p.info.Uses[id].(*types.Var)
	if !ok || v.Kind() != types.ParamVar || len(p.vars[v].sets) != 1 {
		return 0
	}
	args := p.arguments(v)
	for _, arg := range args {
		if _, isIdent := arg.Node().(*ast.Ident); isIdent && !p.declared(p.info.Uses[arg.Node().(*ast.Ident)]).Valid() || p.numberOf(arg) != begins {
			return 0
		}
	}
	if len(args) == 0 {
		return 0
	}
	return begins
}

// parameterOf says which attempt a parameter of a hook or of a rule is, if nothing else sets it.
func (p *pass) parameterOf(v *types.Var) int {
	if v.Kind() != types.ParamVar || len(p.vars[v].sets) != 1 {
		return 0
	}
	fn := p.functionAround(p.vars[v].sets[0])
	switch p.hookOf(fn) {
	case ours + ".OnAttempt":
		return begins
	case ours + ".OnRetry":
		return failed
	}
	if p.isRule(fn) {
		return ruled
	}
	return 0
}

// hookOf names the field of Hooks that a function literal is set to, or is "".
func (p *pass) hookOf(fn inspector.Cursor) string {
	if fn.Node() == nil {
		return ""
	}
	switch parent := fn.Parent().Node().(type) {
	case *ast.KeyValueExpr:
		return p.field(fn.Parent())
	case *ast.AssignStmt:
		_, i := fn.ParentEdge()
		if i < len(parent.Lhs) && len(parent.Lhs) == len(parent.Rhs) {
			return objectName(p.info.Uses[lastName(parent.Lhs[i])])
		}
	}
	return ""
}

// reportIndex reports an element of a list whose index is the number of an attempt, which begins
// with 1.
func (p *pass) reportIndex(c inspector.Cursor) {
	index := c.ChildAt(edge.IndexExpr_Index, -1)
	which := p.numberOf(index)
	list := c.ChildAt(edge.IndexExpr_X, -1)
	if which != begins && which != ruled || !p.isList(list) || p.isElementSet(c) || p.isGuarded(c, list) || p.isPadded(list, which == ruled) {
		return
	}
	what := types.ExprString(list.Node().(ast.Expr))
	p.report(c, "numbers of attempts begin with 1, so this never gets the first element of %s, and the last attempt panics: use %s-1", what, types.ExprString(index.Node().(ast.Expr)))
}

func (p *pass) isList(c inspector.Cursor) bool {
	t := p.info.TypeOf(c.Node().(ast.Expr)).Underlying()
	if pointer, ok := t.(*types.Pointer); ok {
		t = pointer.Elem().Underlying()
	}
	switch t.(type) {
	case *types.Slice, *types.Array:
		return true
	}
	return false
}

// isElementSet reports whether an element is set or counted, as in a histogram with an unused 0.
func (p *pass) isElementSet(c inspector.Cursor) bool {
	for within[c.ParentEdgeKind()] {
		c = c.Parent()
	}
	if address, ok := c.Parent().Node().(*ast.UnaryExpr); ok && address.Op == token.AND {
		return true
	}
	return assigned[c.ParentEdgeKind()]
}

// isGuarded reports whether a condition around c, or before it in the same function, asks for the
// length of a list.
func (p *pass) isGuarded(c, list inspector.Cursor) bool {
	text := types.ExprString(list.Node().(ast.Expr))
	for e := range p.functionAround(c).Preorder((*ast.CallExpr)(nil)) {
		call := e.Node().(*ast.CallExpr)
		if !isBuiltin(p.info, call, "len") || types.ExprString(call.Args[0]) != text {
			continue
		}
		for test := range e.Enclosing((*ast.BinaryExpr)(nil)) {
			switch test.Node().(*ast.BinaryExpr).Op {
			case token.LSS, token.LEQ, token.GTR, token.GEQ, token.EQL, token.NEQ:
				return true
			}
		}
	}
	return false
}

// isPadded reports whether a list has nothing at 0 on purpose: its first element is zero, or it has
// one element more than something. If unknown is true, so has a list that is not in sight.
func (p *pass) isPadded(list inspector.Cursor, unknown bool) bool {
	value := p.value(list)
	switch n := value.Node().(type) {
	case *ast.CompositeLit:
		return len(n.Elts) == 0 || p.isZeroValue(n.Elts[0])
	case *ast.CallExpr:
		for _, arg := range n.Args {
			if sum, ok := arg.(*ast.BinaryExpr); ok && sum.Op == token.ADD {
				return true
			}
		}
	}
	return unknown
}

// reportFirst reports a comparison of the number of an attempt with 0, which is none.
func (p *pass) reportFirst(c inspector.Cursor) {
	n := c.Node().(*ast.BinaryExpr)
	limit, known := p.number(n.Y)
	which := p.numberOf(c.ChildAt(edge.BinaryExpr_X, -1))
	if !known || which != begins && which != failed || !p.isNumbered(c) {
		return
	}
	switch {
	case n.Op == token.EQL && limit == 0, n.Op == token.LSS && limit == 1, n.Op == token.LEQ && limit == 0:
		p.report(c, "this is never true, because numbers of attempts begin with 1")
	case n.Op == token.NEQ && limit == 0, n.Op == token.GTR && limit == 0, n.Op == token.GEQ && limit == 1:
		p.report(c, "this is always true, because numbers of attempts begin with 1: a retry has a number above 1")
	}
}

// isNumbered reports whether c is in a hook, whose attempts have numbers, or in an operation
// whose policy has the hooks that provide the number.
func (p *pass) isNumbered(c inspector.Cursor) bool {
	for fn := range c.Enclosing((*ast.FuncLit)(nil)) {
		if hook := p.hookOf(fn); hook == ours+".OnAttempt" || hook == ours+".OnRetry" {
			return true
		}
	}
	loop := p.operationAround(c)
	return loop != nil && p.names(loop.policy, "AttemptInContext")
}

// reportLast reports a hook OnRetry that waits for the last attempt, after which no retry follows.
func (p *pass) reportLast(c inspector.Cursor) {
	n := c.Node().(*ast.BinaryExpr)
	number, limit, op := c.ChildAt(edge.BinaryExpr_X, -1), c.ChildAt(edge.BinaryExpr_Y, -1), n.Op
	if p.numberOf(number) == 0 {
		number, limit, op = limit, number, mirrored[n.Op]
	}
	if p.numberOf(number) != failed || !p.isMaxAttempts(limit, c) {
		return
	}
	switch op {
	case token.EQL, token.GEQ, token.GTR:
		p.report(c, "OnRetry is not called after the last attempt, so this is never true: use OnGiveUp")
	case token.LSS, token.NEQ:
		if p.hidesRest(c) {
			p.report(c, "OnRetry is not called after the last attempt, so this is always true, and what follows never runs: use OnGiveUp")
		}
	}
}

// hidesRest reports whether c is the condition of an if statement that returns, with something
// behind it.
func (p *pass) hidesRest(c inspector.Cursor) bool {
	test, ok := c.Parent().Node().(*ast.IfStmt)
	if !ok || c.ParentEdgeKind() != edge.IfStmt_Cond || test.Else != nil || len(test.Body.List) == 0 {
		return false
	}
	_, returns := test.Body.List[len(test.Body.List)-1].(*ast.ReturnStmt)
	_, more := c.Parent().NextSibling()
	return returns && more
}

// reportCases reports what reportFirst and reportLast do for the cases of a switch statement.
func (p *pass) reportCases(c inspector.Cursor) {
	which := p.numberOf(c.ChildAt(edge.SwitchStmt_Tag, -1))
	if which != begins && which != failed {
		return
	}
	for clause := range c.ChildAt(edge.SwitchStmt_Body, -1).Children() {
		for i, value := range clause.Node().(*ast.CaseClause).List {
			at := clause.ChildAt(edge.CaseClause_List, i)
			n, known := p.number(value)
			switch {
			case known && n == 0 && p.isNumbered(at):
				p.report(at, "this is never true, because numbers of attempts begin with 1")
			case which == failed && p.isMaxAttempts(at, at):
				p.report(at, "OnRetry is not called after the last attempt, so this is never true: use OnGiveUp")
			}
		}
	}
}

// mirrored has the operator of y < x for x > y.
var mirrored = map[token.Token]token.Token{
	token.EQL: token.EQL, token.NEQ: token.NEQ, token.LSS: token.GTR, token.LEQ: token.GEQ, token.GTR: token.LSS, token.GEQ: token.LEQ,
}

// isMaxAttempts reports whether an expression is the number of attempts of the policy that has the
// hook around c: its field or its method, what the package sets the field to, or a constant that is
// not below.
func (p *pass) isMaxAttempts(limit, c inspector.Cursor) bool {
	e := ast.Unparen(limit.Node().(ast.Expr))
	if p.callee(e) == ours+".Policy.Attempts" || objectName(p.info.Uses[lastName(e)]) == ours+".MaxAttempts" {
		return true
	}
	n, known := p.number(e)
	obj := p.info.Uses[lastName(e)]
	for key := range p.root.Preorder((*ast.KeyValueExpr)(nil)) {
		if p.field(key) != ours+".MaxAttempts" {
			continue
		}
		value := key.Node().(*ast.KeyValueExpr).Value
		if set := p.info.Uses[lastName(value)]; set != nil && set == obj {
			return true
		}
		attempts, given := p.number(value)
		if known && given && n >= attempts && attempts > 1 && p.hasHook(key.Parent(), c) {
			return true
		}
	}
	return false
}

// hasHook reports whether the hook around c becomes a part of the policy of a literal: within it, or
// with a call of its method With.
func (p *pass) hasHook(policy, c inspector.Cursor) bool {
	if policy.Contains(c) {
		return true
	}
	for fn := range c.Enclosing((*ast.FuncLit)(nil)) {
		if p.hookOf(fn) != ours+".OnRetry" {
			continue
		}
		if assign, ok := fn.Parent().Node().(*ast.AssignStmt); ok && len(assign.Lhs) == 1 {
			sel, isSelector := assign.Lhs[0].(*ast.SelectorExpr)
			return isSelector && p.holds(fn.Parent().ChildAt(edge.AssignStmt_Lhs, 0).ChildAt(edge.SelectorExpr_X, -1), policy) && sel != nil
		}
		hooks := p.destination(fn)
		with, ok := hooks.Parent().Node().(*ast.CallExpr)
		if ok && p.callee(with) == ours+".Policy.With" {
			if _, isSelector := with.Fun.(*ast.SelectorExpr); isSelector {
				return p.holds(hooks.Parent().ChildAt(edge.CallExpr_Fun, -1).ChildAt(edge.SelectorExpr_X, -1), policy)
			}
		}
	}
	return false
}

// holds reports whether an expression is a literal, or a variable whose only value is that.
func (p *pass) holds(c, literal inspector.Cursor) bool { return p.value(c) == literal }

// reportDelays reports a loop over the delays of a policy that makes the attempts: there is one
// attempt more than there are delays.
func (p *pass) reportDelays(loop inspector.Cursor) {
	n := loop.Node().(*ast.RangeStmt)
	id, ok := p.delayOf(loop).(*ast.Ident)
	if !ok || id.Name == "_" {
		return
	}
	v := p.info.ObjectOf(id)
	pause := slices.IndexFunc(p.calls, func(c *call) bool { return loop.Contains(c.Cursor) && p.pausesFor(c, v) })
	if pause < 0 {
		return
	}
	for c := range loop.Preorder((*ast.CallExpr)(nil)) {
		at := c.Node().Pos()
		if at < n.Body.Pos() || at > p.calls[pause].Pos() || !p.endsOnSuccess(c) {
			continue
		}
		if !p.isCalledOutside(c, loop) {
			p.report(c, "a policy has one delay less than attempts, so this loop makes one attempt too few and waits after its last: use retry.Do")
		}
		return
	}
}

// delayOf returns the variable of a loop that has the delays of a policy, or nil.
func (p *pass) delayOf(loop inspector.Cursor) ast.Expr {
	n := loop.Node().(*ast.RangeStmt)
	if p.callee(n.X) == ours+".Policy.Delays" {
		return n.Key
	}
	list, ok := p.value(loop.ChildAt(edge.RangeStmt_X, -1)).Node().(*ast.CallExpr)
	if ok && p.callee(list) == "slices.Collect" && len(list.Args) == 1 && p.callee(list.Args[0]) == ours+".Policy.Delays" {
		return n.Value
	}
	return nil
}

// pausesFor reports whether a call waits for the time that a variable has.
func (p *pass) pausesFor(c *call, v types.Object) bool {
	if !pauses.MatchString(c.name) {
		return false
	}
	return slices.ContainsFunc(c.Args, func(arg ast.Expr) bool {
		id, ok := arg.(*ast.Ident)
		return ok && p.info.Uses[id] == v
	})
}

// endsOnSuccess reports whether the error of a call is compared with nil to leave the loop on success.
func (p *pass) endsOnSuccess(c inspector.Cursor) bool {
	if !p.mayReturnError(c) {
		return false
	}
	assign, ok := c.Parent().Node().(*ast.AssignStmt)
	if !ok {
		return false
	}
	id, ok := assign.Lhs[len(assign.Lhs)-1].(*ast.Ident)
	if !ok {
		return false
	}
	return slices.ContainsFunc(p.vars[p.info.ObjectOf(id)].uses, func(use inspector.Cursor) bool {
		test, ok := use.Parent().Node().(*ast.BinaryExpr)
		return ok && p.isSuccess(test)
	})
}

// isCalledOutside reports whether the function around a loop calls the same function outside of
// the loop, too, such as for the first or the last attempt.
func (p *pass) isCalledOutside(c, loop inspector.Cursor) bool {
	name := types.ExprString(c.Node().(*ast.CallExpr).Fun)
	for other := range around(loop, (*ast.FuncDecl)(nil)).Preorder((*ast.CallExpr)(nil)) {
		if !loop.Contains(other) && types.ExprString(other.Node().(*ast.CallExpr).Fun) == name {
			return true
		}
	}
	return false
}
