package checks

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// given has the functions of this library that give their operation something to work with, as
// its second parameter: the position of the operation among their arguments, and what follows if
// it ignores that.
var given = map[string]struct {
	op     int
	follow string
}{
	ours + "/retrybatch.Do":        {3, "it sends all items again instead of those that are left"},
	ours + "/retrykeep.Keeper.Run": {1, "the Keeper takes a connection that works for one that was never made"},
	ours + "/retrysql.InTx":        {4, "what it does is not a part of the transaction"},
	ours + "/retrysql.InTxFunc":    {3, "what it does is not a part of the transaction"},
}

// Argument reports functions that ignore what this library gives them to work with.
var Argument = analyzer("argument", func(p *pass) {
	for _, c := range p.calls {
		g, ok := given[c.name]
		if !ok || g.op >= len(c.Args) {
			continue
		}
		fn := p.function(c.ChildAt(edge.CallExpr_Args, g.op))
		if !fn.Valid() || p.signature(fn).Params().Len() != 2 {
			continue
		}
		param := p.signature(fn).Params().At(1)
		if calls := slices.ContainsFunc(p.calls, func(c *call) bool { return fn.Contains(c.Cursor) }); calls && !p.isUsed(param) {
			p.report(fn.ChildAt(typeOf(fn), -1), "the function ignores its second parameter, so %s", g.follow)
		}
	}
})

// isUsed reports whether something uses a parameter.
func (p *pass) isUsed(param *types.Var) bool { return len(p.vars[param].uses) > 0 }

// typeOf is the edge from a function to its type.
func typeOf(fn inspector.Cursor) edge.Kind {
	if _, isLit := fn.Node().(*ast.FuncLit); isLit {
		return edge.FuncLit_Type
	}
	return edge.FuncDecl_Type
}
