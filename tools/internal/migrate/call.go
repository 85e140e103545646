package migrate

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
)

// A site is a call of another library that retries.
type site struct {
	call  *ast.CallExpr
	name  string // the function, as in the report
	why   string // why it is left alone; "" if it is rewritten
	notes []string

	asks   bool   // asks a backoff for a delay: no more is known of it
	change func() // rewrites the call, if not as below

	ctx    text // nil: that of the value, or none
	value  value
	limits policy // of the call itself, over those of the value
	op     ast.Expr
	data   bool // the operation returns a value
	wrap   text // the call around the operation
	passes bool // the operation takes a context
}

func (s *site) fail(format string, args ...any) {
	if s.why == "" {
		s.why = fmt.Sprintf(format, args...)
	}
}

func (s *site) note(text string) { s.notes = append(s.notes, text) }

// rewrite makes a call of retry.Do or DoValue.
func (r *rewriter) rewrite(s *site) {
	if s.asks {
		s.note("the delays are those of an adapt.Sequence")
		return
	}
	for _, stmt := range s.value.stmts {
		r.remove(stmt)
	}
	r.followed = append(r.followed, s.value.vars...)
	if s.change != nil {
		s.change()
		return
	}
	ctx := s.ctx
	if ctx == nil && s.value.ctx != nil {
		ctx = text{s.value.ctx}
	} else if ctx == nil && !s.value.known() && types.IsInterface(r.pass.TypesInfo.TypeOf(s.value.expr)) {
		ctx = code("legacy.Context(%)", s.value.expr)
	} else if ctx == nil {
		ctx = code("context.Background()")
		s.note("the call has no context: pass one to end it early")
	}
	if !s.value.known() && s.value.delays == nil {
		s.note("the delays are those of " + r.shown(s.value.expr))
	}
	name, bare := "retry.Do", "legacy.Bare("
	if s.data {
		name, bare = "retry.DoValue", "legacy.Value("
	}
	fun := s.call.Fun
	if index, ok := fun.(*ast.IndexExpr); ok {
		fun = index.X
	}
	r.replace(fun, code(name)...)
	cur, _ := r.root.FindNode(s.call)
	switch cur.Parent().Node().(type) {
	case *ast.ExprStmt, *ast.GoStmt, *ast.DeferStmt: // where arguments are evaluated at once
	default:
		r.insert(s.call.Pos(), code(bare)...)
		r.insert(s.call.End(), ")")
	}
	end := ""
	if s.wrap != nil {
		end = ")"
	}
	r.replaceRange(s.call.Lparen+1, s.op.Pos(), code("%, %, %", ctx, r.expression(s.value, s.limits), s.wrap)...)
	if !s.passes {
		r.operation(s.op, s.data || s.wrap != nil)
	}
	r.replaceRange(s.op.End(), s.call.Rparen, end)
}

// operation gives the operation of a call a context as its parameter.
func (r *rewriter) operation(op ast.Expr, data bool) {
	if lit, ok := ast.Unparen(op).(*ast.FuncLit); ok {
		r.insert(lit.Type.Params.Opening+1, code("context.Context")...)
		return
	}
	name := "legacy.Op("
	if data {
		name = "legacy.OpValue("
	}
	r.insert(op.Pos(), code(name)...)
	r.insert(op.End(), ")")
}

// definition returns the value of x if it names a variable that is declared with a value and
// never changed; otherwise x.
func (r *rewriter) definition(x ast.Expr) ast.Expr {
	x = ast.Unparen(x)
	v, ok := r.object(x).(*types.Var)
	if !ok || r.initial(v) == nil || r.reassigned(v) || v.Exported() && !r.isLocal(v) {
		return x
	}
	r.followed = append(r.followed, v)
	return r.definition(r.initial(v))
}

// listed returns the options of a call, from its argument n on. Those that are passed as a
// list must be written out in the package.
func (r *rewriter) listed(s *site, call *ast.CallExpr, n int) []ast.Expr {
	options, last := call.Args[n:], len(call.Args)-n-1
	if !call.Ellipsis.IsValid() {
		return options
	}
	list, ok := r.definition(options[last]).(*ast.CompositeLit)
	if !ok {
		s.fail("its options are not listed in the package: %s", r.shown(options[last]))
		return options[:last]
	}
	return slices.Concat(options[:last], list.Elts)
}

// option returns the call of the library that x is, or that it names, and the function;
// nil if it is none.
func (r *rewriter) option(x ast.Expr) (*ast.CallExpr, *types.Func) {
	call, f := r.own(r.definition(x))
	if f != nil && call != ast.Unparen(x) && !r.movable(call, x.Pos(), nil) {
		return nil, nil
	}
	return call, f
}

// removeFollowed removes the declarations of the variables that only calls used that are
// rewritten, and other such declarations.
func (r *rewriter) removeFollowed() {
	var gone []ast.Node
	for _, s := range r.sites {
		if s.why == "" {
			gone = append(append(gone, s.call), s.value.stmts...)
		}
	}
	for _, v := range r.followed { // one that uses another comes first
		within := func(id *ast.Ident) bool {
			return slices.ContainsFunc(gone, func(n ast.Node) bool { return n.Pos() <= id.Pos() && id.End() <= n.End() })
		}
		def := r.cursors[r.decls[v]].Parent().Node()
		if !slices.Contains(gone, def) && !slices.ContainsFunc(r.uses[v], func(id *ast.Ident) bool { return !within(id) }) {
			gone = append(gone, def)
			r.remove(r.declared(def))
		}
	}
}

// declared returns the declaration of which def is the only part, or def.
func (r *rewriter) declared(def ast.Node) ast.Node {
	cur, _ := r.root.FindNode(def)
	if decl, ok := cur.Parent().Node().(*ast.GenDecl); ok && len(decl.Specs) == 1 {
		if up, ok := cur.Parent().Parent().Node().(*ast.DeclStmt); ok {
			return up
		}
		return decl
	}
	return def
}
