package checks

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// Budget reports budgets and limiters that each call makes for itself, so that they bound
// nothing.
var Budget = analyzer("budget", "report budgets and limiters that are made for one call", func(p *pass) {
	for _, call := range p.calls {
		if at := map[string]int{ours + ".Do": 1, ours + ".DoValue": 1, ours + "/retrysql.InTx": 1, ours + "/retrysql.InTxFunc": 1}[call.name]; at > 0 && at < len(call.Args) {
			p.checkPolicy(call, call.ChildAt(edge.CallExpr_Args, at))
		}
	}
})

// checkPolicy follows the policy of a call to where it is made.
func (p *pass) checkPolicy(call retryCall, policy inspector.Cursor) {
	made := p.perCall(call, policy)
	if !made.Valid() {
		return
	}
	for c := range made.Preorder((*ast.CompositeLit)(nil), (*ast.CallExpr)(nil), (*ast.Ident)(nil)) {
		at := c
		if _, ok := c.Node().(*ast.Ident); ok {
			if at = p.perCall(call, c); !at.Valid() {
				continue
			}
		}
		if unary, ok := at.Node().(*ast.UnaryExpr); ok && unary.Op.String() == "&" {
			at = at.ChildAt(edge.UnaryExpr_X, -1)
		}
		if what := p.bounds(at.Node()); what != "" {
			p.report(at, "%s is made for each call of %s, so it bounds nothing: make it once and share it", what, shortName(call.name))
			return
		}
	}
}

// bounds names the shared state that an expression makes.
func (p *pass) bounds(n ast.Node) string {
	switch n := n.(type) {
	case *ast.CompositeLit:
		switch name := typeName(p.info.TypeOf(n)); name {
		case ours + ".TokenBudget", ours + ".RatioBudget", ours + ".ThrottleBudget", ours + "/awspreset.AdaptiveLimiter":
			return shortName(name)
		}
	case *ast.CallExpr:
		switch name := p.callee(n); name {
		case "golang.org/x/time/rate.NewLimiter", ours + ".FleetBudget":
			return "the result of " + shortName(name)
		case ours + "/awspreset.Preset.Policy", ours + "/awspreset.FromEnv":
			return "the budget in the result of " + shortName(name)
		}
	}
	return ""
}

// perCall returns the expression that e stands for if it is evaluated once for each call:
// e itself, or the value of a variable of the same function that is used by this call only.
func (p *pass) perCall(call retryCall, e inspector.Cursor) inspector.Cursor {
	id := identOf(e.Node().(ast.Expr))
	if id == nil {
		return e
	}
	v, ok := p.info.Uses[id].(*types.Var)
	def, once := p.defs[v]
	if !ok || !once || v.IsField() {
		return inspector.Cursor{}
	}
	fn := function(call.Cursor)
	if function(def) != fn || loopOf(call.Cursor) != loopOf(def) || p.countUses(fn, v) != 1 || isMain(fn) {
		return inspector.Cursor{}
	}
	return def
}

func (p *pass) countUses(c inspector.Cursor, obj types.Object) (n int) {
	for id := range c.Preorder((*ast.Ident)(nil)) {
		if p.info.Uses[id.Node().(*ast.Ident)] == obj {
			n++
		}
	}
	return n
}

// function returns the innermost function around c.
func function(c inspector.Cursor) inspector.Cursor {
	for e := range c.Enclosing((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		return e
	}
	return inspector.Cursor{}
}

// loopOf returns the innermost loop around c.
func loopOf(c inspector.Cursor) inspector.Cursor {
	for e := range c.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil)) {
		return e
	}
	return inspector.Cursor{}
}

// isMain reports whether a function runs once.
func isMain(c inspector.Cursor) bool {
	decl, ok := c.Node().(*ast.FuncDecl)
	return ok && decl.Recv == nil && (decl.Name.Name == "main" || decl.Name.Name == "init")
}
