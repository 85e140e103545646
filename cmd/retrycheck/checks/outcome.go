package checks

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// reportOutcomes reports code that takes another error for that of Do, loses it, or uses a value
// before it looks at the error.
func (p *pass) reportOutcomes() {
	for _, loop := range p.loops {
		if !retriers.MatchString(loop.name) {
			continue
		}
		p.reportRaw(loop)
		p.reportOverwritten(loop)
		p.reportReplaced(loop)
		p.reportEarlyUse(loop)
		p.reportNilValue(loop)
	}
	for c := range p.root.Preorder((*ast.IfStmt)(nil)) {
		p.reportOtherError(c)
	}
	for _, c := range p.calls {
		p.reportUnasked(c)
	}
}

// resultAt returns the variable that a statement sets to the last result of a call but i, such as
// err of v, err := f() for 0. It is nil for _.
func (p *pass) resultAt(c inspector.Cursor, i int) (v *types.Var, isSet bool) {
	assign, ok := c.Parent().Node().(*ast.AssignStmt)
	if !ok || len(assign.Rhs) != 1 || len(assign.Lhs) <= i {
		return nil, false
	}
	id, ok := assign.Lhs[len(assign.Lhs)-1-i].(*ast.Ident)
	if !ok {
		return nil, false
	}
	v, _ = p.info.ObjectOf(id).(*types.Var)
	return v, true
}

// isOfAttempts reports whether a variable is zero until an operation sets it.
func (p *pass) isOfAttempts(v *types.Var, op inspector.Cursor) bool {
	if !outside(v, op) || v.Kind() != types.LocalVar && v.Kind() != types.ResultVar || len(p.vars[v].sets) < 2 {
		return false
	}
	declared := p.vars[v].sets[0]
	if declared.ParentEdgeKind() == edge.AssignStmt_Lhs || valueSet(declared).Valid() {
		return false
	}
	return !slices.ContainsFunc(p.vars[v].sets[1:], func(set inspector.Cursor) bool { return !op.Contains(set) })
}

// reportRaw reports an error that an operation sets, and that is read instead of that of Do: it
// is nil if there was no attempt.
func (p *pass) reportRaw(loop *call) {
	result, isSet := p.resultAt(loop.Cursor, 0)
	if !loop.op.Valid() || !isSet || result != nil && result.Name() != "_" && !p.isOnlyLogged(result) {
		return
	}
	for c := range loop.op.Preorder((*ast.AssignStmt)(nil)) {
		for _, target := range c.Node().(*ast.AssignStmt).Lhs {
			id, ok := target.(*ast.Ident)
			if !ok || !p.isError(id) {
				continue
			}
			v, ok := p.info.ObjectOf(id).(*types.Var)
			if ok && p.isOfAttempts(v, loop.op) && p.isReadAfter(v, loop.End()) {
				p.report(loop.Cursor, "%s is nil if no attempt was made, as after a success: use the error of %s instead", v.Name(), shortName(loop.name))
				return
			}
		}
	}
}

// isOnlyLogged reports whether an error is only given to functions for their effect.
func (p *pass) isOnlyLogged(err *types.Var) bool {
	return len(p.vars[err].sets) == 1 && !slices.ContainsFunc(p.vars[err].uses, func(use inspector.Cursor) bool {
		statement := around(use, (*ast.ExprStmt)(nil), (*ast.FuncLit)(nil), (*ast.ReturnStmt)(nil), (*ast.AssignStmt)(nil), (*ast.IfStmt)(nil), (*ast.SwitchStmt)(nil), (*ast.SendStmt)(nil))
		_, ok := statement.Node().(*ast.ExprStmt)
		return !ok
	})
}

// reportOtherError reports return last in if err := Do(...); err != nil, if last is nil there, or
// may be.
func (p *pass) reportOtherError(c inspector.Cursor) {
	n := c.Node().(*ast.IfStmt)
	if !p.isFailure(n.Cond) {
		return
	}
	failed := c.ChildAt(edge.IfStmt_Cond, -1).ChildAt(edge.BinaryExpr_X, -1)
	o := p.origin(failed)
	id, isIdent := failed.Node().(*ast.Ident)
	if len(o.loops) == 0 || !isIdent {
		return
	}
	block := c.ChildAt(edge.IfStmt_Body, -1)
	for i, statement := range n.Body.List {
		ret, ok := statement.(*ast.ReturnStmt)
		if !ok || len(ret.Results) == 0 {
			continue
		}
		last := block.ChildAt(edge.BlockStmt_List, i).ChildAt(edge.ReturnStmt_Results, len(ret.Results)-1)
		other, ok := last.Node().(*ast.Ident)
		if !ok || !p.isError(other) {
			continue
		}
		v, ok := p.info.Uses[other].(*types.Var)
		if !ok || v == p.info.Uses[id] || v.Kind() == types.PackageVar {
			continue
		}
		ofAttempts := slices.ContainsFunc(o.loops, func(loop *call) bool { return loop.op.Valid() && p.isOfAttempts(v, loop.op) })
		switch {
		case ofAttempts && !p.isCompared(v):
			p.report(last, "%s is nil if no attempt was made, as after a success: return %s", v.Name(), id.Name)
		case p.isKnownNil(last, v):
			p.report(last, "%s is nil here, as after a success: return %s", v.Name(), id.Name)
		}
	}
}

// isCompared reports whether something compares a variable.
func (p *pass) isCompared(v *types.Var) bool {
	return slices.ContainsFunc(p.vars[v].uses, func(use inspector.Cursor) bool { return compares(use.Parent()) })
}

// isKnownNil reports whether the function has returned before c if an error is not nil, and sets
// it nowhere else after that.
func (p *pass) isKnownNil(c inspector.Cursor, v *types.Var) bool {
	value := p.latestValue(c)
	if !value.Valid() {
		return false
	}
	for _, use := range p.vars[v].uses {
		test, ok := use.Parent().Parent().Node().(*ast.IfStmt)
		if !ok || !p.isFailure(test.Cond) || test.Else != nil || len(test.Body.List) == 0 {
			continue
		}
		statement := use.Parent().Parent()
		_, leaves := test.Body.List[len(test.Body.List)-1].(*ast.ReturnStmt)
		before := value.Node().Pos() < use.Node().Pos() && test.End() < c.Node().Pos()
		if leaves && before && statement.ParentEdgeKind() == edge.BlockStmt_List && statement.Parent().Contains(c) && !p.setBetween(v, value.Node().End(), c.Node().Pos()) {
			return true
		}
	}
	return false
}

// setBetween reports whether something sets a variable between two positions.
func (p *pass) setBetween(v *types.Var, from, to token.Pos) bool {
	return slices.ContainsFunc(p.vars[v].sets, func(set inspector.Cursor) bool {
		return set.Node().Pos() > from && set.Node().Pos() < to
	})
}

// reportOverwritten reports the error of a call that the next statement which has it sets again,
// and that each round of a loop sets again.
func (p *pass) reportOverwritten(loop *call) {
	err, _ := p.resultAt(loop.Cursor, 0)
	if err == nil || err.Name() == "_" || p.usedInFunctions(err) {
		return
	}
	statement := loop.Parent()
	if next := p.nextOf(err, statement.Node().End()); next.Valid() && slices.Contains(p.vars[err].sets, next) {
		value := givenAt(next)
		together := next.Parent().ParentEdgeKind() == edge.BlockStmt_List && next.Parent().Parent() == statement.Parent()
		if together && value.Valid() && !p.info.Types[value.Node().(ast.Expr)].IsNil() && !p.isMentionedIn(value, err) {
			p.report(loop.Cursor, "the error of %s is overwritten before anything looks at it", shortName(loop.name))
		}
		return
	}
	again := block(loop.Cursor)
	switch again.Node().(type) {
	case *ast.ForStmt, *ast.RangeStmt:
	default:
		return
	}
	usedInside := slices.ContainsFunc(p.vars[err].uses, again.Contains)
	usedAfter := slices.ContainsFunc(p.vars[err].uses, func(use inspector.Cursor) bool { return use.Node().Pos() > again.Node().End() })
	if outside(err, again) && !usedInside && usedAfter && !ends(statement.Parent()) {
		p.report(loop.Cursor, "each round overwrites the error of the one before, so only the last is seen: look at it in the loop, or use errors.Join")
	}
}

// usedInFunctions reports whether a function literal inside of a variable's function has it.
func (p *pass) usedInFunctions(v *types.Var) bool {
	all := p.vars[v]
	fn := around(all.sets[0], (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))
	return slices.ContainsFunc(slices.Concat(all.uses, all.sets), func(c inspector.Cursor) bool {
		return around(c, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) != fn
	})
}

// nextOf returns the next place behind a position that uses or sets a variable.
func (p *pass) nextOf(v *types.Var, after token.Pos) (next inspector.Cursor) {
	for _, c := range slices.Concat(p.vars[v].uses, p.vars[v].sets) {
		if c.Node().Pos() > after && (!next.Valid() || c.Node().Pos() < next.Node().Pos()) {
			next = c
		}
	}
	return next
}

// isMentionedIn reports whether c itself has an identifier of an object.
func (p *pass) isMentionedIn(c inspector.Cursor, thing types.Object) bool {
	for id := range c.Preorder((*ast.Ident)(nil)) {
		if p.info.Uses[id.Node().(*ast.Ident)] == thing {
			return true
		}
	}
	return false
}

// reportReplaced reports a deferred function that sets the error of the function around it to that
// of a call, whatever it was.
func (p *pass) reportReplaced(loop *call) {
	err, _ := p.resultAt(loop.Cursor, 0)
	lit := around(loop.Cursor, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))
	if err == nil || err.Kind() != types.ResultVar || lit.ParentEdgeKind() != edge.CallExpr_Fun || lit.Parent().ParentEdgeKind() != edge.DeferStmt_Call {
		return
	}
	fn := around(lit.Parent(), (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))
	if !outside(err, lit) || slices.ContainsFunc(p.vars[err].uses, lit.Contains) {
		return
	}
	if _, inIf := around(loop.Cursor, (*ast.IfStmt)(nil), (*ast.FuncLit)(nil)).Node().(*ast.IfStmt); inIf {
		return
	}
	fails := slices.ContainsFunc(p.vars[err].sets[1:], func(set inspector.Cursor) bool { return !lit.Contains(set) })
	for ret := range fn.Preorder((*ast.ReturnStmt)(nil)) {
		last, given := ret.LastChild()
		inFn := around(ret, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) == fn
		fails = fails || inFn && given && !p.info.Types[last.Node().(ast.Expr)].IsNil()
	}
	if fails {
		p.report(loop.Cursor, "this replaces the error that the function returns, also by nil: use errors.Join(%s, ...)", err.Name())
	}
}

// reportEarlyUse reports a value of an operation that is used, although it may be nil, before
// anything looks at the error of the call.
func (p *pass) reportEarlyUse(loop *call) {
	err, isSet := p.resultAt(loop.Cursor, 0)
	if !isSet {
		return
	}
	var values []*types.Var
	if v, _ := p.resultAt(loop.Cursor, 1); v != nil && v.Name() != "_" {
		values = append(values, v)
	}
	if loop.op.Valid() && err != nil && err.Name() != "_" {
		values = append(values, p.setByAttempts(loop)...)
	}
	looked := token.Pos(0)
	if err != nil && err.Name() != "_" {
		looked = p.lookedAt(err, loop.Parent().Node().End())
	}
	for _, v := range values {
		if !mayBeNil(v.Type()) || p.isCompared(v) {
			continue
		}
		for _, use := range p.vars[v].uses {
			early := use.Node().Pos() > loop.Parent().Node().End() && (looked == 0 || use.Node().Pos() < looked)
			if early && p.selectsOf(use) {
				p.report(use, "%s may be nil if %s failed: look at its error first", v.Name(), shortName(loop.name))
				break
			}
		}
	}
}

// lookedAt returns the position behind another one at which something asks whether an error is nil,
// or passes it on, or 0. errors.Is and errors.As only ask for some errors.
func (p *pass) lookedAt(err *types.Var, after token.Pos) (first token.Pos) {
	for _, c := range slices.Concat(p.vars[err].uses, p.vars[err].sets) {
		at := c.Node().Pos()
		if at > after && (first == 0 || at < first) && !strings.HasPrefix(p.callee(c.Parent().Node()), "errors.") {
			first = at
		}
	}
	return first
}

// setByAttempts returns the variables that are zero until an operation sets them.
func (p *pass) setByAttempts(loop *call) (all []*types.Var) {
	for c := range loop.op.Preorder((*ast.AssignStmt)(nil)) {
		for _, target := range c.Node().(*ast.AssignStmt).Lhs {
			id, ok := target.(*ast.Ident)
			if !ok {
				continue
			}
			if v, ok := p.info.ObjectOf(id).(*types.Var); ok && p.isOfAttempts(v, loop.op) && !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
	}
	return all
}

// mayBeNil reports whether a selector of a nil value of a type panics.
func mayBeNil(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Pointer:
		return true
	case *types.Interface:
		return !types.Implements(t, errorType)
	}
	return false
}

// reportUnasked reports errors.As whose result nothing asks for, if the target is used as if it
// were set. In a classifier, Dropped reports it for all errors.
func (p *pass) reportUnasked(c *call) {
	if c.name != "errors.As" && c.name != "errors.AsType" || len(c.Args) == 0 || p.inClassifier(c.Cursor) && c.ParentEdgeKind() == edge.ExprStmt_X {
		return
	}
	ofDo := len(p.origin(c.ChildAt(edge.CallExpr_Args, 0)).loops) > 0
	if t := p.asked(c.CallExpr); t == nil || !ofDo && typeName(t) != ours+".Error" || !mayBeNil(t) {
		return
	}
	trusts := false
	if c.name == "errors.As" {
		ignored := c.ParentEdgeKind() == edge.ExprStmt_X || isDiscarded(c.Cursor)
		trusts = ignored && p.trusts(c)
	} else if assign, ok := c.Parent().Node().(*ast.AssignStmt); ok && len(assign.Lhs) == 2 && types.ExprString(assign.Lhs[1]) == "_" {
		v, _ := p.resultAt(c.Cursor, 1)
		trusts = v != nil && !p.isCompared(v) && slices.ContainsFunc(p.vars[v].uses, func(use inspector.Cursor) bool {
			name, _ := field(use)
			return name != ""
		})
	}
	if trusts {
		p.report(c.Cursor, "the target is nil unless the error has this type, which a success or another failure has not: ask for the result of %s", c.name)
	}
}
