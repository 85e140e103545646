package checks

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// reportWithoutMultiplier reports an ExponentialBackOff of cenkalti/backoff that a literal makes
// without a Multiplier, so that its delay does not grow. NewExponentialBackOff sets one.
func (p *pass) reportWithoutMultiplier(c inspector.Cursor) {
	lit, ok := c.Node().(*ast.CompositeLit)
	if !ok || len(lit.Elts) == 0 || typeName(p.info.TypeOf(lit)) != cenkalti+".ExponentialBackOff" {
		return
	}
	for id := range p.root.Preorder((*ast.Ident)(nil)) {
		if id.Node().(*ast.Ident).Name == "Multiplier" && objectName(p.info.Uses[id.Node().(*ast.Ident)]) == cenkalti+".Multiplier" {
			return
		}
	}
	p.report(c, "without a Multiplier, this delay never grows: begin with backoff.NewExponentialBackOff")
}

// reportRecoverable reports a RetryIf of avast/retry-go that does not know Unrecoverable, which
// the package uses. It replaces the RetryIf that does.
func (p *pass) reportRecoverable() {
	uses := slices.ContainsFunc(p.calls, func(c *call) bool { return c.name == avast+".Unrecoverable" })
	for _, c := range p.calls {
		if !uses || c.name != avast+".RetryIf" || len(c.Args) != 1 {
			continue
		}
		fn := p.function(c.ChildAt(edge.CallExpr_Args, 0))
		if !fn.Valid() {
			continue
		}
		asks := slices.ContainsFunc(p.calls, func(asked *call) bool {
			return fn.Contains(asked.Cursor) && asked.name == avast+".IsRecoverable"
		})
		if !asks {
			p.report(c.Cursor, "this replaces the function that knows Unrecoverable, so such errors are retried: ask retry.IsRecoverable(err), too")
		}
	}
}

// reportNilResponse reports a CheckRetry of hashicorp/go-retryablehttp that looks at the response
// before it asks whether there is one.
func (p *pass) reportNilResponse() {
	for c := range p.root.Preorder((*ast.SelectorExpr)(nil), (*ast.KeyValueExpr)(nil)) {
		value := p.checkRetry(c)
		if !value.Valid() {
			continue
		}
		fn := p.function(value)
		if !fn.Valid() || p.signature(fn).Params().Len() != 3 {
			continue
		}
		resp, err := p.signature(fn).Params().At(1), p.signature(fn).Params().At(2)
		var first inspector.Cursor
		for id := range fn.Preorder((*ast.Ident)(nil)) {
			v := p.info.Uses[id.Node().(*ast.Ident)]
			sel, selects := id.Parent().Node().(*ast.SelectorExpr)
			if v == resp && selects && sel.X == id.Node() {
				first = id.Parent()
				break
			}
			if v == resp || v == err {
				break
			}
		}
		if first.Valid() {
			p.report(first, "%s is nil if the request failed, so this panics: look at the error first", resp.Name())
		}
	}
}

// checkRetry returns what is assigned to a CheckRetry at c.
func (p *pass) checkRetry(c inspector.Cursor) (value inspector.Cursor) {
	const name = "github.com/hashicorp/go-retryablehttp.CheckRetry"
	switch n := c.Node().(type) {
	case *ast.SelectorExpr:
		if v, ok := p.info.Uses[n.Sel].(*types.Var); ok && v.IsField() && typeName(v.Type()) == name && c.ParentEdgeKind() == edge.AssignStmt_Lhs {
			value = valueSet(c)
		}
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && p.info.Uses[key] != nil && typeName(p.info.Uses[key].Type()) == name {
			value = c.ChildAt(edge.KeyValueExpr_Value, -1)
		}
	}
	return value
}

// gaveUp has the reasons why Do gives up.
var gaveUp = names(ours + `\.Err(MaxAttempts|MaxElapsed|Budget|Hint|Unrepeatable)`)

// reportOneReason reports an error of Do of which only one reason for giving up is handled, so
// that every other failure is a success.
func (p *pass) reportOneReason(loop *call) {
	assign, ok := loop.Parent().Node().(*ast.AssignStmt)
	if !ok || !doers.MatchString(loop.name) {
		return
	}
	at := loop.Parent().ChildAt(edge.AssignStmt_Lhs, len(assign.Lhs)-1)
	id, ok := at.Node().(*ast.Ident)
	if !ok {
		return
	}
	v, ok := p.info.ObjectOf(id).(*types.Var)
	if !ok || v.Kind() == types.PackageVar || v.Kind() == types.ResultVar || len(p.vars[v].sets) != 1 || len(p.vars[v].uses) == 0 {
		return
	}
	var tests []inspector.Cursor
	for _, use := range p.vars[v].uses {
		asked, isCall := use.Parent().Node().(*ast.CallExpr)
		test := around(use, (*ast.IfStmt)(nil), (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))
		n, inIf := test.Node().(*ast.IfStmt)
		asks := isCall && inIf && p.callee(asked) == "errors.Is" && len(asked.Args) == 2 && gaveUp.MatchString(objectName(p.info.Uses[lastName(asked.Args[1])]))
		if asks && n.Cond == ast.Expr(asked) && n.Else == nil {
			tests = append(tests, test)
		}
	}
	onlyThere := !slices.ContainsFunc(p.vars[v].uses, func(use inspector.Cursor) bool {
		return !slices.ContainsFunc(tests, func(test inspector.Cursor) bool { return test.Contains(use) })
	})
	if len(tests) > 0 && onlyThere {
		p.report(tests[0], "%s gives up for other reasons, too, and returns permanent errors: whatever else %s says is lost, so test %[2]s != nil", shortName(loop.name), id.Name)
	}
}
