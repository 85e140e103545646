package checks

import (
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// Loops that end at the first error, unless the operation says otherwise.
var (
	markedOnly = names(sethvargo + `\.(Do|DoValue|Constant|Exponential|Fibonacci)`)
	retryable  = sethvargo + ".RetryableError"
	polled     = names(wait + `\..*`)
)

// reportNeverAgain reports operations of libraries that retry only what an operation asks for, if
// it never does: go-retry retries what RetryableError marks, and the loops of Kubernetes go on
// after false and nil.
func (p *pass) reportNeverAgain(loop *call) {
	switch {
	case markedOnly.MatchString(loop.name) && p.returnsError(loop.op) && !p.mayMark(loop.op, 4):
		p.report(loop.Cursor, "the operation marks no error with RetryableError, so %s never retries it", shortName(loop.name))
	case polled.MatchString(loop.name) && p.polls(loop.op) && !p.mayPollAgain(loop.op):
		p.report(loop.Cursor, "the condition returns an error or true, both of which end %s, so it is asked once: return false and nil for what may change", shortName(loop.name))
	}
}

// returnsOf returns the return statements of a function, without those of literals in it.
func returnsOf(fn inspector.Cursor) (all []inspector.Cursor) {
	for ret := range fn.Preorder((*ast.ReturnStmt)(nil)) {
		if around(ret, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) == fn {
			all = append(all, ret)
		}
	}
	return all
}

// returnsError reports whether a function returns an error that is not nil, and returns no error by its
// name alone.
func (p *pass) returnsError(fn inspector.Cursor) bool {
	fails := false
	for _, ret := range returnsOf(fn) {
		last, given := ret.LastChild()
		if !given {
			return false
		}
		fails = fails || !p.info.Types[last.Node().(ast.Expr)].IsNil()
	}
	return fails
}

// mayMark reports whether a function, or one that it calls, may return what RetryableError marks.
func (p *pass) mayMark(fn inspector.Cursor, depth int) bool {
	if depth == 0 {
		return true
	}
	for c := range fn.Preorder((*ast.CallExpr)(nil)) {
		n := c.Node().(*ast.CallExpr)
		if p.callee(n) == retryable {
			return true
		}
		called := p.function(c.ChildAt(edge.CallExpr_Fun, -1))
		if called.Valid() && !called.Contains(c) && p.mayMark(called, depth-1) {
			return true
		}
	}
	return slices.ContainsFunc(returnsOf(fn), func(ret inspector.Cursor) bool {
		last, given := ret.LastChild()
		return given && slices.ContainsFunc(p.madeBy(last), p.isForeign)
	})
}

// madeBy returns the calls whose result an expression is, or may be if it is a variable.
func (p *pass) madeBy(c inspector.Cursor) (made []inspector.Cursor) {
	switch n := c.Node().(type) {
	case *ast.CallExpr:
		made = append(made, c)
	case *ast.Ident:
		for _, set := range p.vars[p.info.ObjectOf(n)].sets {
			value := givenAt(set)
			if value.Valid() {
				made = append(made, value)
			}
		}
	}
	return made
}

// isForeign reports whether an error may have been marked elsewhere in the program: it comes from
// a variable that is a function, a method of an interface, or another package of the module.
func (p *pass) isForeign(c inspector.Cursor) bool {
	call, ok := c.Node().(*ast.CallExpr)
	if !ok {
		return true
	}
	fn, ok := typeutil.Callee(p.info, call).(*types.Func)
	if !ok {
		return true
	}
	if fn.Pkg() == nil {
		return false
	}
	first, _, _ := strings.Cut(fn.Pkg().Path(), "/")
	if recv := fn.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) && strings.Contains(first, ".") {
		return true
	}
	return fn.Pkg() != p.Pkg && module(fn.Pkg().Path()) == module(p.Pkg.Path())
}

// module returns the part of a path that probably names the module.
func module(path string) string {
	parts := strings.SplitN(path, "/", 4)
	if len(parts) > 3 {
		parts = parts[:3]
	}
	return strings.Join(parts, "/")
}

// polls reports whether a function is a condition, and returns an error.
func (p *pass) polls(fn inspector.Cursor) bool {
	results := p.signature(fn).Results()
	return results.Len() == 2 && types.Identical(results.At(0).Type(), types.Typ[types.Bool]) && p.returnsError(fn)
}

// mayPollAgain reports whether a condition may return false and nil.
func (p *pass) mayPollAgain(fn inspector.Cursor) bool {
	return slices.ContainsFunc(returnsOf(fn), func(ret inspector.Cursor) bool {
		n := ret.Node().(*ast.ReturnStmt)
		if len(n.Results) != 2 {
			return true
		}
		done := p.info.Types[n.Results[0]].Value
		if done == nil {
			return true
		}
		return !constant.BoolVal(done) && !p.isSurelyError(ret)
	})
}

// isSurelyError reports whether the second result of a return statement is not nil: a new error,
// or one whose test is the condition around it.
func (p *pass) isSurelyError(ret inspector.Cursor) bool {
	err := ret.Node().(*ast.ReturnStmt).Results[1]
	if plainErrors.MatchString(p.callee(err)) {
		return true
	}
	test, ok := ret.Parent().Parent().Node().(*ast.IfStmt)
	if !ok || !p.isFailure(test.Cond) || ret.Parent().ParentEdgeKind() != edge.IfStmt_Body {
		return false
	}
	return types.ExprString(test.Cond.(*ast.BinaryExpr).X) == types.ExprString(err)
}
