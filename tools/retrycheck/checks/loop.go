package checks

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"
)

// Sleep reports waits that go on when the context that the function has is done.
var Sleep = analyzer("sleep", "report loops that call time.Sleep and ignore the context that they have", func(p *pass) {
	seen := map[inspector.Cursor]bool{}
	for c := range p.root.Preorder((*ast.ExprStmt)(nil)) {
		if !p.sleeps(c.Node().(*ast.ExprStmt).X) {
			continue
		}
		loop, ctx := outermost(c), p.contextAround(c)
		if !loop.Valid() || seen[loop] || ctx == nil || leaves(c, loop) || p.paces(c) || p.looks(loop) {
			continue
		}
		seen[loop] = true
		const advice = "wait in a select with %[1]s.Done(), or use retry.Do"
		n, isFor := loop.Node().(*ast.ForStmt)
		switch {
		case !p.hasContext(loop) && p.attempts(loop):
			p.report(c, "this loop sleeps and never looks at %s, so it continues after the context is done: "+advice, ctx.Name())
		case isFor && p.hasContext(loop) && n.Cond == nil && !p.failureEnds(loop):
			p.report(c, "no failure ends this loop, so once %s is done it fails and sleeps forever: "+advice, ctx.Name())
		}
	}
})

func (p *pass) sleeps(e ast.Expr) bool {
	if receive, ok := e.(*ast.UnaryExpr); ok && receive.Op == token.ARROW {
		return p.callee(receive.X) == "time.After"
	}
	return p.callee(e) == "time.Sleep"
}

// paces reports whether c is in a loop over items, which waits between them.
func (p *pass) paces(c inspector.Cursor) bool {
	loop, ok := block(c).Node().(*ast.RangeStmt)
	if !ok {
		return false
	}
	t := p.info.TypeOf(loop.X)
	return t == nil || !types.ConvertibleTo(t, types.Typ[types.Int])
}

// harmless has functions whose result does not depend on anything that a loop may wait for.
var harmless = names(`(context|errors|fmt|log|log/slog|strconv|strings|sync|time)\..*`)

// attempts reports whether each iteration of a loop calls something that has a result. A
// loop that only looks at variables waits for other goroutines, which have the context.
func (p *pass) attempts(loop inspector.Cursor) bool {
	for c := range loop.Preorder((*ast.CallExpr)(nil)) {
		call := c.Node().(*ast.CallExpr)
		if fn := p.info.Types[call.Fun]; !fn.IsType() && !fn.IsBuiltin() && !p.info.Types[call].IsVoid() &&
			!harmless.MatchString(p.callee(call)) && !leaves(c, loop) {
			return true
		}
	}
	return false
}

// outermost returns the outermost loop around c in its function.
func outermost(c inspector.Cursor) (loop inspector.Cursor) {
	for e := block(c); ; e = block(e.Parent()) {
		switch e.Node().(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			loop = e
		default:
			return loop
		}
	}
}

// leaves reports whether the loop always ends after the statement c.
func leaves(c, loop inspector.Cursor) bool {
	for block := range c.Enclosing((*ast.BlockStmt)(nil), (*ast.CaseClause)(nil)) {
		if !loop.Contains(block) {
			break
		}
		last, _ := block.LastChild()
		switch n := last.Node().(type) {
		case *ast.ReturnStmt:
			return true
		case *ast.BranchStmt:
			return n.Tok == token.BREAK && n.Label != nil
		}
	}
	return false
}

var ended = names(`context\.(Canceled|DeadlineExceeded|Cause)`)

// looks reports whether a loop may learn that a context is done: it asks one, compares an
// error with those of contexts, or receives from a channel.
func (p *pass) looks(loop inspector.Cursor) bool {
	for c := range loop.Preorder((*ast.SelectStmt)(nil), (*ast.UnaryExpr)(nil), (*ast.SelectorExpr)(nil)) {
		switch n := c.Node().(type) {
		case *ast.SelectStmt:
			return true
		case *ast.UnaryExpr:
			if n.Op == token.ARROW && !p.sleeps(n) {
				return true
			}
		case *ast.SelectorExpr:
			if isContext(p.info.TypeOf(n.X)) || ended.MatchString(objectName(p.info.Uses[n.Sel])) {
				return true
			}
		}
	}
	return false
}

// hasContext reports whether c uses a context, or a variable whose value has one, such as a
// request.
func (p *pass) hasContext(c inspector.Cursor) bool {
	for id := range p.mentions(c) {
		if isContext(p.info.TypeOf(id.Node().(*ast.Ident))) {
			return true
		}
	}
	return false
}

// What does not return, and the condition for success, as they are written.
var (
	fatal   = names(`panic`, `os\.Exit`, `.*\.(Fatal\w*|FailNow)`, `require\.\w+`)
	success = names(`[\w.]+ == nil`)
)

// failureEnds reports whether a statement leaves the loop, but not on success.
func (p *pass) failureEnds(loop inspector.Cursor) bool {
	for c := range loop.Preorder((*ast.ReturnStmt)(nil), (*ast.BranchStmt)(nil), (*ast.CallExpr)(nil)) {
		switch n := c.Node().(type) {
		case *ast.ReturnStmt:
			if len(n.Results) > 0 && !p.info.Types[n.Results[len(n.Results)-1]].IsNil() {
				return true
			}
		case *ast.BranchStmt:
			if n.Tok == token.CONTINUE {
				continue
			}
		case *ast.CallExpr:
			if fatal.MatchString(types.ExprString(n.Fun)) {
				return true
			}
			continue
		}
		if !onSuccess(c, loop) {
			return true
		}
	}
	return false
}

// onSuccess reports whether all conditions around c in a loop are err == nil.
func onSuccess(c, loop inspector.Cursor) (conditional bool) {
	for e := range c.Enclosing((*ast.IfStmt)(nil), (*ast.SwitchStmt)(nil)) {
		if !loop.Contains(e) {
			break
		}
		test, ok := e.Node().(*ast.IfStmt)
		if !ok || !success.MatchString(types.ExprString(test.Cond)) {
			return false
		}
		conditional = true
	}
	return conditional
}
