package checks

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

var (
	onlyOnce   = names(ours + `/retrysql\.Once(Func)?`)
	takesBegin = names(ours + `/retrysql\.(InTx|Once)Func`)
)

// keyOfOnce is the position of the key among the arguments of Once and OnceFunc.
const keyOfOnce = 4

// reportLostResult reports variables that the function of Once sets and the code behind it reads,
// although the function does not run for a request that is repeated. The result of Once, which is
// the same for all of them, is not used.
func (p *pass) reportLostResult(loop *call) {
	if !onlyOnce.MatchString(loop.name) || !p.dropsResult(loop) || !p.storesResult(loop) {
		return
	}
	for set := range loop.op.Preorder((*ast.Ident)(nil)) {
		v, ok := p.info.Uses[set.Node().(*ast.Ident)].(*types.Var)
		if !ok || v.IsField() || !outside(v, loop.op) || v.Kind() == types.PackageVar || p.isParameter(v) || !p.isSetAt(v, set) {
			continue
		}
		read := slices.ContainsFunc(p.vars[v].uses, func(use inspector.Cursor) bool {
			return use.Node().Pos() > loop.End() && !isDiscarded(use)
		})
		if read {
			p.report(set, "the function does not run for a request that is repeated, so %s stays as it is: return it as the result of the function, and read the result of %s", v.Name(), shortName(loop.name))
		}
	}
}

// dropsResult reports whether the first result of a call is assigned to _.
func (p *pass) dropsResult(c *call) bool {
	assign, ok := c.Parent().Node().(*ast.AssignStmt)
	return ok && len(assign.Lhs) == 2 && types.ExprString(assign.Lhs[0]) == "_"
}

// storesResult reports whether the key of a call is in sight, and the result is stored with it.
func (p *pass) storesResult(c *call) bool {
	if len(c.Args) <= keyOfOnce {
		return false
	}
	key := p.value(c.ChildAt(edge.CallExpr_Args, keyOfOnce))
	_, isLit := key.Node().(*ast.CompositeLit)
	return isLit && !p.names(key, "NoID")
}

// isSetAt reports whether a statement sets a variable at c, a part of it, or takes its address, but
// not to a constant, which tells whether the function has run.
func (p *pass) isSetAt(v *types.Var, c inspector.Cursor) bool {
	for within[c.ParentEdgeKind()] {
		c = c.Parent()
	}
	if !slices.Contains(p.vars[v].sets, c) || c.ParentEdgeKind() == edge.IncDecStmt_X {
		return false
	}
	value := valueSet(c)
	return !value.Valid() || p.info.Types[value.Node().(ast.Expr)].Value == nil
}

// reportInProgress reports where work that another transaction is still doing, and may roll back,
// is taken for done: a test for ErrInProgress whose body returns nil.
func (p *pass) reportInProgress() {
	for id := range p.root.Preorder((*ast.Ident)(nil)) {
		if objectName(p.info.Uses[id.Node().(*ast.Ident)]) != ours+"/retrysql.ErrInProgress" {
			continue
		}
		asks := around(id, (*ast.CallExpr)(nil))
		if p.callee(asks.Node()) != "errors.Is" {
			continue
		}
		fn := around(id, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))
		if ret, ok := p.thenReturns(asks); ok && fn != p.root && p.signature(fn).Results().Len() > 0 && p.succeeds(ret.Node().(*ast.ReturnStmt), fn) {
			p.report(ret, "the work is not done yet, and the other transaction may still roll back: return the error, so that the caller tries again")
		}
	}
}

// thenReturns returns the return statement that is executed if a call of errors.Is returns true,
// if the code only writes a log before it.
func (p *pass) thenReturns(asks inspector.Cursor) (ret inspector.Cursor, ok bool) {
	var list []inspector.Cursor
	switch asks.ParentEdgeKind() {
	case edge.IfStmt_Cond:
		list = slices.Collect(asks.Parent().ChildAt(edge.IfStmt_Body, -1).Children())
	case edge.CaseClause_List:
		clause := asks.Parent()
		for i := range clause.Node().(*ast.CaseClause).Body {
			list = append(list, clause.ChildAt(edge.CaseClause_Body, i))
		}
	case edge.UnaryExpr_X: // if err != nil && !errors.Is(err, ErrInProgress) { return err }
		test := around(asks, (*ast.IfStmt)(nil))
		n, isIf := test.Node().(*ast.IfStmt)
		if !isIf || n.Else != nil || asks.Node().End() > n.Cond.End() || !p.isOtherFailure(n.Cond) {
			return ret, false
		}
		next, has := test.NextSibling()
		if has {
			list = append(list, next)
		}
	}
	for _, statement := range list {
		if _, isReturn := statement.Node().(*ast.ReturnStmt); isReturn {
			return statement, true
		}
		if !p.isLog(statement) {
			return ret, false
		}
	}
	return ret, false
}

// isOtherFailure reports whether a condition is err != nil && !f(err).
func (p *pass) isOtherFailure(cond ast.Expr) bool {
	both, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok {
		return false
	}
	not, isNot := ast.Unparen(both.Y).(*ast.UnaryExpr)
	return both.Op == token.LAND && p.isFailure(both.X) && isNot && not.Op == token.NOT
}

var logs = regexp.MustCompile(`(?i)(^|\.)(log\w*|print\w*|debug\w*|info\w*|warn\w*|error\w*|inc|add)$`)

// isLog reports whether a statement only calls a function that writes a log or counts.
func (p *pass) isLog(c inspector.Cursor) bool {
	statement, ok := c.Node().(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := statement.X.(*ast.CallExpr)
	return ok && (logs.MatchString(types.ExprString(call.Fun)) || strings.HasPrefix(p.callee(call), "log"))
}

// reportOwnBegin reports a begin function of Resetting that each transaction makes for itself, so
// that each of them resets the pool after the same failure.
func (p *pass) reportOwnBegin(c inspector.Cursor) {
	if p.callee(c.Node()) != ours+"/retrysql.Resetting" || p.Pkg.Name() == "main" {
		return
	}
	decl, ok := around(c, (*ast.FuncDecl)(nil)).Node().(*ast.FuncDecl)
	if ok && takesBegin.MatchString(p.callee(p.destination(c).Parent().Node())) && !strings.HasPrefix(decl.Name.Name, "New") {
		p.report(c, "each transaction makes its own begin, so each resets the pool after the same failure, with the new connections of the others: make begin once, where the pool is made")
	}
}
