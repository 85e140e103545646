package checks

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// bodies has functions that read a request or make one, and the position of the argument
// that is the request or its body.
var bodies = map[string]int{
	"net/http.Client.Do":              0,
	"net/http.RoundTripper.RoundTrip": 0,
	"net/http.Transport.RoundTrip":    0,
	"net/http.NewRequest":             2,
	"net/http.NewRequestWithContext":  3,
	"net/http.Post":                   2,
	"net/http.Client.Post":            2,
}

// Body reports requests whose body the first attempt has read to its end.
var Body = analyzer("body", "report HTTP requests that are sent again with a body that has been read", func(p *pass) {
	for c := range p.root.Preorder((*ast.CallExpr)(nil)) {
		call := c.Node().(*ast.CallExpr)
		at, ok := bodies[p.callee(call)]
		if !ok || at >= len(call.Args) {
			continue
		}
		id, again := identOf(p.withoutContext(call.Args[at])), p.repeated(c)
		if id == nil || !again.Valid() {
			continue
		}
		v, ok := p.info.Uses[id].(*types.Var)
		if !ok || !outside(v, again) || p.renews(again, v) {
			continue
		}
		arg := c.ChildAt(edge.CallExpr_Args, at)
		switch {
		case at > 0 && !p.empty(id):
			p.report(arg, "%s is read by the first attempt, and later ones send nothing: make the reader in each attempt", id.Name)
		case at == 0 && p.hasBody(v):
			p.report(arg, "the body of %s is read by the first attempt: make the request in each attempt, or set its Body from GetBody", id.Name)
		}
	}
})

// repeated returns the loop or the operation around c, which runs more than once.
func (p *pass) repeated(c inspector.Cursor) inspector.Cursor {
	for e := range c.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
		if signatureOf(e) == nil {
			return e
		}
		for _, call := range p.calls {
			if call.op == e {
				return e
			}
		}
		break
	}
	return inspector.Cursor{}
}

// withoutContext returns req for req.WithContext(ctx) and req.Clone(ctx), which share its body.
func (p *pass) withoutContext(e ast.Expr) ast.Expr {
	if call, ok := e.(*ast.CallExpr); ok {
		if name := p.callee(call); name == "net/http.Request.WithContext" || name == "net/http.Request.Clone" {
			return call.Fun.(*ast.SelectorExpr).X
		}
	}
	return e
}

// hasBody reports whether a request is made with a body.
func (p *pass) hasBody(req *types.Var) bool {
	def, ok := p.defs[req]
	if !ok {
		return false
	}
	made, ok := def.Node().(*ast.CallExpr)
	if !ok || !strings.HasPrefix(p.callee(made), "net/http.NewRequest") {
		return false
	}
	at := bodies[p.callee(made)]
	return at < len(made.Args) && !p.empty(made.Args[at])
}

// empty reports whether a body is nil, http.NoBody, or a variable that is.
func (p *pass) empty(e ast.Expr) bool {
	if id := identOf(e); id != nil {
		if def, ok := p.defs[p.info.ObjectOf(id)]; ok {
			return p.empty(def.Node().(ast.Expr))
		}
	}
	sel, ok := e.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "NoBody" || p.info.Types[e].IsNil()
}

// renews reports whether c assigns to v or a field of it, or rewinds it.
func (p *pass) renews(c inspector.Cursor, v types.Object) bool {
	for n := range c.Preorder((*ast.AssignStmt)(nil), (*ast.SelectorExpr)(nil)) {
		switch n := n.Node().(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				if p.rootOf(lhs) == v {
					return true
				}
			}
		case *ast.SelectorExpr:
			if p.rootOf(n.X) == v && (n.Sel.Name == "Seek" || n.Sel.Name == "Reset" || n.Sel.Name == "GetBody") {
				return true
			}
		}
	}
	return false
}
