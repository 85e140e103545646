package checks

import (
	"go/ast"
	"go/token"
	"slices"

	"golang.org/x/tools/go/ast/inspector"
)

// Sleep reports waits that go on when the context that the function has is done.
var Sleep = analyzer("sleep", func(p *pass) {
	seen := map[inspector.Cursor]bool{}
	for c := range p.root.Preorder((*ast.ExprStmt)(nil)) {
		if !p.sleeps(c.Node().(*ast.ExprStmt).X) {
			continue
		}
		loop, ctx := block(c), p.contextAround(c)
		n, isFor := loop.Node().(*ast.ForStmt)
		_, isRange := loop.Node().(*ast.RangeStmt)
		if ctx == nil || seen[loop] || !isFor && !isRange || leaves(c, loop) {
			continue
		}
		seen[loop] = true
		attempts, looks := p.inspect(loop)
		const advice = "wait in a select with %[1]s.Done(), or use retry.Do"
		passes := slices.ContainsFunc(p.mentions(loop), func(id inspector.Cursor) bool {
			return isContext(p.info.TypeOf(id.Node().(*ast.Ident))) // perhaps in a request that has it
		})
		switch {
		case looks:
		case !passes && attempts:
			p.report(c, "this loop sleeps and never looks at %s, so it continues after the context is done: "+advice, ctx.Name())
		case passes && isFor && n.Cond == nil && !p.failureEnds(loop):
			p.report(c, "no failure ends this loop, so once %s is done it fails and sleeps forever: "+advice, ctx.Name())
		}
	}
	for _, call := range p.operations {
		p.reportOwnWait(call)
		p.reportOwnLoop(call)
	}
})

// reportOwnLoop reports a loop in an operation that sleeps and that a success ends.
func (p *pass) reportOwnLoop(call *call) {
	if !retriers.MatchString(call.name) {
		return
	}
	for c := range call.op.Preorder((*ast.ExprStmt)(nil)) {
		loop := around(c, (*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))
		if loop == call.op || !call.op.Contains(loop) || !p.sleeps(c.Node().(*ast.ExprStmt).X) {
			continue
		}
		for test := range loop.Preorder((*ast.IfStmt)(nil)) {
			if p.isSuccess(test.Node().(*ast.IfStmt).Cond) && ends(test) {
				p.report(c, "this loop retries in an operation that %s retries, so attempts multiply: make one attempt in the operation", shortName(call.name))
				break
			}
		}
	}
}

// ends reports whether a branch leaves the loop or the function around it.
func ends(c inspector.Cursor) bool {
	for leave := range c.Preorder((*ast.ReturnStmt)(nil), (*ast.BranchStmt)(nil)) {
		if branch, ok := leave.Node().(*ast.BranchStmt); !ok || branch.Tok == token.BREAK {
			return true
		}
	}
	return false
}

// reportOwnWait reports an operation that sleeps after a failure, before Do waits.
func (p *pass) reportOwnWait(call *call) {
	for c := range call.op.Preorder((*ast.ExprStmt)(nil)) {
		in := around(c, (*ast.IfStmt)(nil), (*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.FuncLit)(nil))
		test, ok := in.Node().(*ast.IfStmt)
		if ok && p.isFailure(test.Cond) && p.sleeps(c.Node().(*ast.ExprStmt).X) {
			p.report(c, "%s waits after a failure by itself, unless its context is done: set the wait in the policy's Backoff", shortName(call.name))
		}
	}
}

func (p *pass) sleeps(e ast.Expr) bool {
	if receive, ok := e.(*ast.UnaryExpr); ok && receive.Op == token.ARROW {
		return p.callee(receive.X) == "time.After"
	}
	return p.callee(e) == "time.Sleep"
}

// leaves reports whether the loop always ends after the statement c.
func leaves(c, loop inspector.Cursor) bool {
	for block := range c.Enclosing((*ast.BlockStmt)(nil), (*ast.CaseClause)(nil)) {
		last, _ := block.LastChild()
		switch last.Node().(type) {
		case *ast.ReturnStmt:
			return loop.Contains(block)
		case *ast.BranchStmt:
			return false
		}
	}
	return false
}

// harmless has functions whose result does not depend on anything that a loop may wait for.
var harmless = names(`(context|errors|fmt|log|log/slog|strconv|strings|sync|time)\..*`)

// ended has what a loop asks to learn that a context is done.
var ended = names(`context\.(Canceled|DeadlineExceeded|Cause|Done|Err)`)

// inspect reports whether each iteration of a loop calls something that has a result, and
// whether the loop may learn that a context is done: it asks or receives from a channel. A
// loop that only looks at variables waits for other goroutines, which have the context.
func (p *pass) inspect(loop inspector.Cursor) (attempts, looks bool) {
	for c := range loop.Preorder((*ast.CallExpr)(nil), (*ast.UnaryExpr)(nil), (*ast.SelectorExpr)(nil)) {
		switch n := c.Node().(type) {
		case *ast.CallExpr:
			fn := p.info.Types[n.Fun]
			attempts = attempts || !fn.IsType() && !fn.IsBuiltin() && !p.info.Types[n].IsVoid() && !harmless.MatchString(p.callee(n))
		case *ast.UnaryExpr:
			looks = looks || n.Op == token.ARROW && !p.sleeps(n)
		case *ast.SelectorExpr:
			looks = looks || ended.MatchString(objectName(p.info.Uses[n.Sel]))
		}
	}
	return attempts, looks
}

// fatal has functions that do not return. Loggers of other libraries follow the convention of
// package log.
var fatal = names(`os\.Exit`, `runtime\.Goexit`, `.*\.(Fatal(f|ln)?|FailNow|SkipNow)`, `github\.com/stretchr/testify/require\..*`)

// failureEnds reports whether a statement leaves the loop, but not on success.
func (p *pass) failureEnds(loop inspector.Cursor) bool {
	for c := range loop.Preorder((*ast.ReturnStmt)(nil), (*ast.BranchStmt)(nil), (*ast.CallExpr)(nil)) {
		ends := true
		switch n := c.Node().(type) {
		case *ast.BranchStmt:
			ends = n.Tok != token.CONTINUE
		case *ast.CallExpr:
			ends = isBuiltin(p.info, n, "panic") || fatal.MatchString(p.callee(n))
		}
		test, _ := around(c, (*ast.IfStmt)(nil), (*ast.SwitchStmt)(nil), (*ast.ForStmt)(nil)).Node().(*ast.IfStmt)
		if ends && (test == nil || !p.isSuccess(test.Cond)) {
			return true
		}
	}
	return false
}
