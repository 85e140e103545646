package checks

import (
	"go/ast"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// Unbounded reports retries that nothing ends: neither the policy nor the context.
var Unbounded = analyzer("unbounded", "report retries without a limit on attempts or time", func(p *pass) {
	for _, call := range p.calls {
		if p.endless(call) && p.noDeadline(call) {
			p.report(call.Cursor, "nothing ends these retries while the operation fails: set MaxElapsed, or use a context with a deadline")
		}
	}
})

// noDeadline reports whether no context is given, or one that never ends.
func (p *pass) noDeadline(call retryCall) bool {
	for i, arg := range call.Args {
		if isContext(p.info.TypeOf(arg)) {
			made, ok := p.value(call.ChildAt(edge.CallExpr_Args, i)).Node().(*ast.CallExpr)
			return ok && (p.callee(made) == "context.Background" || p.callee(made) == "context.TODO")
		}
	}
	for c := range call.Preorder((*ast.CallExpr)(nil)) {
		if name := p.callee(c.Node().(*ast.CallExpr)); name == avast+".Context" || name == cenkalti+".WithContext" {
			return false
		}
	}
	return true
}

// endless reports whether the policy of a call has no limit.
func (p *pass) endless(call retryCall) bool {
	for i := range call.Args {
		c := p.value(call.ChildAt(edge.CallExpr_Args, i))
		switch n := c.Node().(type) {
		case *ast.CompositeLit:
			if typeName(p.info.TypeOf(n)) == ours+".Policy" {
				attempts := field(c, "MaxAttempts")
				return attempts.Valid() && p.info.Types[attempts.Node().(ast.Expr)].Value != nil &&
					p.info.Types[attempts.Node().(ast.Expr)].Value.ExactString() == "9223372036854775807" && !field(c, "MaxElapsed").Valid()
			}
		case *ast.CallExpr:
			switch p.callee(n) {
			case avast + ".UntilSucceeded", sethvargo + ".NewConstant", sethvargo + ".NewExponential", sethvargo + ".NewFibonacci", cenkalti + ".NewConstantBackOff":
				return true
			case avast + ".Attempts", cenkalti + ".WithMaxElapsedTime":
				if v := p.info.Types[n.Args[0]].Value; v != nil && v.ExactString() == "0" {
					return true
				}
			}
		}
	}
	return false
}

// field returns the value of a field in a literal with keys.
func field(c inspector.Cursor, name string) inspector.Cursor {
	for i, element := range c.Node().(*ast.CompositeLit).Elts {
		if kv, ok := element.(*ast.KeyValueExpr); ok && identOf(kv.Key).Name == name {
			return c.ChildAt(edge.CompositeLit_Elts, i).ChildAt(edge.KeyValueExpr_Value, -1)
		}
	}
	return inspector.Cursor{}
}
