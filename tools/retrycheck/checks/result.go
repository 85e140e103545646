package checks

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// pure has functions that return a marked error or a changed copy and do nothing else.
var pure = names(
	ours+`\.(Permanent|Transient|Throttled|Unrepeatable|Progress|After|Policy\.With|FirstOf|OnlyIf)`,
	ours+`/(retryotel\.Instrument|awspreset\.Preset\.Policy)`,
	cenkalti+`\.(Permanent|RetryAfter|WithContext|WithMaxRetries)`,
	avast+`\.Unrecoverable`,
	sethvargo+`\.(RetryableError|With[A-Z]\w*)`)

// statements are the edges to a call whose result is not used.
var statements = []edge.Kind{edge.ExprStmt_X, edge.GoStmt_Call, edge.DeferStmt_Call}

// Dropped reports calls whose only effect is their result, which is not used.
var Dropped = analyzer("dropped", "report unused results of Permanent(err), policy.With(hooks) and their relatives", func(p *pass) {
	for _, call := range p.calls {
		statement := slices.Contains(statements, call.ParentEdgeKind())
		switch {
		case statement && pure.MatchString(call.name):
			p.report(call.Cursor, "%s has no effect unless its result is used", shortName(call.name))
		case pure.MatchString(call.name) && p.formats(call.Parent()):
			p.report(call.Cursor, "%s has no effect unless the format wraps its result with %%w", shortName(call.name))
		case statement && call.policy.Valid():
			p.report(call.Cursor, "the error of %s is not used, so a final failure goes unnoticed", shortName(call.name))
		}
	}
})

// formats reports whether c is a call of fmt.Errorf that wraps nothing.
func (p *pass) formats(c inspector.Cursor) bool {
	if p.callee(c.Node()) != "fmt.Errorf" {
		return false
	}
	format := p.info.Types[c.Node().(*ast.CallExpr).Args[0]].Value
	return format != nil && !strings.Contains(format.ExactString(), "%w")
}

var reasons = names(ours + `\.Err(MaxAttempts|MaxElapsed|Budget|Hint|Unrepeatable|Invalid)`)

// Compare reports comparisons that are always false, because Do returns a *retry.Error
// that matches the reason, not the reason itself. A hook's e.Reason may be equal to it.
var Compare = analyzer("compare", "report reasons for giving up that are compared with == instead of errors.Is", func(p *pass) {
	for c := range p.root.Preorder((*ast.SelectorExpr)(nil)) {
		reason := p.info.Uses[c.Node().(*ast.SelectorExpr).Sel]
		comparison, ok := c.Parent().Node().(*ast.BinaryExpr)
		if ok && reasons.MatchString(objectName(reason)) && !strings.Contains(types.ExprString(comparison), ".Reason") {
			p.report(c, "Do returns an error that matches retry.%[1]s but is not equal to it: use errors.Is(err, retry.%[1]s)", reason.Name())
		}
	}
})

var final = names(ours+`\.Permanent`, cenkalti+`\.Permanent`, avast+`\.Unrecoverable`)

// NoFail reports operations that succeed or fail for good, so that nothing is ever retried.
var NoFail = analyzer("nofail", "report operations that never return an error to retry", func(p *pass) {
	for _, call := range p.operations {
		returns, retried := false, false
		for c := range call.op.Preorder((*ast.ReturnStmt)(nil)) {
			if around(c, (*ast.FuncLit)(nil)) == call.op {
				last, given := c.LastChild()
				returns = true
				retried = retried || !given || !p.info.Types[last.Node().(ast.Expr)].IsNil() && !final.MatchString(p.callee(last.Node()))
			}
		}
		if returns && !retried && retriers.MatchString(call.name) {
			p.report(call.Cursor, "the operation never returns an error that is not permanent, so %s never retries it", shortName(call.name))
		}
	}
})
