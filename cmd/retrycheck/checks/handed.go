package checks

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// What calls a function of the program, and the position of that function.
var handed = map[string]int{
	ours + "/retrybatch.Do":           3,
	ours + "/retrykeep.Keeper.Run":    1,
	ours + "/retryhedge.Do":           3,
	ours + "/retryhedge.Open":         3,
	ours + "/retrynats.Handle":        3,
	ours + "/retrynats.Worker.Handle": 2,
}

// reportHanded reports a function that does not do what the package that calls it expects.
func (p *pass) reportHanded(c *call, fn inspector.Cursor) {
	p.reportOuterContext(c, fn)
	switch shortName(c.name) {
	case "retrybatch.Do":
		p.reportBatch(fn)
	case "retrykeep.Keeper.Run":
		p.reportSession(fn)
	case "retryhedge.Do", "retryhedge.Open":
		p.reportHedged(c, fn)
	}
}

// reportOuterContext reports a function that uses another context than the one that it gets.
func (p *pass) reportOuterContext(c *call, fn inspector.Cursor) {
	params := p.signature(fn).Params()
	if params.Len() == 0 || !isContext(params.At(0).Type()) || slices.ContainsFunc(p.vars[params.At(0)].uses, fn.Contains) {
		return
	}
	other, use := p.outer(fn, func(v *types.Var) bool {
		return isContext(v.Type()) && v.Kind() != types.PackageVar && !v.IsField()
	})
	if other != nil {
		p.report(use, "the function uses %s instead of the context that %s gives it, so it goes on when it should end", other.Name(), shortName(c.name))
	}
}

// reportBatch reports a function for retrybatch that keeps its batch, retries by itself, or does
// not say which items failed.
func (p *pass) reportBatch(send inspector.Cursor) {
	params := p.signature(send).Params()
	if params.Len() != 2 {
		return
	}
	batch := params.At(1)
	uses := slices.DeleteFunc(slices.Clone(p.vars[batch].uses), func(use inspector.Cursor) bool { return !send.Contains(use) })
	for _, use := range uses {
		if p.kept(use, send) || p.isAppended(use, send) {
			p.report(use, "the function must not keep its batch, which retrybatch uses again: copy it")
		}
	}
	for _, inner := range p.reached(send, nil) {
		if retriers.MatchString(inner.name) || sends.MatchString(inner.name) && p.retriesItself(inner) {
			p.report(inner.Cursor, "retrybatch.Do retries what the function returns: make one request, without retries of its own, or it gives up and what was accepted is unknown")
		}
	}
	p.reportIndexes(send, batch)
	p.reportFirstFailures(send, batch)
	for ret := range send.Preorder((*ast.ReturnStmt)(nil)) {
		if last, ok := ret.LastChild(); ok && p.functionAround(ret) == send && p.callee(last.Node()) == "errors.Join" {
			p.report(last, "this error is one of the whole call, after which nobody knows which items were accepted: return the error of each item by its index")
		}
	}
}

// isAppended reports whether a use appends a batch as a whole to a list of batches outside.
func (p *pass) isAppended(use, send inspector.Cursor) bool {
	call, ok := use.Parent().Node().(*ast.CallExpr)
	if !ok || !isBuiltin(p.info, call, "append") || call.Ellipsis.IsValid() || use.Node() == call.Args[0] {
		return false
	}
	v := p.owner(call.Args[0])
	return v != nil && outside(v, send)
}

// reportIndexes reports an error that a function for retrybatch returns under a part of the item
// instead of its index.
func (p *pass) reportIndexes(send inspector.Cursor, batch *types.Var) {
	for loop := range send.Preorder((*ast.RangeStmt)(nil)) {
		over := loop.Node().(*ast.RangeStmt)
		value, ok := over.Value.(*ast.Ident)
		if !ok || p.info.Uses[lastName(over.X)] != batch {
			continue
		}
		for c := range loop.Preorder((*ast.IndexExpr)(nil)) {
			n := c.Node().(*ast.IndexExpr)
			m, isMap := p.info.TypeOf(n.X).Underlying().(*types.Map)
			if !isMap || c.ParentEdgeKind() != edge.AssignStmt_Lhs || !types.Implements(m.Elem(), errorType) {
				continue
			}
			if v := p.owner(n.Index); v != nil && v == p.info.Defs[value] {
				p.report(c, "retrybatch.Do takes %s for the index of an item in the batch: use the key of the range", types.ExprString(n.Index))
			}
		}
	}
}

// reportFirstFailures reports a function for retrybatch that sends its items one by one, and returns the
// failure of one of them as that of all.
func (p *pass) reportFirstFailures(send inspector.Cursor, batch *types.Var) {
	for ret := range send.Preorder((*ast.ReturnStmt)(nil)) {
		loop := around(ret, (*ast.RangeStmt)(nil), (*ast.ForStmt)(nil), (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))
		over, ok := loop.Node().(*ast.RangeStmt)
		last, given := ret.LastChild()
		if !ok || !given || p.info.Uses[lastName(over.X)] != batch {
			continue
		}
		sent := p.latestValue(last)
		if !sent.Valid() || !loop.Contains(sent) {
			continue
		}
		if call, ok := sent.Node().(*ast.CallExpr); ok && len(call.Args) > 0 && isContext(p.info.TypeOf(call.Args[0])) {
			p.report(ret, "this error is one of the whole call, after which nobody knows which items were accepted: return the error of each item by its index")
		}
	}
}

// reportSession reports a session of a Keeper that calls up before or after its connection works.
func (p *pass) reportSession(session inspector.Cursor) {
	params := p.signature(session).Params()
	if params.Len() != 2 {
		return
	}
	up := params.At(1)
	uses := slices.DeleteFunc(slices.Clone(p.vars[up].uses), func(use inspector.Cursor) bool { return !session.Contains(use) })
	statements := body(session).List
	for _, use := range uses {
		_, deferred := use.Parent().Parent().Node().(*ast.DeferStmt)
		first, ok := statements[0].(*ast.ExprStmt)
		switch {
		case deferred:
			p.report(use.Parent(), "up is called when the session has ended: call it when the connection works")
		case ok && first.X == use.Parent().Node():
			p.report(use.Parent(), "nothing is connected yet, so each failure counts as a connection: call up when the connection works")
		}
	}
	last, ok := statements[len(statements)-1].(*ast.ReturnStmt)
	if !ok || len(statements) < 2 || len(last.Results) != 1 || !p.info.Types[last.Results[0]].IsNil() {
		return
	}
	if _, ok := statements[len(statements)-2].(*ast.GoStmt); ok {
		p.report(p.at(session, last), "the session ends when it returns, and its context with it: wait here until the connection ends")
	}
}

// at returns the cursor of a node in c.
func (p *pass) at(c inspector.Cursor, n ast.Node) inspector.Cursor {
	found, _ := c.FindNode(n)
	return found
}

// reportHedged reports what a hedged function executes on a server: a copy executes it again.
func (p *pass) reportHedged(c *call, op inspector.Cursor) {
	if p.hasNoCopies(c) {
		return
	}
	calls := p.reached(op, nil)
	hasKey := slices.ContainsFunc(calls, func(c *call) bool { return sets.MatchString(c.name) && p.isKey(c.Args[0]) })
	for _, inner := range calls {
		isPost := posts.MatchString(inner.name) || makes.MatchString(inner.name) && p.isPost(inner.Args[len(inner.Args)-3])
		changes := onPool.MatchString(inner.name) && p.changeOf(inner) != ""
		if isPost && !hasKey && !p.asksOnly(inner) || changes || adding.MatchString(inner.name) {
			p.report(inner.Cursor, "%s may call the function twice, so this is executed twice: hedge only what changes nothing", shortName(c.name))
		}
	}
}
