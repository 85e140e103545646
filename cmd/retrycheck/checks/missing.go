package checks

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

const newSequence = ours + "/adapt.NewSequence"

// What has to be told that something succeeded, or how it ended.
var (
	succeeded   = names(ours + `/adapt\.Sequence\.(Succeeded|Retry)`)
	delaysItem  = names(`k8s\.io/client-go/util/workqueue\.(Typed)?RateLimitingInterface.*\.AddRateLimited`)
	endsItem    = names(`k8s\.io/client-go/util/workqueue\..*\.Done`)
	forgetsItem = names(`k8s\.io/client-go/util/workqueue\..*\.Forget`)
	asksLimiter = names(ours + `/awspreset\.AdaptiveLimiter\.Wait`)
)

// Missing reports calls that belong to a pair, if the package makes only one of the two: nobody
// says that something succeeded, or how it ended.
var Missing = analyzer("missing", "report calls that need another one later, such as AddRateLimited without Forget", func(p *pass) {
	ends, forgets := false, false
	for _, c := range p.calls {
		ends = ends || endsItem.MatchString(c.name)
		forgets = forgets || forgetsItem.MatchString(c.name)
	}
	for _, c := range p.calls {
		switch {
		case c.name == newSequence:
			p.reportSequence(c)
		case withdraws.MatchString(c.name):
			p.reportNoDeposit(c)
		case delaysItem.MatchString(c.name) && ends && !forgets:
			p.report(c.Cursor, "nothing calls Forget, so the failures of an item count for ever, and its delays grow from day to day: call it after a success")
		case asksLimiter.MatchString(c.name):
			p.reportUnobserved(c)
		case c.name == ours+"/admit.Gate.Enter":
			p.reportEntered(c)
			p.reportEarlyEnd(c)
		}
	}
})

// reportSequence reports a Sequence whose policy has a budget, if nothing tells it of successes.
func (p *pass) reportSequence(c *call) {
	if len(c.Args) != 1 || !p.hasBudget(c.ChildAt(edge.CallExpr_Args, 0)) {
		return
	}
	tells := slices.ContainsFunc(p.calls, func(other *call) bool { return succeeded.MatchString(other.name) })
	if !tells && p.isForOthers(c.Cursor) {
		p.report(c.Cursor, "nothing calls Succeeded, so the retries empty the budget and nothing refills it: keep the Sequence in a variable, and call its Succeeded after a success")
	}
}

// otherLoops has libraries whose loops do not report a success to a Sequence.
var otherLoops = names(cenkalti+`\..*`, sethvargo+`\..*`)

// isForOthers reports whether a Sequence is for a loop of another library alone.
func (p *pass) isForOthers(c inspector.Cursor) bool {
	if c.ParentEdgeKind() == edge.CallExpr_Args {
		return otherLoops.MatchString(p.callee(c.Parent().Node()))
	}
	assign, ok := c.Parent().Node().(*ast.AssignStmt)
	if !ok || len(assign.Lhs) != 1 {
		return false
	}
	id, ok := assign.Lhs[0].(*ast.Ident)
	if !ok {
		return false
	}
	uses := p.vars[p.info.ObjectOf(id)].uses
	return len(uses) > 0 && !slices.ContainsFunc(uses, func(use inspector.Cursor) bool {
		isOther := use.ParentEdgeKind() == edge.CallExpr_Args && otherLoops.MatchString(p.callee(use.Parent().Node()))
		return !isOther && use.ParentEdgeKind() != edge.SelectorExpr_X
	})
}

// hasBudget reports whether a policy has a budget, as far as it is in sight.
func (p *pass) hasBudget(policy inspector.Cursor) bool {
	policies := []inspector.Cursor{policy}
	if v, ok := p.info.Uses[lastName(policy.Node().(ast.Expr))].(*types.Var); ok {
		policies = append(policies, p.valuesOf(v)...)
	}
	return slices.ContainsFunc(policies, func(c inspector.Cursor) bool {
		return slices.ContainsFunc(p.mentions(c), func(id inspector.Cursor) bool {
			field, isField := p.info.Uses[id.Node().(*ast.Ident)].(*types.Var)
			none := id.ParentEdgeKind() == edge.KeyValueExpr_Key && p.isNone(id.Parent().ChildAt(edge.KeyValueExpr_Value, -1))
			made := p.callee(id.Parent().Parent().Node())
			return isField && field.IsField() && objectName(field) == ours+".Budget" && !none || made == ours+"/awspreset.Preset.Policy"
		})
	})
}

// isNone reports whether a budget is nil or NoBudget.
func (p *pass) isNone(c inspector.Cursor) bool {
	e := c.Node().(ast.Expr)
	return p.info.Types[e].IsNil() || typeName(p.info.TypeOf(e)) == ours+".NoBudget"
}

// valuesOf returns the values that the package gives to a variable or a field.
func (p *pass) valuesOf(v *types.Var) []inspector.Cursor {
	values := slices.Clone(p.vars[v].values)
	for _, use := range p.vars[v].uses {
		switch use.ParentEdgeKind() {
		case edge.KeyValueExpr_Key:
			values = append(values, use.Parent().ChildAt(edge.KeyValueExpr_Value, -1))
		case edge.SelectorExpr_Sel: // x.field = value
			values = append(values, valueSet(use.Parent()))
		}
	}
	return slices.DeleteFunc(values, func(c inspector.Cursor) bool { return !c.Valid() })
}

// reportUnobserved reports a limiter that is asked before calls, if nothing tells it how they
// ended: neither this package nor a policy that has it.
func (p *pass) reportUnobserved(c *call) {
	for id := range p.root.Preorder((*ast.Ident)(nil)) {
		name := objectName(p.info.Uses[id.Node().(*ast.Ident)])
		if id.Node().(*ast.Ident).Name == "Observe" || name == ours+".Limiter" {
			return
		}
	}
	p.report(c.Cursor, "nothing calls Observe, so the limiter never learns of throttling, and never waits: call Observe after each attempt, or make it the Limiter of a policy")
}

// reportEntered reports a Gate that admits a request and never hears of its end.
func (p *pass) reportEntered(c *call) {
	unused := c.ParentEdgeKind() == edge.ExprStmt_X
	if assign, ok := c.Parent().Node().(*ast.AssignStmt); ok {
		id, isIdent := assign.Lhs[0].(*ast.Ident)
		unused = isIdent && (id.Name == "_" || len(p.vars[p.info.ObjectOf(id)].uses) == 0)
	}
	if unused {
		p.report(c.Cursor, "the Gate counts this request as in progress for ever: call Leave with the Ticket when it ends")
	}
}
