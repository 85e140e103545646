package checks

import (
	"go/ast"
	"go/token"

	"golang.org/x/tools/go/ast/inspector"
)

// Sleep reports waits that go on when the context that the function has is done.
var Sleep = analyzer("sleep", "report loops that call time.Sleep and ignore the context that they have", func(p *pass) {
	for c := range p.root.Preorder((*ast.ExprStmt)(nil)) {
		if !p.sleeps(c.Node().(*ast.ExprStmt).X) {
			continue
		}
		loop, ctx := outermost(c), p.contextAround(c)
		if !loop.Valid() || ctx == nil || p.mayStop(loop) {
			continue
		}
		p.report(c, "this loop sleeps and never looks at %s: it continues after the context is done (wait in a select with %[1]s.Done(), or use retry.Do)", ctx.Name())
	}
})

func (p *pass) sleeps(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		return p.callee(e) == "time.Sleep"
	case *ast.UnaryExpr:
		call, ok := ast.Unparen(e.X).(*ast.CallExpr)
		return ok && e.Op == token.ARROW && p.callee(call) == "time.After"
	}
	return false
}

// outermost returns the outermost loop around c in its function.
func outermost(c inspector.Cursor) (loop inspector.Cursor) {
	for e := range c.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
		if signatureOf(e) != nil {
			break
		}
		loop = e
	}
	return loop
}

// mayStop reports whether something other than its own condition can end the loop early.
func (p *pass) mayStop(loop inspector.Cursor) bool {
	for range p.contexts(loop) {
		return true
	}
	for c := range loop.Preorder((*ast.SelectStmt)(nil), (*ast.UnaryExpr)(nil)) {
		receive, ok := c.Node().(*ast.UnaryExpr)
		if !ok || receive.Op == token.ARROW && !p.sleeps(receive) {
			return true
		}
	}
	return false
}
