package checks

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// Escape reports what an operation gets with the context of an attempt and hands out, so that
// it is canceled before the caller uses it. Response does this for HTTP responses.
var Escape = analyzer("escape", "report rows, bodies, streams and contexts that leave an operation with an AttemptTimeout", func(p *pass) {
	for _, loop := range p.loops {
		if fn := around(loop.Cursor, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)); fn.Node() != nil && loop.name == ours+".DoValue" {
			p.reportCanceledResult(fn)
		}
	}
	calls := p.contextCalls()
	for _, s := range p.starts(p.root) {
		fn := around(s.at, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))
		retries := slices.ContainsFunc(calls, func(c contextCall) bool { return s.lit.Contains(c.Cursor) })
		if retries && fn.Node() != nil {
			p.reportUnreceived(fn, s, "the function has returned, so the goroutine never ends")
			p.reportNotSent(fn, s)
		}
	}
	for _, call := range p.operations {
		if retriers.MatchString(call.name) {
			p.reportLeft(call)
			p.reportCanceledResult(call.op)
		}
		if inTx.MatchString(call.name) {
			p.reportRows(call)
		}
		if !ownContext.MatchString(call.name) || !p.timed(call) {
			continue
		}
		for ret := range call.op.Preorder((*ast.ReturnStmt)(nil)) {
			if around(ret, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) != call.op || p.signature(call.op).Results().Len() < 2 {
				continue
			}
			result, _ := ret.FirstChild()
			if ret.ChildAt(edge.ReturnStmt_Results, 0) != result {
				continue
			}
			if what := p.lives(p.info.TypeOf(result.Node().(ast.Expr))); what != "" {
				p.report(result, "the AttemptTimeout of the policy cancels this %s when the operation returns: read it in the operation", what)
			}
		}
		for c := range call.op.Preorder((*ast.AssignStmt)(nil)) {
			for i := range c.Node().(*ast.AssignStmt).Lhs {
				p.reportKept(call, c.ChildAt(edge.AssignStmt_Lhs, i))
			}
		}
	}
})

// reportRows reports rows of a transaction that the code after it reads.
func (p *pass) reportRows(loop *call) {
	for c := range loop.op.Preorder((*ast.AssignStmt)(nil)) {
		for i, target := range c.Node().(*ast.AssignStmt).Lhs {
			v, ok := p.info.ObjectOf(lastName(ast.Unparen(target))).(*types.Var)
			if !ok || p.owner(target) == nil || !outside(p.owner(target), loop.op) || p.lives(v.Type()) != "result" {
				continue
			}
			read := slices.ContainsFunc(p.vars[v].uses, func(use inspector.Cursor) bool {
				name, _ := field(use)
				return loop.op.Contains(use) && name != "Close" && !compares(use.Parent())
			})
			if !read {
				p.report(c.ChildAt(edge.AssignStmt_Lhs, i), "the transaction ends when the function returns, and %s with it: read the rows in the function", v.Name())
			}
		}
	}
}

// reportKept reports a variable outside an operation that the operation sets at c to what ends
// with the attempt, if only the code outside uses it.
func (p *pass) reportKept(call *call, c inspector.Cursor) {
	id, ok := c.Node().(*ast.Ident)
	if !ok {
		return
	}
	v, ok := p.info.ObjectOf(id).(*types.Var)
	if !ok || !outside(v, call.op) {
		return
	}
	what := p.lives(v.Type())
	consumed := slices.ContainsFunc(p.vars[v].uses, func(use inspector.Cursor) bool {
		name, _ := field(use)
		return call.op.Contains(use) && name != "Close" && !compares(use.Parent())
	})
	used := slices.ContainsFunc(p.vars[v].uses, func(use inspector.Cursor) bool { return !call.op.Contains(use) })
	if what != "" && used && !consumed {
		p.report(c, "the AttemptTimeout of the policy cancels this %s when the operation returns: read %s in the operation", what, v.Name())
	}
}

// inMemory has types that can be read after the context has ended, and files and connections,
// which no context ends once they are open.
var inMemory = names(`bytes\.(Reader|Buffer)`, `strings\.Reader`, `os\.File`, `net\..*`, `bufio\..*`)

// lives names what a value is, if it is of use only as long as the context that it was made with.
func (p *pass) lives(t types.Type) string {
	if tuple, ok := t.(*types.Tuple); ok && tuple.Len() > 0 {
		t = tuple.At(0).Type() // return f(ctx)
	}
	if t == nil || inMemory.MatchString(typeName(t)) || typeName(t) == response {
		return ""
	}
	switch {
	case isContext(t):
		return "context"
	case hasMethod(t, "Next") && (hasMethod(t, "Scan") || hasMethod(t, "Err")) || typeName(t) == "database/sql.Row":
		return "result"
	case hasMethod(t, "Recv") || hasMethod(t, "RecvMsg"):
		return "stream"
	case hasMethod(t, "Read"):
		return "reader"
	}
	return ""
}

// reportCanceledResult reports rows, a body or a stream that a function returns, and whose context it
// cancels when it does.
func (p *pass) reportCanceledResult(fn inspector.Cursor) {
	for ret := range fn.Preorder((*ast.ReturnStmt)(nil)) {
		if around(ret, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) != fn || len(ret.Node().(*ast.ReturnStmt).Results) == 0 {
			continue
		}
		result := ret.ChildAt(edge.ReturnStmt_Results, 0)
		what := p.lives(p.info.TypeOf(result.Node().(ast.Expr)))
		if what == "" || what == "context" {
			continue
		}
		value := result
		if given := p.latestValue(result); given.Valid() {
			value = given
		}
		call, ok := value.Node().(*ast.CallExpr)
		if !ok || len(call.Args) == 0 || !isContext(p.info.TypeOf(call.Args[0])) {
			continue
		}
		from := p.lineage(value.ChildAt(edge.CallExpr_Args, 0))
		if from.known && p.defersCancel(fn, ret, from) {
			p.report(result, "the deferred cancel ends this %s when the function returns: read it in the function, or let the caller cancel", what)
		}
	}
}
