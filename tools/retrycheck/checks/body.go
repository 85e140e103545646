package checks

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// Body reports requests whose body the first attempt has read to its end.
var Body = analyzer("body", "report HTTP requests that are sent again with a body that has been read", func(p *pass) {
	for c := range p.root.Preorder((*ast.CallExpr)(nil)) {
		var again inspector.Cursor // what runs more than once
		for e := range c.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
			switch e.Node().(type) {
			case *ast.ForStmt, *ast.RangeStmt:
				again = e
			case *ast.FuncLit:
				if p.isOperation(e) {
					again = e
				}
			}
			break
		}
		if !again.Valid() {
			continue
		}
		switch name := p.callee(c.Node().(*ast.CallExpr)); name {
		case "net/http.Client.Do", "net/http.RoundTripper.RoundTrip", "net/http.Transport.RoundTrip":
			p.checkRequest(c, again)
		case "net/http.NewRequest":
			p.checkReader(c, 2, again)
		case "net/http.NewRequestWithContext":
			p.checkReader(c, 3, again)
		case "net/http.Post":
			p.checkReader(c, 2, again)
		case "net/http.Client.Post":
			p.checkReader(c, 2, again)
		}
	}
})

func (p *pass) isOperation(c inspector.Cursor) bool {
	for _, call := range p.calls {
		if call.op == c {
			return true
		}
	}
	return false
}

// checkRequest checks a call that sends a request made outside again.
func (p *pass) checkRequest(send, again inspector.Cursor) {
	arg := send.Node().(*ast.CallExpr).Args[0]
	if derived, ok := arg.(*ast.CallExpr); ok {
		switch p.callee(derived) {
		case "net/http.Request.WithContext", "net/http.Request.Clone": // they share the body
			arg = derived.Fun.(*ast.SelectorExpr).X
		}
	}
	id := identOf(arg)
	if id == nil {
		return
	}
	req := p.info.Uses[id]
	if req == nil || !outside(req, again) || p.changes(again, req) {
		return
	}
	def, ok := p.defs[req]
	if !ok {
		return
	}
	call, ok := def.Node().(*ast.CallExpr)
	if !ok {
		return
	}
	at := map[string]int{"net/http.NewRequest": 2, "net/http.NewRequestWithContext": 3}[p.callee(call)]
	if at == 0 || at >= len(call.Args) || p.empty(call.Args[at]) {
		return
	}
	p.report(send, "the body of %s is read by the first attempt: make the request in each attempt, or set its Body from GetBody", id.Name)
}

// checkReader checks a call that makes a request with a body made outside again.
func (p *pass) checkReader(c inspector.Cursor, at int, again inspector.Cursor) {
	call := c.Node().(*ast.CallExpr)
	if at >= len(call.Args) {
		return
	}
	id := identOf(call.Args[at])
	if id == nil || p.empty(id) {
		return
	}
	body, ok := p.info.Uses[id].(*types.Var)
	if !ok || !outside(body, again) || p.changes(again, body) {
		return
	}
	p.report(c.ChildAt(edge.CallExpr_Args, at), "%s is read by the first attempt, and later ones send nothing: make the reader in each attempt", id.Name)
}

// empty reports whether a body is nil, http.NoBody, or a variable that is.
func (p *pass) empty(e ast.Expr) bool {
	if id := identOf(e); id != nil {
		if def, ok := p.defs[p.info.ObjectOf(id)]; ok {
			return p.empty(def.Node().(ast.Expr))
		}
	}
	if sel, ok := e.(*ast.SelectorExpr); ok && sel.Sel.Name == "NoBody" {
		return true
	}
	return p.info.Types[e].IsNil()
}

// changes reports whether c assigns to v, or calls a method of it other than for reading.
func (p *pass) changes(c inspector.Cursor, v types.Object) bool {
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
