package checks

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// reportAllPermanent reports what makes every status from 400 to 499 permanent, also 429 and 408,
// which mean that the request should be sent again.
func (p *pass) reportAllPermanent() {
	if !p.importsUs() {
		return
	}
	const message = "this is true of every status from 400 to 499, so a 429 and a 408 are never retried"
	for _, c := range p.calls {
		if c.name != ours+".Permanent" {
			continue
		}
		if statement := around(c.Cursor, (*ast.ReturnStmt)(nil), (*ast.AssignStmt)(nil), (*ast.FuncLit)(nil)); p.isForAll(statement) {
			p.report(c.Cursor, message+": return the error of retryhttp.CheckStatus, or mark only what no retry mends, such as 404")
		}
	}
	for c := range p.root.Preorder((*ast.KeyValueExpr)(nil)) {
		kv := c.Node().(*ast.KeyValueExpr)
		isPermanent := objectName(p.info.Uses[lastName(kv.Value)]) == ours+".ClassPermanent"
		if isPermanent && p.isForAll(around(c, (*ast.ReturnStmt)(nil), (*ast.AssignStmt)(nil), (*ast.FuncLit)(nil))) {
			p.report(c, message+": leave them to retry.DefaultClassifier, or name those that no retry mends")
		}
	}
	for c := range p.root.Preorder((*ast.FuncDecl)(nil)) {
		p.reportMethodOfStatus(c, message)
	}
	p.reportStopCodes()
}

var stopsAll = regexp.MustCompile(`\bstop-on=\S*\b4xx\b`)

// reportStopCodes reports lists of codes that make all of these statuses permanent.
func (p *pass) reportStopCodes() {
	const message = "4xx contains 429 and 408, which are then never retried: list those that no retry mends"
	for c := range p.root.Preorder((*ast.KeyValueExpr)(nil)) {
		if p.field(c) != ours+".Stop" {
			continue
		}
		for lit := range c.Preorder((*ast.BasicLit)(nil)) {
			if text := p.info.Types[lit.Node().(ast.Expr)].Value; text != nil && (constant.StringVal(text) == "4xx" || constant.StringVal(text) == "400-499") {
				p.report(lit, message)
			}
		}
	}
	for _, c := range p.calls {
		if c.name != ours+"/retryconfig.Parse" {
			continue
		}
		if text := p.info.Types[c.Args[0]].Value; text != nil && stopsAll.MatchString(constant.StringVal(text)) {
			p.report(c.Cursor, message)
		}
	}
}

// reportMethodOfStatus reports a method of an error by which a classifier learns that all such
// statuses are permanent.
func (p *pass) reportMethodOfStatus(decl inspector.Cursor, message string) {
	n := decl.Node().(*ast.FuncDecl)
	recv := p.signature(decl).Recv()
	isError := recv != nil && (types.Implements(recv.Type(), errorType) || types.Implements(types.NewPointer(recv.Type()), errorType))
	permanent := n.Name.Name == "NonRetryable" || n.Name.Name == "NonRetriable"
	temporary := n.Name.Name == "Retryable" || n.Name.Name == "IsRetryable"
	if !isError || n.Body == nil || len(n.Body.List) != 1 || !permanent && !temporary {
		return
	}
	ret, ok := n.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 {
		return
	}
	for _, status := range clientErrors {
		if truth := p.evaluate(ret.Results[0], status); truth == unknown || (truth == yes) != permanent {
			return
		}
	}
	p.report(decl.ChildAt(edge.FuncDecl_Name, -1), "%s", strings.Replace(message, "is true of", "makes a failure of", 1)+": treat them like a 503")
}

// clientErrors has statuses of which a condition for all from 400 to 499 is true, and one for a few
// of them is not.
var clientErrors = []int64{400, 404, 408, 410, 422, 429}

// isForAll reports whether a statement is reached with each status from 400 to 499, as far as
// conditions before and around it ask for the status.
func (p *pass) isForAll(statement inspector.Cursor) bool {
	if _, isLit := statement.Node().(*ast.FuncLit); isLit || statement.Node() == nil {
		return false
	}
	for _, status := range clientErrors {
		if p.reaches(statement, status) != yes {
			return false
		}
	}
	return true
}

// A truth is what is known of a condition.
type truth int

const (
	unknown truth = iota // it does not ask for the status alone
	yes
	no
)

func (t truth) not() truth {
	switch t {
	case yes:
		return no
	case no:
		return yes
	}
	return unknown
}

// reaches reports whether c is reached with a status: yes if a condition around c asks for the status
// and is true, and nothing before c may treat the status.
func (p *pass) reaches(c inspector.Cursor, status int64) truth {
	asked := unknown
	for at := c; ; at = at.Parent() {
		switch n := at.Node().(type) {
		case nil, *ast.FuncDecl, *ast.FuncLit:
			return asked
		case *ast.CaseClause:
			truth := p.reachesCase(at, status)
			if truth == no || truth == unknown && p.asksForStatus(at.Parent().Parent()) {
				return no
			}
			if truth == yes {
				asked = yes
			}
		case ast.Stmt:
			if p.treatedBefore(at, status) {
				return no
			}
			test, ok := at.Parent().Node().(*ast.IfStmt)
			if !ok || n == test.Init {
				continue
			}
			truth := p.evaluate(test.Cond, status)
			if n == test.Else {
				truth = truth.not()
			}
			if truth == no || truth == unknown && p.mentionsResponse(test.Cond) {
				return no
			}
			if truth == yes {
				asked = yes
			}
		}
	}
}

// reachesCase reports whether a switch takes a case for a status.
func (p *pass) reachesCase(at inspector.Cursor, status int64) truth {
	s, ok := at.Parent().Parent().Node().(*ast.SwitchStmt)
	if !ok {
		return unknown
	}
	clause := at.Node().(*ast.CaseClause)
	for _, other := range s.Body.List {
		other := other.(*ast.CaseClause)
		truth := p.evaluateCase(s, other, status)
		if other == clause && other.List != nil {
			return truth
		}
		if truth != no && other != clause && (other.Pos() < clause.Pos() || clause.List == nil) {
			return no // treated by another case, or perhaps
		}
	}
	if p.asksForStatus(at.Parent().Parent()) {
		return yes // default
	}
	return unknown
}

func (p *pass) evaluateCase(s *ast.SwitchStmt, clause *ast.CaseClause, status int64) truth {
	all := no
	for _, e := range clause.List {
		t := unknown
		if s.Tag == nil {
			t = p.evaluate(e, status)
			if t == unknown && !p.mentionsResponse(e) {
				t = no // err != nil
			}
		} else if value, ok := p.evaluateNumber(s.Tag, status); ok {
			if other, ok := p.evaluateNumber(e, status); ok {
				t = truthOf(value == other)
			}
		}
		if t == yes {
			return yes
		}
		if t == unknown {
			all = unknown
		}
	}
	return all
}

// asksForStatus reports whether a switch statement is about the status.
func (p *pass) asksForStatus(c inspector.Cursor) bool {
	s, ok := c.Node().(*ast.SwitchStmt)
	if !ok {
		return false
	}
	if s.Tag != nil {
		return p.mentionsResponse(s.Tag)
	}
	for _, clause := range s.Body.List {
		for _, e := range clause.(*ast.CaseClause).List {
			if p.mentionsResponse(e) {
				return true
			}
		}
	}
	return false
}

// treatedBefore reports whether a statement before c, in the same block, may treat a status: it
// leaves the block, and its condition asks for the status, or for something else of the response.
func (p *pass) treatedBefore(c inspector.Cursor, status int64) bool {
	list, _ := following(c)
	for _, s := range list {
		if s.Pos() >= c.Node().Pos() {
			break
		}
		switch n := s.(type) {
		case *ast.IfStmt:
			if p.evaluate(n.Cond, status) != no && (p.mentionsResponse(n.Cond) || n.Init != nil && p.mentionsResponse(n.Init)) {
				return true
			}
		case *ast.SwitchStmt:
			if p.mentionsResponse(n) {
				return true
			}
		}
	}
	return false
}

// mentionsResponse reports whether something asks for a status, or for a response other than
// whether it is nil.
func (p *pass) mentionsResponse(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if test, isTest := n.(*ast.BinaryExpr); isTest && p.info.Types[test.Y].IsNil() {
			return false
		}
		if ok && (p.isStatus(e) || p.info.Types[e].IsValue() && typeName(p.info.TypeOf(e)) == response) {
			found = true
		}
		return !found
	})
	return found
}

// statusNames has the names of fields and methods that have a status.
var statusNames = names(`StatusCode`, `HTTPStatusCode`, `HTTPCode`, `Status`, `[sS]tatus`, `[sS]tatusCode`)

// isStatus reports whether an expression is a status: a number in a field or a method of that name,
// or a variable that was set to one.
func (p *pass) isStatus(e ast.Expr) bool {
	t := p.info.TypeOf(e)
	if t == nil {
		return false
	}
	basic, ok := t.Underlying().(*types.Basic)
	if !ok || basic.Info()&types.IsInteger == 0 || p.info.Types[e].Value != nil {
		return false
	}
	switch n := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		return statusNames.MatchString(n.Sel.Name)
	case *ast.CallExpr:
		sel, ok := n.Fun.(*ast.SelectorExpr)
		return ok && len(n.Args) == 0 && statusNames.MatchString(sel.Sel.Name)
	case *ast.Ident:
		v := p.info.ObjectOf(n)
		values := p.vars[v].values
		if len(values) == 1 && values[0].Valid() {
			value, ok := values[0].Node().(ast.Expr)
			_, isName := value.(*ast.Ident)
			return ok && !isName && p.isStatus(value)
		}
		return v != nil && len(values) == 1 && (statusNames.MatchString(v.Name()) || p.getsStatus(v)) // a parameter
	}
	return false
}

// getsStatus reports whether a parameter of a function gets a status in each call.
func (p *pass) getsStatus(v types.Object) bool {
	param, ok := v.(*types.Var)
	if !ok {
		return false
	}
	args := p.arguments(param)
	return len(args) > 0 && !slices.ContainsFunc(args, func(arg inspector.Cursor) bool {
		_, isField := arg.Node().(*ast.SelectorExpr)
		return !isField || !p.isStatus(arg.Node().(ast.Expr))
	})
}

// evaluateCall returns what a function of the package that has a single return statement says of the
// status that it gets.
func (p *pass) evaluateCall(call *ast.CallExpr, status int64) truth {
	fn, ok := typeutil.Callee(p.info, call).(*types.Func)
	if !ok || fn.Pkg() != p.Pkg || len(call.Args) != 1 || !p.isStatus(call.Args[0]) {
		return unknown
	}
	for decl := range p.root.Preorder((*ast.FuncDecl)(nil)) {
		n := decl.Node().(*ast.FuncDecl)
		if p.info.Defs[n.Name] != fn || n.Body == nil || len(n.Body.List) != 1 {
			continue
		}
		if ret, ok := n.Body.List[0].(*ast.ReturnStmt); ok && len(ret.Results) == 1 {
			return p.evaluate(ret.Results[0], status)
		}
	}
	return unknown
}

// evaluate returns whether a condition is true of a status.
func (p *pass) evaluate(e ast.Expr, status int64) truth {
	switch n := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		return p.evaluateCall(n, status)
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			return p.evaluate(n.X, status).not()
		}
	case *ast.BinaryExpr:
		x, y := unknown, unknown
		if n.Op == token.LAND || n.Op == token.LOR {
			x, y = p.evaluate(n.X, status), p.evaluate(n.Y, status)
		}
		if n.Op == token.LAND && p.isPresence(n.X) {
			return y // err != nil && status >= 400
		}
		switch {
		case n.Op == token.LAND && (x == no || y == no):
			return no
		case n.Op == token.LOR && (x == yes || y == yes):
			return yes
		case n.Op == token.LAND || n.Op == token.LOR:
			if x == y {
				return x
			}
			return unknown
		}
		return p.evaluateComparison(n, status)
	}
	return unknown
}

// isPresence reports whether a condition says that there is an error or a response at all.
func (p *pass) isPresence(e ast.Expr) bool {
	switch n := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		return n.Op == token.NEQ && p.info.Types[n.Y].IsNil()
	case *ast.Ident:
		return n.Name == "ok" || n.Name == "found"
	case *ast.CallExpr:
		return p.callee(n) == "errors.As"
	}
	return false
}

func (p *pass) evaluateComparison(n *ast.BinaryExpr, status int64) truth {
	x, known := p.evaluateNumber(n.X, status)
	y, alsoKnown := p.evaluateNumber(n.Y, status)
	if !known || !alsoKnown {
		return unknown
	}
	switch n.Op {
	case token.EQL:
		return truthOf(x == y)
	case token.NEQ:
		return truthOf(x != y)
	case token.LSS:
		return truthOf(x < y)
	case token.LEQ:
		return truthOf(x <= y)
	case token.GTR:
		return truthOf(x > y)
	case token.GEQ:
		return truthOf(x >= y)
	}
	return unknown
}

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// evaluateNumber returns a constant, the status, or its quotient.
func (p *pass) evaluateNumber(e ast.Expr, status int64) (int64, bool) {
	if value := p.info.Types[e].Value; value != nil {
		return constant.Int64Val(constant.ToInt(value))
	}
	if p.isStatus(e) {
		return status, true
	}
	if n, ok := ast.Unparen(e).(*ast.BinaryExpr); ok && n.Op == token.QUO {
		x, known := p.evaluateNumber(n.X, status)
		y, alsoKnown := p.evaluateNumber(n.Y, status)
		if known && alsoKnown && y != 0 {
			return x / y, true
		}
	}
	return 0, false
}
