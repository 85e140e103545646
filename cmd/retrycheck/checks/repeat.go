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

// Repeat reports operations of this library whose retry repeats what may have happened: a
// POST, or what it adds to a variable outside.
var Repeat = analyzer("repeat", "report operations that send a POST or add to a variable again", func(p *pass) {
	for _, call := range p.operations {
		if !strings.HasPrefix(call.name, ours) {
			p.reportInner(call)
			continue
		}
		p.reportPosts(call)
		p.reportState(call)
		p.reportLeftover(call)
		p.reportOwnError(call)
		p.reportWrites(call)
		p.reportAnswers(call)
		p.reportLayers(call)
		p.reportStatements(call)
	}
	p.reportKeys()
	p.reportStacked()
	p.reportInsisting()
	p.reportUnsafely()
	p.reportMarks()
	for c := range p.root.Preorder((*ast.AssignStmt)(nil)) {
		p.reportOwnTransport(c)
	}
})

// reportState reports what an operation adds to a variable outside, so that a retry adds it
// again: elements of a slice or a map, numbers, and values of a channel.
func (p *pass) reportState(loop *call) {
	p.reportStateIn(loop, loop.op)
	for _, c := range p.calls {
		if !loop.op.Contains(c.Cursor) || !p.fails(p.functionAround(c.Cursor), c) {
			continue
		}
		fn := p.function(c.ChildAt(edge.CallExpr_Fun, -1))
		if fn.Valid() && fn != loop.op && p.calledOutside(loop.op, c, fn) {
			p.reportStateIn(loop, fn)
		}
	}
}

// calledOutside reports whether a call in an operation is one of a function, or of a method of
// something that is outside the operation.
func (p *pass) calledOutside(op inspector.Cursor, c *call, fn inspector.Cursor) bool {
	if p.signature(fn).Recv() == nil {
		return true
	}
	sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	v := p.owner(sel.X)
	return v != nil && p.survives(v, op)
}

// reportStateIn does so in a function that is the operation, or that the operation calls.
func (p *pass) reportStateIn(loop *call, fn inspector.Cursor) {
	for c := range fn.Preorder((*ast.AssignStmt)(nil), (*ast.IncDecStmt)(nil), (*ast.SendStmt)(nil)) {
		added, verb := p.added(c)
		if added == nil || !inTx.MatchString(loop.name) && !p.mayFail(fn, c) || p.isCounter(fn, c) {
			continue
		}
		v := p.owner(added)
		if v == nil || !p.survives(v, fn) || p.usesState(fn, c, added) && !p.addsSame(fn, c) || fn != loop.op && p.mentionsField(loop.op, added) {
			continue
		}
		name := types.ExprString(added)
		if statistics.MatchString(name) || p.givesBack(fn, c) {
			continue
		}
		p.report(c, "a retry %s %s again: collect in a variable of the operation, and set %[2]s at its end", verb, name)
	}
}

// givesBack reports whether a statement sends what the function has received.
func (p *pass) givesBack(fn, c inspector.Cursor) bool {
	send, ok := c.Node().(*ast.SendStmt)
	if !ok {
		return false
	}
	id, ok := send.Value.(*ast.Ident)
	if !ok {
		return false
	}
	value := p.declared(p.info.Uses[id])
	if !value.Valid() || !fn.Contains(value) {
		return false
	}
	receive, ok := value.Node().(*ast.UnaryExpr)
	return ok && receive.Op == token.ARROW
}

// addsSame reports whether a statement is the first thing that a function does that may fail, or
// before it, and appends what was there before: each attempt appends the same once more.
func (p *pass) addsSame(fn, c inspector.Cursor) bool {
	n, ok := c.Node().(*ast.AssignStmt)
	if !ok || n.Tok != token.ASSIGN || c.Parent().Node() != body(fn) {
		return false
	}
	if _, ok := p.appends(n); !ok {
		return false
	}
	for ret := range fn.Preorder((*ast.ReturnStmt)(nil)) {
		if ret.Node().Pos() < n.Pos() {
			return false
		}
	}
	call := n.Rhs[0].(*ast.CallExpr)
	for i := range call.Args[1:] {
		arg := c.ChildAt(edge.AssignStmt_Rhs, 0).ChildAt(edge.CallExpr_Args, i+1)
		for e := range arg.Preorder((*ast.CallExpr)(nil), (*ast.Ident)(nil)) {
			v, isVar := p.info.Uses[identOf(e)].(*types.Var)
			_, isCall := e.Node().(*ast.CallExpr)
			if isCall || isVar && !v.IsField() && !p.survives(v, fn) {
				return false
			}
		}
	}
	for _, set := range p.vars[p.owner(n.Lhs[0])].sets {
		if fn.Contains(set) && set.Node().Pos() < n.Pos() {
			return false // it is emptied first
		}
	}
	return true
}

func identOf(c inspector.Cursor) *ast.Ident {
	id, _ := c.Node().(*ast.Ident)
	return id
}

// statistics has names of what may count all attempts on purpose.
var statistics = regexp.MustCompile(`(?i)(stats?|statistics|metrics?|counters?|attempts?|tries|retries)\b`)

// mentionsField reports whether an operation uses what another function adds to, so that it may
// empty it.
func (p *pass) mentionsField(op inspector.Cursor, added ast.Expr) bool {
	if index, ok := ast.Unparen(added).(*ast.IndexExpr); ok {
		added = index.X
	}
	id := lastName(ast.Unparen(added))
	for c := range op.Preorder((*ast.Ident)(nil)) {
		if id == nil || p.info.Uses[c.Node().(*ast.Ident)] == p.info.Uses[id] {
			return true
		}
	}
	return false
}

// added returns what a statement adds a value to, and how a message calls that.
func (p *pass) added(c inspector.Cursor) (target ast.Expr, verb string) {
	switch n := c.Node().(type) {
	case *ast.SendStmt:
		return n.Chan, "sends to"
	case *ast.IncDecStmt:
		return n.X, "counts in"
	case *ast.AssignStmt:
		if len(n.Lhs) != 1 || len(n.Rhs) != 1 {
			return nil, ""
		}
		if n.Tok == token.ADD_ASSIGN || p.addsTo(n) {
			return n.Lhs[0], "adds to"
		}
		if n.Tok == token.SUB_ASSIGN {
			return n.Lhs[0], "subtracts from"
		}
		list, ok := p.appends(n)
		if ok && !types.Implements(list.Elem(), errorType) { // not a list of the attempts' failures
			return n.Lhs[0], "appends to"
		}
	}
	return nil, ""
}

// addsTo reports whether a statement is v = v + x.
func (p *pass) addsTo(n *ast.AssignStmt) bool {
	sum, ok := ast.Unparen(n.Rhs[0]).(*ast.BinaryExpr)
	return ok && n.Tok == token.ASSIGN && sum.Op == token.ADD && types.ExprString(sum.X) == types.ExprString(n.Lhs[0])
}

// appends returns the type of v if a statement is v = append(v, ...).
func (p *pass) appends(n *ast.AssignStmt) (*types.Slice, bool) {
	call, ok := n.Rhs[0].(*ast.CallExpr)
	if !ok || !p.info.Types[call.Fun].IsBuiltin() || types.ExprString(call.Fun) != "append" {
		return nil, false
	}
	list, ok := p.info.TypeOf(n.Lhs[0]).Underlying().(*types.Slice)
	return list, ok && types.ExprString(call.Args[0]) == types.ExprString(n.Lhs[0])
}

// owner returns the variable that has x: s of s.list and of s.counts[key].
func (p *pass) owner(x ast.Expr) *types.Var {
	switch n := ast.Unparen(x).(type) {
	case *ast.Ident:
		v, _ := p.info.ObjectOf(n).(*types.Var)
		return v
	case *ast.SelectorExpr:
		if _, isField := p.info.Selections[n]; isField {
			return p.owner(n.X)
		}
		v, _ := p.info.Uses[n.Sel].(*types.Var) // of another package
		return v
	case *ast.IndexExpr:
		return p.owner(n.X)
	case *ast.StarExpr:
		return p.owner(n.X)
	}
	return nil
}

// survives reports whether what a variable has is there in the next attempt: it is declared
// outside the operation, or is the receiver of the method that is the operation.
func (p *pass) survives(v *types.Var, op inspector.Cursor) bool {
	if outside(v, op) {
		return true
	}
	recv := p.signature(op).Recv()
	if recv != v {
		return false
	}
	_, isPointer := v.Type().(*types.Pointer)
	return isPointer
}

// isCounter reports whether a statement counts attempts: once in each, by a constant.
func (p *pass) isCounter(op, c inspector.Cursor) bool {
	var by ast.Expr
	switch n := c.Node().(type) {
	case *ast.IncDecStmt:
		return block(c) == op
	case *ast.AssignStmt:
		by = n.Rhs[0]
	case *ast.SendStmt:
		by = n.Value
		t := p.info.TypeOf(by)
		if s, ok := t.Underlying().(*types.Struct); ok && s.NumFields() == 0 || types.Implements(t, errorType) {
			return true // a signal
		}
		return false
	}
	return p.info.Types[by].Value != nil && block(c) == op
}

// usesState reports whether an operation itself reads or sets what a statement adds to, so that
// it may go on where the last attempt ended, or begin anew.
func (p *pass) usesState(op, c inspector.Cursor, added ast.Expr) bool {
	name := types.ExprString(added)
	root := name
	if index, ok := ast.Unparen(added).(*ast.IndexExpr); ok {
		root = types.ExprString(index.X)
	}
	for e := range op.Preorder((*ast.Ident)(nil), (*ast.SelectorExpr)(nil), (*ast.IndexExpr)(nil)) {
		text := types.ExprString(e.Node().(ast.Expr))
		if (text == name || text == root) && !c.Contains(e) && !isDuplicate(op, e, c) {
			return true
		}
	}
	return false
}

// isDuplicate reports whether e is in another statement that adds to the same variable.
func isDuplicate(op, e, c inspector.Cursor) bool {
	statement := around(e, (*ast.AssignStmt)(nil), (*ast.IncDecStmt)(nil), (*ast.SendStmt)(nil))
	return op.Contains(statement) && statement != c && sameTarget(statement.Node(), c.Node())
}

func sameTarget(a, b ast.Node) bool {
	switch a := a.(type) {
	case *ast.IncDecStmt:
		b, ok := b.(*ast.IncDecStmt)
		return ok && types.ExprString(a.X) == types.ExprString(b.X)
	case *ast.SendStmt:
		b, ok := b.(*ast.SendStmt)
		return ok && types.ExprString(a.Chan) == types.ExprString(b.Chan)
	case *ast.AssignStmt:
		b, ok := b.(*ast.AssignStmt)
		return ok && a.Tok == b.Tok && a.Tok == token.ADD_ASSIGN && types.ExprString(a.Lhs[0]) == types.ExprString(b.Lhs[0])
	}
	return false
}

// checksStatus has what makes one layer of a client of retryhttp and a Do around it.
var checksStatus = names(ours + `/retryhttp\.(CheckStatus|WithoutRetry)`)

// reportOwnError reports a request of a client of retryhttp whose status the operation turns into
// an error of its own, which Do retries after the client has given up.
func (p *pass) reportOwnError(loop *call) {
	checked := slices.ContainsFunc(p.calls, func(c *call) bool {
		return loop.op.Contains(c.Cursor) && checksStatus.MatchString(c.name)
	})
	if checked {
		return
	}
	for _, c := range p.calls {
		if !loop.op.Contains(c.Cursor) || !sends.MatchString(c.name) || !p.retriesItself(c) {
			continue
		}
		p.report(c.Cursor, "this client retries by itself, and Do retries it again, three times three attempts by default: return the error of retryhttp.CheckStatus, which ends both")
	}
}

// retriesItself reports whether the client that sends a request has a Transport of retryhttp.
func (p *pass) retriesItself(c *call) bool {
	method := c.ChildAt(edge.CallExpr_Fun, -1)
	_, ok := method.Node().(*ast.SelectorExpr)
	return ok && p.isRetrying(method.ChildAt(edge.SelectorExpr_X, -1), 0)
}

// isRetrying reports whether the package gives a client a Transport of retryhttp that makes more
// than one attempt.
func (p *pass) isRetrying(c inspector.Cursor, depth int) bool {
	if depth > 8 {
		return false
	}
	c = p.value(c)
	var values []inspector.Cursor
	switch n := c.Node().(type) {
	case *ast.Ident, *ast.SelectorExpr:
		v, ok := p.info.Uses[lastName(n.(ast.Expr))].(*types.Var)
		if !ok {
			return false
		}
		values = p.given(v)
	case *ast.CallExpr:
		if p.callee(n) == newClient {
			return !p.makesOneAttempt(c)
		}
		values = p.returns(c)
	case *ast.CompositeLit:
		return p.hasTransport(c) && !p.makesOneAttempt(c)
	}
	return slices.ContainsFunc(values, func(value inspector.Cursor) bool { return p.isRetrying(value, depth+1) })
}

// mayRepeat reports whether an operation may run again after the statement c. A transaction does
// so after a COMMIT that fails, even if its function has succeeded.
func (p *pass) mayRepeat(loop *call, c inspector.Cursor) bool {
	return inTx.MatchString(loop.name) || p.mayFail(loop.op, c)
}

// mayFail reports whether an operation may return an error that is retried after the statement
// c, or in a later round of the loop, or of the function that is called in it, around c.
func (p *pass) mayFail(op, c inspector.Cursor) bool {
	again := block(c)
	end := leavesAt(op, c)
	for ret := range op.Preorder((*ast.ReturnStmt)(nil)) {
		last, given := ret.LastChild()
		fails := !given || !p.info.Types[last.Node().(ast.Expr)].IsNil() && !final.MatchString(p.callee(last.Node()))
		behind := ret.Node().End() > c.Node().End() && ret.Node().Pos() < end && !inOtherCase(op, c, ret)
		later := again != op && again.Contains(ret) && end > again.Node().End()
		if fails && (behind || later) && !p.isSuccessAt(op, c, last) {
			return true
		}
	}
	return false
}

// leavesAt returns the end of the first statement behind c at which a function certainly returns,
// or that of the function.
func leavesAt(op, c inspector.Cursor) token.Pos {
	for at := c; at != op; at = at.Parent() {
		kind, _ := at.ParentEdge()
		if kind != edge.BlockStmt_List && kind != edge.CaseClause_Body && kind != edge.CommClause_Body {
			continue
		}
		for next, ok := at.NextSibling(); ok && !jumps(next); next, ok = next.NextSibling() {
			if isReturn(next) {
				return next.Node().End()
			}
		}
	}
	return op.Node().End() + 1
}

// jumps reports whether a statement has one that goes on elsewhere.
func jumps(c inspector.Cursor) bool {
	for range c.Preorder((*ast.BranchStmt)(nil)) {
		return true
	}
	return false
}

// inOtherCase reports whether a statement is in another case of a switch or select than c.
func inOtherCase(op, c, other inspector.Cursor) bool {
	for clause := range c.Enclosing((*ast.CaseClause)(nil), (*ast.CommClause)(nil)) {
		if !op.Contains(clause) || clause.Contains(other) {
			return false
		}
		if clause.Parent().Contains(other) {
			return true
		}
	}
	return false
}

// isSuccessAt reports whether c is in the branch of err == nil, and an error is the err that nothing
// has set since.
func (p *pass) isSuccessAt(op, c, failure inspector.Cursor) bool {
	id, ok := failure.Node().(*ast.Ident)
	if !ok {
		return false
	}
	for at := c; at != op; at = at.Parent() {
		test, isIf := at.Parent().Node().(*ast.IfStmt)
		if !isIf || at.ParentEdgeKind() != edge.IfStmt_Body || !p.isSuccess(test.Cond) {
			continue
		}
		err := p.info.Uses[lastName(test.Cond.(*ast.BinaryExpr).X)]
		isSet := slices.ContainsFunc(p.vars[err].sets, func(set inspector.Cursor) bool {
			return set.Node().Pos() > test.Pos() && set.Node().Pos() < id.Pos()
		})
		return err != nil && err == p.info.Uses[id] && !isSet
	}
	return false
}

// What copies a whole content to its first argument, and methods that write to their receiver.
var (
	copying = names(`io\.Copy(N|Buffer)?`)
	writes  = names(`bytes\.Buffer\.(Write|WriteString|ReadFrom)`, `strings\.Builder\.(Write|WriteString)`, `os\.File\.(Write|WriteString|ReadFrom)`)
	closing = names(`Close`, `Sync`, `Flush`, `Name`)
)

// reportWrites reports what an operation writes to a file or a buffer outside, which then has
// a part of each failed attempt.
func (p *pass) reportWrites(loop *call) {
	for _, c := range p.calls {
		if !loop.op.Contains(c.Cursor) || !p.mayRepeat(loop, c.Parent()) && !p.mayRepeat(loop, c.Cursor) {
			continue
		}
		var to inspector.Cursor
		switch {
		case copying.MatchString(c.name):
			to = c.ChildAt(edge.CallExpr_Args, 0)
		case writes.MatchString(c.name):
			if sel := c.ChildAt(edge.CallExpr_Fun, -1); sel.Node() != nil {
				to = sel.ChildAt(edge.SelectorExpr_X, -1)
			}
		}
		if !to.Valid() {
			continue
		}
		e := p.plain(to).Node().(ast.Expr)
		v := p.owner(e)
		if v != nil && p.opensToAppend(v, loop.op) {
			p.report(c.Cursor, "a retry appends to %s again: append after %s, or write a new file in each attempt", types.ExprString(e), shortName(loop.name))
			continue
		}
		if v == nil || !p.survives(v, loop.op) || v.Pkg() != p.Pkg || p.knows(loop.op, v) {
			continue
		}
		p.report(c.Cursor, "%s keeps what a failed attempt has written, and a retry writes all of it again: write to a variable of the operation, or rewind and truncate first", types.ExprString(e))
	}
}

// opensToAppend reports whether an operation opens a file with os.O_APPEND.
func (p *pass) opensToAppend(file *types.Var, op inspector.Cursor) bool {
	return slices.ContainsFunc(p.given(file), func(opened inspector.Cursor) bool {
		return op.Contains(opened) && p.callee(opened.Node()) == "os.OpenFile" && p.mentionsName(opened, names(`(os|syscall)\.O_APPEND`))
	})
}

// knows reports whether an operation does more with a variable than to write to it and to close
// it, so that it may go on where the last attempt ended, or begin anew.
func (p *pass) knows(op inspector.Cursor, v *types.Var) bool {
	return slices.ContainsFunc(p.vars[v].uses, func(use inspector.Cursor) bool {
		if !op.Contains(use) {
			return false
		}
		method, called := field(use)
		name := p.callee(called.Node())
		return !closing.MatchString(method) && !writes.MatchString(name) && !copying.MatchString(p.callee(use.Parent().Node())) &&
			!copying.MatchString(p.callee(use.Parent().Parent().Node()))
	})
}

// reportAnswers reports what an operation that may fail later writes to the response of a
// server's handler, which has then begun.
func (p *pass) reportAnswers(loop *call) {
	for id := range loop.op.Preorder((*ast.Ident)(nil)) {
		v, ok := p.info.Uses[id.Node().(*ast.Ident)].(*types.Var)
		if !ok || typeName(v.Type()) != "net/http.ResponseWriter" || !p.survives(v, loop.op) {
			continue
		}
		method, _ := field(id)
		statement := around(id, (*ast.ExprStmt)(nil), (*ast.AssignStmt)(nil), (*ast.ReturnStmt)(nil))
		if method != "Header" && loop.op.Contains(statement) && p.mayRepeat(loop, statement) {
			p.report(id, "a retry answers on %s again, behind what the failed attempt has written: answer after %s", v.Name(), shortName(loop.name))
			return
		}
	}
}

// reportOwnTransport reports a Transport that becomes http.DefaultTransport and sends through
// that.
func (p *pass) reportOwnTransport(c inspector.Cursor) {
	assign := c.Node().(*ast.AssignStmt)
	if len(assign.Lhs) != 1 || len(assign.Rhs) != 1 || assign.Tok != token.ASSIGN {
		return
	}
	if objectName(p.info.Uses[lastName(assign.Lhs[0])]) != "net/http.DefaultTransport" {
		return
	}
	value := p.value(c.ChildAt(edge.AssignStmt_Rhs, 0))
	lit, ok := value.Node().(*ast.CompositeLit)
	if ok && typeName(p.info.TypeOf(lit)) == transport && !p.names(value, "Base") {
		p.report(c, "this Transport sends through http.DefaultTransport, which it becomes here, so it calls itself for ever: set Base to the former http.DefaultTransport")
	}
}
