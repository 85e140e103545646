package checks

import (
	"go/ast"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// given has the functions of this library that give their operation something to work with: the
// position of the operation among their arguments, and the consequence of ignoring its second
// parameter.
var given = []struct {
	name        *regexp.Regexp
	op          int
	consequence string
}{
	{names(ours + `/retrybatch\.Do`), 3, "it does not send the items that are left"},
	{names(ours + `/retrykeep\.Keeper\.Run`), 1, "the Keeper takes a connection that works for one that was never made"},
	{names(ours + `/retrysql\.InTx`), 4, "what it does is not a part of the transaction"},
	{names(ours + `/retrysql\.InTxFunc`), 3, "what it does is not a part of the transaction"},
}

// Argument reports functions that ignore what this library gives them to work with.
var Argument = analyzer("argument", "report functions that ignore the items, the transaction or the up that they are given", func(p *pass) {
	for _, c := range p.calls {
		for _, g := range given {
			if g.name.MatchString(c.name) && g.op < len(c.Args) {
				p.reportIgnored(c, p.function(c.ChildAt(edge.CallExpr_Args, g.op)), g.consequence)
			}
		}
		if at, ok := handed[c.name]; ok && at < len(c.Args) {
			if fn := p.function(c.ChildAt(edge.CallExpr_Args, at)); fn.Valid() {
				p.reportHanded(c, fn)
			}
		}
	}
})

// reportIgnored reports a function that ignores its second parameter, or that uses what all
// calls have instead of it.
func (p *pass) reportIgnored(c *call, fn inspector.Cursor, consequence string) {
	if !fn.Valid() || p.signature(fn).Params().Len() != 2 {
		return
	}
	param := p.signature(fn).Params().At(1)
	name := param.Name()
	if name == "" || name == "_" {
		name = "its second parameter"
	}
	if p.isIgnored(param, 3) {
		if p.works(fn) {
			p.report(fn.ChildAt(typeOf(fn), -1), "the function ignores %s, so %s", name, consequence)
		}
		return
	}
	if c.name != ours+"/retrybatch.Do" {
		return
	}
	if p.isPassedOn(param) {
		return
	}
	all := types.ExprString(c.Args[2])
	for use := range fn.Preorder((*ast.Ident)(nil), (*ast.SelectorExpr)(nil)) {
		if types.ExprString(use.Node().(ast.Expr)) == all && p.isWorkedOn(use) {
			p.report(use, "this is all of the items, also those that were accepted: use %s", name)
		}
	}
}

// typeOf is the edge from a function to its type.
func typeOf(fn inspector.Cursor) edge.Kind {
	if _, isLit := fn.Node().(*ast.FuncLit); isLit {
		return edge.FuncLit_Type
	}
	return edge.FuncDecl_Type
}

// works reports whether a function calls something, so that it is no placeholder.
func (p *pass) works(fn inspector.Cursor) bool {
	for c := range fn.Preorder((*ast.CallExpr)(nil)) {
		if name := p.callee(c.Node()); !plainErrors.MatchString(name) && !strings.HasPrefix(name, "fmt.") {
			return true
		}
	}
	return false
}

// isIgnored reports whether nothing uses a parameter but functions of the package that ignore
// it.
func (p *pass) isIgnored(param *types.Var, depth int) bool {
	if depth == 0 {
		return false
	}
	return !slices.ContainsFunc(p.vars[param].uses, func(use inspector.Cursor) bool {
		kind, i := use.ParentEdge()
		call, isCall := use.Parent().Node().(*ast.CallExpr)
		if !isCall || kind != edge.CallExpr_Args {
			return !isDiscarded(use)
		}
		callee := p.function(use.Parent().ChildAt(edge.CallExpr_Fun, -1))
		if _, isFunc := typeutil.Callee(p.info, call).(*types.Func); !isFunc || !callee.Valid() || !p.works(callee) || p.signature(callee).Variadic() {
			return true
		}
		return !p.isIgnored(p.signature(callee).Params().At(i), depth-1)
	})
}

// isPassedOn reports whether a slice, or an element of it, is given to something that may send it.
func (p *pass) isPassedOn(list *types.Var) bool {
	return slices.ContainsFunc(p.vars[list].uses, func(use inspector.Cursor) bool {
		if use.ParentEdgeKind() != edge.IndexExpr_X {
			return !p.isMeasured(use) && !compares(use.Parent())
		}
		for use.ParentEdgeKind() == edge.IndexExpr_X || use.ParentEdgeKind() == edge.SelectorExpr_X {
			use = use.Parent()
		}
		return use.ParentEdgeKind() != edge.CallExpr_Args || !p.isFormatted(use)
	})
}

// isMeasured reports whether c is the argument of len or cap.
func (p *pass) isMeasured(c inspector.Cursor) bool {
	call, ok := c.Parent().Node().(*ast.CallExpr)
	return ok && (isBuiltin(p.info, call, "len") || isBuiltin(p.info, call, "cap"))
}

// isFormatted reports whether c is an argument of a function that makes a text or writes a log.
func (p *pass) isFormatted(c inspector.Cursor) bool {
	name := p.callee(c.Parent().Node())
	return strings.HasPrefix(name, "fmt.") || strings.HasPrefix(name, "log.") || strings.HasPrefix(name, "log/slog.")
}

// isWorkedOn reports whether a slice is given to a function that may send it, or a loop runs
// over it.
func (p *pass) isWorkedOn(c inspector.Cursor) bool {
	switch c.ParentEdgeKind() {
	case edge.RangeStmt_X:
		return true
	case edge.CallExpr_Args:
		return !p.isFormatted(c) && !p.isMeasured(c)
	}
	return false
}
