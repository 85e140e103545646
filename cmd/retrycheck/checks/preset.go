package checks

import (
	"go/ast"
	"go/constant"
	"go/types"
	"regexp"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// later matches the name or the text of an error that says to ask again.
var later = regexp.MustCompile(`(?i)not.?(yet|ready|done|finished|complete|available)|pending|unfinished|in.?progress|still|running|try.?again|retry|later|temporar|unavailable|busy|throttl|too.?many|overload`)

var makesPreset = names(ours + `/awspreset\.(Preset\.Policy|FromEnv)`)

// reportUnknownToPreset reports errors of one's own that an operation returns to be called again,
// under a policy whose classifier retries only what an AWS SDK knows.
func (p *pass) reportUnknownToPreset(loop *call) {
	if !loop.policy.Valid() || p.usesName("Classifier") || !p.isPreset(loop.policy, 3) {
		return
	}
	for _, ret := range returnsOf(loop.op) {
		last, given := ret.LastChild()
		if given && p.saysLater(last) {
			p.report(last, "the classifier of a preset calls an error permanent that no SDK knows, so this ends the call: mark it with retry.Transient, or set Classifier to retry.DefaultClassifier{}")
		}
	}
}

// isPreset reports whether a policy comes from a preset, as far as it is in sight.
func (p *pass) isPreset(policy inspector.Cursor, depth int) bool {
	for _, id := range p.mentions(policy) {
		if call, ok := callOf(id).Node().(*ast.CallExpr); ok && makesPreset.MatchString(p.callee(call)) {
			return true
		}
	}
	v, ok := p.info.Uses[lastName(policy.Node().(ast.Expr))].(*types.Var)
	if !ok || depth == 0 {
		return false
	}
	values := p.valuesOf(v)
	for _, value := range values {
		if !p.isPreset(value, depth-1) {
			return false
		}
	}
	return len(values) > 0
}

// callOf returns the call of the function that an identifier names, or of its method.
func callOf(id inspector.Cursor) inspector.Cursor {
	c := id
	if c.ParentEdgeKind() == edge.SelectorExpr_Sel {
		c = c.Parent()
	}
	if c.ParentEdgeKind() == edge.CallExpr_Fun {
		return c.Parent()
	}
	return id
}

// saysLater reports whether an expression is a new error, or a variable of the package with one,
// whose name or text says to ask again.
func (p *pass) saysLater(c inspector.Cursor) bool {
	made := p.value(c)
	call, ok := made.Node().(*ast.CallExpr)
	if !ok || !plainErrors.MatchString(p.callee(call)) || len(call.Args) == 0 || p.wraps(made) {
		return false
	}
	text := types.ExprString(c.Node().(ast.Expr))
	if value := p.info.Types[call.Args[0]].Value; value != nil && value.Kind() == constant.String {
		text += " " + constant.StringVal(value)
	}
	return later.MatchString(strings.TrimPrefix(text, "err"))
}
