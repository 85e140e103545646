package migrate

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
)

// check fails a cell whose assignments to fields of the backoff cannot become a literal.
func (r *rewriter) check(c *cell) {
	for _, change := range c.changes {
		if stmt, ok := r.enclosingStatement(change.expr).(*ast.AssignStmt); c.asked || !ok || len(stmt.Lhs) != 1 {
			c.fail("changes %s after it is made", c.obj.Name())
		}
	}
	for _, s := range c.sets {
		if s.field == "MaxElapsedTime" && !c.asked && s.whole && !r.folds(c, s) {
			continue // a field of retry.Policy, too
		}
		if !r.folds(c, s) {
			c.fail("sets %s.%s in a branch, or after it is used", c.obj.Name(), s.field)
		} else if !r.lib.field(s.field) {
			c.fail("sets %s.%s", c.obj.Name(), s.field)
		}
		if !s.whole && slices.ContainsFunc(s.stmt.Lhs, func(x ast.Expr) bool {
			sel, ok := x.(*ast.SelectorExpr)
			return !ok || r.object(sel.X) != c.obj
		}) {
			c.fail("sets %s.%s together with others", c.obj.Name(), s.field)
		}
	}
}

// emitChanges changes statements such as b = WithMaxRetries(b, 3), which become part of
// the literal that they follow, or assign to the fields of the policy.
func (r *rewriter) emitChanges(c *cell) {
	for _, change := range c.changes {
		stmt := r.enclosingStatement(change.expr)
		def := r.statement(r.decls[c.obj])
		limits := policy{attempts: change.value.attempts, elapsed: change.value.elapsed}
		if len(c.sources) == 1 && c.sources[0].value.cell == nil && r.block(def) == r.block(stmt) &&
			r.before(limits.attempts, c) && r.before(limits.elapsed, c) && (!c.used.IsValid() || stmt.Pos() < c.used) {
			c.fold = c.fold.over(limits)
			r.remove(stmt)
			continue
		}
		out := text{}
		if limits.attempts != nil {
			out = join(out, c.obj.Name(), ".MaxAttempts = ", limits.attempts)
		}
		if limits.elapsed != nil {
			if len(out) > 0 {
				out = join(out, "\n")
			}
			out = join(out, c.obj.Name(), ".MaxElapsed = ", limits.elapsed)
		}
		r.replace(stmt, out...)
	}
}

func (r *rewriter) enclosingStatement(x ast.Expr) ast.Stmt {
	cur, _ := r.root.FindNode(x)
	for up := range cur.Enclosing((*ast.AssignStmt)(nil)) {
		return up.Node().(ast.Stmt)
	}
	return nil
}

// folds reports whether an assignment can become part of the literal that creates the
// backoff: it follows in the same block, before the first use.
func (r *rewriter) folds(c *cell, s set) bool {
	if !r.isLocal(c.obj) || len(c.sources) != 1 || c.sources[0].value.fields == nil || c.used.IsValid() && s.stmt.Pos() > c.used {
		return false
	}
	def := r.statement(r.decls[c.obj])
	return def != nil && r.block(def) == r.block(s.stmt)
}

// statement returns the statement of a block that contains n.
func (r *rewriter) statement(id *ast.Ident) ast.Stmt {
	for cur := range r.cursors[id].Enclosing() {
		if stmt, ok := cur.Node().(ast.Stmt); ok {
			return stmt
		}
	}
	return nil
}

// block returns the block that directly contains a statement.
func (r *rewriter) block(stmt ast.Stmt) ast.Node {
	cur, ok := r.root.FindNode(stmt)
	if !ok {
		return nil
	}
	return cur.Parent().Node()
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
	var last *set
	removed := map[ast.Stmt]bool{}
	for i, s := range c.sets {
		if !r.folds(c, s) {
			r.replace(s.stmt.Lhs[0].(*ast.SelectorExpr).Sel, "MaxElapsed")
			continue
		}
		c.sources[0].value.fields[s.field] = text{s.expr}
		if !r.early(c.obj, s.expr) {
			last = &c.sets[i]
		}
		removed[s.stmt] = true
	}
	for _, src := range c.sources {
		if last != nil {
			r.replaceRange(last.stmt.Pos(), last.stmt.End(), join(c.obj.Name()+" := ", r.expression(src.value, c))...)
			delete(removed, last.stmt)
			r.remove(r.statement(r.decls[c.obj]))
		} else if out := r.expression(src.value, c); len(out) != 1 || out[0] != src.expr {
			r.replace(src.expr, out...)
		}
	}
	for stmt := range removed {
		r.remove(stmt)
	}
}

// early reports whether x has the same value where the variable made is declared: nothing
// in it is declared or changed between, as far as names tell.
func (r *rewriter) early(made types.Object, x ast.Expr) bool {
	def := r.decls[made].Pos()
	ok := true
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			ok = ok && r.pass.TypesInfo.Types[n.Fun].IsType()
		case *ast.Ident:
			if v, isVar := r.pass.TypesInfo.Uses[n].(*types.Var); isVar && !v.IsField() {
				ok = ok && (v.Parent() == r.pass.Pkg.Scope() || v.Pos() < def) && !r.reassigned(v, def, x.Pos())
			}
		}
		return ok
	})
	return ok
}

// reassigned reports whether v is changed between two positions, as far as names tell.
func (r *rewriter) reassigned(v *types.Var, from, to token.Pos) bool {
	return slices.ContainsFunc(r.uses[v], func(id *ast.Ident) bool {
		cur := r.cursors[id]
		kind := cur.ParentEdgeKind()
		return from < id.Pos() && id.Pos() < to &&
			(kind == edge.AssignStmt_Lhs || kind == edge.IncDecStmt_X || kind == edge.UnaryExpr_X && cur.Parent().Node().(*ast.UnaryExpr).Op == token.AND)
	})
}

// stable reports whether x means the same wherever v is used: it has no calls, and names
// nothing that changes.
func (r *rewriter) stable(x text) bool {
	for _, part := range x {
		n, ok := part.(ast.Expr)
		if !ok {
			continue
		}
		for id := range ast.Preorder(n) {
			switch id := id.(type) {
			case *ast.CallExpr:
				ok = ok && r.pass.TypesInfo.Types[id.Fun].IsType()
			case *ast.Ident:
				if v, isVar := r.pass.TypesInfo.Uses[id].(*types.Var); isVar && !v.IsField() {
					ok = ok && !r.reassigned(v, 0, 1<<40)
				}
			}
		}
		if !ok {
			return false
		}
	}
	return true
}

// expression returns the expression of a policy, or of a sequence if c is one.
func (r *rewriter) expression(v value, c *cell) text {
	if v.cell != nil {
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
	limits := policy{attempts: v.attempts, elapsed: v.elapsed}
	for _, t := range []text{limits.attempts, limits.elapsed} {
		if !r.stable(t) || !r.before(t, c) {
			return
		}
	}
	c.fold = limits
	v.attempts, v.elapsed = nil, nil
}

// before reports whether all names in t are declared before the cell is.
func (r *rewriter) before(t text, c *cell) bool {
	for _, part := range t {
		if x, ok := part.(ast.Expr); ok && !r.early(c.obj, x) {
			return false
		}
	}
	return true
}
