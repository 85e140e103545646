package checks

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// OpContext reports operations that ignore the context that they are called with.
var OpContext = analyzer("opcontext", func(p *pass) {
	for _, call := range p.loops {
		if ctx := p.contextToPass(call.Cursor); ctx != "" && len(call.Args) > 0 && p.isBackground(call.Args[0]) {
			p.report(call.Cursor, "%s goes on after %s is done: pass %[2]s to it", shortName(call.name), ctx)
		}
		if !call.op.Valid() {
			continue
		}
		params := p.signature(call.op).Params()
		if params.Len() == 0 || !isContext(params.At(0).Type()) || slices.ContainsFunc(p.vars[params.At(0)].uses, call.op.Contains) {
			continue
		}
		other, use := p.outer(call.op, func(v *types.Var) bool {
			return isContext(v.Type()) && v.Kind() != types.PackageVar && !v.IsField()
		})
		if other != nil {
			if ownContext.MatchString(call.name) {
				p.report(use, "the operation uses %s instead of the context that %s gives it, so the limits of one attempt do not reach it",
					other.Name(), shortName(call.name))
			}
			continue
		}
		for _, c := range p.calls {
			if !call.op.Contains(c.Cursor) {
				continue
			}
			hint := p.advice(c)
			if p.isBackground(c.CallExpr) && strings.HasPrefix(call.name, ours) {
				hint = "its context"
			}
			if hint != "" {
				p.report(c.Cursor, "the operation ignores its context: after a timeout or cancellation this call goes on (use %s)", hint)
				break
			}
		}
	}
})

// isBackground reports whether e is a new context that never ends.
func (p *pass) isBackground(e ast.Node) bool {
	name := p.callee(e)
	return name == "context.Background" || name == "context.TODO"
}

var gets = names(`net/http\.(Client\.)?(Get|Head|Post|PostForm)`)

// advice names what takes a context, unlike a call, and does the same.
func (p *pass) advice(c *call) string {
	fn := typeutil.Callee(p.info, c.CallExpr).(*types.Func)
	switch {
	case takesContext(fn), fn.Pkg() == nil:
		return ""
	case c.name == "time.Sleep":
		return "a select with ctx.Done()"
	case gets.MatchString(c.name):
		return "http.NewRequestWithContext"
	}
	for _, suffix := range []string{"Context", "WithContext"} {
		variant := fn.Pkg().Scope().Lookup(fn.Name() + suffix)
		if recv := fn.Signature().Recv(); recv != nil {
			variant, _, _ = types.LookupFieldOrMethod(recv.Type(), true, fn.Pkg(), fn.Name()+suffix)
		}
		if variant, ok := variant.(*types.Func); ok && takesContext(variant) {
			return variant.Name()
		}
	}
	return ""
}

func takesContext(fn *types.Func) bool {
	params := fn.Signature().Params()
	return params.Len() > 0 && isContext(params.At(0).Type())
}
