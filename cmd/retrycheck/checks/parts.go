package checks

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/gobackoff/retry"
)

// reportDeafParts reports Limiters and Clocks of the program that wait without looking at their
// context.
func (p *pass) reportDeafParts() {
	for c := range p.root.Preorder((*ast.FuncDecl)(nil)) {
		n := c.Node().(*ast.FuncDecl)
		if n.Body == nil || p.signature(c).Recv() == nil {
			continue
		}
		part := ""
		switch {
		case n.Name.Name == "Wait" && p.becomesPart(c, ours+".Limiter"):
			part = "Limiter"
		case n.Name.Name == "Sleep" && p.becomesPart(c, ours+".Clock"):
			part = "Clock"
		default:
			continue
		}
		params := p.signature(c).Params()
		if params.Len() == 0 || !isContext(params.At(0).Type()) || len(p.vars[params.At(0)].uses) > 0 {
			continue
		}
		if at := p.blocks(c); at.Valid() {
			p.report(at, "a %s has to return when its context is done, or a canceled call waits on: wait in a select with ctx.Done()", part)
		}
	}
}

// becomesPart reports whether the package makes the receiver of a method the given part of a policy.
func (p *pass) becomesPart(method inspector.Cursor, part string) bool {
	recv := typeName(p.signature(method).Recv().Type())
	for id := range p.root.Preorder((*ast.Ident)(nil)) {
		if objectName(p.info.Uses[id.Node().(*ast.Ident)]) != part {
			continue
		}
		var value inspector.Cursor
		switch id.ParentEdgeKind() {
		case edge.KeyValueExpr_Key:
			value = id.Parent().ChildAt(edge.KeyValueExpr_Value, -1)
		case edge.SelectorExpr_Sel:
			if id.Parent().ParentEdgeKind() == edge.AssignStmt_Lhs {
				value = valueSet(id.Parent())
			}
		}
		if value.Valid() && typeName(p.info.TypeOf(value.Node().(ast.Expr))) == recv {
			return true
		}
	}
	return false
}

// blocks returns what waits in a function: a sleep, or a channel outside a select statement.
func (p *pass) blocks(fn inspector.Cursor) (at inspector.Cursor) {
	for c := range fn.Preorder((*ast.CallExpr)(nil), (*ast.UnaryExpr)(nil)) {
		switch n := c.Node().(type) {
		case *ast.CallExpr:
			if p.callee(n) == "time.Sleep" {
				return c
			}
		case *ast.UnaryExpr:
			if n.Op == token.ARROW && around(c, (*ast.SelectStmt)(nil)) == p.root {
				return c
			}
		}
	}
	return at
}

// reportEndlessDelays reports a loop over the delays of a policy that allows any number of retries,
// if nothing ends the loop.
func (p *pass) reportEndlessDelays() {
	for _, c := range p.calls {
		if c.name != ours+".Policy.Delays" {
			continue
		}
		sel, ok := c.Fun.(*ast.SelectorExpr)
		if !ok || !p.isEndless(p.value(c.ChildAt(edge.CallExpr_Fun, -1).ChildAt(edge.SelectorExpr_X, -1)), sel.X) {
			continue
		}
		loop, isRange := c.Parent().Node().(*ast.RangeStmt)
		collects := p.callee(c.Parent().Node()) == "slices.Collect"
		if collects || isRange && loop.X == c.Node() && !p.maybeEnds(c.Parent()) {
			p.report(c.Cursor, "the policy allows any number of retries, so these delays never end: set MaxAttempts or MaxElapsed, or break")
		}
	}
}

// isEndless reports whether a literal is a policy without a limit, and nothing changes it.
func (p *pass) isEndless(c inspector.Cursor, as ast.Expr) bool {
	if !p.isPolicy(c) || p.isChanged(c) || typeName(p.info.TypeOf(as)) != ours+".Policy" {
		return false
	}
	var policy retry.Policy
	p.set(reflect.ValueOf(&policy).Elem(), "", c.Node().(*ast.CompositeLit))
	return policy.MaxAttempts == retry.Unlimited && policy.MaxElapsed == 0
}

// maybeEnds reports whether a statement in a loop may end it.
func (p *pass) maybeEnds(loop inspector.Cursor) bool {
	for c := range loop.Preorder((*ast.BranchStmt)(nil), (*ast.ReturnStmt)(nil), (*ast.CallExpr)(nil)) {
		switch n := c.Node().(type) {
		case *ast.BranchStmt:
			if n.Tok != token.CONTINUE {
				return true
			}
		case *ast.ReturnStmt:
			return true
		case *ast.CallExpr:
			if isBuiltin(p.info, n, "panic") || fatal.MatchString(types.ExprString(n.Fun)) {
				return true
			}
		}
	}
	return false
}

// reportSameNumber reports a loop that asks Policy.Next about an attempt whose number is always the
// same.
func (p *pass) reportSameNumber() {
	for _, c := range p.calls {
		if c.name != ours+".Policy.Next" || len(c.Args) != 2 {
			continue
		}
		loop := around(c.Cursor, (*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))
		switch loop.Node().(type) {
		case *ast.ForStmt, *ast.RangeStmt:
		default:
			continue
		}
		if p.isSameNumber(c.ChildAt(edge.CallExpr_Args, 0)) {
			p.report(c.ChildAt(edge.CallExpr_Args, 0), "the Number of this attempt is the same in each round, so MaxAttempts never ends the loop, and the delays do not grow: count the attempts")
		}
	}
}

// isSameNumber reports whether the Number of an Attempt is a constant or missing, and nothing sets
// it.
func (p *pass) isSameNumber(attempt inspector.Cursor) bool {
	if id, ok := attempt.Node().(*ast.Ident); ok {
		v := p.vars[p.info.Uses[id]]
		for _, set := range v.sets {
			sel, isField := set.Node().(*ast.SelectorExpr)
			_, isAddress := set.Parent().Node().(*ast.UnaryExpr)
			if isAddress || isField && sel.Sel.Name == "Number" {
				return false
			}
		}
		if len(v.values) != 1 {
			return false
		}
		if !v.values[0].Valid() {
			return p.isDeclaredZero(v)
		}
		attempt = v.values[0]
	}
	lit, ok := attempt.Node().(*ast.CompositeLit)
	if !ok {
		return false
	}
	number := elementOf(lit, "Number")
	unkeyed := len(lit.Elts) > 0 && !slices.ContainsFunc(lit.Elts, func(e ast.Expr) bool { _, keyed := e.(*ast.KeyValueExpr); return keyed })
	return !unkeyed && (number == nil || p.info.Types[number].Value != nil)
}

// isDeclaredZero reports whether a variable is declared without a value.
func (p *pass) isDeclaredZero(v variable) bool {
	return slices.ContainsFunc(v.sets, func(set inspector.Cursor) bool {
		spec, ok := set.Parent().Node().(*ast.ValueSpec)
		return ok && len(spec.Values) == 0
	})
}
