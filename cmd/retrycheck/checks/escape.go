package checks

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
)

// Escape reports what an operation gets with the context of an attempt and hands out, so that
// it is canceled before the caller uses it. Response does this for HTTP responses.
var Escape = analyzer("escape", func(p *pass) {
	for _, call := range p.operations {
		if !ownContext.MatchString(call.name) || !p.hasField(call.policy, "AttemptTimeout") {
			continue
		}
		for ret := range call.op.Preorder((*ast.ReturnStmt)(nil)) {
			if around(ret, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) != call.op || p.signature(call.op).Results().Len() < 2 {
				continue
			}
			result, _ := ret.FirstChild()
			if ret.ChildAt(edge.ReturnStmt_Results, 0) != result {
				continue
			}
			if what := p.lives(p.info.TypeOf(result.Node().(ast.Expr))); what != "" {
				p.report(result, "the AttemptTimeout of the policy cancels this %s when the operation returns: read it in the operation", what)
			}
		}
	}
})

// inMemory has types whose content is in memory, and lasting those that no context ends once they
// are open.
var (
	inMemory = names(`bytes\.(Reader|Buffer)`, `strings\.Reader`)
	lasting  = names(`os\.File`, `net\..*`, `bufio\..*`)
)

// lives names what a value is, if it is of use only as long as the context that it was made with.
func (p *pass) lives(t types.Type) string {
	if tuple, ok := t.(*types.Tuple); ok && tuple.Len() > 0 {
		t = tuple.At(0).Type() // return f(ctx)
	}
	if t == nil || inMemory.MatchString(typeName(t)) || lasting.MatchString(typeName(t)) || typeName(t) == response {
		return ""
	}
	switch {
	case isContext(t):
		return "context"
	case hasMethod(t, "Next") && (hasMethod(t, "Scan") || hasMethod(t, "Err")) || typeName(t) == "database/sql.Row":
		return "result"
	case hasMethod(t, "Recv") || hasMethod(t, "RecvMsg"):
		return "stream"
	case hasMethod(t, "Read"):
		return "reader"
	}
	return ""
}
