package migrate

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// A cell is a variable, field, parameter or function result that holds a backoff of
// another library. Its type becomes retry.Policy, or *adapt.Sequence if the program asks
// it for delays, provided that every use of it and of the cells it exchanges values with
// is understood.
type cell struct {
	obj       types.Object
	why       string // why it cannot be rewritten; "" if it can
	sources   []source
	changes   []source // what is stored in the cell that comes from the cell
	sets      []set
	resets    []ast.Stmt
	links     []*cell // the cells it exchanges values with
	typeExprs []ast.Expr
	sites     []*site
	used      token.Pos // the first use that is no assignment
	asked     bool      // for its delays
	consumers int       // of its value
	fold      policy    // what the only consumer adds
	ctx       text      // of a backoff that carries its context
	ctxParam  int       // the parameter of a function that is the context
}

// A source is an expression that flows into a cell.
type source struct {
	expr  ast.Expr
	value value
}

// A set is an assignment to a field of the backoff in a cell.
type set struct {
	stmt  *ast.AssignStmt
	field string
	expr  ast.Expr
}

// A value is what an expression of a backoff type means: a policy of its own, or that of
// a cell with some fields replaced.
type value struct {
	cell *cell
	ref  ast.Expr // the reference to the cell
	policy
	fields map[string]text // of a backoff whose fields may be set
	ctx    text
}

func (c *cell) fail(format string, args ...any) *cell {
	if c.why == "" {
		c.why = fmt.Sprintf(format, args...)
	}
	return c
}

// cellOf returns the cell of a variable, field or function, after a look at all its uses.
func (r *rewriter) cellOf(obj types.Object) *cell {
	if c := r.cells[obj]; c != nil {
		return c
	}
	c := &cell{obj: obj}
	r.cells[obj], r.order = c, append(r.order, c)
	if obj.Pkg() != r.pass.Pkg {
		return c.fail("%s belongs to another package", obj.Name())
	}
	if _, local := r.decls[obj]; !local {
		return c.fail("%s has no declaration that could be changed", obj.Name())
	}
	if obj.Exported() && !r.private() && (obj.Parent() == r.pass.Pkg.Scope() || obj.Parent() == nil) {
		return c.fail("%s is exported: other packages may depend on its type", obj.Name())
	}
	if r.implements(obj) {
		return c.fail("%s is a method of an interface", obj.Name())
	}
	r.declaration(c)
	for _, id := range r.uses[obj] {
		r.use(c, r.cursors[id])
		if c.why != "" {
			return c
		}
	}
	return c
}

// implements reports whether an interface of the package has a method of the name of obj.
func (r *rewriter) implements(obj types.Object) bool {
	f, ok := obj.(*types.Func)
	if !ok || f.Signature().Recv() == nil {
		return false
	}
	for other := range r.decls {
		if m, ok := other.(*types.Func); ok && m.Name() == f.Name() && m.Signature().Recv() != nil && types.IsInterface(m.Signature().Recv().Type()) {
			return true
		}
	}
	return false
}

// private reports whether no other module can import the package.
func (r *rewriter) private() bool { return r.pass.Pkg.Name() == "main" }

// flow records that the value of expr is stored in c.
func (r *rewriter) flow(c *cell, expr ast.Expr) {
	v, why := r.value(expr)
	switch {
	case why != "":
		c.fail("%s", why)
	case v.cell == c && r.isLocal(c.obj) && v.ctx == nil:
		c.changes = append(c.changes, source{expr, v})
		return
	case v.cell != nil:
		c.link(v.cell)
		v.cell.consumers++
		if v.cell.ctx != nil && v.ctx == nil {
			v.ctx = v.cell.ctx
		}
	}
	if v.ctx != nil {
		f, _ := c.obj.(*types.Func)
		c.ctxParam = r.parameterOf(f, v.ctx)
		if c.ctx != nil || len(c.sources) > 0 || (!r.isLocal(c.obj) || isFunc(c.obj)) && c.ctxParam < 0 {
			c.fail("%s carries a context out of sight of the call", c.obj.Name())
		}
		c.ctx = v.ctx
	}
	c.sources = append(c.sources, source{expr, v})
}

// parameterOf returns the index of the parameter of f that x names, or -1.
func (r *rewriter) parameterOf(f *types.Func, x text) int {
	id, ok := x[0].(*ast.Ident)
	if f == nil || !ok || f.Signature().Variadic() {
		return -1
	}
	v, _ := r.pass.TypesInfo.Uses[id].(*types.Var)
	return slices.Index(slices.Collect(f.Signature().Params().Variables()), v)
}

func (r *rewriter) isLocal(obj types.Object) bool {
	v, ok := obj.(*types.Var)
	return ok && !v.IsField() && v.Parent() != nil && v.Parent() != r.pass.Pkg.Scope()
}

// declaration reads the type and the first value of a cell where it is declared.
func (r *rewriter) declaration(c *cell) {
	cur := r.cursors[r.decls[c.obj]]
	parent := cur.Parent()
	switch n := parent.Node().(type) {
	case *ast.AssignStmt:
		r.assigned(c, cur, n)
	case *ast.ValueSpec:
		c.typeExpr(n.Type)
		if len(n.Names) > 1 && n.Type != nil {
			c.fail("%s is declared together with other variables", c.obj.Name())
		}
		if len(n.Values) == len(n.Names) {
			r.flow(c, n.Values[cur.ParentEdgeIndex()])
		} else if len(n.Values) > 0 {
			c.fail("%s is one of several results", c.obj.Name())
		}
	case *ast.Field:
		c.typeExpr(n.Type)
		if len(n.Names) != 1 {
			c.fail("%s is declared together with others", c.obj.Name())
		} else if v, ok := c.obj.(*types.Var); !ok {
			c.fail("%s is a method of an interface", c.obj.Name())
		} else if !v.IsField() {
			r.parameter(c, parent)
		}
	case *ast.FuncDecl:
		r.results(c, n.Type, n.Body)
	default:
		c.fail("%s is declared in a way that is not understood", c.obj.Name())
	}
}

func (c *cell) typeExpr(t ast.Expr) {
	if t != nil {
		c.typeExprs = append(c.typeExprs, t)
	}
}

// assigned reads what an assignment stores in the cell whose identifier is at cur.
func (r *rewriter) assigned(c *cell, cur inspector.Cursor, n *ast.AssignStmt) {
	i := slices.IndexFunc(n.Lhs, func(x ast.Expr) bool { return x == cur.Node() })
	if i < 0 || len(n.Lhs) != len(n.Rhs) || n.Tok != token.ASSIGN && n.Tok != token.DEFINE {
		c.fail("%s is one of several results", c.obj.Name())
		return
	}
	if lit, ok := ast.Unparen(n.Rhs[i]).(*ast.FuncLit); ok {
		r.results(c, lit.Type, lit.Body)
		return
	}
	r.flow(c, n.Rhs[i])
}

// parameter reads the arguments of all calls for a parameter.
func (r *rewriter) parameter(c *cell, field inspector.Cursor) {
	decl, ok := field.Parent().Parent().Parent().Node().(*ast.FuncDecl)
	if !ok || field.Parent().ParentEdgeKind() != edge.FuncType_Params {
		c.fail("%s is a parameter of a function literal", c.obj.Name())
		return
	}
	f := r.pass.TypesInfo.Defs[decl.Name].(*types.Func)
	if f.Exported() && !r.private() || r.implements(f) {
		c.fail("%s is a parameter of the exported %s", c.obj.Name(), f.Name())
		return
	}
	index := slices.IndexFunc(slices.Collect(f.Signature().Params().Variables()), func(v *types.Var) bool { return v == c.obj })
	for _, id := range r.uses[f] {
		call := r.callOf(r.cursors[id])
		if call == nil || f.Signature().Variadic() || index >= len(call.Args) {
			c.fail("%s is not only called", f.Name())
			return
		}
		r.flow(c, call.Args[index])
	}
}

// results reads what a function returns.
func (r *rewriter) results(c *cell, typ *ast.FuncType, body *ast.BlockStmt) {
	if typ.Results == nil || len(typ.Results.List) != 1 || len(typ.Results.List[0].Names) > 0 || body == nil {
		c.fail("%s has other results", c.obj.Name())
		return
	}
	c.typeExpr(typ.Results.List[0].Type)
	ast.Inspect(body, func(n ast.Node) bool {
		if ret, ok := n.(*ast.ReturnStmt); ok {
			r.flow(c, ret.Results[0])
		}
		_, inner := n.(*ast.FuncLit)
		return !inner
	})
}

// callOf returns the call whose function is the identifier or selector at cur, or nil.
func (r *rewriter) callOf(cur inspector.Cursor) *ast.CallExpr {
	if cur.ParentEdgeKind() == edge.SelectorExpr_Sel {
		cur = cur.Parent()
	}
	if cur.ParentEdgeKind() != edge.CallExpr_Fun {
		return nil
	}
	return cur.Parent().Node().(*ast.CallExpr)
}

// use reads one use of a cell.
func (r *rewriter) use(c *cell, cur inspector.Cursor) {
	if cur.ParentEdgeKind() == edge.KeyValueExpr_Key {
		r.flow(c, cur.Parent().Node().(*ast.KeyValueExpr).Value)
		return
	} else if cur.ParentEdgeKind() == edge.SelectorExpr_Sel {
		cur = cur.Parent()
	}
	if isFunc(c.obj) { // what counts is the result of the call
		if cur.ParentEdgeKind() != edge.CallExpr_Fun {
			c.fail("%s is not only called", c.obj.Name())
			return
		}
		cur = cur.Parent()
	}
	for r.lib.wraps(r, cur) {
		cur = cur.Parent()
	}
	switch n := cur.Parent().Node().(type) {
	case *ast.AssignStmt:
		if cur.ParentEdgeKind() == edge.AssignStmt_Lhs {
			r.assigned(c, cur, n)
			return
		}
	case *ast.SelectorExpr:
		r.selected(c, n, cur.Parent())
		return
	case *ast.CallExpr:
		if s := r.sites[n]; s != nil && s.arg == cur.Node() {
			c.sites = append(c.sites, s)
			c.usedBefore(cur.Node().Pos())
			return
		}
	case *ast.ExprStmt:
		return
	}
	sink := r.sink(cur)
	if sink == nil {
		c.fail("%s is used in a way that is not understood", c.obj.Name())
		return
	}
	c.usedBefore(cur.Node().Pos())
	c.link(r.cellOf(sink))
}

func (c *cell) usedBefore(pos token.Pos) {
	if !c.used.IsValid() || pos < c.used {
		c.used = pos
	}
}

// link connects two cells that exchange a value: both are rewritten, or none is.
func (c *cell) link(other *cell) {
	c.links, other.links = append(c.links, other), append(other.links, c)
}

// sink returns the variable, field, parameter or function that the expression at cur is
// stored in or returned by, or nil.
func (r *rewriter) sink(cur inspector.Cursor) types.Object {
	i := cur.ParentEdgeIndex()
	switch n := cur.Parent().Node().(type) {
	case *ast.AssignStmt:
		if len(n.Lhs) == len(n.Rhs) {
			return r.object(n.Lhs[i])
		}
	case *ast.ValueSpec:
		if len(n.Names) == len(n.Values) {
			return r.object(n.Names[i])
		}
	case *ast.KeyValueExpr:
		return r.object(n.Key)
	case *ast.CallExpr:
		f := callee(r.pass.TypesInfo, n)
		if f != nil && f.Pkg() == r.pass.Pkg && cur.ParentEdgeKind() == edge.CallExpr_Args && !f.Signature().Variadic() {
			return f.Signature().Params().At(i)
		}
	case *ast.ReturnStmt:
		for f := range cur.Enclosing((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
			if decl, ok := f.Node().(*ast.FuncDecl); ok {
				return r.object(decl.Name)
			}
			return r.sink(f)
		}
	}
	return nil
}

// object returns the variable, field or function that x names, or nil.
func (r *rewriter) object(x ast.Expr) types.Object {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		if obj := r.pass.TypesInfo.ObjectOf(x); obj != nil && obj.Name() != "_" {
			return obj
		}
	case *ast.SelectorExpr:
		return r.pass.TypesInfo.ObjectOf(x.Sel)
	}
	return nil
}

func isFunc(obj types.Object) bool {
	_, ok := obj.Type().Underlying().(*types.Signature)
	return ok
}

// value returns what an expression of a backoff type means, or why that is not known.
func (r *rewriter) value(x ast.Expr) (value, string) {
	x = ast.Unparen(x)
	switch x := x.(type) {
	case *ast.Ident, *ast.SelectorExpr:
		if obj := r.object(x); obj != nil {
			return value{cell: r.cellOf(obj), ref: x}, ""
		}
	case *ast.UnaryExpr:
		if lit, ok := x.X.(*ast.CompositeLit); ok && x.Op == token.AND {
			return r.lib.literal(r, lit)
		}
	case *ast.CompositeLit:
		return r.lib.literal(r, x)
	case *ast.CallExpr:
		if r.pass.TypesInfo.Types[x.Fun].IsType() {
			return r.value(x.Args[0])
		}
		if f := callee(r.pass.TypesInfo, x); f != nil && r.lib.owns(f.Pkg()) {
			return r.lib.value(r, x, f.Name())
		}
		if obj := r.object(x.Fun); obj != nil && isFunc(obj) {
			v := value{cell: r.cellOf(obj), ref: x}
			if v.cell.ctx != nil && v.cell.why == "" && v.cell.ctxParam < len(x.Args) { // what its context is depends on the call
				v.ctx = text{x.Args[v.cell.ctxParam]}
			}
			return v, ""
		}
	}
	return value{}, "the backoff is " + r.shown(x) + ", which is not understood"
}

// selected reads a use of the form x.name.
func (r *rewriter) selected(c *cell, sel *ast.SelectorExpr, cur inspector.Cursor) {
	name := sel.Sel.Name
	switch up := cur.Parent().Node().(type) {
	case *ast.AssignStmt:
		if i := slices.Index(up.Lhs, ast.Expr(sel)); i >= 0 && up.Tok == token.ASSIGN && len(up.Lhs) == len(up.Rhs) {
			c.sets = append(c.sets, set{up, name, up.Rhs[i]})
			return
		}
	case *ast.CallExpr:
		stmt, alone := cur.Parent().Parent().Node().(*ast.ExprStmt)
		switch {
		case name == "Reset" && alone:
			c.resets = append(c.resets, stmt)
			return
		case up.Fun == ast.Expr(sel) && (name == "NextBackOff" || name == "Next"):
			c.asked = true
			c.usedBefore(sel.Pos())
			return
		}
	}
	c.fail("%s.%s is used in a way that is not understood", c.obj.Name(), name)
}

// settle leaves alone the cells and calls that exchange values with one that is left
// alone, and makes sequences of the cells connected with one that is asked for its delays.
func (r *rewriter) settle() {
	for changed := true; changed; {
		changed = false
		fail := func(to *string, why string) {
			if *to == "" && why != "" {
				*to, changed = why, true
			}
		}
		for _, c := range r.order {
			for _, other := range c.links {
				fail(&other.why, c.why)
				if c.asked && !other.asked && !isFunc(other.obj) { // each call of a function makes a Sequence
					other.asked, changed = true, true
				}
			}
			for _, s := range c.sites {
				if c.asked && s.takes != nil {
					fail(&s.why, c.obj.Name()+" is also asked for its delays")
				}
				fail(&s.why, c.why)
				fail(&c.why, s.why)
			}
		}
	}
}
