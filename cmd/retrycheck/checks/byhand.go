package checks

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// Loop reports hand-written loops that retry and lose their error, their context, their wait
// or their end.
var Loop = analyzer("loop", "report hand-written retry loops that lose their error, context, wait or end", func(p *pass) {
	for c := range p.root.Preorder((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil)) {
		p.reportOneTimer(c)
		if !p.waits(c) {
			continue
		}
		p.reportHiddenError(c)
		p.reportReplacedContext(c)
		p.reportForgottenFailure(c)
		p.reportDefers(c)
		p.reportBreaks(c)
		p.reportUnreadWait(c)
	}
	for c := range p.root.Preorder((*ast.ValueSpec)(nil), (*ast.AssignStmt)(nil)) {
		p.reportDelayOfZero(c)
	}
	for c := range p.root.Preorder((*ast.BinaryExpr)(nil)) {
		p.reportXor(c)
	}
	for _, call := range p.calls {
		p.reportRecursion(call)
	}
})

// waits reports whether a loop waits by itself, not in a loop or a function in it.
func (p *pass) waits(loop inspector.Cursor) bool {
	for c := range loop.Preorder((*ast.CallExpr)(nil)) {
		if pauses.MatchString(p.callee(c.Node())) && block(c) == loop {
			return true
		}
	}
	return false
}

// reportHiddenError reports err in x, err := f(), if the err outside, which the function
// returns after the loop, stays nil.
func (p *pass) reportHiddenError(loop inspector.Cursor) {
	for c := range loop.Preorder((*ast.AssignStmt)(nil)) {
		n := c.Node().(*ast.AssignStmt)
		if n.Tok != token.DEFINE || block(c) != loop {
			continue
		}
		for i, lhs := range n.Lhs {
			id, ok := lhs.(*ast.Ident)
			if !ok || !p.isError(id) {
				continue
			}
			hiding, ok := p.info.Defs[id].(*types.Var)
			if !ok || p.isReturned(hiding) {
				continue
			}
			hidden := hiddenBy(hiding)
			if hidden != nil && hidden.Pos() < loop.Node().Pos() && p.staysZero(hidden) && p.isReadAfter(hidden, loop.Node().End()) {
				p.report(c.ChildAt(edge.AssignStmt_Lhs, i), "this declares another %s, and the one outside the loop stays nil: write = instead of :=", id.Name)
			}
		}
	}
}

// isReturned reports whether a variable is a part of a return statement.
func (p *pass) isReturned(v *types.Var) bool {
	return slices.ContainsFunc(p.vars[v].uses, func(use inspector.Cursor) bool {
		return isReturn(around(use, (*ast.ReturnStmt)(nil), (*ast.BlockStmt)(nil)))
	})
}

func isReturn(c inspector.Cursor) bool { _, ok := c.Node().(*ast.ReturnStmt); return ok }

var (
	timeouts = names(`context\.With(Timeout|Deadline)(Cause)?`)
	untimed  = names(`context\.WithCancel(Cause)?`)
)

// reportReplacedContext reports ctx, cancel = context.WithTimeout(ctx, d) in a loop: the next
// attempt gets a context that has ended, or has less time.
func (p *pass) reportReplacedContext(loop inspector.Cursor) {
	for c := range loop.Preorder((*ast.AssignStmt)(nil)) {
		n := c.Node().(*ast.AssignStmt)
		if n.Tok != token.ASSIGN || len(n.Rhs) != 1 || block(c) != loop {
			continue
		}
		name := p.callee(n.Rhs[0])
		if !timeouts.MatchString(name) && !untimed.MatchString(name) {
			continue
		}
		from, isIdent := n.Rhs[0].(*ast.CallExpr).Args[0].(*ast.Ident)
		to, isAlso := n.Lhs[0].(*ast.Ident)
		if !isIdent || !isAlso || leaves(c, loop) {
			continue
		}
		v := p.info.Uses[to]
		if v == nil || v != p.info.Uses[from] || v.Pos() > loop.Node().Pos() {
			continue
		}
		if timeouts.MatchString(name) || p.endsIn(loop, n.Lhs[1]) {
			p.report(c, "this replaces %s, so the next attempt begins with the context of this one, which has ended or has less time: use a new variable", to.Name)
		}
	}
}

// endsIn reports whether a loop calls a cancel function, not by defer.
func (p *pass) endsIn(loop inspector.Cursor, cancel ast.Expr) bool {
	id, ok := cancel.(*ast.Ident)
	if !ok {
		return false
	}
	return slices.ContainsFunc(p.vars[p.info.ObjectOf(id)].uses, func(use inspector.Cursor) bool {
		return loop.Contains(use) && use.ParentEdgeKind() == edge.CallExpr_Fun && use.Parent().ParentEdgeKind() == edge.ExprStmt_X
	})
}

// reportForgottenFailure reports a return nil behind a loop that a success leaves with return
// nil, if nothing in the loop returns an error: then all attempts have failed.
func (p *pass) reportForgottenFailure(loop inspector.Cursor) {
	if !p.counts(loop) {
		return
	}
	next, ok := loop.NextSibling()
	if !ok || !isReturn(next) || !p.returnsNil(next) {
		return
	}
	succeeds := false
	for c := range loop.Preorder((*ast.ReturnStmt)(nil)) {
		if fn := p.functionAround(c); !fn.Contains(loop) {
			continue
		}
		if !p.returnsNil(c) {
			return
		}
		test, inIf := c.Parent().Parent().Node().(*ast.IfStmt)
		succeeds = succeeds || inIf && p.isSuccess(test.Cond)
	}
	if succeeds {
		p.report(next, "this is reached if all attempts have failed, and says that there was no error: return the last error")
	}
}

// counts reports whether a loop ends after a number of rounds.
func (p *pass) counts(loop inspector.Cursor) bool {
	switch n := loop.Node().(type) {
	case *ast.ForStmt:
		_, compares := n.Cond.(*ast.BinaryExpr)
		return compares && n.Post != nil
	case *ast.RangeStmt:
		t := p.info.TypeOf(n.X)
		return t != nil && isInteger(t.Underlying())
	}
	return false
}

// returnsNil reports whether the last result of a return statement is a nil error.
func (p *pass) returnsNil(c inspector.Cursor) bool {
	results := c.Node().(*ast.ReturnStmt).Results
	if len(results) == 0 || !p.info.Types[results[len(results)-1]].IsNil() {
		return false
	}
	fn := p.functionAround(c)
	declared := p.signature(fn).Results()
	return declared.Len() > 0 && declared.At(declared.Len()-1).Type().String() == "error"
}

// frees has the methods that give back what others need. A timer or a context may wait for it.
var frees = names(`(Close|R?Unlock|Release|Rollback)`)

// reportDefers reports a defer statement in a loop that goes on after it.
func (p *pass) reportDefers(loop inspector.Cursor) {
	for c := range loop.Preorder((*ast.DeferStmt)(nil)) {
		method := lastName(c.Node().(*ast.DeferStmt).Call.Fun)
		if method == nil || !frees.MatchString(method.Name) || block(c) != loop || leaves(c, loop) || !p.goesOnAfter(c, loop) {
			continue
		}
		called := types.ExprString(c.Node().(*ast.DeferStmt).Call.Fun)
		p.report(c, "%s is called when the function returns, so each attempt keeps what it has opened: make the attempt a function", called)
	}
}

// goesOnAfter reports whether a loop waits or continues behind c.
func (p *pass) goesOnAfter(c, loop inspector.Cursor) bool {
	for later := range loop.Preorder((*ast.CallExpr)(nil), (*ast.BranchStmt)(nil)) {
		branch, isBranch := later.Node().(*ast.BranchStmt)
		goesOn := isBranch && branch.Tok == token.CONTINUE || !isBranch && pauses.MatchString(p.callee(later.Node()))
		if goesOn && later.Node().Pos() > c.Node().Pos() {
			return true
		}
	}
	return false
}

// reportBreaks reports a break that leaves a select statement and is meant for the loop.
func (p *pass) reportBreaks(loop inspector.Cursor) {
	for c := range loop.Preorder((*ast.CommClause)(nil)) {
		clause := c.Node().(*ast.CommClause)
		if block(c) != loop || len(clause.Body) == 0 || clause.Comm == nil {
			continue
		}
		last, ok := clause.Body[len(clause.Body)-1].(*ast.BranchStmt)
		if !ok || last.Tok != token.BREAK || last.Label != nil {
			continue
		}
		if p.doneOf(clause.Comm) == nil || p.asksAgain(loop) {
			continue
		}
		p.report(c, "break leaves the select statement, and the loop goes on after the context is done: return, or break to a label")
	}
}

// asksAgain reports whether a loop asks for the end of a context by other means than Done.
func (p *pass) asksAgain(loop inspector.Cursor) bool {
	for c := range loop.Preorder((*ast.SelectorExpr)(nil)) {
		name := objectName(p.info.Uses[c.Node().(*ast.SelectorExpr).Sel])
		if name != "context.Done" && ended.MatchString(name) {
			return true
		}
	}
	return false
}

var parsers = names(`strconv\.(Atoi|ParseInt|ParseUint|ParseFloat)`, `time\.ParseDuration`)

// reportUnreadWait reports a Retry-After whose error is ignored, so that the loop does not wait
// if the header is missing or has a date.
func (p *pass) reportUnreadWait(loop inspector.Cursor) {
	for c := range loop.Preorder((*ast.AssignStmt)(nil)) {
		n := c.Node().(*ast.AssignStmt)
		if len(n.Lhs) != 2 || len(n.Rhs) != 1 || types.ExprString(n.Lhs[1]) != "_" || !parsers.MatchString(p.callee(n.Rhs[0])) {
			continue
		}
		id, ok := n.Lhs[0].(*ast.Ident)
		header, isGet := n.Rhs[0].(*ast.CallExpr).Args[0].(*ast.CallExpr)
		if !ok || !isGet || p.callee(header) != "net/http.Header.Get" || p.isWeighed(p.info.ObjectOf(id)) {
			continue
		}
		name := p.info.Types[header.Args[0]].Value
		if name != nil && constant.StringVal(name) == "Retry-After" {
			p.report(c, "without a number in the header, %s is 0, and the loop does not wait: use a backoff then, such as with retryhttp.RetryAfter", id.Name)
		}
	}
}

// isWeighed reports whether a number is compared, or passed to max or another function that
// may decide by it.
func (p *pass) isWeighed(v types.Object) bool {
	return slices.ContainsFunc(p.vars[v].uses, func(use inspector.Cursor) bool {
		switch n := use.Parent().Node().(type) {
		case *ast.BinaryExpr:
			return n.Op != token.MUL && n.Op != token.ADD
		case *ast.CallExpr:
			return !p.info.Types[n.Fun].IsType()
		case *ast.SwitchStmt:
			return true
		}
		return false
	})
}

// reportDelayOfZero reports a delay that begins with 0 and is only multiplied.
func (p *pass) reportDelayOfZero(c inspector.Cursor) {
	kind := edge.ValueSpec_Names
	n, isSpec := c.Node().(*ast.ValueSpec)
	var declared []ast.Expr
	if isSpec {
		for _, name := range n.Names {
			declared = append(declared, name)
		}
	} else if assign := c.Node().(*ast.AssignStmt); assign.Tok == token.DEFINE {
		kind, declared = edge.AssignStmt_Lhs, assign.Lhs
	}
	for i, e := range declared {
		id, ok := e.(*ast.Ident)
		if !ok {
			continue
		}
		v, ok := p.info.Defs[id].(*types.Var)
		if !ok || v.Parent() == p.Pkg.Scope() || typeName(v.Type()) != "time.Duration" {
			continue
		}
		value := valueSet(c.ChildAt(kind, i))
		zero := isSpec && len(n.Values) == 0 || value.Valid() && p.isZeroValue(value.Node().(ast.Expr))
		sets := p.vars[v].sets
		grows := len(sets) > 1 && !slices.ContainsFunc(sets[1:], func(set inspector.Cursor) bool { return !p.onlyMultiplies(set, v) })
		if zero && grows {
			p.report(c.ChildAt(kind, i), "%s is 0, and stays 0 however often it is multiplied: begin with the first delay", id.Name)
		}
	}
}

// onlyMultiplies reports whether a statement sets v to a multiple of v, or to a limit if that
// is less.
func (p *pass) onlyMultiplies(set inspector.Cursor, v *types.Var) bool {
	assign, ok := set.Parent().Node().(*ast.AssignStmt)
	if !ok || len(assign.Lhs) != 1 {
		return false
	}
	if assign.Tok == token.MUL_ASSIGN {
		return true
	}
	value := ast.Unparen(assign.Rhs[0])
	if call, isCall := value.(*ast.CallExpr); isCall && types.ExprString(call.Fun) == "min" {
		value = ast.Unparen(call.Args[0])
	}
	product, ok := value.(*ast.BinaryExpr)
	return assign.Tok == token.ASSIGN && ok && product.Op == token.MUL && p.isVariable(product.X, v) != p.isVariable(product.Y, v)
}

func (p *pass) isVariable(e ast.Expr, v *types.Var) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && p.info.Uses[id] == v
}

// reportXor reports 2 ^ n, meant as a power, in a duration.
func (p *pass) reportXor(c inspector.Cursor) {
	n := c.Node().(*ast.BinaryExpr)
	base := p.info.Types[n.X].Value
	if n.Op != token.XOR || base == nil || p.info.Types[n.Y].Value != nil {
		return
	}
	if text := base.ExactString(); text != "2" && text != "10" {
		return
	}
	for outer := c; ; outer = outer.Parent() {
		e, ok := outer.Node().(ast.Expr)
		if !ok {
			return
		}
		if t := p.info.TypeOf(e); t != nil && typeName(t) == "time.Duration" {
			p.report(c, "^ is the exclusive or, not the power: use 1 << n, or a backoff of package retry")
			return
		}
	}
}

// reportRecursion reports a function that retries by calling itself and passes on the number
// that should end it as it is.
func (p *pass) reportRecursion(c *call) {
	fn, ok := around(c.Cursor, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)).Node().(*ast.FuncDecl)
	if !ok || fn.Body == nil {
		return
	}
	self, ok := p.info.Defs[fn.Name].(*types.Func)
	if !ok || self.Origin().FullName() != p.calledName(c) || !p.waitsBefore(fn, c) {
		return
	}
	params := self.Signature().Params()
	for i, arg := range c.Args {
		if i >= params.Len() {
			return
		}
		param := params.At(i)
		basic, isBasic := param.Type().Underlying().(*types.Basic)
		if !isBasic || basic.Info()&types.IsInteger == 0 || !p.isVariable(arg, param) || len(p.vars[param].sets) != 1 {
			continue
		}
		bounds := slices.ContainsFunc(p.vars[param].uses, func(use inspector.Cursor) bool { return compares(use.Parent()) })
		if bounds {
			p.report(c.ChildAt(edge.CallExpr_Args, i), "%s is passed on as it is, so these retries never end: count it", param.Name())
		}
	}
}

// calledName returns the full name of the function that a call calls.
func (p *pass) calledName(c *call) string {
	if id := lastName(c.Fun); id != nil {
		if fn, ok := p.info.Uses[id].(*types.Func); ok {
			return fn.Origin().FullName()
		}
	}
	return ""
}

// waitsBefore reports whether a function waits before it makes the call c.
func (p *pass) waitsBefore(fn *ast.FuncDecl, c *call) bool {
	return slices.ContainsFunc(p.calls, func(other *call) bool {
		return fn.Pos() < other.Pos() && other.Pos() < c.Pos() && pauses.MatchString(other.name)
	})
}
