package checks

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

const keeperRun = ours + "/retrykeep.Keeper.Run"

// reportUnheardRuns reports go statements and defer statements that run a Keeper, whose error
// nobody gets.
func (p *pass) reportUnheardRuns() {
	for _, c := range p.calls {
		kind := c.ParentEdgeKind()
		if c.name == keeperRun && (kind == edge.GoStmt_Call || kind == edge.DeferStmt_Call) && !p.hears(c) {
			p.report(c.Cursor, "the error of %s is not used, so nobody learns that the session failed for good", shortName(c.name))
		}
	}
}

// reportKeepers reports a Keeper of package retrykeep that is asked to run several sessions at
// the same time.
func (p *pass) reportKeepers() {
	type place struct {
		fn     ast.Node
		v      *types.Var
		keeper string
	}
	started := map[place][]*call{}
	for _, c := range p.calls {
		if c.name != keeperRun {
			continue
		}
		keeper, v := p.keeperOf(c)
		if v == nil {
			continue
		}
		start := starting(c.Cursor)
		again := p.startedAgain(c)
		switch {
		case again.Valid() && p.isOfAll(v, again) && !p.setsAny(again, v):
			p.report(c.Cursor, "%s runs one session at a time, so Run returns an error at once for all but the first: make a Keeper for each session", types.ExprString(keeper))
		case start.Valid() && p.functionAround(start) != p.root:
			at := place{p.functionAround(start).Node(), v, types.ExprString(keeper)}
			started[at] = append(started[at], c)
		}
	}
	for _, same := range started {
		for _, c := range same[1:] {
			keeper, v := p.keeperOf(c)
			if len(p.vars[v].values) < 2 && !p.exclude(same[0].Cursor, c.Cursor) {
				p.report(c.Cursor, "%s runs one session at a time, and another Run of it is started here: make a Keeper for each session", types.ExprString(keeper))
			}
		}
	}
}

// keeperOf returns the expression of the Keeper that a call runs, and the variable that has it,
// or nil if the Keeper is an element of a map or a slice.
func (p *pass) keeperOf(c *call) (ast.Expr, *types.Var) {
	sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil, nil
	}
	indexed := false
	ast.Inspect(sel.X, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.IndexExpr, *ast.CallExpr:
			indexed = true
		}
		return true
	})
	if indexed {
		return nil, nil
	}
	return sel.X, p.owner(sel.X)
}

// starting returns the go statement, or the call of a method Go, that starts what c is in.
func starting(c inspector.Cursor) (start inspector.Cursor) {
	for e := range c.Enclosing((*ast.GoStmt)(nil), (*ast.CallExpr)(nil), (*ast.FuncDecl)(nil)) {
		switch n := e.Node().(type) {
		case *ast.GoStmt:
			return e
		case *ast.CallExpr:
			if e != c && called(n) == "Go" {
				return e
			}
		case *ast.FuncDecl:
			return start
		}
	}
	return start
}

// startedAgain returns the loop, or the handler of HTTP requests, that starts c several times at
// once.
func (p *pass) startedAgain(c *call) (again inspector.Cursor) {
	if start := starting(c.Cursor); start.Valid() {
		loop := block(start)
		switch loop.Node().(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if !leavesAfter(start) {
				return loop
			}
		}
		if loop := p.calledAgain(start); loop.Valid() {
			return loop
		}
	}
	for fn := range c.Enclosing((*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
		for param := range p.signature(fn).Params().Variables() {
			if typeName(param.Type()) == "net/http.ResponseWriter" && p.signature(fn).Params().Len() == 2 {
				return fn
			}
		}
	}
	return again
}

// isOfAll reports whether all rounds of a loop, or all calls of a function, have the same variable.
func (p *pass) isOfAll(v *types.Var, again inspector.Cursor) bool {
	switch again.Node().(type) {
	case *ast.ForStmt, *ast.RangeStmt:
		return outside(v, again)
	}
	return p.survives(v, again)
}

// calledAgain returns the loop that calls the function around c, of a receiver from outside the
// loop.
func (p *pass) calledAgain(c inspector.Cursor) (again inspector.Cursor) {
	decl := block(c)
	if _, ok := decl.Node().(*ast.FuncDecl); !ok {
		return again
	}
	for _, c := range p.callsOf(decl) {
		sel, isMethod := ast.Unparen(c.Fun).(*ast.SelectorExpr)
		loop := block(c.Cursor)
		switch loop.Node().(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if isMethod && p.owner(sel.X) != nil && outside(p.owner(sel.X), loop) && !leavesAfter(c.Cursor) {
				return loop
			}
		}
	}
	return again
}

// leavesAfter reports whether the block of a statement ends after it, as after a break.
func leavesAfter(c inspector.Cursor) bool {
	if _, isStatement := c.Node().(ast.Stmt); !isStatement {
		c = c.Parent()
	}
	_, rest := following(c)
	return slices.ContainsFunc(rest, leavesBlock)
}

// setsAny reports whether a loop or a function sets a variable or a part of it.
func (p *pass) setsAny(c inspector.Cursor, v *types.Var) bool {
	return slices.ContainsFunc(p.vars[v].sets, func(set inspector.Cursor) bool {
		return c.Contains(set) && set.ParentEdgeKind() != edge.Field_Names
	})
}

// exclude reports whether two places are in different branches of a statement, or something is
// waited for between them.
func (p *pass) exclude(a, b inspector.Cursor) bool {
	for c := range p.functionAround(starting(b)).Preorder((*ast.UnaryExpr)(nil), (*ast.CallExpr)(nil)) {
		receive, ok := c.Node().(*ast.UnaryExpr)
		waits := ok && receive.Op == token.ARROW || calledIn(c.Node()) == "Wait"
		if waits && a.Node().End() < c.Node().Pos() && c.Node().End() < b.Node().Pos() {
			return true
		}
	}
	for e := range b.Enclosing((*ast.IfStmt)(nil), (*ast.CaseClause)(nil), (*ast.CommClause)(nil)) {
		if !e.Contains(a) {
			return true
		}
		if test, ok := e.Node().(*ast.IfStmt); ok && test.Else != nil && (test.Else.Pos() > a.Node().Pos()) != (test.Else.Pos() > b.Node().Pos()) {
			return true
		}
	}
	return false
}

func calledIn(n ast.Node) string {
	e, _ := n.(ast.Expr)
	return called(e)
}
