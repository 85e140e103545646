package checks

import (
	"go/ast"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// reportLateCost reports the cost of a call that an operation sets, although the Limiter of the
// policy has waited by then.
func (p *pass) reportLateCost(loop *call) {
	if !loop.policy.Valid() || !p.hasLimiter(loop.policy) || p.limitsInside() {
		return
	}
	calls := p.reached(loop.op, nil)
	if slices.ContainsFunc(calls, func(c *call) bool { return sends.MatchString(c.name) && !p.isPlainClient(c) }) {
		return // whose Transport may have a Limiter
	}
	for _, c := range calls {
		if c.name == ours+"/ratelimit.WithCost" {
			p.report(c.Cursor, "the Limiter of the policy waits before the operation, so it does not see this cost: give the context of WithCost to %s", shortName(loop.name))
		}
	}
}

// isPlainClient reports whether the client of a request is one without a Transport.
func (p *pass) isPlainClient(c *call) bool {
	sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok || p.info.Selections[sel] == nil {
		return false
	}
	client := c.ChildAt(edge.CallExpr_Fun, -1).ChildAt(edge.SelectorExpr_X, -1)
	if objectName(p.info.Uses[lastName(sel.X)]) == "net/http.DefaultClient" {
		return true
	}
	made := p.literals(client, 3)
	return len(made) > 0 && !slices.ContainsFunc(made, func(lit inspector.Cursor) bool { return part(lit, "Transport").Valid() })
}

// hasLimiter reports whether a policy has a Limiter of package ratelimit, as far as it is in sight.
func (p *pass) hasLimiter(policy inspector.Cursor) bool {
	for _, lit := range p.literals(policy, 4) {
		limiter := part(lit, "Limiter")
		if limiter.Valid() && typeName(p.info.TypeOf(limiter.Node().(ast.Expr))) == ours+"/ratelimit.Limiter" {
			return true
		}
	}
	return p.isGivenLimiter(policy)
}

// isGivenLimiter reports whether policy.Limiter is set to one of package ratelimit in an assignment.
func (p *pass) isGivenLimiter(policy inspector.Cursor) bool {
	e, ok := policy.Node().(ast.Expr)
	if !ok || p.owner(e) == nil {
		return false
	}
	for c := range p.root.Preorder((*ast.AssignStmt)(nil)) {
		n := c.Node().(*ast.AssignStmt)
		sel, ok := n.Lhs[0].(*ast.SelectorExpr)
		if !ok || len(n.Rhs) != 1 || objectName(p.info.Uses[sel.Sel]) != ours+".Limiter" || p.owner(sel.X) != p.owner(e) {
			continue
		}
		if typeName(p.info.TypeOf(n.Rhs[0])) == ours+"/ratelimit.Limiter" {
			return true
		}
	}
	return false
}

// limitsInside reports whether the package makes clients that may have a Limiter of their own.
func (p *pass) limitsInside() bool {
	for _, c := range p.calls {
		if c.name == newClient || strings.HasPrefix(c.name, ours+"/retrygrpc.") || strings.HasPrefix(c.name, ours+"/retryaws.") || strings.HasSuffix(c.name, "ratelimit.Limiter.Wait") {
			return true
		}
	}
	for c := range p.root.Preorder((*ast.Ident)(nil)) {
		if name := objectName(p.info.Uses[c.Node().(*ast.Ident)]); name == transport {
			return true
		}
	}
	return false
}
