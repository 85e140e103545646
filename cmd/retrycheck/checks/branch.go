package checks

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// reportBranches reports what a branch for the failure or the success of a call of Do does, or
// leaves to the code behind it.
func (p *pass) reportBranches() {
	for c := range p.root.Preorder((*ast.IfStmt)(nil)) {
		n := c.Node().(*ast.IfStmt)
		fails, succeeds := p.isFailure(n.Cond), p.isSuccess(n.Cond)
		if !fails && !succeeds {
			continue
		}
		err := c.ChildAt(edge.IfStmt_Cond, -1).ChildAt(edge.BinaryExpr_X, -1)
		o := p.origin(err)
		if len(o.loops) == 0 {
			continue
		}
		if succeeds {
			p.reportSuccessAsFailure(c, err)
		} else if !leavesBranch(n.Body) && n.Else == nil {
			p.reportAnswersTwice(c)
			p.reportFailedValue(c, err, o)
		}
	}
}

// leavesBranch reports whether the last statement of a branch leaves the code behind it.
func leavesBranch(body *ast.BlockStmt) bool {
	if len(body.List) == 0 {
		return false
	}
	switch last := body.List[len(body.List)-1].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	case *ast.ExprStmt:
		call, ok := last.X.(*ast.CallExpr)
		return ok && fatal.MatchString(types.ExprString(call.Fun))
	case *ast.IfStmt, *ast.SwitchStmt, *ast.SelectStmt, *ast.ForStmt:
		return true // perhaps in each of its branches
	}
	return false
}

// failing has what makes an error or a message of an error.
var failing = names(`fmt\.Errorf`, `log\.(Fatal|Panic)(f|ln)?`, `net/http\.Error`, `errors\.Join`)

// reportSuccessAsFailure reports a branch for a nil error that treats it as a failure.
func (p *pass) reportSuccessAsFailure(test, err inspector.Cursor) {
	id, ok := err.Node().(*ast.Ident)
	if !ok {
		return
	}
	branch := test.ChildAt(edge.IfStmt_Body, -1)
	for _, use := range p.vars[p.info.ObjectOf(id)].uses {
		if !branch.Contains(use) || p.latestValue(use) != p.latestValue(err) {
			continue
		}
		name, _ := field(use)
		if name == "Error" || failing.MatchString(p.callee(use.Parent().Node())) {
			p.report(use, "%s is nil here: this branch is for a success, so write != instead of ==", id.Name)
			return
		}
	}
}

// reportAnswersTwice reports a branch for a failure that answers a request with an error and goes on
// to code that answers again.
func (p *pass) reportAnswersTwice(test inspector.Cursor) {
	kind, i := test.ParentEdge()
	if kind != edge.BlockStmt_List {
		return
	}
	for c := range test.ChildAt(edge.IfStmt_Body, -1).Preorder((*ast.CallExpr)(nil)) {
		n := c.Node().(*ast.CallExpr)
		if p.callee(n) != "net/http.Error" || c.ParentEdgeKind() != edge.ExprStmt_X {
			continue
		}
		w := p.owner(n.Args[0])
		again := w != nil && slices.ContainsFunc(p.vars[w].uses, func(use inspector.Cursor) bool {
			at, parent := use, test.Parent()
			for at.Node() != nil && at.Parent() != parent {
				at = at.Parent()
			}
			_, j := at.ParentEdge()
			return at.Node() != nil && j > i
		})
		if again {
			p.report(c, "the handler goes on after this answer, as after a success: return")
		}
	}
}

// reportFailedValue reports a value that may be nil and is used behind a branch for the failure,
// which goes on.
func (p *pass) reportFailedValue(test, err inspector.Cursor, o origin) {
	for _, loop := range o.loops {
		if o.helper != "" || !p.isSetBy(loop, err) {
			return
		}
		v, _ := p.resultAt(loop.Cursor, 1)
		if v == nil || v.Name() == "_" || !mayBeNil(v.Type()) || p.isCompared(v) {
			return
		}
		body := test.ChildAt(edge.IfStmt_Body, -1)
		if slices.ContainsFunc(p.vars[v].sets, body.Contains) {
			return
		}
		for _, use := range p.vars[v].uses {
			if p.selectsOf(use) && use.Node().Pos() > test.Node().End() && !p.setBetween(v, test.Node().End(), use.Node().Pos()) {
				p.report(use, "%s may be nil here, because the branch for the failure of %s goes on", v.Name(), shortName(loop.name))
				return
			}
		}
	}
}

// isSetBy reports whether an error has been set by the statement of a call.
func (p *pass) isSetBy(loop *call, err inspector.Cursor) bool {
	return p.latestValue(err) == loop.Cursor
}

// selectsOf reports whether a use is a selector that panics for nil. Get methods may not.
func (p *pass) selectsOf(use inspector.Cursor) bool {
	name, _ := field(use)
	return name != "" && use.ParentEdgeKind() == edge.SelectorExpr_X && !getter.MatchString(name)
}

var getter = names(`Get\w*`)

// reportNilValue reports a value that is used as if a success had one, although the operation
// returns nil, nil.
func (p *pass) reportNilValue(loop *call) {
	v, isSet := p.resultAt(loop.Cursor, 1)
	if !isSet || v == nil || v.Name() == "_" || !loop.op.Valid() || !mayBeNil(v.Type()) || p.isCompared(v) || len(p.vars[v].sets) != 1 {
		return
	}
	none := false
	for ret := range loop.op.Preorder((*ast.ReturnStmt)(nil)) {
		results := ret.Node().(*ast.ReturnStmt).Results
		inOp := around(ret, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) == loop.op
		none = none || inOp && len(results) == 2 && p.info.Types[results[0]].IsNil() && p.info.Types[results[1]].IsNil()
	}
	if !none {
		return
	}
	for _, use := range p.vars[v].uses {
		if p.selectsOf(use) {
			p.report(use, "the operation may return nil without an error, so %s may be nil here", v.Name())
			return
		}
	}
}

// reportText reports a comparison of the text of an error of Do.
func (p *pass) reportText() {
	for _, c := range p.calls {
		sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
		if !ok || c.name != "error.Error" && sel.Sel.Name != "Error" || len(c.Args) != 0 || !p.isError(sel.X) {
			continue
		}
		o := p.origin(c.ChildAt(edge.CallExpr_Fun, -1).ChildAt(edge.SelectorExpr_X, -1))
		if len(o.loops) == 0 || o.unknown {
			continue
		}
		equal := false
		switch n := c.Parent().Node().(type) {
		case *ast.BinaryExpr:
			equal = n.Op == token.EQL || n.Op == token.NEQ
			for _, e := range []ast.Expr{n.X, n.Y} {
				value := p.info.Types[e].Value
				equal = equal && (value == nil || constant.StringVal(value) != "")
			}
		case *ast.SwitchStmt:
			equal = n.Tag == c.Node()
		}
		if equal {
			p.report(c.Cursor, "the text of %s has more in it if it gave up: use errors.Is or errors.As", o)
		}
	}
}

// reportSwallowed reports a branch of an operation that does nothing but return nil after a
// failure.
func (p *pass) reportSwallowed(loop *call) {
	if !retriers.MatchString(loop.name) {
		return
	}
	for ret := range loop.op.Preorder((*ast.ReturnStmt)(nil)) {
		last, given := ret.LastChild()
		test, ok := ret.Parent().Parent().Node().(*ast.IfStmt)
		isAlone := ok && ret.Parent().ParentEdgeKind() == edge.IfStmt_Body && len(test.Body.List) == 1
		if !given || !isAlone || !p.isFailure(test.Cond) || !p.info.Types[last.Node().(ast.Expr)].IsNil() {
			continue
		}
		inOp := around(ret, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) == loop.op
		err, isIdent := test.Cond.(*ast.BinaryExpr).X.(*ast.Ident)
		if inOp && isIdent && !p.isCloses(ret.Parent().Parent(), err) {
			p.report(ret, "a failure passes for a success here: return %s", err.Name)
		}
	}
}

// isCloses reports whether an error is of a function that only ends something.
func (p *pass) isCloses(test inspector.Cursor, err *ast.Ident) bool {
	value := p.latestValue(test.ChildAt(edge.IfStmt_Cond, -1).ChildAt(edge.BinaryExpr_X, -1))
	if !value.Valid() {
		return true
	}
	call, ok := value.Node().(*ast.CallExpr)
	if !ok {
		return true
	}
	id := lastName(ast.Unparen(call.Fun))
	return id == nil || lastly.MatchString(id.Name) || p.callee(call) == "context.Context.Err" || p.callee(call) == "context.Cause"
}
