package checks

import (
	"go/ast"
	"go/constant"
	"go/types"
	"time"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// Limit reports time limits of whole calls that leave no time for a second attempt.
var Limit = analyzer("limit", "report time limits of whole calls that the first attempt may use up", func(p *pass) {
	if !p.importsUs() {
		return
	}
	p.reportEndlessDelays()
	p.reportSameNumber()
	for _, call := range p.loops {
		p.reportDeadline(call)
	}
	for _, call := range p.operations {
		p.reportLongHint(call)
	}
	for _, call := range p.calls {
		p.reportRequest(call)
		p.reportEndlessReady(call)
	}
	for c := range p.root.Preorder((*ast.KeyValueExpr)(nil)) {
		if value := p.info.Types[c.Node().(*ast.KeyValueExpr).Value].Value; p.field(c) == ours+".MaxAttempts" && value != nil && value.ExactString() == "0" {
			p.report(c, "0 means the default, such as three attempts: write retry.NoRetry for one, retry.Unlimited for no bound, or leave it out")
		}
	}
	for c := range p.root.Preorder((*ast.CompositeLit)(nil)) {
		p.reportLiteral(c)
		if typeName(p.info.TypeOf(c.Node().(ast.Expr))) == "net/http.Client" {
			p.reportClientTimeout(c)
		}
	}
	for c := range p.root.Preorder((*ast.AssignStmt)(nil)) {
		p.reportTimeoutOf(c)
	}
})

// reportDeadline reports a context.WithTimeout around Do that is not longer than the policy's
// AttemptTimeout, or than the first wait.
func (p *pass) reportDeadline(loop *call) {
	if !loop.policy.Valid() || len(loop.Args) == 0 {
		return
	}
	attempt, limited := p.attemptTimeout(loop.policy)
	first := time.Duration(0)
	if policy := p.value(loop.policy); p.isPolicy(policy) && !p.isChanged(policy) {
		first = p.firstWait(policy)
	}
	whole, known := p.deadline(loop.Args[0], loop.Cursor)
	if known && first > 0 && first >= whole {
		p.report(loop.Cursor, "%s ends after %v, and the first wait is at least %v: no retry follows", types.ExprString(loop.Args[0]), whole, first)
	}
	if known && limited && whole <= attempt {
		p.report(loop.Cursor, "%s ends after %v, and an attempt may take %v, so one that times out is never retried: shorten AttemptTimeout", types.ExprString(loop.Args[0]), whole, attempt)
	}
}

// deadline returns the time after which a context ends, if a statement before c, in the same
// function or loop, makes it with context.WithTimeout.
func (p *pass) deadline(ctx ast.Expr, c inspector.Cursor) (whole time.Duration, known bool) {
	id, ok := ctx.(*ast.Ident)
	if !ok {
		return 0, false
	}
	for _, set := range p.vars[p.info.ObjectOf(id)].sets {
		assign, ok := set.Parent().Node().(*ast.AssignStmt)
		if !ok || len(assign.Rhs) != 1 || p.callee(assign.Rhs[0]) != "context.WithTimeout" || block(set) != block(c) || set.Node().Pos() > c.Node().Pos() {
			continue
		}
		whole, known = p.duration(assign.Rhs[0].(*ast.CallExpr).Args[1])
	}
	return whole, known
}

// reportRequest reports a request by a client of retryhttp whose context is not longer than an
// attempt may be.
func (p *pass) reportRequest(c *call) {
	client, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok || !sends.MatchString(c.name) || len(c.Args) != 1 {
		return
	}
	v, ok := p.info.Uses[lastName(client.X)].(*types.Var)
	if !ok {
		return
	}
	request := p.latestValue(p.plain(c.ChildAt(edge.CallExpr_Args, 0)))
	if !request.Valid() || p.callee(request.Node()) != "net/http.NewRequestWithContext" {
		return
	}
	ctx := request.Node().(*ast.CallExpr).Args[0]
	whole, known := p.deadline(ctx, c.Cursor)
	for _, made := range p.origins(v, 0) {
		attempt, limited := p.attemptTimeout(made)
		if known && limited && whole <= attempt && p.makesTransport(made) {
			p.report(c.Cursor, "%s ends after %v, and an attempt may take %v, so one that times out is never retried: shorten AttemptTimeout", types.ExprString(ctx), whole, attempt)
		}
	}
}

// makesTransport reports whether an expression makes a client with a Transport of retryhttp.
func (p *pass) makesTransport(made inspector.Cursor) bool {
	return p.callee(made.Node()) == newClient || p.hasTransport(made)
}

// attemptLimits has the fields that limit an attempt.
var attemptLimits = names(ours+`\.AttemptTimeout`, ours+`/retryhttp\.FirstByteTimeout`)

// isPolicy reports whether c is the literal of a policy.
func (p *pass) isPolicy(c inspector.Cursor) bool {
	lit, ok := c.Node().(*ast.CompositeLit)
	return ok && typeName(p.info.TypeOf(lit)) == ours+".Policy"
}

// attemptTimeout returns the AttemptTimeout of a policy whose literal is in sight, or of a
// literal that has one inside.
func (p *pass) attemptTimeout(policy inspector.Cursor) (time.Duration, bool) {
	if !policy.Valid() {
		return 0, false
	}
	for _, id := range p.mentions(policy) {
		if id.ParentEdgeKind() == edge.KeyValueExpr_Key && attemptLimits.MatchString(objectName(p.info.Uses[id.Node().(*ast.Ident)])) {
			return p.duration(id.Parent().Node().(*ast.KeyValueExpr).Value)
		}
	}
	return 0, false
}

// duration returns a constant duration.
func (p *pass) duration(e ast.Expr) (time.Duration, bool) {
	value := p.info.Types[e].Value
	if value == nil {
		return 0, false
	}
	n, exact := constant.Int64Val(constant.ToInt(value))
	return time.Duration(n), exact
}

// reportClientTimeout reports a client of retryhttp whose Timeout is not longer than the
// AttemptTimeout of its policy.
func (p *pass) reportClientTimeout(c inspector.Cursor) {
	for i, element := range c.Node().(*ast.CompositeLit).Elts {
		field, ok := element.(*ast.KeyValueExpr)
		if ok && types.ExprString(field.Key) == "Timeout" && p.hasTransport(c) {
			p.reportTimeout(c.ChildAt(edge.CompositeLit_Elts, i), field.Value, c)
		}
	}
}

// reportTimeoutOf does so for client.Timeout = d.
func (p *pass) reportTimeoutOf(c inspector.Cursor) {
	assign := c.Node().(*ast.AssignStmt)
	if len(assign.Lhs) != 1 || len(assign.Rhs) != 1 {
		return
	}
	sel, ok := assign.Lhs[0].(*ast.SelectorExpr)
	if !ok || objectName(p.info.Uses[sel.Sel]) != "net/http.Timeout" || typeName(p.info.TypeOf(sel.X)) != "net/http.Client" {
		return
	}
	v, ok := p.info.Uses[lastName(sel.X)].(*types.Var)
	if !ok {
		return
	}
	for _, made := range p.origins(v, 0) {
		if p.makesTransport(made) {
			p.reportTimeout(c, assign.Rhs[0], made)
			return
		}
	}
}

func (p *pass) reportTimeout(at inspector.Cursor, timeout ast.Expr, client inspector.Cursor) {
	whole, known := p.duration(timeout)
	if !known || whole <= 0 {
		return
	}
	attempt, limited := p.attemptTimeout(client)
	switch {
	case limited && whole <= attempt:
		p.report(at, "Timeout is for all attempts together, and one of them may take %v, so an attempt that times out is never retried: make it longer, or leave it out", attempt)
	case !limited && whole <= likeOne && p.hasNoLimit(client):
		p.report(at, "Timeout is for all attempts together, and nothing limits one of them, so an attempt that hangs is never retried: set AttemptTimeout or FirstByteTimeout, and make Timeout longer")
	}
}

// likeOne is the longest Timeout of a client that is probably meant for one attempt.
const likeOne = 10 * time.Second

// limiting has what else may limit an attempt of a Transport, or sends a second copy of it.
var limiting = names(ours+`/retryhttp\.(Base|Wrap|Hedge|WithPolicy)`, `net/http\.ResponseHeaderTimeout`)

// hasNoLimit reports whether nothing limits the attempts of a client, all of which is in sight, and
// there may be several.
func (p *pass) hasNoLimit(client inspector.Cursor) bool {
	if p.makesOneAttempt(client) {
		return false
	}
	for id := range p.root.Preorder((*ast.Ident)(nil)) {
		name := objectName(p.info.Uses[id.Node().(*ast.Ident)])
		_, set := id.Parent().Node().(*ast.SelectorExpr)
		if limiting.MatchString(name) || set && attemptLimits.MatchString(name) {
			return false
		}
	}
	for _, id := range p.mentions(client) {
		v, ok := p.info.Uses[id.Node().(*ast.Ident)].(*types.Var)
		if ok && !v.IsField() && !p.declared(v).Valid() {
			return false // it is set elsewhere
		}
		fn, ok := p.info.Uses[id.Node().(*ast.Ident)].(*types.Func)
		if ok && !keepsLimits.MatchString(objectName(fn)) {
			return false // the function may set one
		}
	}
	return true
}

// keepsLimits has functions that set no limit of an attempt.
var keepsLimits = names(ours+`\.(With|FirstOf|OnlyIf|PermanentIf)`, ours+`/retryhttp[./].*`)

// hasTransport reports whether a client has a Transport of retryhttp.
func (p *pass) hasTransport(client inspector.Cursor) bool {
	for _, id := range p.mentions(client) {
		if objectName(p.info.Uses[id.Node().(*ast.Ident)]) == transport {
			return true
		}
	}
	return false
}

// reportLongHint reports retry.After(err, d) in an operation, if d is above the MaxElapsed of
// the policy.
func (p *pass) reportLongHint(loop *call) {
	if !loop.policy.Valid() {
		return
	}
	most, limited := time.Duration(0), false
	for _, id := range p.mentions(loop.policy) {
		if id.ParentEdgeKind() == edge.KeyValueExpr_Key && objectName(p.info.Uses[id.Node().(*ast.Ident)]) == ours+".MaxElapsed" {
			most, limited = p.duration(id.Parent().Node().(*ast.KeyValueExpr).Value)
		}
	}
	for _, c := range p.calls {
		if c.name != ours+".After" || !loop.op.Contains(c.Cursor) {
			continue
		}
		hint, known := p.duration(c.Args[1])
		if known && limited && most > 0 && hint > most {
			p.report(c.Cursor, "the hint of %v is above MaxElapsed %v, so the call gives up: no retry follows", hint, most)
		}
	}
}
