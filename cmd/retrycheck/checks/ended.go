package checks

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// reportEnded reports calls whose context has ended before they begin, or ends before they can
// finish.
func (p *pass) reportEnded() {
	calls := p.contextCalls()
	for _, c := range calls {
		from := p.lineage(c.ctx)
		if !from.known {
			continue
		}
		name := types.ExprString(c.ctx.Node().(ast.Expr))
		s := p.startOf(c.Cursor)
		switch {
		case p.hasEnded(c.Cursor, from):
			p.report(c.Cursor, "%s has ended here, so %s makes no attempt: use context.WithoutCancel(%[1]s)", name, c.name)
		case s.way == "after" && p.isOf(from, s.Node().(*ast.CallExpr).Args[0]):
			p.report(c.Cursor, "%s has ended here, so %s makes no attempt: use context.WithoutCancel(%[1]s)", name, c.name)
		case s.way == "cleanup" && from.test:
			p.reportAnywhere(c.Cursor, "the context of a test ends before its cleanup, so %s makes no attempt: use context.WithoutCancel(%s)", c.name, name)
		case s.way == "defer":
			p.reportDeferred(c, s, from, name)
		case s.way == "go":
			p.reportOutlives(c, s, from, name)
			p.reportLeftBehind(c, s, from)
		case p.isUndone(c, from):
			p.report(c.Cursor, "this is not done if %s has ended, which may be why the call above failed: use context.WithoutCancel(%[1]s)", name)
		}
		if c.loop != nil && c.loop.op.Valid() {
			p.reportCanceled(c.loop, from)
		}
	}
	for c := range p.root.Preorder((*ast.AssignStmt)(nil)) {
		p.reportNested(c, calls)
	}
	if len(calls) == 0 {
		return
	}
	for c := range p.root.Preorder((*ast.ReturnStmt)(nil)) {
		p.reportReturned(c)
	}
	for c := range p.root.Preorder((*ast.SendStmt)(nil)) {
		p.reportSent(c)
	}
}

// isOf reports whether an expression is a context that another one comes from.
func (p *pass) isOf(l lineage, e ast.Expr) bool {
	switch n := ast.Unparen(e).(type) {
	case *ast.Ident:
		return l.has(p.info.Uses[n])
	case *ast.SelectorExpr:
		return l.has(p.info.Uses[n.Sel])
	case *ast.CallExpr:
		return slices.ContainsFunc(l.requests, func(c inspector.Cursor) bool {
			return types.ExprString(c.Node().(ast.Expr)) == types.ExprString(n)
		})
	}
	return false
}

// hasEnded reports whether a statement before c, or around it, has waited for the end of a
// context of c, or has ended it.
func (p *pass) hasEnded(c inspector.Cursor, l lineage) bool {
	for at := c; at.Node() != nil; at = at.Parent() {
		kind, i := at.ParentEdge()
		switch kind {
		case edge.BlockStmt_List, edge.CaseClause_Body, edge.CommClause_Body:
			for j := range i {
				if before := at.Parent().ChildAt(kind, j); p.ends(before, l) && !p.renewed(before, c, l) {
					return true
				}
			}
			clause, ok := at.Parent().Node().(*ast.CommClause)
			if ok && clause.Comm != nil && p.receivesDone(clause.Comm, l) && !p.renewed(at.Parent().ChildAt(edge.CommClause_Comm, -1), c, l) {
				return true
			}
		case edge.IfStmt_Body:
			if p.asksWhetherEnded(at.Parent().Node().(*ast.IfStmt).Cond, token.NEQ, l) {
				return true
			}
		}
		if _, isFunc := at.Node().(*ast.FuncLit); isFunc && !p.runsHere(at) {
			return false
		}
	}
	return false
}

// runsHere reports whether a function literal is called or started where it is written.
func (p *pass) runsHere(fn inspector.Cursor) bool {
	if fn.ParentEdgeKind() == edge.CallExpr_Fun {
		return fn.Parent().ParentEdgeKind() != edge.DeferStmt_Call
	}
	return fn.ParentEdgeKind() == edge.CallExpr_Args && slices.ContainsFunc(p.operations, func(loop *call) bool { return loop.op == fn })
}

// renewed reports whether, between two places, a variable of a context is set to something that
// does not come from what the variable was.
func (p *pass) renewed(from, to inspector.Cursor, l lineage) bool {
	for _, v := range l.vars {
		for _, set := range p.vars[v].sets {
			between := set.Node().Pos() > from.Node().End() && set.Node().Pos() < to.Node().Pos()
			if value := givenAt(set); between && value.Valid() && !p.isOf(l, firstArg(value.Node())) {
				return true
			}
		}
	}
	return false
}

// firstArg returns the first argument of a call, or the expression itself.
func firstArg(n ast.Node) ast.Expr {
	if call, ok := n.(*ast.CallExpr); ok && len(call.Args) > 0 {
		return call.Args[0]
	}
	e, _ := n.(ast.Expr)
	return e
}

// ends reports whether a context has ended after a statement.
func (p *pass) ends(c inspector.Cursor, l lineage) bool {
	switch n := c.Node().(type) {
	case *ast.LabeledStmt:
		return p.ends(c.ChildAt(edge.LabeledStmt_Stmt, -1), l)
	case *ast.ExprStmt:
		call, ok := n.X.(*ast.CallExpr)
		return p.receivesDone(n, l) || ok && p.cancelsOne(call, l) || p.waitsForGroup(c, l)
	case *ast.AssignStmt:
		return p.waitsForGroup(c, l)
	case *ast.IfStmt: // a branch that waits may leave
		return n.Init != nil && p.waitsForGroup(c.ChildAt(edge.IfStmt_Init, -1), l) || p.waitsForGroup(c.ChildAt(edge.IfStmt_Cond, -1), l)
	case *ast.ForStmt:
		if n.Cond != nil {
			return p.asksWhetherEnded(n.Cond, token.EQL, l) && len(exits(c)) == 0
		}
		breaks := exits(c)
		return len(breaks) > 0 && !slices.ContainsFunc(breaks, func(b inspector.Cursor) bool { return !p.onlyIfEnded(b, c, l) })
	}
	return false
}

// exits returns the break statements that leave a loop.
func exits(loop inspector.Cursor) (all []inspector.Cursor) {
	label := ""
	if labeled, ok := loop.Parent().Node().(*ast.LabeledStmt); ok {
		label = labeled.Label.Name
	}
	for c := range loop.Preorder((*ast.BranchStmt)(nil)) {
		n := c.Node().(*ast.BranchStmt)
		left := around(c, (*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.SelectStmt)(nil), (*ast.SwitchStmt)(nil), (*ast.TypeSwitchStmt)(nil), (*ast.FuncLit)(nil))
		if n.Tok == token.GOTO || n.Tok == token.BREAK && (n.Label == nil && left == loop || n.Label != nil && n.Label.Name == label) {
			all = append(all, c)
		}
	}
	return all
}

// onlyIfEnded reports whether a statement in a loop is reached only after the end of a context.
func (p *pass) onlyIfEnded(c, loop inspector.Cursor, l lineage) bool {
	for at := c; at != loop; at = at.Parent() {
		switch n := at.Parent().Node().(type) {
		case *ast.CommClause:
			if n.Comm != nil && p.receivesDone(n.Comm, l) {
				return true
			}
		case *ast.IfStmt:
			if at.ParentEdgeKind() == edge.IfStmt_Body && p.asksWhetherEnded(n.Cond, token.NEQ, l) {
				return true
			}
		}
	}
	return false
}

// receivesDone reports whether a statement receives from the Done of a context.
func (p *pass) receivesDone(s ast.Stmt, l lineage) bool {
	done := p.doneOf(s)
	return done != nil && p.isOf(l, receiverOf(done))
}

// doneOf returns ctx.Done() of the statement <-ctx.Done(), or nil.
func (p *pass) doneOf(s ast.Stmt) ast.Expr {
	statement, ok := s.(*ast.ExprStmt)
	if !ok {
		return nil
	}
	receive, ok := statement.X.(*ast.UnaryExpr)
	if !ok || receive.Op != token.ARROW || p.callee(receive.X) != "context.Context.Done" {
		return nil
	}
	return receive.X
}

// asksWhetherEnded reports whether a condition compares the Err of a context with nil.
func (p *pass) asksWhetherEnded(e ast.Expr, op token.Token, l lineage) bool {
	test, ok := ast.Unparen(e).(*ast.BinaryExpr)
	if !ok {
		return false
	}
	if test.Op == token.LAND && op == token.NEQ {
		return p.asksWhetherEnded(test.X, op, l) || p.asksWhetherEnded(test.Y, op, l)
	}
	return test.Op == op && p.callee(test.X) == "context.Context.Err" && p.isOf(l, receiverOf(test.X))
}

// receiverOf returns ctx of ctx.Done().
func receiverOf(e ast.Expr) ast.Expr {
	if sel, ok := ast.Unparen(e.(*ast.CallExpr).Fun).(*ast.SelectorExpr); ok {
		return sel.X
	}
	return nil
}

// cancelsOne reports whether a call is that of the function that cancels a context.
func (p *pass) cancelsOne(call *ast.CallExpr, l lineage) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	return ok && slices.Contains(p.cancelsOf(l, inspector.Cursor{}), p.info.Uses[id])
}

// cancelsOf returns the functions that cancel a context, without those of contexts that are
// derived in c.
func (p *pass) cancelsOf(l lineage, c inspector.Cursor) (all []types.Object) {
	for _, d := range l.derived {
		assign, ok := d.Parent().Node().(*ast.AssignStmt)
		if !ok || len(assign.Lhs) != 2 || !cancels.MatchString(p.callee(d.Node())) || c.Valid() && c.Contains(d) {
			continue
		}
		if id, isIdent := assign.Lhs[1].(*ast.Ident); isIdent && id.Name != "_" {
			all = append(all, p.info.ObjectOf(id))
		}
	}
	return all
}

// waitsForGroup reports whether a statement waits for the group whose context it is.
func (p *pass) waitsForGroup(c inspector.Cursor, l lineage) bool {
	for _, d := range l.derived {
		assign, ok := d.Parent().Node().(*ast.AssignStmt)
		if !ok || p.callee(d.Node()) != group {
			continue
		}
		for wait := range c.Preorder((*ast.CallExpr)(nil)) {
			n := wait.Node().(*ast.CallExpr)
			ofGroup := p.callee(n) == "golang.org/x/sync/errgroup.Group.Wait" && types.ExprString(receiverOf(n)) == types.ExprString(assign.Lhs[0])
			_, inFunc := around(wait, (*ast.FuncLit)(nil), (*ast.AssignStmt)(nil), (*ast.ExprStmt)(nil), (*ast.IfStmt)(nil)).Node().(*ast.FuncLit)
			if ofGroup && !inFunc {
				return true
			}
		}
	}
	return false
}

// What has to be done in the end, by the names of the functions that do it, and what undoes
// something after a failure.
var (
	lastly  = regexp.MustCompile(`(?i)^(un_?lock|release|roll_?back|abort|revert|undo|clean|de_?register|un_?register|un_?subscribe|revoke|restore|compensate|tear_?down|remove|delete|drop|close|stop|shut_?down|leave|detach|disconnect|log_?out|refund|n?ack$|commit|flush|finish|complete|save|give_?up|give_?back)`)
	undoing = regexp.MustCompile(`(?i)^(un_?lock|release|roll_?back|revert|undo|clean_?up|restore|compensate|refund|tear_?down)`)
)

// does reports whether a call calls a function with such a name.
func (p *pass) does(c contextCall, what *regexp.Regexp) bool {
	if c.loop == nil {
		return what.MatchString(c.name)
	}
	for id := range c.Preorder((*ast.Ident)(nil)) {
		n := id.Node().(*ast.Ident)
		t := p.info.TypeOf(n)
		if t == nil || p.info.Uses[n] == nil {
			continue
		}
		if _, isFunc := t.Underlying().(*types.Signature); isFunc && what.MatchString(n.Name) {
			return true
		}
	}
	return false
}

// reportDeferred reports a deferred call whose context has ended when it runs, or may have.
func (p *pass) reportDeferred(c contextCall, s start, from lineage, name string) {
	fn := around(s.Cursor, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))
	switch {
	case p.deferredLater(s, fn, from):
		p.report(c.Cursor, "deferred calls run in reverse order, so %s has ended here: use context.WithoutCancel(%[1]s)", name)
	case p.endsAfter(s, fn, from):
		p.report(c.Cursor, "%s has ended here, so %s makes no attempt: use context.WithoutCancel(%[1]s)", name, c.name)
	case p.does(c, lastly) && p.mayEnd(from, s.Cursor) && !p.asksContext(s.Cursor):
		p.report(c.Cursor, "this is not done if %s has ended: use context.WithoutCancel(%[1]s)", name)
	}
}

// deferredLater reports whether a function defers the cancellation of a context after the
// statement s, and so runs it before.
func (p *pass) deferredLater(s start, fn inspector.Cursor, from lineage) bool {
	cancelers := p.cancelsOf(from, s.Cursor)
	for d := range fn.Preorder((*ast.DeferStmt)(nil)) {
		if d.Node().Pos() <= s.Node().Pos() || around(d, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) != fn {
			continue
		}
		for call := range d.Preorder((*ast.CallExpr)(nil)) {
			id, ok := call.Node().(*ast.CallExpr).Fun.(*ast.Ident)
			if ok && slices.Contains(cancelers, p.info.Uses[id]) && p.derivedBefore(from, p.info.Uses[id], s) {
				return true
			}
		}
	}
	return false
}

// derivedBefore reports whether the context of a cancel function is the one that a deferred call
// uses: a closure uses the latest, a call the one at its statement.
func (p *pass) derivedBefore(from lineage, cancel types.Object, s start) bool {
	_, isClosure := s.Node().(*ast.DeferStmt).Call.Fun.(*ast.FuncLit)
	return isClosure && len(s.Node().(*ast.DeferStmt).Call.Args) == 0 || slices.ContainsFunc(p.vars[cancel].sets, func(set inspector.Cursor) bool {
		return set.Node().Pos() < s.Node().Pos()
	})
}

// endsAfter reports whether a statement of a function's own, behind s, waits for the end of a
// context.
func (p *pass) endsAfter(s start, fn inspector.Cursor, from lineage) bool {
	for i, statement := range body(fn).List {
		if statement.Pos() > s.Node().Pos() && p.ends(bodyOf(fn).ChildAt(edge.BlockStmt_List, i), from) {
			return true
		}
	}
	return false
}

// bodyOf returns the block of a function literal or declaration.
func bodyOf(fn inspector.Cursor) inspector.Cursor {
	if _, ok := fn.Node().(*ast.FuncLit); ok {
		return fn.ChildAt(edge.FuncLit_Body, -1)
	}
	return fn.ChildAt(edge.FuncDecl_Body, -1)
}

// mayEnd reports whether a context comes from one outside c.
func (p *pass) mayEnd(from lineage, c inspector.Cursor) bool {
	outsideOf := func(at inspector.Cursor) bool { return !c.Contains(at) }
	return len(from.requests) > 0 || slices.ContainsFunc(from.derived, outsideOf) || slices.ContainsFunc(from.vars, func(v types.Object) bool { return outside(v, c) })
}

// asksContext reports whether a deferred function looks at a context by itself.
func (p *pass) asksContext(c inspector.Cursor) bool {
	for sel := range c.Preorder((*ast.SelectorExpr)(nil)) {
		if ended.MatchString(objectName(p.info.Uses[sel.Node().(*ast.SelectorExpr).Sel])) {
			return true
		}
	}
	return false
}

// isUndone reports whether a call undoes something after a failure of a call with the same
// context.
func (p *pass) isUndone(c contextCall, from lineage) bool {
	if !p.does(c, undoing) {
		return false
	}
	for test := range c.Enclosing((*ast.IfStmt)(nil), (*ast.FuncLit)(nil)) {
		n, ok := test.Node().(*ast.IfStmt)
		if !ok || p.asksContext(test) {
			return false
		}
		if !p.isFailure(n.Cond) || !test.ChildAt(edge.IfStmt_Body, -1).Contains(c.Cursor) {
			continue
		}
		failed := p.latestValue(test.ChildAt(edge.IfStmt_Cond, -1).ChildAt(edge.BinaryExpr_X, -1))
		if !failed.Valid() {
			continue
		}
		call, isCall := failed.Node().(*ast.CallExpr)
		if isCall && slices.ContainsFunc(call.Args, func(arg ast.Expr) bool { return p.isOf(from, arg) }) {
			return true
		}
	}
	return false
}

// reportReturned reports a context that a function returns, and cancels when it does.
func (p *pass) reportReturned(ret inspector.Cursor) {
	fn := around(ret, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))
	for i, result := range ret.Node().(*ast.ReturnStmt).Results {
		if _, isIdent := result.(*ast.Ident); !isIdent || !isContext(p.info.TypeOf(result)) {
			continue
		}
		from := p.lineage(ret.ChildAt(edge.ReturnStmt_Results, i))
		if from.known && p.defersCancel(fn, ret, from) {
			p.report(ret, "%s has ended when the function returns it: return its cancel, too", types.ExprString(result))
		}
	}
}

// reportOutlives reports a goroutine whose context ends when the function around it returns,
// without waiting for it.
func (p *pass) reportOutlives(c contextCall, s start, from lineage, name string) {
	const advice = "and nothing here waits for this goroutine: use context.WithoutCancel(%[1]s)"
	if handler, ends := p.endsWithRequest(from, s.Cursor); ends {
		if !p.awaits(handler, s.Cursor) {
			p.report(c.Cursor, "%s ends when the handler returns, "+advice, name)
		}
		return
	}
	fn := around(s.Cursor, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))
	if fn.Node() == nil || p.awaits(fn, s.Cursor) {
		return
	}
	is, _ := p.isHandler(fn)
	if p.defersCancel(fn, s.Cursor, from) && (is || p.returnsAtOnce(fn, s)) {
		p.report(c.Cursor, "%s ends when this function returns, "+advice, name)
		return
	}
	decl, ok := fn.Node().(*ast.FuncDecl)
	if ok && p.handlersCall(decl, from) {
		p.report(c.Cursor, "%s ends when the handler returns, "+advice, name)
	}
}

// defersCancel reports whether a function defers the cancellation of a context.
func (p *pass) defersCancel(fn, at inspector.Cursor, from lineage) bool {
	cancelers := p.cancelsOf(from, at)
	for d := range fn.Preorder((*ast.DeferStmt)(nil)) {
		for call := range d.Preorder((*ast.CallExpr)(nil)) {
			id, ok := call.Node().(*ast.CallExpr).Fun.(*ast.Ident)
			if ok && slices.Contains(cancelers, p.info.Uses[id]) && around(d, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) == fn {
				return true
			}
		}
	}
	return false
}

// returnsAtOnce reports whether a function calls nothing behind s that may take long.
func (p *pass) returnsAtOnce(fn inspector.Cursor, s start) bool {
	for c := range fn.Preorder((*ast.CallExpr)(nil)) {
		n := c.Node().(*ast.CallExpr)
		tv := p.info.Types[n.Fun]
		if n.Pos() > s.Node().End() && !tv.IsType() && !tv.IsBuiltin() && !harmless.MatchString(p.callee(n)) {
			return false
		}
	}
	return true
}

// handlersCall reports whether a handler calls a function with the context of its request, or
// with the request.
func (p *pass) handlersCall(decl *ast.FuncDecl, from lineage) bool {
	fn := p.info.Defs[decl.Name].(*types.Func)
	for _, c := range p.calls {
		if typeutil.Callee(p.info, c.CallExpr) != fn || fn.Signature().Variadic() {
			continue
		}
		for i, arg := range c.Args {
			v := fn.Signature().Params().At(i)
			handler, ends := inspector.Cursor{}, false
			switch {
			case isContext(v.Type()) && from.has(v):
				l := p.lineage(c.ChildAt(edge.CallExpr_Args, i))
				handler, ends = p.endsWithRequest(l, c.Cursor)
				ends = ends && l.known
			case slices.ContainsFunc(from.requests, func(request inspector.Cursor) bool { return p.isContextOf(request, v) }):
				handler, ends = p.handlerOf(arg, c.Cursor)
			}
			if ends && !p.awaits(handler, c.Cursor) {
				return true
			}
		}
	}
	return false
}

// handlerOf returns the handler around at whose request an expression is.
func (p *pass) handlerOf(e ast.Expr, at inspector.Cursor) (handler inspector.Cursor, ok bool) {
	v := p.owner(e)
	for fn := range at.Enclosing((*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
		if is, _ := p.isHandler(fn); !is || v == nil {
			continue
		}
		for param := range p.signature(fn).Params().Variables() {
			if param == v && len(p.vars[v].sets) == 1 {
				return fn, true
			}
		}
	}
	return handler, false
}

// reportCanceled reports an operation that cancels the context of its call, so that no retry
// follows.
func (p *pass) reportCanceled(loop *call, from lineage) {
	cancelers := p.cancelsOf(from, loop.op)
	for i, statement := range body(loop.op).List {
		var n *ast.CallExpr
		switch s := statement.(type) {
		case *ast.DeferStmt:
			n = s.Call
		case *ast.ExprStmt:
			n, _ = s.X.(*ast.CallExpr)
		}
		if n == nil {
			continue
		}
		at := bodyOf(loop.op).ChildAt(edge.BlockStmt_List, i)
		id, ok := n.Fun.(*ast.Ident)
		_, deferred := statement.(*ast.DeferStmt)
		fails := p.mayFail(loop.op, at) || deferred && p.returnsErrors(loop.op)
		if ok && fails && slices.Contains(cancelers, p.info.Uses[id]) {
			p.report(at, "the first attempt ends the context of all, so no retry follows: call %s after %s", id.Name, shortName(loop.name))
		}
	}
}

// reportNested reports ctx, cancel = context.WithTimeout(ctx, d) in a loop or an operation, if ctx
// is declared outside and the loop retries with it: each round has the end of the one before.
func (p *pass) reportNested(c inspector.Cursor, calls []contextCall) {
	assign := c.Node().(*ast.AssignStmt)
	if assign.Tok != token.ASSIGN || len(assign.Rhs) != 1 || len(assign.Lhs) != 2 || !cancels.MatchString(p.callee(assign.Rhs[0])) {
		return
	}
	id, ok := assign.Lhs[0].(*ast.Ident)
	if !ok || types.ExprString(firstArg(assign.Rhs[0])) != id.Name {
		return
	}
	again, repeated := p.repeated(c)
	v, _ := p.info.ObjectOf(id).(*types.Var)
	if !repeated || v == nil || !outside(v, again) {
		return
	}
	for _, call := range calls {
		if again.Contains(call.Cursor) && p.isOf(p.lineage(call.ctx), id) || again == opOf(call) {
			p.report(c, "each round derives %s from that of the round before, which has ended: declare it with :=", id.Name)
			return
		}
	}
}

func opOf(c contextCall) inspector.Cursor {
	if c.loop == nil {
		return inspector.Cursor{}
	}
	return c.loop.op
}

// reportContextOfCall reports an operation that ignores its context and uses that of a request outside,
// or the field that the call has its context from.
func (p *pass) reportContextOfCall(loop *call) bool {
	if !ownContext.MatchString(loop.name) || len(loop.Args) == 0 {
		return false
	}
	passed := types.ExprString(loop.Args[0])
	for c := range loop.op.Preorder((*ast.CallExpr)(nil), (*ast.SelectorExpr)(nil)) {
		e := c.Node().(ast.Expr)
		same := isContext(p.info.TypeOf(e)) && types.ExprString(e) == passed
		if call, ok := e.(*ast.CallExpr); ok && p.callee(call) == "net/http.Request.Context" {
			request := p.owner(receiverOf(call))
			same = same || request != nil && outside(request, loop.op)
		}
		if same && p.callee(c.Parent().Node()) != "context.WithoutCancel" {
			p.report(c, "the operation uses %s instead of the context that %s gives it, so the limits of one attempt do not reach it", types.ExprString(e), shortName(loop.name))
			return true
		}
	}
	return false
}

// reportLeftBehind reports a goroutine whose result a function awaits for a time only, without
// ending the context of the goroutine.
func (p *pass) reportLeftBehind(c contextCall, s start, from lineage) {
	fn := around(s.Cursor, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))
	if fn.Node() == nil || len(p.cancelsOf(from, s.Cursor)) > 0 || len(from.derived) > 0 {
		return
	}
	sent := map[types.Object]bool{}
	for send := range s.Preorder((*ast.SendStmt)(nil)) {
		if v := p.owner(send.Node().(*ast.SendStmt).Chan); v != nil {
			sent[v] = true
		}
	}
	for sel := range fn.Preorder((*ast.SelectStmt)(nil)) {
		if s.Contains(sel) || sel.Node().Pos() < s.Node().Pos() || around(sel, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil), (*ast.ForStmt)(nil)) != fn {
			continue
		}
		receives, leaves := false, inspector.Cursor{}
		for recv := range sel.Preorder((*ast.UnaryExpr)(nil)) {
			n := recv.Node().(*ast.UnaryExpr)
			clause, _ := around(recv, (*ast.CommClause)(nil)).Node().(*ast.CommClause)
			if n.Op != token.ARROW || clause == nil || clause.Comm == nil || recv.Node().Pos() > clause.Comm.End() {
				continue
			}
			receives = receives || sent[p.owner(n.X)]
			returns := false
			if len(clause.Body) > 0 {
				_, returns = clause.Body[len(clause.Body)-1].(*ast.ReturnStmt)
			}
			if p.callee(n.X) == "time.After" && returns {
				leaves = recv
			}
		}
		if receives && leaves.Valid() {
			p.report(leaves, "after this time, %s goes on in its goroutine: give it a context of context.WithTimeout", c.name)
			return
		}
	}
}

// reportSent reports a context of a request in a value that a handler sends to a channel, if the
// handler does not wait for an answer.
func (p *pass) reportSent(send inspector.Cursor) {
	value := p.value(send.ChildAt(edge.SendStmt_Value, -1))
	if !value.Valid() {
		return
	}
	if _, isFunc := value.Node().(*ast.FuncLit); isFunc {
		return // the call in it is reported
	}
	for c := range value.Preorder((*ast.Ident)(nil), (*ast.CallExpr)(nil)) {
		if !isContext(p.info.TypeOf(c.Node().(ast.Expr))) || c.ParentEdgeKind() == edge.SelectorExpr_Sel || c.ParentEdgeKind() == edge.KeyValueExpr_Key || p.callee(c.Parent().Node()) != "" {
			continue
		}
		from := p.lineage(c)
		if handler, ends := p.endsWithRequest(from, send); from.known && ends && !p.awaits(handler, send) {
			p.report(c, "%s ends when the handler returns, and nothing here waits for the receiver: use context.WithoutCancel(%[1]s)", types.ExprString(c.Node().(ast.Expr)))
		}
	}
}
