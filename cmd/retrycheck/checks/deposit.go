package checks

import (
	"go/ast"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// withdraws has the functions that take a token from the budget of a policy and leave the deposits
// to the caller.
var withdraws = names(ours+`\.Policy\.Next`, ours+`/adapt\.DelayFor`)

// reportNoDeposit reports a decision about a retry that takes a token of a budget, if the package
// never returns one.
func (p *pass) reportNoDeposit(c *call) {
	policy := c.ChildAt(edge.CallExpr_Fun, -1)
	if strings.HasSuffix(c.name, ".DelayFor") {
		policy = c.ChildAt(edge.CallExpr_Args, 0)
	} else if _, ok := policy.Node().(*ast.SelectorExpr); ok {
		policy = policy.ChildAt(edge.SelectorExpr_X, -1)
	}
	if !p.hasBudget(policy) || p.isSettled(c) || p.deposits() || !p.isOnlyConsulted(policy) {
		return
	}
	p.report(c.Cursor, "nothing deposits in the budget of %s, so the retries empty it and nothing refills it: call its Deposit after a success and after a permanent failure", types.ExprString(policy.Node().(ast.Expr)))
}

// deposits reports whether the package names a method Deposit or Succeeded.
func (p *pass) deposits() bool {
	for c := range p.root.Preorder((*ast.Ident)(nil)) {
		if name := c.Node().(*ast.Ident).Name; name == "Deposit" || name == "Succeeded" {
			return true
		}
	}
	return false
}

// consults has the methods of a policy that make no deposit.
var consults = regexp.MustCompile(`^(Next|Classify|Delays|Attempts|Validate|String|MaxAttempts|MaxElapsed|AttemptTimeout|Backoff|Hint|Classifier)$`)

// isOnlyConsulted reports whether a policy, and the variables that are its budget, are used for
// decisions alone, so that no other call makes deposits.
func (p *pass) isOnlyConsulted(policy inspector.Cursor) bool {
	v, ok := p.info.Uses[lastName(policy.Node().(ast.Expr))].(*types.Var)
	if !ok {
		return true
	}
	for _, use := range p.vars[v].uses {
		if use.ParentEdgeKind() == edge.SelectorExpr_Sel {
			use = use.Parent() // s.policy
		}
		method, _ := field(use)
		asks := withdraws.MatchString(p.callee(use.Parent().Node()))
		if !asks && !consults.MatchString(method) && use.ParentEdgeKind() != edge.KeyValueExpr_Key {
			return false
		}
	}
	return !slices.ContainsFunc(p.valuesOf(v), p.sharesBudget)
}

// sharesBudget reports whether a variable that is the budget of a policy is used elsewhere, too.
func (p *pass) sharesBudget(policy inspector.Cursor) bool {
	return slices.ContainsFunc(p.mentions(policy), func(id inspector.Cursor) bool {
		if p.field(id.Parent()) != ours+".Budget" || id.ParentEdgeKind() != edge.KeyValueExpr_Key {
			return false
		}
		for part := range id.Parent().ChildAt(edge.KeyValueExpr_Value, -1).Preorder((*ast.Ident)(nil)) {
			if v, ok := p.info.Uses[part.Node().(*ast.Ident)].(*types.Var); ok && !v.IsField() && len(p.vars[v].uses) > 1 {
				return true
			}
		}
		return false
	})
}
