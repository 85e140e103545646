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
			return p.isBackground(p.value(call.ChildAt(edge.CallExpr_Args, i)).Node().(ast.Expr))
		}
	}
	for _, c := range p.settings(call) {
		made, ok := c.Node().(*ast.CallExpr)
		if ok && (p.callee(made) == avast+".Context" || p.callee(made) == cenkalti+".WithContext") {
			return false
		}
	}
	return true
}

// endless reports whether the policy of a call has no limit.
func (p *pass) endless(call retryCall) bool {
	for _, c := range p.settings(call) {
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

// settings returns the arguments of a call, or of the call of New that made its receiver.
func (p *pass) settings(call retryCall) (all []inspector.Cursor) {
	c := call.Cursor
	if call.name == avast+".Retrier.Do" || call.name == avast+".RetrierWithData.Do" {
		c = p.value(c.ChildAt(edge.CallExpr_Fun, -1).ChildAt(edge.SelectorExpr_X, -1))
	}
	made, ok := c.Node().(*ast.CallExpr)
	for i := 0; ok && i < len(made.Args); i++ {
		all = append(all, p.value(c.ChildAt(edge.CallExpr_Args, i)))
	}
	return all
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
