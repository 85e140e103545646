package checks

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// asksFor has functions that find the attempt to which a context belongs.
var asksFor = names(ours+`\.AttemptFrom`, ours+`/retryhttp\.(AttemptNumber|InfoFrom)`)

// reportNoAttempt reports a question for the attempt of a context that belongs to none.
func (p *pass) reportNoAttempt(c *call) {
	if !asksFor.MatchString(c.name) || len(c.Args) != 1 {
		return
	}
	ctx := c.ChildAt(edge.CallExpr_Args, 0)
	switch {
	case c.name == attemptFrom && p.isOfHook(ctx):
		p.report(c.Cursor, "the context of this hook belongs to no attempt, so this is always a zero Attempt: use the parameter of the hook")
	case p.isOfHandler(ctx):
		p.report(c.Cursor, "the context of a request that a server handles belongs to no attempt, because the client's number is not sent: a header that the client sets in Prepare can tell it")
	case c.name == attemptFrom && p.isOfCall(ctx, c):
		p.report(c.Cursor, "this context is that of the whole call and belongs to no attempt: use the context that the operation gets, or the Attempts of the *retry.Error")
	case c.name != attemptFrom && p.isOfSent(ctx, c):
		p.report(c.Cursor, "this context is that of the whole call and belongs to no attempt: use that of the response's Request")
	}
}

// isOfHook reports whether c is the context parameter of a hook that runs outside of attempts.
func (p *pass) isOfHook(c inspector.Cursor) bool {
	id, ok := c.Node().(*ast.Ident)
	if !ok {
		return false
	}
	fn := p.functionAround(c)
	hook := p.hookOf(fn)
	if hook != ours+".OnRetry" && hook != ours+".OnGiveUp" {
		return false
	}
	return p.signature(fn).Params().At(0) == p.info.Uses[id]
}

// requestOf returns the request of r.Context(), if c is that, or a variable that has it.
func (p *pass) requestOf(c inspector.Cursor) *types.Var {
	value := p.value(c)
	call, ok := value.Node().(*ast.CallExpr)
	if !ok || p.callee(call) != "net/http.Request.Context" {
		return nil
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	id, ok := sel.X.(*ast.Ident)
	if !ok {
		return nil
	}
	v, _ := p.info.Uses[id].(*types.Var)
	return v
}

// isOfHandler reports whether c is the context of the request that the function around it
// answers.
func (p *pass) isOfHandler(c inspector.Cursor) bool {
	request := p.requestOf(c)
	if request == nil || request.Kind() != types.ParamVar {
		return false
	}
	for fn := range c.Enclosing((*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
		params := p.signature(fn).Params()
		if params.Len() == 2 && params.At(1) == request && typeName(params.At(0).Type()) == "net/http.ResponseWriter" {
			return true
		}
	}
	return false
}

// isOfCall reports whether c is the context that the function around it gives to Do: in the
// operation, which has another one, or after the call.
func (p *pass) isOfCall(c inspector.Cursor, asks *call) bool {
	id, ok := c.Node().(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := p.info.Uses[id].(*types.Var)
	if !ok || p.isOperation(p.functionOf(v)) {
		return false
	}
	return slices.ContainsFunc(p.loops, func(loop *call) bool {
		given, ok := ast.Expr(nil), false
		if strings.HasPrefix(loop.name, ours) && len(loop.Args) > 0 {
			given, ok = loop.Args[0], true
		}
		ctx, isIdent := given.(*ast.Ident)
		if !ok || !isIdent || p.info.Uses[ctx] != v {
			return false
		}
		inside := loop.op.Valid() && loop.op.Contains(asks.Cursor)
		after := asks.Pos() > loop.End() && p.functionAround(asks.Cursor) == p.functionAround(loop.Cursor) && !p.isSetBetween(v, loop, asks)
		return inside || after
	})
}

// isSetBetween reports whether a variable is set between two calls.
func (p *pass) isSetBetween(v *types.Var, from, to *call) bool {
	return slices.ContainsFunc(p.vars[v].sets, func(set inspector.Cursor) bool {
		return set.Node().Pos() > from.Pos() && set.Node().Pos() < to.Pos()
	})
}

// functionOf returns the function that has a variable as its parameter, or an invalid cursor.
func (p *pass) functionOf(v *types.Var) (fn inspector.Cursor) {
	if v.Kind() != types.ParamVar || len(p.vars[v].sets) == 0 {
		return fn
	}
	return p.functionAround(p.vars[v].sets[0])
}

// isOperation reports whether a function is an operation of a retry, as far as the package shows.
func (p *pass) isOperation(fn inspector.Cursor) bool {
	return fn.Valid() && slices.ContainsFunc(p.operations, func(loop *call) bool { return loop.op == fn })
}

// sentAt has what sends a request from above a Transport, and the position of the request.
var sentAt = map[string]int{"net/http.Client.Do": 0, ours + "/retryhttp.Read": 1, transport + ".RoundTrip": 0}

// isOfSent reports whether c is the context with which the function around it has sent a request
// above a Transport.
func (p *pass) isOfSent(c inspector.Cursor, asks *call) bool {
	request := p.requestOf(c)
	id, isIdent := c.Node().(*ast.Ident)
	for _, sent := range p.calls {
		at, sends := sentAt[sent.name]
		if !sends || sent.Pos() > asks.Pos() || p.functionAround(sent.Cursor) != p.functionAround(asks.Cursor) {
			continue
		}
		arg := sent.ChildAt(edge.CallExpr_Args, at)
		if v, ok := p.info.Uses[lastName(arg.Node().(ast.Expr))].(*types.Var); ok && v == request {
			return true
		}
		if made := p.value(arg); isIdent && makes.MatchString(p.callee(made.Node())) {
			ctx, ok := made.Node().(*ast.CallExpr).Args[0].(*ast.Ident)
			if ok && p.info.Uses[ctx] == p.info.Uses[id] {
				return true
			}
		}
	}
	return false
}
