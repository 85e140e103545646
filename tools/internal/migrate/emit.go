package migrate

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// check fails a cell whose assignments to fields of the backoff cannot become part of the
// literal that creates it.
func (r *rewriter) check(c *cell) {
	for _, change := range c.changes {
		if stmt, ok := r.statement(change.expr).(*ast.AssignStmt); c.asked || !ok || len(stmt.Lhs) != 1 {
			c.fail("changes %s after it is made", c.obj.Name())
		}
	}
	for _, s := range c.sets {
		switch folds := len(c.sources) == 1 && c.sources[0].value.fields != nil && r.follows(c, s.stmt); {
		case slices.ContainsFunc(s.stmt.Lhs, func(x ast.Expr) bool { sel, ok := x.(*ast.SelectorExpr); return !ok || r.object(sel.X) != c.obj }):
			c.fail("sets %s.%s together with others", c.obj.Name(), s.field)
		case !folds && (s.field != "MaxElapsedTime" || c.asked || len(s.stmt.Lhs) > 1): // a field of retry.Policy, too
			c.fail("sets %s.%s in a branch, or after it is used", c.obj.Name(), s.field)
		case folds && !r.isLocal(c.obj) && !r.fixed(c.obj, text{s.expr}):
			c.fail("sets %s.%s to what init computes", c.obj.Name(), s.field)
		case !slices.Contains(r.lib.fields(), s.field):
			c.fail("sets %s.%s", c.obj.Name(), s.field)
		}
	}
}

// follows reports whether stmt follows the declaration of c in the same block, before
// c is used, or is in the function init if c is a variable of the package.
func (r *rewriter) follows(c *cell, stmt ast.Node) bool {
	if v, ok := c.obj.(*types.Var); ok && v.Parent() == r.pass.Pkg.Scope() {
		cur, _ := r.root.FindNode(stmt)
		decl, inFunc := cur.Parent().Parent().Node().(*ast.FuncDecl)
		return inFunc && decl.Name.Name == "init" && decl.Recv == nil
	}
	return r.isLocal(c.obj) && (!c.used.IsValid() || stmt.Pos() < c.used) && r.block(r.statement(r.decls[c.obj])) == r.block(stmt)
}

// emitChanges changes statements such as b = WithMaxRetries(b, 3), which become part of
// the literal that they follow, or assign to the fields of the policy.
func (r *rewriter) emitChanges(c *cell) {
	for _, change := range c.changes {
		stmt, v := r.statement(change.expr), change.value
		if len(c.sources) == 1 && c.sources[0].value.cell == nil && r.follows(c, stmt) && r.fixed(c.obj, v.attempts, v.elapsed) {
			c.fold = c.fold.over(policy{attempts: v.attempts, elapsed: v.elapsed})
			r.remove(stmt)
			continue
		}
		var out text
		if v.attempts != nil {
			out = join(c.obj.Name(), ".MaxAttempts = ", v.attempts, "\n")
		}
		if v.elapsed != nil {
			out = join(out, c.obj.Name(), ".MaxElapsed = ", v.elapsed)
		}
		r.replace(stmt, out...)
	}
}

// statement returns the innermost statement that contains n.
func (r *rewriter) statement(n ast.Node) ast.Stmt {
	cur, _ := r.root.FindNode(n)
	for up := range cur.Enclosing() {
		if stmt, ok := up.Node().(ast.Stmt); ok {
			return stmt
		}
	}
	return nil
}

// block returns the node that directly contains a statement, or nil.
func (r *rewriter) block(stmt ast.Node) ast.Node {
	if cur, ok := r.root.FindNode(stmt); ok {
		return cur.Parent().Node()
	}
	return nil
}

// emit changes the declaration of a cell and the values that flow into it.
func (r *rewriter) emit(c *cell) {
	typ := text{retryPkg, ".Policy"}
	if c.asked {
		typ = text{"*", adaptPkg, ".Sequence"}
	}
	for _, t := range c.typeExprs {
		r.replace(t, typ...)
	}
	for _, s := range c.resets {
		if !c.asked {
			r.remove(s)
		}
	}
	r.emitChanges(c)
	var last ast.Stmt // where the literal belongs, if not at the declaration
	var merged []ast.Stmt
	for _, s := range c.sets {
		if len(c.sources) != 1 || !r.follows(c, s.stmt) {
			r.replace(s.stmt.Lhs[0].(*ast.SelectorExpr).Sel, "MaxElapsed")
			continue
		}
		c.sources[0].value.fields[s.field] = text{s.expr}
		if !r.fixed(c.obj, text{s.expr}) {
			last = s.stmt
		}
		merged = append(merged, s.stmt)
	}
	if last != nil {
		r.replace(last, join(c.obj.Name()+" := ", r.expression(c.sources[0].value, c))...)
		merged = append(merged, r.statement(r.decls[c.obj]))
	}
	for _, stmt := range merged {
		if stmt != last {
			r.remove(stmt)
		}
	}
	for _, src := range c.sources {
		if out := r.expression(src.value, c); last == nil && (len(out) != 1 || out[0] != src.expr) {
			r.replace(src.expr, out...)
		}
	}
}

// fixed reports whether the expressions in t have the same value where made is declared:
// they have no calls but of the library, and name nothing that is declared later or changes.
func (r *rewriter) fixed(made types.Object, t ...text) bool {
	for _, part := range slices.Concat(t...) {
		x, ok := part.(ast.Expr)
		if !ok {
			continue
		}
		for n := range ast.Preorder(x) {
			switch n := n.(type) {
			case *ast.CallExpr:
				f := callee(r.pass.TypesInfo, n)
				ok = ok && (r.pass.TypesInfo.Types[n.Fun].IsType() || f != nil && r.lib.owns(f.Pkg()))
			case *ast.Ident:
				if v, isVar := r.pass.TypesInfo.Uses[n].(*types.Var); isVar && !v.IsField() {
					ok = ok && !r.reassigned(v) && (made == nil || v.Parent() == r.pass.Pkg.Scope() || v.Pos() < r.decls[made].Pos())
				}
			}
		}
		if !ok {
			return false
		}
	}
	return true
}

// reassigned reports whether v changes after its declaration, as far as its name tells.
func (r *rewriter) reassigned(v *types.Var) bool {
	return slices.ContainsFunc(r.uses[v], func(id *ast.Ident) bool {
		switch n := r.cursors[id].Parent().Node().(type) {
		case *ast.AssignStmt:
			return slices.Contains(n.Lhs, ast.Expr(id))
		case *ast.UnaryExpr:
			return n.Op == token.AND
		case *ast.IncDecStmt:
			return true
		}
		return false
	})
}

// expression returns the expression of a policy, or of a sequence if c is one.
func (r *rewriter) expression(v value, c *cell) text {
	if v.cell != nil && c != nil && c.asked && !v.cell.asked {
		return join(text{adaptPkg, ".NewSequence("}, r.reference(v), ")")
	} else if v.cell != nil {
		return r.reference(v)
	}
	r.lib.finish(r, &v)
	out := v.policy
	if c != nil {
		out = out.over(c.fold)
	}
	if c != nil && c.asked {
		out.classifier = nil // a Sequence hears of no errors
		return join(text{adaptPkg, ".NewSequence("}, out.literal(), ")")
	}
	return out.literal()
}

// reference returns the expression of a policy that is in a cell. What v changes has
// become part of the cell if nothing else uses it: see fold.
func (r *rewriter) reference(v value) text {
	out := text{v.ref}
	if limits := (policy{attempts: v.attempts, elapsed: v.elapsed}); limits.attempts != nil || limits.elapsed != nil {
		out = join(text{legacyPkg, ".Limit("}, out, ", ", limits.literal(), ")")
	}
	if v.hooks != nil {
		out = join(out, ".With(", v.hooks, ")")
	}
	return out
}

// fold moves the limits of v into the literal of its cell, if that serves no other use.
func (r *rewriter) fold(v *value) {
	c := v.cell
	if c == nil || c.consumers != 1 || len(c.sources) != 1 || c.sources[0].value.cell != nil || !r.isLocal(c.obj) {
		return
	}
	if r.fixed(c.obj, v.attempts, v.elapsed) {
		c.fold = policy{attempts: v.attempts, elapsed: v.elapsed}
		v.attempts, v.elapsed = nil, nil
	}
}
