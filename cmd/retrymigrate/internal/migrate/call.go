package migrate

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// A site is a call of another library that retries.
type site struct {
	call  *ast.CallExpr
	name  string // the function, as in the report
	why   string // why it is left alone; "" if it is rewritten
	notes []string

	asks bool // asks a backoff for a delay: no more is known of it

	ctx       text // nil: that of the value, or none
	value     value
	limits    policy // of the call itself, over those of the value
	op        ast.Expr
	data      bool // the operation returns a value
	passes    bool // the operation takes a context
	condition bool // the operation is a condition: it returns whether to stop, and an error
}

func (s *site) fail(format string, args ...any) {
	if s.why == "" {
		s.why = fmt.Sprintf(format, args...)
	}
}

func (s *site) note(text string) { s.notes = append(s.notes, text) }

// check sets why a call cannot be rewritten.
func (r *rewriter) check(s *site) {
	switch op := r.inner(s.op).(type) {
	case *ast.FuncLit:
		if s.condition && !r.explicit(op) {
			s.fail("its condition has a return without results")
		}
	case *ast.Ident, *ast.SelectorExpr:
	default:
		if !s.passes || s.condition {
			s.fail("its operation is the result of a call: put it in a variable")
		}
	}
	if !s.value.known() {
		s.fail("its backoff comes from elsewhere")
	}
}

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
	ctx := s.ctx
	if ctx == nil && s.value.ctx != nil {
		ctx = text{s.value.ctx}
	} else if ctx == nil {
		ctx = code("context.Background()")
		s.note("the call has no context: pass one to end it early")
	}
	name := "retry.Do"
	if s.data {
		name = "retry.DoValue"
	}
	fun := s.call.Fun
	if index, ok := fun.(*ast.IndexExpr); ok {
		fun = index.X
	}
	r.replace(fun, code(name)...)
	r.replaceRange(s.call.Lparen+1, s.call.Rparen, code("%, %, %", ctx, s.limits.over(r.complete(s.value)).literal(), r.operation(s))...)
}

// operation returns the operation of a call as one that takes a context and returns an error.
func (r *rewriter) operation(s *site) text {
	op := r.inner(s.op)
	if lit, ok := op.(*ast.FuncLit); ok {
		if s.condition {
			r.returns(lit)
			r.oneResult(lit)
		}
		if !s.passes {
			r.insert(lit.Type.Params.Opening+1, code("context.Context")...)
		}
		return text{op}
	}
	ctx, arg := code("context.Context"), ""
	if s.passes {
		ctx, arg = code("ctx context.Context"), "ctx"
	}
	switch {
	case s.condition:
		return code("func(%) error {\ndone, err := %(%)\nif err == nil && !done {\nreturn errors.New(%)\n}\nreturn retry.Permanent(err)\n}", ctx, op, arg, notYet)
	case s.passes:
		return text{op}
	}
	results := r.pass.TypesInfo.TypeOf(op).Underlying().(*types.Signature).Results()
	out := r.typeText(results.At(0).Type())
	if results.Len() > 1 {
		out = code("(%, error)", out)
	}
	return code("func(%) % { return %() }", ctx, out, op)
}

// typeText returns the source of a type.
func (r *rewriter) typeText(t types.Type) text {
	var out text
	for i, part := range strings.Split(types.TypeString(t, func(p *types.Package) string {
		if p == r.pass.Pkg {
			return ""
		}
		return "\x00" + p.Path() + "\x00"
	}), "\x00") {
		if i%2 == 1 {
			out = append(out, pkg(part))
		} else {
			out = append(out, part)
		}
	}
	return out
}

// hook returns the Hooks whose OnRetry calls f with the arguments, in which failed is the
// failed attempt and wait the wait. A function literal becomes the hook itself.
func (r *rewriter) hook(f ast.Expr, args ...string) text {
	if f = r.inner(f); r.isNil(f) {
		return nil
	}
	failed := "failed"
	for n := range ast.Preorder(f) { // a name that is free
		if id, ok := n.(*ast.Ident); ok && id.Name == failed {
			failed = "failedAttempt"
		}
	}
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "failed", failed)
	}
	waits := slices.Contains(args, "wait")
	wait, lit, literal := "_", (*ast.FuncLit)(nil), false
	if waits {
		wait = "wait"
	}
	if lit, literal = f.(*ast.FuncLit); !literal {
		call := code("%(%)", f, strings.Join(args, ", "))
		if _, variable := r.object(f).(*types.Var); variable { // which may be nil
			call = code("if % != nil {\n%\n}", f, call)
		}
		return code("retry.Hooks{OnRetry: func(_ context.Context, % retry.Attempt, % time.Duration) {\n%\n}}", failed, wait, call)
	}
	line := func(pos token.Pos) int { return r.pass.Fset.Position(pos).Line }
	i, end := 0, ""
	if len(lit.Body.List) > 0 && line(lit.Body.List[0].Pos()) == line(lit.Body.Lbrace) {
		end = "\n"
	}
	for _, field := range lit.Type.Params.List {
		for _, id := range field.Names {
			if obj := r.pass.TypesInfo.Defs[id]; obj != nil && len(r.uses[obj]) > 0 {
				if args[i] == "wait" {
					wait = id.Name
				} else {
					r.insert(lit.Body.Lbrace+1, "\n"+id.Name+" := "+args[i]+end)
				}
			} else if args[i] == "wait" {
				wait = "_"
			}
			i++
		}
	}
	if i == 0 {
		wait = "_"
	}
	return code("retry.Hooks{OnRetry: func(_ context.Context, % retry.Attempt, % time.Duration) %}", failed, wait, lit.Body)
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
