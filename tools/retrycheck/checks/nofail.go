package checks

import (
	"go/ast"

	"golang.org/x/tools/go/ast/inspector"
)

// NoFail reports operations that always succeed, so that nothing is ever retried.
var NoFail = analyzer("nofail", "report operations that never return an error", func(p *pass) {
	for _, call := range p.calls {
		if call.kind&retries != 0 && call.op.Valid() && p.alwaysNil(call.op) {
			p.report(call.Cursor, "the operation never returns an error, so %s never retries it", shortName(call.name))
		}
	}
})

// alwaysNil reports whether each return statement of a function ends in nil.
func (p *pass) alwaysNil(fn inspector.Cursor) bool {
	returns := 0
	always := true
	fn.Inspect([]ast.Node{(*ast.ReturnStmt)(nil), (*ast.FuncLit)(nil)}, func(c inspector.Cursor) bool {
		ret, ok := c.Node().(*ast.ReturnStmt)
		if !ok {
			return c == fn // not into other functions
		}
		returns++
		n := len(ret.Results)
		always = always && n > 0 && p.info.Types[ret.Results[n-1]].IsNil()
		return false
	})
	return always && returns > 0
}
