package checks

import (
	"go/ast"
	"go/types"
	"regexp"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// Label reports names and labels of metrics that have a value for each request or failure, so that
// there is no bound to their number.
var Label = analyzer("label", "report names and labels of metrics that are different for each request or failure", func(p *pass) {
	if !p.importsUs() {
		return
	}
	for _, c := range p.calls {
		if c.name == ours+"/retryotel.Instrument" && len(c.Args) == 2 {
			p.reportName(c.ChildAt(edge.CallExpr_Args, 1))
		}
		if labeled.MatchString(c.name) && p.isAboutAttempts(c.Cursor) {
			for i := range c.Args {
				p.reportTextOfError(c.ChildAt(edge.CallExpr_Args, i))
			}
		}
	}
})

// What gives labels to metrics.
var labeled = regexp.MustCompile(`\.(WithLabelValues|GetMetricWithLabelValues)$|^go\.opentelemetry\.io/otel/metric\.WithAttributes$`)

// Names of variables that are different for each request, and what makes a text of such values.
var (
	ofRequest = regexp.MustCompile(`(?i)(^|[a-z_])(url|uri|path|target|address|id|key|user|customer|email|token|name)$`)
	unbounded = names(`net/url\..*`, `net/http\.Request\..*`, `strconv\.(Itoa|FormatInt|FormatUint|Quote)`, `(crypto|math)/rand.*`, `github\.com/(google|gofrs)/uuid.*`, `time\.Time\..*`)
)

// reportName reports a name of an operation that is made of a value of the request.
func (p *pass) reportName(name inspector.Cursor) {
	made := p.value(name)
	switch n := made.Node().(type) {
	case *ast.BinaryExpr:
	case *ast.CallExpr:
		if p.callee(n) != "fmt.Sprintf" && !unbounded.MatchString(p.callee(n)) {
			return
		}
	default:
		return
	}
	if p.hasUnbounded(made) {
		p.report(name, "the name is a label of every metric, and this one is different for each request, so the metrics grow without end: use a constant name")
	}
}

// hasUnbounded reports whether an expression has a value that is different for each request: a
// parameter of the function around it, or the result of a function, whose name says so.
func (p *pass) hasUnbounded(c inspector.Cursor) bool {
	if p.info.Types[c.Node().(ast.Expr)].Value != nil {
		return false
	}
	for call := range c.Preorder((*ast.CallExpr)(nil)) {
		if unbounded.MatchString(p.callee(call.Node())) {
			return true
		}
	}
	for _, id := range p.mentions(c) {
		v, ok := p.info.Uses[id.Node().(*ast.Ident)].(*types.Var)
		if !ok || v.Kind() == types.PackageVar || p.info.Types[id.Node().(ast.Expr)].Value != nil {
			continue
		}
		value := p.declared(v)
		if value.Valid() && unbounded.MatchString(p.callee(value.Node())) {
			return true
		}
		if p.isOfRequest(v, c) && ofRequest.MatchString(v.Name()) {
			return true
		}
	}
	return false
}

// isOfRequest reports whether a variable is a parameter of a function that also gets a context, so
// that it is called for each request.
func (p *pass) isOfRequest(v *types.Var, c inspector.Cursor) bool {
	fn := around(c, (*ast.FuncDecl)(nil))
	if fn == p.root {
		return false
	}
	own, ctx := false, false
	for param := range p.signature(fn).Params().Variables() {
		own = own || param == v
		ctx = ctx || isContext(param.Type())
	}
	return own && ctx
}

// isAboutAttempts reports whether a function around c gets an attempt or an error of this library.
func (p *pass) isAboutAttempts(c inspector.Cursor) bool {
	for fn := range c.Enclosing((*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
		for param := range p.signature(fn).Params().Variables() {
			name := typeName(param.Type())
			if name == ours+".Attempt" || name == ours+".Error" {
				return true
			}
		}
	}
	return false
}

// reportTextOfError reports the text of an error in a label.
func (p *pass) reportTextOfError(arg inspector.Cursor) {
	for c := range arg.Preorder((*ast.CallExpr)(nil)) {
		sel, ok := c.Node().(*ast.CallExpr).Fun.(*ast.SelectorExpr)
		if ok && sel.Sel.Name == "Error" && p.isError(sel.X) {
			p.report(c, "the text of an error may be different for each failure, so the metrics grow without end: use the class, or Error.ReasonLabel")
		}
	}
}
