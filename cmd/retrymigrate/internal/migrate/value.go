package migrate

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
)

// A value is what an expression of a backoff type means: a policy, if it is known.
type value struct {
	policy
	exponential map[string]text // the fields of an ExponentialBackOff
	ctx         ast.Expr        // that the backoff carries
	vars        []*types.Var    // whose values are part of it
	stmts       []ast.Node      // that change them
}

func (v value) known() bool { return v.backoff != nil || v.exponential != nil }

// read returns what x means.
func (r *rewriter) read(x ast.Expr) value {
	x = r.inner(x)
	v := value{}
	switch x := x.(type) {
	case *ast.Ident:
		v = r.inlined(x)
	case *ast.UnaryExpr:
		if lit, ok := x.X.(*ast.CompositeLit); ok {
			v = r.made(lit)
		}
	case *ast.CompositeLit:
		v = r.made(x)
	case *ast.CallExpr:
		if call, f := r.own(x); call != nil && r.lib.constructed != nil {
			v = r.lib.constructed(r, f, x.Args)
		}
	}
	return v
}

// made returns what a composite literal means.
func (r *rewriter) made(lit *ast.CompositeLit) value {
	named, _ := types.Unalias(r.pass.TypesInfo.TypeOf(lit)).(*types.Named)
	if named == nil || !r.lib.owns(named.Obj().Pkg()) || r.lib.literal == nil {
		return value{}
	}
	fields := map[string]text{}
	for _, x := range lit.Elts {
		kv, ok := x.(*ast.KeyValueExpr)
		if !ok {
			return value{}
		}
		fields[kv.Key.(*ast.Ident).Name] = text{kv.Value}
	}
	return r.lib.literal(r, named.Obj().Name(), fields)
}

// inlined returns the value of a variable that serves only the call that x is part of.
func (r *rewriter) inlined(x *ast.Ident) value {
	obj, _ := r.object(x).(*types.Var)
	if v, ok := r.bound[obj]; ok {
		return v
	}
	l := r.local(obj)
	if l == nil || len(l.rest) != 1 || !r.once(l, x) {
		return value{}
	}
	v := r.composed(l)
	if !v.known() || v.ctx != nil && !r.movable(v.ctx, x.Pos(), nil) {
		return value{}
	}
	v.vars = append([]*types.Var{obj}, v.vars...)
	v.stmts = append(v.stmts, l.stmts...)
	return v
}

// A local is a variable of a function that is made and, in the same block, changed before it
// is used.
type local struct {
	v      *types.Var
	decl   ast.Stmt
	source ast.Expr
	fields map[string]text
	wraps  []ast.Expr   // of it, which are assigned to it
	stmts  []ast.Node   // that change it
	rest   []*ast.Ident // its other uses
}

// local returns what is known of a variable, or nil.
func (r *rewriter) local(v *types.Var) *local {
	if v == nil || !r.isLocal(v) || r.initial(v) == nil {
		return nil
	}
	l := &local{v: v, decl: r.statement(r.decls[v]), source: r.initial(v), fields: map[string]text{}}
	for _, id := range r.uses[v] {
		stmt := r.statement(id)
		if len(l.stmts) > 0 && l.stmts[len(l.stmts)-1] == stmt {
			continue
		}
		if len(l.rest) == 0 && r.block(stmt) == r.block(l.decl) && r.alters(l, stmt) {
			l.stmts = append(l.stmts, stmt)
		} else {
			l.rest = append(l.rest, id)
		}
	}
	return l
}

// alters reports whether a statement only changes l, and reads it.
func (r *rewriter) alters(l *local, stmt ast.Stmt) bool {
	switch n := stmt.(type) {
	case *ast.ExprStmt:
		call, ok := n.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		return ok && sel.Sel.Name == "Reset" && r.object(sel.X) == l.v
	case *ast.AssignStmt:
		if n.Tok != token.ASSIGN || len(n.Lhs) != len(n.Rhs) {
			return false
		}
		fields := map[string]text{}
		for i, to := range n.Lhs {
			sel, ok := to.(*ast.SelectorExpr)
			if _, wraps := n.Rhs[i].(*ast.CallExpr); r.object(to) == l.v && wraps && len(n.Lhs) == 1 {
				l.wraps = append(l.wraps, n.Rhs[i])
				return true
			} else if !ok || r.object(sel.X) != l.v || !slices.Contains(r.lib.fields, sel.Sel.Name) {
				return false
			}
			fields[sel.Sel.Name] = text{n.Rhs[i]}
		}
		maps.Copy(l.fields, fields)
		return true
	}
	return false
}

// once reports whether x runs once after the declaration of l, with the same values.
func (r *rewriter) once(l *local, x *ast.Ident) bool {
	for cur := range r.cursors[x].Enclosing((*ast.BlockStmt)(nil), (*ast.FuncLit)(nil), (*ast.ForStmt)(nil), (*ast.RangeStmt)(nil)) {
		if cur.Node() == r.block(l.decl) {
			break
		} else if _, ok := cur.Node().(*ast.BlockStmt); !ok {
			return false
		}
	}
	all := append([]ast.Expr{l.source}, l.wraps...)
	for _, t := range l.fields {
		all = append(all, t[0].(ast.Expr))
	}
	return !slices.ContainsFunc(all, func(y ast.Expr) bool { return !r.movable(y, x.Pos(), l.v) })
}

// composed returns the value of l after its changes.
func (r *rewriter) composed(l *local) value {
	v := r.read(l.source)
	for name, t := range l.fields {
		if v.exponential == nil {
			return value{}
		}
		v.exponential[name] = t
	}
	for _, x := range l.wraps {
		r.bound[l.v] = v
		v = r.read(x)
		delete(r.bound, l.v)
	}
	return v
}

// sequence makes a variable or field that is asked for delays an adapt.Sequence, and reports
// whether it can.
func (r *rewriter) sequence(v *types.Var) bool {
	if done, ok := r.sequences[v]; ok {
		return done
	}
	r.sequences[v] = false
	if r.decls[v] == nil || !r.isLocal(v) && v.Exported() {
		return false
	}
	var typ ast.Expr
	switch n := r.cursors[r.decls[v]].Parent().Node().(type) {
	case *ast.AssignStmt:
		if r.initial(v) == nil {
			return false
		}
	case *ast.ValueSpec:
		typ = n.Type
		if len(n.Names) != 1 || len(n.Values) > 1 {
			return false
		}
	case *ast.Field:
		typ = n.Type
		if !v.IsField() || len(n.Names) != 1 || r.unkeyed(v) {
			return false
		}
	}
	l, uses, sources := r.local(v), r.uses[v], []ast.Expr{r.initial(v)}
	if l != nil && typ == nil {
		uses = l.rest
	}
	for _, id := range uses {
		x, ok := r.stored(id)
		if sources = append(sources, x); !ok {
			return false
		}
	}
	var made []text
	for i, x := range sources {
		if x == nil || r.isNil(x) {
			made = append(made, nil)
			continue
		}
		y := r.read(x)
		if i == 0 && l != nil && typ == nil {
			y = r.composed(l)
		}
		if !y.known() || len(y.vars) > 0 || y.ctx != nil {
			return false
		}
		p := r.complete(y)
		p.classifier = nil // a Sequence hears of no errors
		made = append(made, code("adapt.NewSequence(%)", p.literal()))
	}
	for i, out := range made {
		if out == nil {
			continue
		} else if i > 0 || l == nil || len(l.stmts) == 0 {
			r.replace(sources[i], out...)
			continue
		}
		last := len(l.stmts) - 1
		r.replace(l.stmts[last], code("% := %", v.Name(), out)...)
		for _, n := range append(l.stmts[:last], ast.Node(l.decl)) {
			r.remove(n)
		}
	}
	if typ != nil {
		r.replace(typ, code("*adapt.Sequence")...)
	}
	r.sequences[v] = true
	return true
}

// stored reports whether a use of a variable or field is one that a Sequence allows, and
// returns what it stores there, if anything.
func (r *rewriter) stored(id *ast.Ident) (ast.Expr, bool) {
	cur := r.cursors[id]
	if kv, ok := cur.Parent().Node().(*ast.KeyValueExpr); ok && kv.Key == id {
		return kv.Value, true
	} else if sel, ok := cur.Parent().Node().(*ast.SelectorExpr); ok && sel.Sel == id {
		cur = cur.Parent()
	}
	switch n := cur.Parent().Node().(type) {
	case *ast.AssignStmt:
		if i := slices.Index(n.Lhs, cur.Node().(ast.Expr)); i >= 0 && len(n.Lhs) == len(n.Rhs) {
			return n.Rhs[i], true
		}
	case *ast.BinaryExpr:
		return nil, r.isNil(n.X) || r.isNil(n.Y)
	case *ast.SelectorExpr:
		return nil, slices.Contains([]string{"Reset", "NextBackOff", "Next"}, n.Sel.Name)
	}
	return nil, false
}

// complete returns the policy of a value.
func (r *rewriter) complete(v value) policy {
	p := v.policy
	if v.exponential != nil {
		p = exponentialPolicy(r, v)
	}
	if r.lib.classifier != "" {
		p.classifier = code(r.lib.classifier)
	}
	if r.marked {
		p.classifier = code(r.lib.marked, text{r.lib.old()})
	}
	return p
}
