package checks

import (
	"go/ast"
	"strings"
)

// NoFail reports operations that succeed or fail for good, so that nothing is ever retried.
var NoFail = analyzer("nofail", func(p *pass) {
	for _, call := range p.operations {
		returns, retried := false, false
		counted, progress := 0, 0
		for c := range call.op.Preorder((*ast.ReturnStmt)(nil)) {
			if around(c, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) == call.op {
				last, given := c.LastChild()
				returns = true
				if given && !p.info.Types[last.Node().(ast.Expr)].IsNil() {
					counted++
				}
				if given && p.callee(last.Node()) == ours+".Progress" {
					progress++
				}
				retried = retried || !given || !p.info.Types[last.Node().(ast.Expr)].IsNil() && !final.MatchString(p.callee(last.Node()))
			}
		}
		p.reportEndless(call)
		if progress > 0 && progress == counted {
			p.report(call.Cursor, "every failure counts as Progress, so attempts start from the first again and never end: mark only what did useful work")
		}
		if returns && !retried && retriers.MatchString(call.name) {
			p.report(call.Cursor, "the operation never returns an error that is not permanent, so %s never retries it", shortName(call.name))
		}
	}
})

// reportEndless reports an operation of this library that returns an error whatever happens.
func (p *pass) reportEndless(call *call) {
	if !strings.HasPrefix(call.name, ours) {
		return
	}
	calls, returns, fails := 0, 0, 0
	for c := range call.op.Preorder((*ast.CallExpr)(nil), (*ast.ReturnStmt)(nil)) {
		if _, isCall := c.Node().(*ast.CallExpr); isCall {
			calls++
		} else if around(c, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) == call.op {
			returns++
			if last, given := c.LastChild(); given && plainErrors.MatchString(p.callee(last.Node())) {
				fails++
			}
		}
	}
	if returns > 0 && fails == returns && calls > fails {
		p.report(call.Cursor, "the operation returns an error even if what it called succeeded, because fmt.Errorf and errors.New never return nil: return nil first if there is no error")
	}
}
