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

// reportLost reports results that an operation, or the statement that calls it, gives to
// another variable than the one that the code around it reads.
func (p *pass) reportLost() {
	for c := range p.root.Preorder((*ast.AssignStmt)(nil)) {
		n := c.Node().(*ast.AssignStmt)
		for i := range n.Lhs {
			at := c.ChildAt(edge.AssignStmt_Lhs, i)
			if n.Tok == token.DEFINE {
				p.reportShadow(at, c)
				p.reportUnmarked(at)
			}
		}
	}
	for _, loop := range p.operations {
		for c := range loop.op.Preorder((*ast.AssignStmt)(nil), (*ast.IncDecStmt)(nil)) {
			for _, target := range targets(c.Node()) {
				p.reportSetCopy(loop, c, target)
			}
		}
	}
}

// reportShadow reports x in x, err := f() if it hides an x that is read later and that nothing
// sets, so that it is always zero. Of copy := x, it reports that copy is set instead of x.
func (p *pass) reportShadow(at, statement inspector.Cursor) {
	id, ok := at.Node().(*ast.Ident)
	if !ok {
		return
	}
	hiding, ok := p.info.Defs[id].(*types.Var)
	if !ok {
		return
	}
	loop := p.operationAround(at)
	value := givenAt(at)
	_, isCall := value.Node().(*ast.CallExpr)
	isLoop := slices.ContainsFunc(p.loops, func(l *call) bool { return l.Cursor == value })
	ofDo := loop == nil && !isLoop && value.Valid() && p.isError(id) && p.callee(value.Node()) == "fmt.Errorf" && len(p.origin(value).loops) > 0
	if loop == nil && !isLoop && !ofDo {
		return
	}
	if from, isIdent := value.Node().(*ast.Ident); isIdent && loop != nil {
		from, isVar := p.info.Uses[from].(*types.Var)
		if isVar && p.isStruct(from.Type()) && outside(from, loop.op) && p.staysZero(from) && p.isReadAfter(from, loop.End()) && p.isOnlySet(hiding) {
			p.report(at, "%s is a copy, so %s stays zero: set %[2]s itself", id.Name, from.Name())
		}
		return
	}
	hidden := hiddenBy(hiding)
	if hidden == nil || !types.Identical(hidden.Type(), hiding.Type()) {
		return
	}
	isNew := !isCall || p.info.Types[value.Node().(*ast.CallExpr).Fun].IsType() // perhaps something else of the same name
	zero := p.staysZero(hidden) || p.staysEmpty(hidden)
	if zero && p.isReadAfter(hidden, statement.Node().End()) && (!isNew || p.returnsLater(hidden, statement.Node().End())) {
		p.report(at, "this declares another %s, and the one outside stays zero: write = instead of :=", id.Name)
	}
}

// operationAround returns the call whose operation contains c, or nil.
func (p *pass) operationAround(c inspector.Cursor) *call {
	i := slices.IndexFunc(p.operations, func(loop *call) bool { return loop.op.Contains(c) })
	if i < 0 {
		return nil
	}
	return p.operations[i]
}

// givenAt returns what a statement assigns at c; of v, err := f(), it is f() for both.
func givenAt(c inspector.Cursor) inspector.Cursor {
	if assign, ok := c.Parent().Node().(*ast.AssignStmt); ok && len(assign.Rhs) == 1 {
		return c.Parent().ChildAt(edge.AssignStmt_Rhs, 0)
	}
	return valueSet(c)
}

// hiddenBy returns the variable of a function that one of the same name hides, or nil.
func hiddenBy(v *types.Var) *types.Var {
	if v.Name() == "_" || v.Parent() == nil || v.Parent().Parent() == nil {
		return nil
	}
	_, obj := v.Parent().Parent().LookupParent(v.Name(), v.Pos())
	hidden, ok := obj.(*types.Var)
	if !ok || hidden.Kind() == types.PackageVar {
		return nil
	}
	return hidden
}

// staysZero reports whether a variable is declared without a value, or with zero, and nothing
// sets it or a part of it.
func (p *pass) staysZero(v *types.Var) bool {
	sets := p.vars[v].sets
	if len(sets) != 1 || p.mutates(v) {
		return false
	}
	switch sets[0].ParentEdgeKind() {
	case edge.Field_Names:
		return v.Kind() == types.ResultVar
	case edge.ValueSpec_Names, edge.AssignStmt_Lhs:
		value := valueSet(sets[0])
		spec, isSpec := sets[0].Parent().Node().(*ast.ValueSpec)
		return isSpec && len(spec.Values) == 0 || value.Valid() && p.isZeroValue(value.Node().(ast.Expr))
	}
	return false
}

// staysEmpty reports whether a variable points to an empty struct, which nothing else gets.
func (p *pass) staysEmpty(v *types.Var) bool {
	declared := p.declared(v)
	if !declared.Valid() || len(p.vars[v].sets) != 1 {
		return false
	}
	address, ok := declared.Node().(*ast.UnaryExpr)
	if !ok || address.Op != token.AND || !p.isZeroValue(address.X) {
		return false
	}
	return !slices.ContainsFunc(p.vars[v].uses, func(use inspector.Cursor) bool {
		if use.ParentEdgeKind() == edge.ReturnStmt_Results {
			return false
		}
		sel, isSelector := use.Parent().Node().(*ast.SelectorExpr)
		if !isSelector {
			return true
		}
		_, isField := p.info.Uses[sel.Sel].(*types.Var)
		return !isField
	})
}

// returnsLater reports whether a function returns a variable behind a position.
func (p *pass) returnsLater(v *types.Var, end token.Pos) bool {
	return v.Kind() == types.ResultVar || slices.ContainsFunc(p.vars[v].uses, func(use inspector.Cursor) bool {
		return use.Node().Pos() > end && use.ParentEdgeKind() == edge.ReturnStmt_Results
	})
}

// isZeroValue reports whether an expression is a constant such as "", nil, or T{}.
func (p *pass) isZeroValue(e ast.Expr) bool {
	if lit, ok := e.(*ast.CompositeLit); ok {
		return len(lit.Elts) == 0 && p.isStruct(p.info.TypeOf(lit))
	}
	tv := p.info.Types[e]
	if tv.Value == nil {
		return tv.IsNil()
	}
	switch tv.Value.Kind() {
	case constant.Bool:
		return !constant.BoolVal(tv.Value)
	case constant.String:
		return constant.StringVal(tv.Value) == ""
	case constant.Int, constant.Float:
		return constant.Sign(tv.Value) == 0
	}
	return false
}

func (p *pass) isStruct(t types.Type) bool {
	_, ok := t.Underlying().(*types.Struct)
	return ok
}

// mutates reports whether a method is called that may set the variable that it is called on.
func (p *pass) mutates(v *types.Var) bool {
	if _, isPointer := v.Type().Underlying().(*types.Pointer); isPointer {
		return false
	}
	return slices.ContainsFunc(p.vars[v].uses, func(use inspector.Cursor) bool {
		for within[use.ParentEdgeKind()] {
			use = use.Parent()
			sel, ok := use.Node().(*ast.SelectorExpr)
			if !ok {
				continue
			}
			if method, isMethod := p.info.Uses[sel.Sel].(*types.Func); isMethod {
				_, byPointer := method.Signature().Recv().Type().(*types.Pointer)
				return byPointer
			}
		}
		return false
	})
}

// isReadAfter reports whether a variable is read behind a position in its function, such as by
// a return without values.
func (p *pass) isReadAfter(v *types.Var, end token.Pos) bool {
	declared := p.vars[v].sets[0]
	fn := around(declared, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))
	for _, use := range p.vars[v].uses {
		inside := around(use, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) == fn
		if use.Node().Pos() > end && (inside || v.Kind() != types.ResultVar) && !isDiscarded(use) { // a return sets a result before what it defers
			return true
		}
	}
	if v.Kind() != types.ResultVar {
		return false
	}
	for ret := range fn.Preorder((*ast.ReturnStmt)(nil)) {
		naked := len(ret.Node().(*ast.ReturnStmt).Results) == 0
		if naked && ret.Node().Pos() > end && around(ret, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) == fn {
			return true
		}
	}
	return false
}

// isDiscarded reports whether c is in a statement such as _ = v.
func isDiscarded(c inspector.Cursor) bool {
	assign, ok := c.Parent().Node().(*ast.AssignStmt)
	return ok && len(assign.Lhs) == 1 && types.ExprString(assign.Lhs[0]) == "_"
}

// isOnlySet reports whether a variable is set, in a part or through its address, and nothing
// else is done with it.
func (p *pass) isOnlySet(v *types.Var) bool {
	onlySet := !slices.ContainsFunc(p.vars[v].uses, func(use inspector.Cursor) bool {
		address, ok := use.Parent().Node().(*ast.UnaryExpr)
		return !ok || address.Op != token.AND || use.Parent().ParentEdgeKind() != edge.CallExpr_Args
	})
	return onlySet && len(p.vars[v].sets) > 1
}

// reportUnmarked reports err := retry.Permanent(err) if the operation returns the err outside,
// which has no marker.
func (p *pass) reportUnmarked(at inspector.Cursor) {
	id, ok := at.Node().(*ast.Ident)
	if !ok {
		return
	}
	hiding, ok := p.info.Defs[id].(*types.Var)
	value := givenAt(at)
	if !ok || !value.Valid() || !pure.MatchString(p.callee(value.Node())) {
		return
	}
	hidden := hiddenBy(hiding)
	if hidden == nil || !p.isError(id) {
		return
	}
	marks := false
	for used := range value.Preorder((*ast.Ident)(nil)) {
		marks = marks || p.info.Uses[used.Node().(*ast.Ident)] == hidden
	}
	logged := !slices.ContainsFunc(p.vars[hiding].uses, func(use inspector.Cursor) bool {
		_, inStatement := around(use, (*ast.ExprStmt)(nil), (*ast.ReturnStmt)(nil), (*ast.AssignStmt)(nil), (*ast.SendStmt)(nil), (*ast.FuncLit)(nil)).Node().(*ast.ExprStmt)
		return !inStatement
	})
	if marks && logged && p.isReadAfter(hidden, at.Parent().Parent().Node().End()) {
		p.report(at, "this declares another %s, and the one outside has no marker: write = instead of :=", id.Name)
	}
}

// reportSetCopy reports a parameter, a receiver that is no pointer, or the variable of a range
// statement that an operation sets, if nothing reads what it sets.
func (p *pass) reportSetCopy(loop *call, statement inspector.Cursor, target ast.Expr) {
	v := p.ownerOfValue(target)
	if v == nil || !outside(v, loop.op) || p.mayFail(loop.op, statement) || p.mutates(v) {
		return
	}
	declared := p.vars[v].sets[0]
	fn := around(declared, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))
	again := block(loop.Cursor)
	_, whole := target.(*ast.Ident)
	what := ""
	switch {
	case v.Kind() == types.RecvVar && !whole:
		what = "the receiver is no pointer, so the caller's keeps its old %s: make it a pointer"
	case v.Kind() == types.ParamVar && v.Parent() != p.Pkg.Scope() && again == fn && fn.Contains(loop.Cursor):
		what = "this sets a parameter, and the caller does not see %s: return the value, or set what a pointer points to"
	case declared.ParentEdgeKind() == edge.RangeStmt_Value && !whole && again == declared.Parent():
		what = "this sets a copy of the element, which keeps its old %s: set the element by its index"
	default:
		return
	}
	read := slices.ContainsFunc(p.vars[v].uses, func(use inspector.Cursor) bool {
		in := around(use, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))
		return use.Node().Pos() > statement.Node().Pos() || in != loop.op && in != fn
	})
	addressed := slices.ContainsFunc(p.vars[v].sets, func(set inspector.Cursor) bool {
		_, isAddress := set.Parent().Node().(*ast.UnaryExpr)
		return isAddress
	})
	if !read && !addressed {
		p.report(statement, what, types.ExprString(target))
	}
}

// ownerOfValue returns the variable that has x in itself, not behind a pointer, a map or a
// slice, or nil.
func (p *pass) ownerOfValue(x ast.Expr) *types.Var {
	switch n := ast.Unparen(x).(type) {
	case *ast.Ident:
		v, _ := p.info.ObjectOf(n).(*types.Var)
		if v == nil || len(p.vars[v].sets) == 0 {
			return nil
		}
		return v
	case *ast.SelectorExpr:
		if t := p.info.TypeOf(n.X); t != nil && p.isStruct(t) {
			return p.ownerOfValue(n.X)
		}
	}
	return nil
}
