package checks

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// markers has functions that wrap an error, and pure those that return a marked error or a
// changed copy and do nothing else.
var markers = names(ours + `\.(Permanent|Transient|Throttled|Unrepeatable|Progress|After)`)

var pure = names(
	ours+`\.(Permanent|Transient|Throttled|Unrepeatable|Progress|After|Policy\.With|FirstOf|OnlyIf)`,
	ours+`/(retryotel\.Instrument|awspreset\.Preset\.Policy)`,
	cenkalti+`\.(Permanent|RetryAfter|WithContext|WithMaxRetries)`,
	avast+`\.Unrecoverable`,
	sethvargo+`\.(RetryableError|With[A-Z]\w*)`)

// othersOfOurs has functions of this library that retry and take no retry.Policy.
var othersOfOurs = names(ours + `/(retrybatch\.Do|retrykeep\.Keeper\.Run)`)

// statements are the edges to a call whose result is not used.
var statements = []edge.Kind{edge.ExprStmt_X, edge.GoStmt_Call, edge.DeferStmt_Call}

// Dropped reports calls whose only effect is their result, which is not used.
var Dropped = analyzer("dropped", func(p *pass) {
	for _, call := range p.calls {
		statement := slices.Contains(statements, call.ParentEdgeKind())
		switch {
		case call.name == ours+".FirstOf":
			for i := range len(call.Args) - 1 {
				if c := call.ChildAt(edge.CallExpr_Args, i); p.callee(p.value(c).Node()) == ours+".OnlyIf" {
					p.report(c, "OnlyIf decides about every error, so what follows it in FirstOf is never asked")
				}
			}
		case statement && pure.MatchString(call.name):
			p.report(call.Cursor, "%s has no effect unless its result is used", shortName(call.name))
		case pure.MatchString(call.name) && p.formats(call.Parent()):
			p.report(call.Cursor, "%s has no effect unless the format wraps its result with %%w", shortName(call.name))
		case statement && othersOfOurs.MatchString(call.name):
			p.report(call.Cursor, "the error of %s is not used, so a final failure goes unnoticed", shortName(call.name))
		case statement && (call.policy.Valid() || retriers.MatchString(call.name) && call.ParentEdgeKind() == edge.ExprStmt_X):
			p.report(call.Cursor, "the error of %s is not used, so a final failure goes unnoticed", shortName(call.name))
		}
	}
	for _, call := range p.operations {
		if !strings.HasPrefix(call.name, ours) {
			continue
		}
		for c := range call.op.Preorder((*ast.CallExpr)(nil)) {
			p.reportUnaskedEnd(call, c)
		}
		for c := range call.op.Preorder((*ast.ReturnStmt)(nil)) {
			if text, ok := c.LastChild(); ok && p.formats(text) {
				for i, arg := range text.Node().(*ast.CallExpr).Args {
					at := text.ChildAt(edge.CallExpr_Args, i)
					if types.Implements(p.info.TypeOf(arg), errorType) && p.callee(arg) == "" && !pure.MatchString(p.latest(at)) && !p.decides(call.op, at) { // a program may hide on purpose what it has looked at
						p.report(at, "the operation hides %s, so what it says of a retry is lost: wrap it with %%w", types.ExprString(arg))
					}
				}
			}
		}
	}
})

// iterates has the methods after whose false the method Err tells whether all was read.
var iterates = names(`database/sql\.Rows\.Next`, `github\.com/jackc/pgx\.Rows\.Next`, `bufio\.Scanner\.Scan`)

// reportUnaskedEnd reports rows or lines of the operation whose Err is never asked.
func (p *pass) reportUnaskedEnd(loop *call, c inspector.Cursor) {
	if !iterates.MatchString(p.callee(c.Node())) || c.ParentEdgeKind() != edge.ForStmt_Cond {
		return
	}
	id, ok := c.Node().(*ast.CallExpr).Fun.(*ast.SelectorExpr).X.(*ast.Ident)
	if !ok {
		return
	}
	v := p.info.Uses[id]
	if v == nil || outside(v, loop.op) || p.isInMemory(c) {
		return
	}
	for _, use := range p.vars[v].uses {
		if method, _ := field(use); method == "Err" || method == "" {
			return // another function may ask
		}
	}
	p.report(c, "nothing asks %s.Err(), so a connection that breaks off gives a part, and is not retried: return that error after the loop", id.Name)
}

// isInMemory reports whether a call of Next or Scan reads what is in memory, which cannot break off.
func (p *pass) isInMemory(next inspector.Cursor) bool {
	scanner, ok := p.value(next.ChildAt(edge.CallExpr_Fun, -1).ChildAt(edge.SelectorExpr_X, -1)).Node().(*ast.CallExpr)
	return ok && len(scanner.Args) == 1 && inMemory.MatchString(typeName(p.info.TypeOf(scanner.Args[0])))
}

// formats reports whether c is a call of fmt.Errorf that wraps nothing.
func (p *pass) formats(c inspector.Cursor) bool {
	if p.callee(c.Node()) != "fmt.Errorf" {
		return false
	}
	format := p.info.Types[c.Node().(*ast.CallExpr).Args[0]].Value
	return format != nil && !strings.Contains(format.ExactString(), "%w")
}
