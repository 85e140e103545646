package checks

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// starts returns the statements and calls in c that start a function literal, and the literals.
func (p *pass) starts(c inspector.Cursor) (all []started) {
	for lit := range c.Preorder((*ast.FuncLit)(nil)) {
		kind, parent := lit.ParentEdgeKind(), lit.Parent()
		switch {
		case kind == edge.CallExpr_Fun && parent.ParentEdgeKind() == edge.GoStmt_Call:
			all = append(all, started{parent.Parent(), lit})
		case kind == edge.CallExpr_Args && starters.MatchString(p.callee(parent.Node())):
			all = append(all, started{parent, lit})
		}
	}
	return all
}

// A started function runs at the same time as the code around it.
type started struct{ at, lit inspector.Cursor }

// reportUnawaited reports what a goroutine sets with Do, and the function around it reads without
// waiting for the goroutine.
func (p *pass) reportUnawaited() {
	for _, s := range p.starts(p.root) {
		fn := around(s.at, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))
		if fn.Node() == nil || p.locks(fn) {
			continue
		}
		waited := p.awaitedAt(fn, s.at)
		for c := range s.lit.Preorder((*ast.AssignStmt)(nil)) {
			for i, target := range c.Node().(*ast.AssignStmt).Lhs {
				value := givenAt(c.ChildAt(edge.AssignStmt_Lhs, i))
				byDo := slices.ContainsFunc(p.loops, func(loop *call) bool {
					return loop.Cursor == value || loop.op.Valid() && s.lit.Contains(loop.op) && loop.op.Contains(c)
				})
				byDo = byDo || value.Valid() && len(p.origin(value).loops) > 0
				id, ok := target.(*ast.Ident)
				if !byDo || !ok || id.Name == "_" {
					continue
				}
				v, ok := p.info.ObjectOf(id).(*types.Var)
				if ok && outside(v, s.lit) && v.Kind() != types.PackageVar && p.isReadIn(fn, v, s.at, waited) {
					p.report(c, "%s is read before this goroutine has set it, because nothing waits for the goroutine", id.Name)
				}
			}
		}
	}
}

// isReadIn reports whether a function itself reads a variable behind what starts a goroutine, and
// before the place where it waits.
func (p *pass) isReadIn(fn inspector.Cursor, v *types.Var, start inspector.Cursor, waited token.Pos) bool {
	return slices.ContainsFunc(p.vars[v].uses, func(use inspector.Cursor) bool {
		return use.Node().Pos() > start.Node().End() && use.Node().Pos() < waited && around(use, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) == fn && !isDiscarded(use)
	})
}

// reportNotSent reports a goroutine that sends nothing after a failure, if the function that starts it
// receives once for each goroutine.
func (p *pass) reportNotSent(fn inspector.Cursor, s started) {
	for send := range s.lit.Preorder((*ast.SendStmt)(nil)) {
		v := p.owner(send.Node().(*ast.SendStmt).Chan)
		if v == nil || !outside(v, s.lit) || outside(v, fn) || send.ParentEdgeKind() != edge.BlockStmt_List || send.Parent().Parent() != s.lit {
			continue
		}
		sends, counted := 0, false
		for _, use := range p.vars[v].uses {
			switch {
			case s.lit.Contains(use):
				sends++
			case use.ParentEdgeKind() == edge.UnaryExpr_X && isLoop(around(use, (*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.SelectStmt)(nil), (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))):
				counted = true
			default:
				sends = 2 // such as close
			}
		}
		if sends != 1 || !counted {
			continue
		}
		for ret := range s.lit.Preorder((*ast.ReturnStmt)(nil)) {
			test, ok := ret.Parent().Parent().Node().(*ast.IfStmt)
			inLit := around(ret, (*ast.FuncLit)(nil)) == s.lit
			if ok && inLit && p.isFailure(test.Cond) && ret.Node().Pos() < send.Node().Pos() {
				p.report(ret, "after a failure this goroutine sends nothing, and the function waits for it forever: send the error, too")
				return
			}
		}
	}
}

// reportLeft reports goroutines that an operation starts and leaves: one that has the context of
// an attempt with an AttemptTimeout, and one that nobody receives from after a timeout.
func (p *pass) reportLeft(loop *call) {
	params := p.signature(loop.op).Params()
	for _, s := range p.starts(loop.op) {
		p.reportUnreceived(loop.op, s, "the operation has returned, so each such attempt leaves a goroutine")
		if !p.timed(loop) || params.Len() == 0 || !isContext(params.At(0).Type()) || p.awaits(loop.op, s.at) {
			continue
		}
		for _, use := range p.vars[params.At(0)].uses {
			detached := p.callee(use.Parent().Node()) == "context.WithoutCancel"
			if s.at.Contains(use) && !detached {
				p.report(s.at, "the AttemptTimeout of the policy cancels %s when the operation returns, and the operation does not wait for this goroutine", params.At(0).Name())
				break
			}
		}
	}
}

// reportUnreceived reports a goroutine that sends to a channel without a buffer, if the function
// that starts it receives only in a select that something else may end, or may stop to receive.
func (p *pass) reportUnreceived(fn inspector.Cursor, s started, when string) {
	for send := range s.lit.Preorder((*ast.SendStmt)(nil)) {
		id, ok := send.Node().(*ast.SendStmt).Chan.(*ast.Ident)
		if !ok || send.ParentEdgeKind() == edge.CommClause_Comm {
			continue
		}
		v, ok := p.info.Uses[id].(*types.Var)
		if !ok || outside(v, fn) || !outside(v, s.lit) {
			continue
		}
		made := p.declared(v)
		if !made.Valid() || !p.isUnbuffered(made.Node()) || len(p.vars[v].sets) != 1 {
			continue
		}
		left := false
		for _, use := range p.vars[v].uses {
			sends := use.ParentEdgeKind() == edge.SendStmt_Chan
			gives := isGivenUp(use, v)
			if !sends && !gives {
				left = false
				break
			}
			left = left || gives
		}
		if left {
			p.report(send, "nothing receives this once %s: make %s with a buffer", when, id.Name)
		}
	}
}

// isUnbuffered reports whether an expression makes a channel without a buffer.
func (p *pass) isUnbuffered(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok || !p.info.Types[call.Fun].IsBuiltin() || len(call.Args) != 1 {
		return false
	}
	_, isChan := p.info.TypeOf(call).Underlying().(*types.Chan)
	return isChan
}

// isGivenUp reports whether a use of a channel receives from it in a select statement with another
// case that returns, or in a loop that may end early.
func isGivenUp(use inspector.Cursor, v *types.Var) bool {
	receive, ok := use.Parent().Node().(*ast.UnaryExpr)
	if !ok || receive.Op != token.ARROW {
		return false
	}
	if again := around(use, (*ast.RangeStmt)(nil), (*ast.ForStmt)(nil), (*ast.SelectStmt)(nil), (*ast.FuncLit)(nil)); isLoop(again) {
		return outside(v, again) && ends(again)
	}
	clause := around(use, (*ast.CommClause)(nil), (*ast.FuncLit)(nil))
	n, ok := clause.Node().(*ast.CommClause)
	if !ok || n.Comm == nil || use.Node().Pos() > n.Comm.End() {
		return false
	}
	for _, other := range clause.Parent().Node().(*ast.BlockStmt).List {
		body := other.(*ast.CommClause).Body
		if other == n || len(body) == 0 {
			continue
		}
		if _, returns := body[len(body)-1].(*ast.ReturnStmt); returns {
			return true
		}
	}
	return false
}

func isLoop(c inspector.Cursor) bool {
	switch c.Node().(type) {
	case *ast.ForStmt, *ast.RangeStmt:
		return true
	}
	return false
}

// What takes a lock, and what gives it back, by its name.
var (
	taking = names(`sync\.(Mutex|RWMutex|Locker)\.R?Lock`)
	giving = names(`.*[uU]nlock\w*`)
)

// reportKeptLock reports a lock that an operation takes and does not give back when it fails.
func (p *pass) reportKeptLock(loop *call) {
	for i, statement := range body(loop.op).List {
		s, ok := statement.(*ast.ExprStmt)
		if !ok || !taking.MatchString(p.callee(s.X)) {
			continue
		}
		mutex := receiverOf(s.X)
		v := p.owner(mutex)
		if v == nil || !p.survives(v, loop.op) {
			continue
		}
		given := p.firstGiven(loop.op, s.End())
		at := bodyOf(loop.op).ChildAt(edge.BlockStmt_List, i)
		for ret := range loop.op.Preorder((*ast.ReturnStmt)(nil)) {
			last, hasValue := ret.LastChild()
			fails := hasValue && !p.info.Types[last.Node().(ast.Expr)].IsNil()
			inOp := around(ret, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) == loop.op
			if fails && inOp && ret.Node().Pos() > s.End() && (given == token.NoPos || ret.Node().Pos() < given) {
				p.report(at, "a failed attempt keeps %[1]s locked, so a retry waits forever: defer %[1]s.Unlock()", types.ExprString(mutex))
				break
			}
		}
	}
}

// firstGiven returns the position of the first call behind another one that unlocks something, or
// whose result of another function may be one that does.
func (p *pass) firstGiven(op inspector.Cursor, after token.Pos) token.Pos {
	first := token.NoPos
	for id := range op.Preorder((*ast.Ident)(nil)) {
		at := id.Node().Pos()
		if at > after && giving.MatchString(id.Node().(*ast.Ident).Name) && (first == token.NoPos || at < first) {
			first = at
		}
	}
	return first
}

// reportTimeouts reports an operation that makes the end of an attempt permanent, or a success.
func (p *pass) reportTimeouts(loop *call) {
	if !ownContext.MatchString(loop.name) || !retriers.MatchString(loop.name) || !p.timed(loop) && !p.limitsItself(loop.op) {
		return
	}
	params := p.signature(loop.op).Params()
	for ret := range loop.op.Preorder((*ast.ReturnStmt)(nil)) {
		last, given := ret.LastChild()
		if !given || around(ret, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) != loop.op || params.Len() == 0 || !p.onlyAfterTimeout(ret, params.At(0), p.timed(loop)) {
			continue
		}
		switch {
		case p.info.Types[last.Node().(ast.Expr)].IsNil():
			p.report(ret, "an attempt that took too long passes for a success here: return its error")
		case final.MatchString(p.callee(last.Node())):
			p.report(ret, "this also ends the call after an attempt that took too long, which is never retried: return the error without a marker")
		}
	}
}

// limitsItself reports whether an operation limits its attempt by itself.
func (p *pass) limitsItself(op inspector.Cursor) bool {
	return slices.ContainsFunc(p.calls, func(c *call) bool {
		return op.Contains(c.Cursor) && (c.name == "context.WithTimeout" || c.name == "context.WithDeadline")
	})
}

// onlyAfterTimeout reports whether a statement is reached only if the context of an attempt has
// ended, or an error says that a deadline has passed.
func (p *pass) onlyAfterTimeout(ret inspector.Cursor, ctx *types.Var, timed bool) bool {
	attempt := lineage{}
	if timed {
		attempt.vars = []types.Object{ctx}
	}
	switch n := ret.Parent().Parent().Node().(type) {
	case *ast.IfStmt:
		return ret.Parent().ParentEdgeKind() == edge.IfStmt_Body && (p.asksForDeadline(n.Cond) || p.asksWhetherEnded(n.Cond, token.NEQ, attempt))
	}
	switch n := ret.Parent().Node().(type) {
	case *ast.CommClause:
		return n.Comm != nil && p.receivesDone(n.Comm, attempt)
	case *ast.CaseClause:
		return slices.ContainsFunc(n.List, p.asksForDeadline)
	}
	return false
}

// asksForDeadline reports whether a condition is true for every error of a passed deadline.
func (p *pass) asksForDeadline(e ast.Expr) bool {
	switch n := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		return n.Op == token.LOR && (p.asksForDeadline(n.X) || p.asksForDeadline(n.Y))
	case *ast.CallExpr:
		return p.callee(n) == "errors.Is" && objectName(p.info.Uses[lastName(n.Args[1])]) == "context.DeadlineExceeded"
	}
	return false
}
