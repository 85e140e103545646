package checks

import (
	"database/sql"
	"go/ast"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"net/http"
	"os/exec"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/gobackoff/retry"
)

var reasons = names(ours + `\.Err(MaxAttempts|MaxElapsed|Budget|Hint|Unrepeatable|Invalid)`)

// Compare reports comparisons that are always false, or false if Do gave up, because it then
// returns a *retry.Error that matches the reason and the last failure, and is neither.
var Compare = analyzer("compare", func(p *pass) {
	for c := range p.root.Preorder((*ast.BinaryExpr)(nil)) {
		if op := c.Node().(*ast.BinaryExpr).Op; op == token.EQL || op == token.NEQ {
			x, y := c.ChildAt(edge.BinaryExpr_X, -1), c.ChildAt(edge.BinaryExpr_Y, -1)
			p.reportEqual(c, x, y)
			p.reportEqual(c, y, x)
		}
	}
	for c := range p.root.Preorder((*ast.CaseClause)(nil)) {
		n := c.Parent().Parent() // of the switch statement's body
		if s, ok := n.Node().(*ast.SwitchStmt); !ok || s.Tag == nil {
			continue
		}
		for i := range c.Node().(*ast.CaseClause).List {
			value := c.ChildAt(edge.CaseClause_List, i)
			p.reportEqual(value, n.ChildAt(edge.SwitchStmt_Tag, -1), value)
		}
	}
	for c := range p.root.Preorder((*ast.TypeAssertExpr)(nil)) {
		to := c.Node().(*ast.TypeAssertExpr).Type
		isOurs := to != nil && typeName(p.info.TypeOf(to)) == ours+".Error"
		if !isOurs && p.isFromDo(c.ChildAt(edge.TypeAssertExpr_X, -1), calls) {
			p.report(c, "the error of Do wraps the last failure if it gave up, and markers wrap it, too: use errors.As")
		}
	}
	p.reportNever()
})

// reportEqual reports at c that an error of Do is compared with a variable of a package.
func (p *pass) reportEqual(c, err, with inspector.Cursor) {
	failure, ok := p.info.Uses[lastName(with.Node().(ast.Expr))].(*types.Var)
	if !ok || failure.Kind() != types.PackageVar || !p.isError(with.Node().(ast.Expr)) || !p.isFromDo(err, calls) {
		return
	}
	name, compared := types.ExprString(with.Node().(ast.Expr)), types.ExprString(err.Node().(ast.Expr))
	switch {
	case reasons.MatchString(objectName(failure)):
		p.report(c, "Do returns an error that matches %[1]s but is not equal to it: use errors.Is(%s, %[1]s)", name, compared)
	case !p.endsCalls(failure):
		p.report(c, "the error of Do wraps %[1]s if it gave up: use errors.Is(%s, %[1]s)", name, compared)
	}
}

// permanents are the errors of the standard library that a call returns as the operation did,
// because the DefaultClassifier does not retry them.
var permanents = map[string]bool{}

func init() {
	for name, err := range map[string]error{
		"database/sql.ErrNoRows": sql.ErrNoRows, "database/sql.ErrTxDone": sql.ErrTxDone, "io.EOF": io.EOF,
		"io/fs.ErrNotExist": fs.ErrNotExist, "io/fs.ErrExist": fs.ErrExist, "io/fs.ErrPermission": fs.ErrPermission,
		"os.ErrNotExist": fs.ErrNotExist, "os.ErrExist": fs.ErrExist, "os.ErrPermission": fs.ErrPermission,
		"os/exec.ErrNotFound": exec.ErrNotFound, "net/http.ErrServerClosed": http.ErrServerClosed,
	} {
		permanents[name] = retry.Policy{}.Classify(err).Class == retry.ClassPermanent
	}
}

// endsCalls reports whether a call may end with an error as it is, because the
// DefaultClassifier or a list of the package says that it is permanent.
func (p *pass) endsCalls(failure *types.Var) bool {
	return permanents[objectName(failure)] || slices.ContainsFunc(p.vars[failure].uses, func(use inspector.Cursor) bool {
		return slices.ContainsFunc(p.calls, func(c *call) bool { return c.name == ours+".PermanentIf" && c.Contains(use) })
	})
}

// calls is the number of calls over which isFromDo follows an error.
const calls = 3

// isFromDo reports whether an expression is the error of a call of Do: the call, the result of
// a function of the package that returns such an error, a variable that has it, or a parameter
// that it is passed for.
func (p *pass) isFromDo(c inspector.Cursor, depth int) bool {
	if depth == 0 || !c.Valid() {
		return false
	}
	switch n := c.Node().(type) {
	case *ast.CallExpr:
		return doers.MatchString(p.callee(n)) || p.returnsFromDo(n, depth-1)
	case *ast.Ident:
		if value := p.latestValue(c); value.Valid() {
			return p.isFromDo(value, depth)
		}
		v := p.info.ObjectOf(n)
		return v != nil && len(p.vars[v].sets) == 1 && p.isParameter(v) && p.isPassedFromDo(v, depth-1)
	}
	return false
}

// returnsFromDo reports whether a function of the package that is called returns an error of Do.
func (p *pass) returnsFromDo(n *ast.CallExpr, depth int) bool {
	fn := p.declaration(typeutil.Callee(p.info, n))
	if !fn.Valid() {
		return false
	}
	for ret := range fn.Preorder((*ast.ReturnStmt)(nil)) {
		last, given := ret.LastChild()
		if given && around(ret, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) == fn && p.isFromDo(last, depth) {
			return true
		}
	}
	return false
}

// isPassedFromDo reports whether a call in the package passes an error of Do for a parameter of
// a function of the package.
func (p *pass) isPassedFromDo(param types.Object, depth int) bool {
	return slices.ContainsFunc(p.calls, func(c *call) bool {
		fn, ok := typeutil.Callee(p.info, c.CallExpr).(*types.Func)
		if !ok || fn.Pkg() != p.Pkg {
			return false
		}
		for i := range min(fn.Signature().Params().Len(), len(c.Args)) {
			if fn.Signature().Params().At(i) == param {
				return p.isFromDo(c.ChildAt(edge.CallExpr_Args, i), depth)
			}
		}
		return false
	})
}

// reportNever reports errors.Is(err, retry.ErrPermanent) for an error of Do, which is the
// operation's own after a permanent failure.
func (p *pass) reportNever() {
	for _, c := range p.calls {
		if c.name != "errors.Is" || len(c.Args) != 2 {
			continue
		}
		if objectName(p.info.Uses[lastName(c.Args[1])]) == ours+".ErrPermanent" && p.isFromDo(c.ChildAt(edge.CallExpr_Args, 0), calls) {
			p.report(c.Cursor, "this is never true, because Do returns a permanent error as the operation returned it: ask for that error, or for policy.Classify(err).Class")
		}
	}
}
