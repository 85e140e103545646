package checks

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// Race reports what a call changes although other calls use it at the same time: the fields of
// a Backoff, and the fields of a policy.
var Race = analyzer("race", func(p *pass) {
	if !p.importsUs() {
		return
	}
	for c := range p.root.Preorder((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		if p.isRule(c) {
			p.reportStateOfRule(c)
		}
	}
	p.reportStateOfHooks()
	for c := range p.root.Preorder((*ast.AssignStmt)(nil)) {
		for i := range c.Node().(*ast.AssignStmt).Lhs {
			p.reportChangedPolicy(c.ChildAt(edge.AssignStmt_Lhs, i))
		}
	}
})

// isRule reports whether a function is the method Delay of a Backoff, or a BackoffFunc.
func (p *pass) isRule(fn inspector.Cursor) bool {
	sig := p.signature(fn)
	params, results := sig.Params(), sig.Results()
	if params.Len() != 2 || results.Len() != 1 {
		return false
	}
	decl, isDecl := fn.Node().(*ast.FuncDecl)
	return typeName(params.At(0).Type()) == ours+".Attempt" && params.At(1).Type().String() == "float64" &&
		results.At(0).Type().String() == "time.Duration" && (!isDecl || decl.Name.Name == "Delay" && decl.Body != nil)
}

// reportStateOfRule reports what a rule for delays changes outside itself without a lock.
func (p *pass) reportStateOfRule(rule inspector.Cursor) {
	if p.locks(rule) {
		return
	}
	for c := range rule.Preorder((*ast.AssignStmt)(nil), (*ast.IncDecStmt)(nil)) {
		for _, target := range targets(c.Node()) {
			v := p.owner(target)
			if v != nil && p.survives(v, rule) {
				p.report(c, "all calls share this Backoff, so each of them changes %s for the others: compute the delay from the Attempt", types.ExprString(target))
			}
		}
	}
}

// targets returns what a statement sets.
func targets(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.AssignStmt:
		return n.Lhs
	}
	return nil
}

// locks reports whether a function locks something.
func (p *pass) locks(fn inspector.Cursor) bool {
	for c := range fn.Preorder((*ast.SelectorExpr)(nil)) {
		if c.Node().(*ast.SelectorExpr).Sel.Name == "Lock" {
			return true
		}
	}
	return false
}

// reportChangedPolicy reports a field of a policy that a method sets in a policy of its
// receiver before it calls Do with it.
func (p *pass) reportChangedPolicy(set inspector.Cursor) {
	field, ok := set.Node().(*ast.SelectorExpr)
	if !ok || typeName(p.info.TypeOf(field.X)) != ours+".Policy" {
		return
	}
	fn := around(set, (*ast.FuncDecl)(nil))
	owner := p.owner(field.X)
	decl, ok := fn.Node().(*ast.FuncDecl)
	if !ok || owner == nil || p.locks(fn) || !p.survives(owner, fn) || decl.Recv == nil && decl.Name.Name == "main" {
		return
	}
	name := types.ExprString(field.X)
	used := slices.ContainsFunc(p.loops, func(call *call) bool {
		return fn.Contains(call.Cursor) && call.policy.Valid() && types.ExprString(call.policy.Node().(ast.Expr)) == name
	})
	if used {
		p.report(set, "calls that run at the same time share %[1]s, so one uses what another sets: change a copy (policy := %[1]s)", name)
	}
}

// hooks has the functions that all calls under a policy call.
var hooks = names(ours + `\.(OnAttempt|OnRetry|OnGiveUp)`)

// reportStateOfHooks reports what a hook changes without a lock in a variable of the package, or
// in the receiver of the method that makes the hook and calls nothing with it.
func (p *pass) reportStateOfHooks() {
	for c := range p.root.Preorder((*ast.KeyValueExpr)(nil)) {
		hook := c.ChildAt(edge.KeyValueExpr_Value, -1)
		decl := around(c, (*ast.FuncDecl)(nil))
		if _, isLit := hook.Node().(*ast.FuncLit); !isLit || !hooks.MatchString(p.field(c)) || decl == p.root || p.retries(c) || p.locks(hook) {
			continue
		}
		for change := range hook.Preorder((*ast.AssignStmt)(nil), (*ast.IncDecStmt)(nil)) {
			for _, target := range targets(change.Node()) {
				v := p.owner(target)
				if v != nil && (v.Kind() == types.PackageVar || v == p.signature(decl).Recv()) && p.survives(v, decl) {
					p.report(change, "calls that run at the same time call this hook, so they race for %s: use a lock or sync/atomic", types.ExprString(target))
				}
			}
		}
	}
}
