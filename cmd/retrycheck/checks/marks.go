package checks

import (
	"go/ast"
	"go/types"
	"regexp"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

const unsent = ours + "/retryhttp.Unsent"

var (
	// trips has what sends a request, whose error does not say how much of it was sent.
	trips = names(`net/http\.(RoundTripper|Transport)\.RoundTrip`, `net/http\.Client\.(Do|Get|Head|Post|PostForm)`)
	// overriding has markers that another marker inside the error does not survive, and those that
	// they override.
	overriding = map[string]*regexp.Regexp{
		ours + ".Transient": names(ours + `\.Permanent`), // reportInsisting looks for Unrepeatable
		ours + ".Throttled": names(ours + `\.(Unrepeatable|Permanent)`),
		ours + ".After":     names(ours + `\.Permanent`),
	}
)

// reportMarks reports markers that call an error safe to retry, although the error may say, or a
// function of the package has said, that it is not.
func (p *pass) reportMarks() {
	for _, c := range p.calls {
		overrides := overriding[c.name]
		if c.name != unsent && overrides == nil || len(c.Args) == 0 || !p.isOfEveryFailure(c.Cursor) {
			continue
		}
		for id := range c.ChildAt(edge.CallExpr_Args, 0).Preorder((*ast.Ident)(nil)) {
			e := id.Node().(*ast.Ident)
			if v, ok := p.info.Uses[e].(*types.Var); !ok || !p.isError(e) || v.IsField() {
				continue
			}
			if c.name == unsent && trips.MatchString(p.latest(id)) {
				p.report(c.Cursor, "the request may have been sent before %s, so a POST whose response is lost is executed again: return this error without Unsent", e.Name)
			}
			if overrides != nil {
				p.reportOverride(c, id, overrides)
			}
		}
	}
}

// reportOverride reports a marker around an error from a function of the package that marks its
// errors itself.
func (p *pass) reportOverride(c *call, id inspector.Cursor, overrides *regexp.Regexp) {
	for _, made := range p.madeLast(id) {
		fn := p.function(made.ChildAt(edge.CallExpr_Fun, -1))
		if !fn.Valid() {
			continue
		}
		calls := p.reached(fn, p.fails)
		i := slices.IndexFunc(calls, func(mark *call) bool {
			return overrides.MatchString(mark.name) && p.fails(p.functionAround(mark.Cursor), mark)
		})
		if i >= 0 {
			p.report(c.Cursor, "the outermost marker decides, so %s overrides the %s of %s: wrap the error without a marker", shortName(c.name), shortName(calls[i].name), types.ExprString(made.Node().(*ast.CallExpr).Fun))
			return
		}
	}
}

// madeLast returns the call whose error a variable has at c, if the statement that sets it is
// before c, in a block around it.
func (p *pass) madeLast(c inspector.Cursor) []inspector.Cursor {
	name := p.latest(c)
	if name == "" {
		return nil
	}
	return slices.DeleteFunc(p.madeBy(c), func(made inspector.Cursor) bool { return p.callee(made.Node()) != name })
}

// isOfEveryFailure reports whether a statement runs for every failure: no other condition than
// err != nil is around it, and none that looks at the error is before it.
func (p *pass) isOfEveryFailure(c inspector.Cursor) bool {
	fn := p.functionAround(c)
	for test := range c.Enclosing((*ast.IfStmt)(nil), (*ast.CaseClause)(nil), (*ast.CommClause)(nil), (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
		if test == fn {
			break
		}
		n, ok := test.Node().(*ast.IfStmt)
		if !ok || !p.isFailure(n.Cond) {
			return false
		}
	}
	for other := range fn.Preorder((*ast.IfStmt)(nil)) {
		n := other.Node().(*ast.IfStmt)
		before := n.Pos() < c.Node().Pos() && !other.Contains(c)
		if before && asksError(n.Cond) && leavesIf(other) {
			return false // the other errors may be known to be safe
		}
	}
	return true
}

// asksError reports whether a condition calls something, such as errors.Is.
func asksError(cond ast.Expr) (asks bool) {
	ast.Inspect(cond, func(n ast.Node) bool {
		_, isCall := n.(*ast.CallExpr)
		asks = asks || isCall
		return !asks
	})
	return asks
}
