package checks

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// OpContext reports operations that ignore the context that they are called with.
var OpContext = analyzer("opcontext", "report operations that ignore the context that they are given", func(p *pass) {
	for _, call := range p.calls {
		if ctx := p.backgroundInstead(call); ctx != nil {
			p.report(call.Cursor, "%s goes on after %s is done: pass %[2]s to it", shortName(call.name), ctx.Name())
		}
		if !call.op.Valid() {
			continue
		}
		given, ok := p.givenContext(call.op)
		if !ok || p.uses(call.op, given) {
			continue
		}
		if other := p.otherContext(call.op); other.Valid() {
			if call.kind&ownContext != 0 {
				p.report(other, "the operation uses %s instead of the context that %s gives it, so the limits of one attempt do not reach it",
					other.Node().(*ast.Ident).Name, shortName(call.name))
			}
			continue
		}
		if c, hint := p.deafCall(call.op); c.Valid() {
			p.report(c, "the operation ignores its context: after a timeout or cancellation this call goes on (use %s)", hint)
		}
	}
})

// backgroundInstead returns the context of the function around a call that gets
// context.Background() instead.
func (p *pass) backgroundInstead(call retryCall) *types.Var {
	if len(call.Args) > 0 && p.isBackground(call.Args[0]) {
		return p.contextAround(call.Cursor)
	}
	return nil
}

// givenContext returns the operation's parameter, nil if it has no name, and whether there is one.
func (p *pass) givenContext(op inspector.Cursor) (types.Object, bool) {
	params := op.Node().(*ast.FuncLit).Type.Params.List
	if len(params) == 0 || !isContext(p.info.TypeOf(params[0].Type)) {
		return nil, false
	}
	if len(params[0].Names) == 0 {
		return nil, true
	}
	return p.info.Defs[params[0].Names[0]], true
}

func (p *pass) uses(c inspector.Cursor, obj types.Object) bool {
	for id := range c.Preorder((*ast.Ident)(nil)) {
		if obj != nil && p.info.Uses[id.Node().(*ast.Ident)] == obj {
			return true
		}
	}
	return false
}

// otherContext returns the first use of a context of the functions around the operation.
func (p *pass) otherContext(op inspector.Cursor) inspector.Cursor {
	for c := range p.contexts(op) {
		obj := p.info.Uses[c.Node().(*ast.Ident)].(*types.Var)
		if outside(obj, op) && !obj.IsField() && obj.Parent() != obj.Pkg().Scope() {
			return c
		}
	}
	return inspector.Cursor{}
}

// deaf has functions without a context, and what to use instead.
var deaf = map[string]string{
	"time.Sleep":               "a select with ctx.Done()",
	"net/http.Get":             "http.NewRequestWithContext",
	"net/http.Head":            "http.NewRequestWithContext",
	"net/http.Post":            "http.NewRequestWithContext",
	"net/http.PostForm":        "http.NewRequestWithContext",
	"net/http.Client.Get":      "http.NewRequestWithContext",
	"net/http.Client.Head":     "http.NewRequestWithContext",
	"net/http.Client.Post":     "http.NewRequestWithContext",
	"net/http.Client.PostForm": "http.NewRequestWithContext",
}

// deafCall returns a call in the operation of a function that has a variant with a context.
func (p *pass) deafCall(op inspector.Cursor) (inspector.Cursor, string) {
	for c := range op.Preorder((*ast.CallExpr)(nil)) {
		fn, ok := typeutil.Callee(p.info, c.Node().(*ast.CallExpr)).(*types.Func)
		if !ok || fn.Pkg() == nil || takesContext(fn) {
			continue
		}
		if hint := deaf[nameOf(fn)]; hint != "" {
			return c, hint
		}
		for _, suffix := range []string{"Context", "WithContext"} {
			if variant := sibling(fn, fn.Name()+suffix); variant != nil && takesContext(variant) {
				return c, variant.Name()
			}
		}
	}
	return inspector.Cursor{}, ""
}

func takesContext(fn *types.Func) bool {
	params := fn.Signature().Params()
	return params.Len() > 0 && isContext(params.At(0).Type())
}

// sibling returns the function, or method of the same type, with another name.
func sibling(fn *types.Func, name string) *types.Func {
	var obj types.Object
	if recv := fn.Signature().Recv(); recv != nil {
		obj, _, _ = types.LookupFieldOrMethod(recv.Type(), true, fn.Pkg(), name)
	} else {
		obj = fn.Pkg().Scope().Lookup(name)
	}
	other, _ := obj.(*types.Func)
	return other
}
