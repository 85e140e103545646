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

// Classify reports classifiers that decide otherwise than they read.
var Classify = analyzer("classify", func(p *pass) {
	for _, call := range p.calls {
		if call.name == ours+".PermanentIf" {
			p.reportTargets(call)
		}
	}
	if !p.importsUs() {
		return
	}
	for c := range p.root.Preorder((*ast.CallExpr)(nil)) {
		p.reportClassifier(c)
	}
	p.reportMethods()
	p.reportOtherForm()
})

// results has the methods of errors that the DefaultClassifier reads, and what they return.
var results = map[string]string{
	"NonRetryable": "bool", "Retryable": "bool", "IsRetryable": "bool", "Temporary": "bool", "Timeout": "bool", "RetryAfter": "time.Duration",
}

// reportMethods reports methods of errors of the package that nothing reads, because of their
// result or their name.
func (p *pass) reportMethods() {
	for c := range p.root.Preorder((*ast.FuncDecl)(nil)) {
		recv := p.signature(c).Recv()
		if recv == nil || !types.Implements(recv.Type(), errorType) && !types.Implements(types.NewPointer(recv.Type()), errorType) {
			continue
		}
		name := c.Node().(*ast.FuncDecl).Name.Name
		want, read := results[name]
		sig := p.signature(c)
		fits := sig.Params().Len() == 0 && sig.Results().Len() == 1 && sig.Results().At(0).Type().String() == want
		switch {
		case name == "Permanent" && sig.Results().Len() == 1 && sig.Results().At(0).Type().String() == "bool":
			p.report(c, "nothing reads a method Permanent: call it NonRetryable")
		case read && !fits:
			p.report(c, "nothing reads this method: %s has to take nothing and to return one %s", name, want)
		}
	}
}

// reportTargets reports errors in a list for PermanentIf that no error is equal to, and the
// error of an attempt that takes too long, if the policy limits attempts.
func (p *pass) reportTargets(list *call) {
	for i, arg := range list.Args {
		c := list.ChildAt(edge.CallExpr_Args, i)
		t := p.info.TypeOf(arg)
		lit, isNew := p.plain(c).Node().(*ast.CompositeLit)
		_, isPointer := t.Underlying().(*types.Pointer)
		if isNew && !hasMethod(t, "Is") && (isPointer || len(lit.Elts) == 0 && fieldsOf(t) > 0) {
			p.report(c, "no error is equal to this new value: to list a type, use a ClassifierFunc with errors.AsType, or give it a method NonRetryable() bool")
		}
		if objectName(p.info.Uses[lastName(arg)]) == "context.DeadlineExceeded" && p.limitsAttempts(list.Cursor) {
			p.report(c, "an attempt that AttemptTimeout ends matches context.DeadlineExceeded, so it is never retried")
		}
	}
}

func fieldsOf(t types.Type) int {
	if s, ok := t.Underlying().(*types.Struct); ok {
		return s.NumFields()
	}
	return 0
}

// limitsAttempts reports whether the policy that c is a part of has an AttemptTimeout.
func (p *pass) limitsAttempts(c inspector.Cursor) bool {
	for lit := range c.Enclosing((*ast.CompositeLit)(nil)) {
		if typeName(p.info.TypeOf(lit.Node().(ast.Expr))) != ours+".Policy" {
			continue
		}
		for _, element := range lit.Node().(*ast.CompositeLit).Elts {
			field, ok := element.(*ast.KeyValueExpr)
			if ok && objectName(p.info.Uses[lastName(field.Key)]) == ours+".AttemptTimeout" {
				return true
			}
		}
	}
	return false
}

// reportClassifier reports a function for OnlyIf or ClassifierFunc that does not look into
// wrapped errors, or that, as the only classifier of a policy, makes every other error
// transient.
func (p *pass) reportClassifier(c inspector.Cursor) {
	n := c.Node().(*ast.CallExpr)
	isFunc := p.info.Types[n.Fun].IsType() && typeName(p.info.TypeOf(n)) == ours+".ClassifierFunc"
	if !isFunc && p.callee(n) != ours+".OnlyIf" || len(n.Args) != 1 {
		return
	}
	fn := p.function(c.ChildAt(edge.CallExpr_Args, 0))
	if !fn.Valid() || p.signature(fn).Params().Len() != 1 {
		return
	}
	err := p.signature(fn).Params().At(0)
	for _, use := range p.vars[err].uses {
		switch parent := use.Parent().Node().(type) {
		case *ast.TypeAssertExpr:
			if p.getsWrapped(c) {
				p.report(use.Parent(), "the operation wraps its error: use errors.As or errors.AsType")
			}
		case *ast.BinaryExpr:
			target, ok := p.info.Uses[lastName(parent.Y)].(*types.Var)
			if ok && target.Kind() == types.PackageVar && (p.getsWrapped(c) || p.isWrapped(target)) {
				p.report(use.Parent(), "%[2]s is wrapped: use errors.Is(%[1]s, %[2]s)", err.Name(), types.ExprString(parent.Y))
			}
		}
	}
	if isFunc && p.isAlone(c) && len(p.vars[err].uses) > 0 {
		p.reportFallback(fn)
	}
}

// getsWrapped reports whether an operation that a classifier is for wraps its error.
func (p *pass) getsWrapped(classifier inspector.Cursor) bool {
	return slices.ContainsFunc(p.operations, func(loop *call) bool {
		if !loop.policy.Valid() || !p.isPartOf(classifier, loop.policy) {
			return false
		}
		for ret := range loop.op.Preorder((*ast.ReturnStmt)(nil)) {
			if last, given := ret.LastChild(); given && p.isWrapper(last) {
				return true
			}
		}
		return false
	})
}

// isPartOf reports whether c is in a policy, or in the value of a variable that the policy has.
func (p *pass) isPartOf(c, policy inspector.Cursor) bool {
	return policy.Contains(c) || slices.ContainsFunc(p.mentions(policy), func(id inspector.Cursor) bool {
		value := p.declared(p.info.Uses[id.Node().(*ast.Ident)])
		return value.Valid() && value.Contains(c)
	})
}

// isWrapped reports whether the package wraps the error of a variable somewhere.
func (p *pass) isWrapped(v *types.Var) bool {
	return slices.ContainsFunc(p.vars[v].uses, func(use inspector.Cursor) bool {
		kind, _ := use.ParentEdge()
		return kind == edge.CallExpr_Args && p.isWrapper(use.Parent())
	})
}

// isWrapper reports whether c is a call that wraps an error: fmt.Errorf, or a marker.
func (p *pass) isWrapper(c inspector.Cursor) bool {
	name := p.callee(c.Node())
	return name == "fmt.Errorf" && !p.formats(c) && p.wraps(c) || markers.MatchString(name)
}

// isAlone reports whether c is the Classifier of a policy, and not one of several.
func (p *pass) isAlone(c inspector.Cursor) bool {
	for c.ParentEdgeKind() == edge.ParenExpr_X {
		c = c.Parent()
	}
	return p.field(c.Parent()) == ours+".Classifier" || p.field(p.destination(c).Parent()) == ours+".Classifier" && c.ParentEdgeKind() != edge.CallExpr_Args
}

// reportFallback reports the last return of a classifier if it has a constant class that makes
// unknown errors transient, and nothing in the classifier asks another one.
func (p *pass) reportFallback(fn inspector.Cursor) {
	for c := range fn.Preorder((*ast.CallExpr)(nil), (*ast.CompositeLit)(nil)) {
		name := p.callee(c.Node())
		if lit, ok := c.Node().(*ast.CompositeLit); ok {
			name = typeName(p.info.TypeOf(lit))
		}
		if name == ours+".DefaultClassifier" || strings.HasSuffix(name, ".Classify") {
			return
		}
	}
	list := body(fn).List
	if len(list) < 2 {
		return
	}
	ret, ok := list[len(list)-1].(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 {
		return
	}
	lit, ok := ret.Results[0].(*ast.CompositeLit)
	if !ok || len(lit.Elts) > 1 {
		return
	}
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok || objectName(p.info.Uses[lastName(kv.Value)]) != ours+".ClassTransient" {
			return
		}
	}
	for c := range fn.Preorder((*ast.ReturnStmt)(nil)) {
		if c.Node() == ret {
			p.report(c, "this retries every other error, such as a 404 or a canceled context: return retry.Verdict{} here, and use retry.FirstOf(mine, retry.DefaultClassifier{})")
		}
	}
}

// reportOtherForm reports errors.As for a pointer to a type of the package whose values are all
// errors without a pointer, or the other way around.
func (p *pass) reportOtherForm() {
	values, pointers := map[types.Type]bool{}, map[types.Type]bool{}
	for c := range p.root.Preorder((*ast.CompositeLit)(nil)) {
		t := p.info.TypeOf(c.Node().(ast.Expr))
		if _, isNamed := t.(*types.Named); !isNamed {
			continue
		}
		if address, ok := c.Parent().Node().(*ast.UnaryExpr); ok && address.Op == token.AND {
			pointers[t] = true
		} else {
			values[t] = true
		}
	}
	for _, c := range p.calls {
		if c.name != "errors.As" && c.name != "errors.AsType" {
			continue
		}
		t := p.asked(c.CallExpr)
		if t == nil {
			continue
		}
		if pointer, ok := t.(*types.Pointer); ok {
			t = pointer.Elem()
			if p.isOurError(t) && values[t] && !pointers[t] {
				p.report(c.Cursor, "the package makes values of %s, and this looks for a pointer: no error matches", typeName(t))
			}
		} else if p.isOurError(t) && pointers[t] && !values[t] {
			p.report(c.Cursor, "the package makes pointers to %s, and this looks for a value: no error matches", typeName(t))
		}
	}
}

// isOurError reports whether t is a type of the package whose values are errors, as pointers to
// them are.
func (p *pass) isOurError(t types.Type) bool {
	named, ok := t.(*types.Named)
	return ok && named.Obj().Pkg() == p.Pkg && types.Implements(t, errorType) && !types.IsInterface(t)
}

// asked returns the type that a call of errors.As or errors.AsType looks for.
func (p *pass) asked(n *ast.CallExpr) types.Type {
	if p.callee(n) == "errors.AsType" {
		return p.info.TypeOf(n).(*types.Tuple).At(0).Type()
	}
	if pointer, ok := p.info.TypeOf(n.Args[1]).(*types.Pointer); ok {
		return pointer.Elem()
	}
	return nil
}
