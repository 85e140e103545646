package checks

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"
)

// Sleep reports waits that go on when the context that the function has is done.
var Sleep = analyzer("sleep", "report loops that call time.Sleep and ignore the context that they have", func(p *pass) {
	for c := range p.root.Preorder((*ast.ExprStmt)(nil)) {
		if !p.sleeps(c.Node().(*ast.ExprStmt).X) {
			continue
		}
		loop, ctx := p.loopWithContext(c)
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

// loopWithContext returns the outermost loop around c in its function, and the context
// that this function, or one around it, has as a parameter.
func (p *pass) loopWithContext(c inspector.Cursor) (loop inspector.Cursor, ctx *types.Var) {
	looking := true
	for e := range c.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
		var signature *ast.FuncType
		switch n := e.Node().(type) {
		case *ast.FuncLit:
			signature = n.Type
		case *ast.FuncDecl:
			signature = n.Type
		default:
			if looking {
				loop = e
			}
			continue
		}
		looking = false
		if ctx := p.contextParam(signature); ctx != nil || !loop.Valid() {
			return loop, ctx
		}
	}
	return loop, nil
}

func (p *pass) contextParam(signature *ast.FuncType) *types.Var {
	for _, field := range signature.Params.List {
		for _, name := range field.Names {
			if v, ok := p.info.Defs[name].(*types.Var); ok && name.Name != "_" && isContext(v.Type()) {
				return v
			}
		}
	}
	return nil
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
