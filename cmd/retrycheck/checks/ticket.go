package checks

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/inspector"
)

const leaveGate = ours + "/admit.Gate.Leave"

// reportEarlyEnd reports a function that enters a Gate and returns before it leaves.
func (p *pass) reportEarlyEnd(enter *call) {
	assign, ok := enter.Parent().Node().(*ast.AssignStmt)
	if !ok || len(assign.Lhs) != 2 {
		return
	}
	ticket, ok := assign.Lhs[0].(*ast.Ident)
	if !ok {
		return
	}
	v := p.info.ObjectOf(ticket)
	fn := p.functionAround(enter.Cursor)
	if v == nil || fn == p.root || outside(v, fn) {
		return
	}
	var left []inspector.Cursor // the statements that leave
	for _, use := range p.vars[v].uses {
		if p.callee(use.Parent().Node()) != leaveGate {
			if blanked(use) {
				continue
			}
			return // something else has the ticket
		}
		statement, ok := statementIn(use, fn)
		if !ok {
			return
		}
		left = append(left, statement)
	}
	if len(left) == 0 {
		if len(p.vars[v].uses) > 0 {
			p.report(enter.Cursor, "nothing leaves the Gate with this ticket, so the request counts as in progress forever: defer Leave right after Enter")
		}
		return
	}
	p.reportLeftWithin(enter, fn, left, p.refusal(assign))
}

// refusal returns the variable that has the error of Enter.
func (p *pass) refusal(assign *ast.AssignStmt) types.Object {
	if id, ok := assign.Lhs[1].(*ast.Ident); ok {
		return p.info.ObjectOf(id)
	}
	return nil
}

// reportLeftWithin reports a return between Enter and the first Leave that comes before it.
func (p *pass) reportLeftWithin(enter *call, fn inspector.Cursor, left []inspector.Cursor, refused types.Object) {
	for end := range fn.Preorder((*ast.ReturnStmt)(nil), (*ast.BranchStmt)(nil)) {
		if branch, ok := end.Node().(*ast.BranchStmt); ok && (branch.Tok != token.CONTINUE || block(end) != block(enter.Cursor)) {
			continue
		}
		if end.Node().Pos() < enter.End() || p.functionAround(end) != fn || p.afterRefusal(end, refused, enter, fn) {
			continue
		}
		left := slices.ContainsFunc(left, func(statement inspector.Cursor) bool { return end.Contains(statement) || isBefore(statement, end) })
		if !left {
			p.report(end, "this ends the request without Leave, so it counts as in progress forever: defer Leave right after Enter")
		}
	}
}

// isBefore reports whether a statement is executed before end, or may be the one of several
// branches that is.
func isBefore(statement, end inspector.Cursor) bool {
	if statement.Node().Pos() > end.Node().Pos() {
		return false
	}
	for e := range statement.Enclosing((*ast.BlockStmt)(nil), (*ast.CaseClause)(nil), (*ast.CommClause)(nil)) {
		if e.Contains(end) {
			return true
		}
		test, isIf := e.Parent().Node().(*ast.IfStmt)
		if isIf && test.Else == nil {
			return false
		}
	}
	return false
}

// afterRefusal reports whether c is in an if statement that asks for the error of Enter, or in a
// block that does not have Enter before it.
func (p *pass) afterRefusal(c inspector.Cursor, refused types.Object, enter *call, fn inspector.Cursor) bool {
	entered := block(enter.Cursor)
	if entered != fn && !entered.Contains(c) {
		return true // behind a loop, or beside it
	}
	for e := range c.Enclosing((*ast.IfStmt)(nil), (*ast.CaseClause)(nil)) {
		if !fn.Contains(e) {
			break
		}
		for id := range e.Preorder((*ast.Ident)(nil)) {
			inCondition := id.Node().Pos() < c.Node().Pos()
			if test, ok := e.Node().(*ast.IfStmt); ok {
				inCondition = test.Cond.Pos() <= id.Node().Pos() && id.Node().Pos() < test.Cond.End()
			}
			if inCondition && refused != nil && p.info.Uses[id.Node().(*ast.Ident)] == refused && p.isLatest(enter, refused, c) {
				return true
			}
		}
	}
	return false
}

// isLatest reports whether a variable has not been set between the call that sets it and c.
func (p *pass) isLatest(from *call, v types.Object, c inspector.Cursor) bool {
	return !slices.ContainsFunc(p.vars[v].sets, func(set inspector.Cursor) bool {
		return set.Node().Pos() > from.End() && set.Node().Pos() < c.Node().Pos()
	})
}

// statementIn returns the statement that is, or defers, a use within a function.
func statementIn(use, fn inspector.Cursor) (statement inspector.Cursor, ok bool) {
	for e := range use.Enclosing((*ast.ExprStmt)(nil), (*ast.DeferStmt)(nil), (*ast.GoStmt)(nil), (*ast.ReturnStmt)(nil), (*ast.AssignStmt)(nil)) {
		if around(e, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) == fn {
			return e, true
		}
	}
	return statement, false
}
