package checks

import (
	"go/ast"
	"go/constant"
	"time"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// Limit reports time limits of whole calls that leave no time for a second attempt.
var Limit = analyzer("limit", func(p *pass) {
	if !p.importsUs() {
		return
	}
	for _, call := range p.loops {
		p.reportDeadline(call)
	}
	for c := range p.root.Preorder((*ast.KeyValueExpr)(nil)) {
		if value := p.info.Types[c.Node().(*ast.KeyValueExpr).Value].Value; p.field(c) == ours+".MaxAttempts" && value != nil && value.ExactString() == "0" {
			p.report(c, "0 means the default, such as three attempts: write retry.NoRetry for one, retry.Unlimited for no bound, or leave it out")
		}
	}
})

// reportDeadline reports a context.WithTimeout around Do that is not longer than the policy's
// AttemptTimeout.
func (p *pass) reportDeadline(loop *call) {
	attempt, ok := p.attemptTimeout(loop.policy)
	if !ok || len(loop.Args) == 0 {
		return
	}
	ctx, isVar := loop.Args[0].(*ast.Ident)
	if !isVar {
		return
	}
	for _, set := range p.vars[p.info.ObjectOf(ctx)].sets {
		assign, ok := set.Parent().Node().(*ast.AssignStmt)
		if !ok || len(assign.Rhs) != 1 || p.callee(assign.Rhs[0]) != "context.WithTimeout" || block(set) != block(loop.Cursor) {
			continue
		}
		whole, known := p.duration(assign.Rhs[0].(*ast.CallExpr).Args[1])
		if known && set.Node().Pos() < loop.Pos() && whole <= attempt {
			p.report(loop.Cursor, "%s ends after %v, and an attempt may take %v, so one that times out is never retried: shorten AttemptTimeout", ctx.Name, whole, attempt)
		}
	}
}

// attemptTimeout returns the AttemptTimeout of a policy whose literal is in sight, or of a
// literal that has one inside.
func (p *pass) attemptTimeout(policy inspector.Cursor) (time.Duration, bool) {
	if !policy.Valid() {
		return 0, false
	}
	for _, id := range p.mentions(policy) {
		if id.ParentEdgeKind() == edge.KeyValueExpr_Key && objectName(p.info.Uses[id.Node().(*ast.Ident)]) == ours+".AttemptTimeout" {
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
