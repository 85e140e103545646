package checks

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// Once reports what an operation of a retry uses although it works only once, so that no
// attempt but the first can succeed.
var Once = analyzer("once", "report commands, connections and other things that work once and that a retry uses again", func(p *pass) {
	for _, call := range p.operations {
		if !retriers.MatchString(call.name) {
			continue
		}
		p.reportOnce(call)
		p.reportUsedUp(call)
		p.reportKeptFirst(call)
		p.reportClosed(call)
		p.reportClosedClient(call)
		p.reportKeptLock(call)
		p.reportFired(call)
	}
	p.reportKeepers()
	p.reportOnlyCall()
})

// What runs a command, and what ends a member of a group.
var (
	runs = names(`os/exec\.Cmd\.(Run|Start|Output|CombinedOutput)`)
	done = names(`sync\.WaitGroup\.Done`)
)

// reportUsedUp reports a command that was made outside the operation, a group in which the
// operation counts itself as done, and a connection that was dialed outside.
func (p *pass) reportUsedUp(loop *call) {
	for _, c := range p.calls {
		method, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
		if !ok || !loop.op.Contains(c.Cursor) {
			continue
		}
		at := c.ChildAt(edge.CallExpr_Fun, -1)
		if sel, isSelector := at.Node().(*ast.SelectorExpr); !isSelector || sel != method {
			continue
		}
		from := at.ChildAt(edge.SelectorExpr_X, -1)
		v := p.owner(method.X)
		if v == nil || !p.survives(v, loop.op) || p.sets(loop.op, v) {
			continue
		}
		name := types.ExprString(method.X)
		switch {
		case runs.MatchString(c.name):
			p.report(c.Cursor, "%s runs only once, so every retry fails: make the command in the operation", name)
		case done.MatchString(c.name) && !p.adds(loop.op, v) && p.returnsErrors(loop.op):
			p.report(c.Cursor, "each attempt counts as done in %s, which panics below 0: call Done after %s", name, shortName(loop.name))
		case p.isDialed(from) && (method.Sel.Name == "Write" || method.Sel.Name == "Read"):
			p.report(c.Cursor, "a connection that failed stays broken, and a retry uses %s again: dial in the operation", name)
		}
	}
}

// sets reports whether an operation sets a variable.
func (p *pass) sets(op inspector.Cursor, v *types.Var) bool {
	return slices.ContainsFunc(p.vars[v].sets, op.Contains)
}

// adds reports whether an operation adds to a group.
func (p *pass) adds(op inspector.Cursor, group *types.Var) bool {
	return slices.ContainsFunc(p.vars[group].uses, func(use inspector.Cursor) bool {
		name, _ := field(use)
		return op.Contains(use) && name == "Add"
	})
}

// isDialed reports whether c is a connection of the function around, other than one of
// datagrams.
func (p *pass) isDialed(c inspector.Cursor) bool {
	dial, ok := p.value(c).Node().(*ast.CallExpr)
	if !ok || !strings.HasPrefix(p.callee(dial), "net.Dial") && !strings.HasPrefix(p.callee(dial), "crypto/tls.Dial") {
		return false
	}
	for _, arg := range dial.Args {
		value := p.info.Types[arg].Value
		if value == nil || value.Kind() != constant.String {
			continue
		}
		return strings.HasPrefix(constant.StringVal(value), "tcp") || constant.StringVal(value) == "unix"
	}
	return false
}

// reportClosed reports a channel from outside that an operation closes although it may fail,
// so that a retry panics.
func (p *pass) reportClosed(loop *call) {
	for c := range loop.op.Preorder((*ast.CallExpr)(nil)) {
		n := c.Node().(*ast.CallExpr)
		if !p.info.Types[n.Fun].IsBuiltin() || types.ExprString(n.Fun) != "close" || block(c) != loop.op {
			continue
		}
		v := p.owner(n.Args[0])
		_, deferred := c.Parent().Node().(*ast.DeferStmt)
		_, guarded := around(c, (*ast.IfStmt)(nil), (*ast.SelectStmt)(nil), (*ast.SwitchStmt)(nil), (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)).Node().(ast.Stmt)
		fails := p.mayFail(loop.op, c) || deferred && p.returnsErrors(loop.op)
		if v != nil && p.survives(v, loop.op) && !guarded && fails && !p.sets(loop.op, v) {
			p.report(c, "a retry closes %s again, which panics: close it after %s", types.ExprString(n.Args[0]), shortName(loop.name))
		}
	}
}

// returnsErrors reports whether an operation may fail.
func (p *pass) returnsErrors(op inspector.Cursor) bool {
	for ret := range op.Preorder((*ast.ReturnStmt)(nil)) {
		last, given := ret.LastChild()
		if !given || !p.info.Types[last.Node().(ast.Expr)].IsNil() {
			return true
		}
	}
	return false
}

// reportOnce reports a sync.Once whose function may fail: no attempt but the first calls it.
func (p *pass) reportOnce(loop *call) {
	for _, c := range p.calls {
		if !loop.op.Contains(c.Cursor) || c.name != "sync.Once.Do" {
			continue
		}
		once, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
		if !ok {
			continue
		}
		v := p.owner(once.X)
		if fn := p.function(c.ChildAt(edge.CallExpr_Args, 0)); v != nil && p.survives(v, loop.op) && fn.Valid() && p.setsError(fn) {
			p.report(c.Cursor, "%s has run its function in the first attempt, so a retry gets the first failure again: call the function in each attempt", types.ExprString(once.X))
		}
	}
}

// setsError reports whether a function sets an error outside of it.
func (p *pass) setsError(fn inspector.Cursor) bool {
	for c := range fn.Preorder((*ast.AssignStmt)(nil)) {
		for _, target := range c.Node().(*ast.AssignStmt).Lhs {
			v := p.owner(target)
			if v != nil && outside(v, fn) && types.Implements(p.info.TypeOf(target), errorType) {
				return true
			}
		}
	}
	return false
}

// reportOnlyCall reports a sync.Once around Do whose error is in a variable of the call: other calls
// return nil.
func (p *pass) reportOnlyCall() {
	for _, c := range p.calls {
		if c.name != "sync.Once.Do" || len(c.Args) != 1 {
			continue
		}
		lit := c.ChildAt(edge.CallExpr_Args, 0)
		if _, ok := lit.Node().(*ast.FuncLit); !ok {
			continue
		}
		once, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
		fn := around(c.Cursor, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))
		if v := p.owner(once.X); !ok || v == nil || fn.Node() == nil || !p.survives(v, fn) {
			continue
		}
		for _, loop := range p.loops {
			err, _ := p.resultAt(loop.Cursor, 0)
			if !lit.Contains(loop.Cursor) || err == nil || !outside(err, lit) || outside(err, fn) || !retriers.MatchString(loop.name) {
				continue
			}
			if p.isReadAfter(err, c.End()) {
				p.report(loop.Cursor, "only the first call of this function runs this, and the next has no error although it failed: keep %s beside %s", err.Name(), types.ExprString(once.X))
			}
		}
	}
}

var timers = names(`time\.After`)

// reportFired reports a channel of a timer from outside that an operation receives from: only one
// attempt sees that the time is over.
func (p *pass) reportFired(loop *call) {
	for c := range loop.op.Preorder((*ast.UnaryExpr)(nil)) {
		n := c.Node().(*ast.UnaryExpr)
		if n.Op != token.ARROW {
			continue
		}
		v := p.owner(n.X)
		if v == nil || !outside(v, loop.op) || v.Kind() != types.LocalVar || p.sets(loop.op, v) {
			continue
		}
		made := p.declared(v)
		isTimer := made.Valid() && (timers.MatchString(p.callee(made.Node())) || p.callee(made.Node()) == "time.NewTimer")
		if !isTimer || p.renews(loop.op, c) || p.endsCall(c) {
			continue
		}
		p.report(c, "this fires once, so only one attempt sees it: set the policy's AttemptTimeout or MaxElapsed instead")
	}
}

// endsCall reports whether the clause that receives at c returns something that is not retried.
func (p *pass) endsCall(c inspector.Cursor) bool {
	clause, ok := around(c, (*ast.CommClause)(nil), (*ast.FuncLit)(nil)).Node().(*ast.CommClause)
	if !ok || len(clause.Body) == 0 {
		return false
	}
	ret, ok := clause.Body[len(clause.Body)-1].(*ast.ReturnStmt)
	if !ok || len(ret.Results) == 0 {
		return false
	}
	last := ret.Results[len(ret.Results)-1]
	return p.info.Types[last].IsNil() || final.MatchString(p.callee(last))
}

// reportClosedClient reports a connection or a client from outside that an operation uses and
// closes although it may fail, so that a retry uses what is closed.
func (p *pass) reportClosedClient(loop *call) {
	for _, c := range p.calls {
		sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
		if !ok || !loop.op.Contains(c.Cursor) || sel.Sel.Name != "Close" || len(c.Args) != 0 || p.functionAround(c.Cursor) != loop.op {
			continue
		}
		id, isName := sel.X.(*ast.Ident) // a field may be opened by a method
		owner := p.owner(sel.X)
		if !isName || owner == nil || !p.survives(owner, loop.op) || p.sets(loop.op, owner) {
			continue
		}
		_, deferred := c.Parent().Node().(*ast.DeferStmt)
		isUsed := slices.ContainsFunc(p.vars[owner].uses, func(use inspector.Cursor) bool {
			return loop.op.Contains(use) && !c.Contains(use) && !compares(use.Parent())
		})
		if isUsed && deferred && p.mayFail(loop.op, c.Parent()) {
			p.report(c.Cursor, "a retry uses %s after it is closed: close it after %s, or open it in each attempt", id.Name, shortName(loop.name))
		}
	}
}
