package checks

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

const response = "net/http.Response"

// Response reports operations that make HTTP requests and lose what the response says: its
// status, or its body, which ends with the attempt.
var Response = analyzer("response", func(p *pass) {
	for _, call := range p.operations {
		if !retriers.MatchString(call.name) {
			continue
		}
		results := p.signature(call.op).Results()
		returns := call.name == ours+".DoValue" && results.Len() > 0 && typeName(results.At(0).Type()) == response
		if returns && p.hasField(call.policy, "AttemptTimeout") {
			p.report(call.Cursor, "the operation returns a response, whose body the AttemptTimeout of the policy ends: read it in the operation, or use retryhttp.Transport")
			continue
		}
		if returns && p.passesOn(call.op) {
			p.report(call.Cursor, "nothing looks at the status of the response, so a 503 is a success: return an error for it, such as retryhttp.CheckStatus, or use retryhttp.Transport")
			continue
		}
		for _, c := range p.calls {
			if !call.op.Contains(c.Cursor) || block(c.Cursor) != call.op {
				continue
			}
			id, ok := p.received(c.Cursor)
			if !ok {
				continue
			}
			v := p.info.ObjectOf(id.Node().(*ast.Ident))
			if v == nil || v.Name() == "_" {
				p.report(c.Cursor, "nothing looks at the response, so a 503 is a success, and its body is never closed")
				continue
			}
			inside := slices.DeleteFunc(slices.Clone(p.vars[v].uses), func(use inspector.Cursor) bool { return !call.op.Contains(use) })
			leaves := outside(v, call.op) || slices.ContainsFunc(inside, func(use inspector.Cursor) bool { return p.kept(use, call.op) })
			if !leaves && !returns && !p.retriesItself(c) { // which Repeat reports
				p.reportOwnStatus(call, v, inside)
			}
			switch {
			case leaves && p.hasField(call.policy, "AttemptTimeout") && !slices.ContainsFunc(inside, func(use inspector.Cursor) bool { return p.reads(use) && !p.kept(use, call.op) }):
				p.report(c.Cursor, "the body of %s is read after the attempt, whose AttemptTimeout has then canceled it: read it in the operation", v.Name())
			case !leaves && !returns && !slices.ContainsFunc(inside, p.looks):
				p.report(c.Cursor, "nothing looks at the status of %s, so a 503 is a success: return an error for it, such as retryhttp.CheckStatus(%[1]s)", v.Name())
			}
		}
	}
	for _, c := range p.calls {
		p.reportFinal(c)
	}
})

// passesOn reports whether an operation returns the response of a call as it is: in the same
// statement, or from a variable that it only compares with nil.
func (p *pass) passesOn(op inspector.Cursor) bool {
	for ret := range op.Preorder((*ast.ReturnStmt)(nil)) {
		first, ok := ret.FirstChild()
		if !ok || around(ret, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) != op {
			continue
		}
		switch n := first.Node().(type) {
		case *ast.CallExpr:
			return true
		case *ast.Ident:
			v := p.info.ObjectOf(n)
			uses := p.vars[v].uses
			looked := slices.ContainsFunc(uses, func(use inspector.Cursor) bool {
				return use.ParentEdgeKind() != edge.ReturnStmt_Results && p.looks(use)
			})
			if typeName(p.info.TypeOf(n)) == response && !looked {
				return true
			}
		}
	}
	return false
}

// received returns the variable that a call's *http.Response is assigned to.
func (p *pass) received(c inspector.Cursor) (id inspector.Cursor, ok bool) {
	t := p.info.TypeOf(c.Node().(ast.Expr))
	if tuple, isTuple := t.(*types.Tuple); isTuple && tuple.Len() > 0 {
		t = tuple.At(0).Type()
	}
	assign, isAssign := c.Parent().Node().(*ast.AssignStmt)
	if t == nil || typeName(t) != response || !isAssign || len(assign.Rhs) != 1 {
		return id, false
	}
	id = c.Parent().ChildAt(edge.AssignStmt_Lhs, 0)
	_, ok = id.Node().(*ast.Ident)
	return id, ok
}

// kept reports whether a use assigns a response to a variable outside the operation.
func (p *pass) kept(use, op inspector.Cursor) bool {
	kind, i := use.ParentEdge()
	assign, ok := use.Parent().Node().(*ast.AssignStmt)
	if !ok || kind != edge.AssignStmt_Rhs || i >= len(assign.Lhs) {
		return false
	}
	id, ok := assign.Lhs[i].(*ast.Ident)
	if !ok {
		return true // a field
	}
	v := p.info.ObjectOf(id)
	return v != nil && outside(v, op)
}

// reads reports whether a use of a response may read its body.
func (p *pass) reads(use inspector.Cursor) bool {
	name, parent := field(use)
	sel, closes := parent.Node().(*ast.SelectorExpr)
	return name == "" && !compares(parent) && p.callee(parent.Node()) != ours+"/retryhttp.CheckStatus" || name == "Body" && !(closes && sel.Sel.Name == "Close")
}

// looks reports whether a use of a response may look at its status.
func (p *pass) looks(use inspector.Cursor) bool {
	name, parent := field(use)
	return name == "" && !compares(parent) || strings.HasPrefix(name, "Status") || name == "Write"
}

func compares(c inspector.Cursor) bool { _, ok := c.Node().(*ast.BinaryExpr); return ok }

// reportOwnStatus reports an error that an operation makes of a status such as 404, without
// saying so in a form that the classifier reads.
func (p *pass) reportOwnStatus(loop *call, resp types.Object, uses []inspector.Cursor) {
	if !strings.HasPrefix(loop.name, ours) || p.hasField(loop.policy, "Classifier") {
		return
	}
	var tests []inspector.Cursor
	for _, use := range uses {
		name, _ := field(use)
		if test := around(use, (*ast.IfStmt)(nil), (*ast.SwitchStmt)(nil), (*ast.BlockStmt)(nil)); name == "StatusCode" {
			tests = append(tests, test)
		} else if name == "" && !compares(use.Parent()) {
			return // another function looks at it
		}
	}
	tests = slices.DeleteFunc(tests, func(c inspector.Cursor) bool { _, inBlock := c.Node().(*ast.BlockStmt); return inBlock })
	if len(tests) != 1 {
		return
	}
	test, ok := tests[0].Node().(*ast.IfStmt)
	if !ok || !p.coversClients(test.Cond) {
		return
	}
	for ret := range tests[0].ChildAt(edge.IfStmt_Body, -1).Preorder((*ast.ReturnStmt)(nil)) {
		last, given := ret.LastChild()
		if given && plainErrors.MatchString(p.callee(last.Node())) && !p.wraps(last) {
			p.report(last, "this error does not say its status in a form that is read, so a 404 is retried and Retry-After is ignored: return the error of retryhttp.CheckStatus(%s)", resp.Name())
		}
	}
}

// wraps reports whether a call of fmt.Errorf wraps an error.
func (p *pass) wraps(c inspector.Cursor) bool {
	return slices.ContainsFunc(c.Node().(*ast.CallExpr).Args, func(arg ast.Expr) bool {
		return p.isError(arg)
	})
}

// coversClients reports whether a condition is true for statuses from 400 to 499: a status that
// is not a success, or that is at least 300 or 400.
func (p *pass) coversClients(e ast.Expr) bool {
	test, ok := ast.Unparen(e).(*ast.BinaryExpr)
	if !ok {
		return false
	}
	n, exact := int64(0), false
	if value := p.info.Types[test.Y].Value; value != nil {
		n, exact = constant.Int64Val(constant.ToInt(value))
	}
	switch test.Op {
	case token.NEQ:
		return exact && (n >= 200 && n < 300 || n == 2)
	case token.GEQ, token.GTR:
		return exact && n >= 299 && n <= 400
	case token.LOR:
		return p.coversClients(test.X) || p.coversClients(test.Y)
	}
	return false
}

// reportFinal reports the response of a client of retryhttp whose status nothing looks at,
// outside of an operation: the last response of a call that gave up is no error.
func (p *pass) reportFinal(c *call) {
	id, ok := p.received(c.Cursor)
	if !ok || !sends.MatchString(c.name) || c.name == ours+"/retryhttp.Read" || !p.retriesItself(c) {
		return
	}
	if slices.ContainsFunc(p.operations, func(loop *call) bool { return loop.op.Contains(c.Cursor) }) {
		return
	}
	v := p.info.ObjectOf(id.Node().(*ast.Ident))
	if v == nil || v.Name() == "_" || v.Parent() == p.Pkg.Scope() {
		return
	}
	reads := slices.ContainsFunc(p.vars[v].uses, func(use inspector.Cursor) bool {
		name, parent := field(use)
		sel, isMethod := parent.Node().(*ast.SelectorExpr)
		return name == "Body" && !(isMethod && sel.Sel.Name == "Close")
	})
	if reads && !slices.ContainsFunc(p.vars[v].uses, p.looks) {
		p.report(c.Cursor, "nothing looks at the status of %s, so the last 503 of a call that gave up is a success: return the error of retryhttp.CheckStatus(%[1]s)", v.Name())
	}
}
