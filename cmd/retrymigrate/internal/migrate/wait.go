package migrate

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
)

// wait returns the library k8s.io/apimachinery/pkg/util/wait. Its calls repeat a condition.
func wait() *library {
	return &library{
		path: path(`k8s\.io/apimachinery/pkg/util/wait`),
		site: func(r *rewriter, call *ast.CallExpr, f *types.Func) *site {
			name := f.Name()
			if f.Signature().Recv() != nil || !strings.HasPrefix(name, "Poll") && !strings.HasPrefix(name, "ExponentialBackoff") {
				return nil
			}
			last := len(call.Args) - 1
			s := &site{name: "wait." + name, op: call.Args[last], condition: true, passes: strings.Contains(name, "Context")}
			args := call.Args[:last]
			switch {
			case strings.HasSuffix(name, "Until"): // it ends with a channel, behind the condition
				s.op, args = call.Args[last-1], args[:last-1]
				if done := ast.Unparen(call.Args[last]); r.calls(done, "(context.Context).Done") {
					s.ctx = text{done.(*ast.CallExpr).Fun.(*ast.SelectorExpr).X}
				} else {
					s.fail("it ends with a channel: make a context of it")
				}
			case s.passes:
				s.ctx, args = text{args[0]}, args[1:]
			}
			if strings.HasPrefix(name, "ExponentialBackoff") {
				waitBackoff(r, s, args[0])
			} else {
				waitPoll(r, s, name, args)
			}
			if name := waitNamesTimeout(r); name != "" {
				s.fail("the package compares its errors: wait.%s", name)
			}
			return s
		},
		renames: map[string]string{
			"ConditionFunc":            "func() (bool, error)",
			"ConditionWithContextFunc": "func(context.Context) (bool, error)",
		},
		differs: []string{
			"no attempt begins once the context is done, and a wait that would outlast its deadline or the timeout is not begun",
			"the interval begins when the condition has returned",
			"the error after the last attempt is a *retry.Error, which wait.Interrupted does not know",
			"panics of the condition are not logged",
		},
	}
}

// waitPoll reads the interval of a call and what stands between it and the condition.
func waitPoll(r *rewriter, s *site, name string, args []ast.Expr) {
	s.value = value{policy: policy{backoff: r.constant(text{args[0]}), attempts: code("retry.Unlimited")}}
	args = args[1:]
	immediate := strings.Contains(name, "Immediate")
	if strings.HasPrefix(name, "PollUntilContext") {
		value := r.pass.TypesInfo.Types[args[len(args)-1]].Value
		if value == nil {
			s.fail("whether the first attempt is made at once is not a constant")
		}
		immediate = value != nil && value.String() == "true"
		args = args[:len(args)-1]
	}
	if !immediate {
		s.note("the first attempt is made at once, not after the interval")
	}
	if len(args) == 1 {
		s.limits.elapsed = text{args[0]}
		s.note("the condition's context does not end with the timeout")
	}
}

// waitBackoff reads a wait.Backoff.
func waitBackoff(r *rewriter, s *site, x ast.Expr) {
	lit, ok := r.definition(x).(*ast.CompositeLit)
	if !ok || lit != ast.Unparen(x) && !r.movable(lit, x.Pos(), nil) {
		s.fail("its Backoff comes from elsewhere")
		return
	}
	fields := map[string]ast.Expr{}
	for _, field := range lit.Elts {
		if kv, ok := field.(*ast.KeyValueExpr); ok {
			fields[kv.Key.(*ast.Ident).Name] = kv.Value
		}
	}
	if fields["Duration"] == nil || fields["Steps"] == nil {
		s.fail("its Backoff has no Duration or no Steps")
		return
	}
	rule := r.constant(text{fields["Duration"]})
	if factor := fields["Factor"]; factor != nil && !r.isZero(factor) {
		rule = code("retry.Exponential{Base: %", fields["Duration"])
		if limit := fields["Cap"]; limit != nil {
			rule = append(rule, code(", Cap: %", limit)...)
			s.note("the attempts go on at Cap, up to Steps")
		}
		rule = append(rule, code(", Factor: %}", factor)...)
	}
	if jitter := fields["Jitter"]; jitter != nil && !r.isZero(jitter) {
		rule = code("retry.Spread{Of: %, Fraction: %}", rule, jitter)
		s.note("the delays vary by Jitter in both directions")
	}
	s.value = value{policy: policy{backoff: rule, attempts: r.asInt(fields["Steps"])}}
}

// waitNamesTimeout returns the name by which the package asks about errors of the library, or
// "".
func waitNamesTimeout(r *rewriter) string {
	for obj := range r.uses {
		if r.lib.owns(obj.Pkg()) && slices.Contains([]string{"ErrWaitTimeout", "Interrupted", "ErrorInterrupted"}, obj.Name()) {
			return obj.Name()
		}
	}
	return ""
}

// notYet is the error of an attempt whose condition is false.
const notYet = `"not ready"`

// explicit reports whether all returns of a condition have results.
func (r *rewriter) explicit(lit *ast.FuncLit) bool {
	return !slices.ContainsFunc(r.exits(lit), func(stmt *ast.ReturnStmt) bool { return len(stmt.Results) == 0 })
}

// oneResult gives a condition one result, and declares those that it uses by name.
func (r *rewriter) oneResult(lit *ast.FuncLit) {
	for _, field := range lit.Type.Results.List {
		for _, name := range field.Names {
			if len(r.uses[r.pass.TypesInfo.Defs[name]]) > 0 {
				r.insert(lit.Body.Lbrace+1, code("\nvar % %\n", name.Name, field.Type)...)
			}
		}
	}
	r.replace(lit.Type.Results, "error")
}

// exits returns the return statements of a function literal.
func (r *rewriter) exits(lit *ast.FuncLit) (exits []*ast.ReturnStmt) {
	body, _ := r.root.FindNode(lit.Body)
	for cur := range body.Preorder((*ast.ReturnStmt)(nil)) {
		for up := range cur.Enclosing((*ast.FuncLit)(nil)) {
			if up.Node() == lit {
				exits = append(exits, cur.Node().(*ast.ReturnStmt))
			}
			break
		}
	}
	return exits
}

// returns makes the statements that leave a condition return one error: nil if it is true, one
// that is retried if it is false, and a permanent one for the condition's error.
func (r *rewriter) returns(lit *ast.FuncLit) {
	for _, stmt := range r.exits(lit) {
		r.returned(lit, stmt)
	}
}

func (r *rewriter) returned(lit *ast.FuncLit, stmt *ast.ReturnStmt) {
	again := code("return errors.New(%)", notYet)
	done := "done"
	for n := range ast.Preorder(lit.Body) { // a name that is free
		if id, ok := n.(*ast.Ident); ok && id.Name == done {
			done = "isDone"
		}
	}
	if len(stmt.Results) == 1 { // of another function
		r.replace(stmt, code("%, err := %\nif err == nil && !% {\n%\n}\nreturn retry.Permanent(err)", done, stmt.Results[0], done, again)...)
		return
	}
	met, err := stmt.Results[0], stmt.Results[1]
	value := r.pass.TypesInfo.Types[met].Value
	switch {
	case r.isNil(err) && value != nil && value.String() == "true":
		r.replace(stmt, code("return nil")...)
	case r.isNil(err) && value != nil && r.tested(stmt) != nil:
		r.replace(stmt, code("return retry.Transient(%)", r.tested(stmt).Name())...)
	case r.isNil(err) && value != nil:
		r.replace(stmt, again...)
	case r.isNil(err):
		r.replace(stmt, code("if !(%) {\n%\n}\nreturn nil", met, again)...)
	case r.failed(stmt, err):
		r.replace(stmt, code("return retry.Permanent(%)", err)...)
	case value != nil && value.String() == "true":
		r.replace(stmt, code("return retry.Permanent(%)", err)...)
	case value != nil && r.object(err) != nil:
		r.replace(stmt, code("if % == nil {\n%\n}\nreturn retry.Permanent(%)", err, again, err)...)
	case r.object(met) != nil && r.object(err) != nil:
		r.replace(stmt, code("if % == nil && !% {\n%\n}\nreturn retry.Permanent(%)", err, met, again, err)...)
	default:
		r.replace(stmt, code("%, err := %, %\nif err == nil && !% {\n%\n}\nreturn retry.Permanent(err)", done, met, err, done, again)...)
	}
}

// failed reports whether err is not nil where a statement returns it: it is made there, or the
// statement is in an if that asks.
func (r *rewriter) failed(stmt ast.Stmt, err ast.Expr) bool {
	if r.calls(ast.Unparen(err), "fmt.Errorf") || r.calls(ast.Unparen(err), "errors.New") {
		return true
	}
	tested := r.tested(stmt)
	return tested != nil && tested == r.object(err)
}

// tested returns the error that is not nil where a statement stands, because the statement is in
// an if that asks, or nil.
func (r *rewriter) tested(stmt ast.Stmt) types.Object {
	cur, _ := r.root.FindNode(stmt)
	block := cur.Parent()
	if block.ParentEdgeKind() != edge.IfStmt_Body {
		return nil
	}
	test, ok := block.Parent().Node().(*ast.IfStmt).Cond.(*ast.BinaryExpr)
	if !ok || test.Op != token.NEQ || !r.isNil(test.Y) {
		return nil
	}
	id, ok := ast.Unparen(test.X).(*ast.Ident)
	if !ok || !types.Identical(r.pass.TypesInfo.TypeOf(id), types.Universe.Lookup("error").Type()) {
		return nil
	}
	err := r.object(id)
	_, found := r.pass.Pkg.Scope().Innermost(stmt.Pos()).LookupParent(id.Name, stmt.Pos())
	set := slices.ContainsFunc(r.uses[err], func(use *ast.Ident) bool {
		return test.End() < use.Pos() && use.Pos() < stmt.Pos() && r.changes(use)
	})
	if found != err || set {
		return nil
	}
	return err
}
