package checks

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// Classify reports classifiers that decide otherwise than they read.
var Classify = analyzer("classify", "report classifiers that match no error, or retry what they should not", func(p *pass) {
	for _, call := range p.calls {
		switch call.name {
		case ours + ".PermanentIf":
			p.reportTargets(call)
		case ours + ".OnlyIf":
			if len(call.Args) == 1 {
				p.reportInverted(call.ChildAt(edge.CallExpr_Args, 0))
			}
		}
	}
	p.reportRecoverable()
	for _, call := range p.operations {
		if strings.HasPrefix(call.name, ours) {
			p.reportOpaque(call)
		}
	}
	for _, call := range p.calls {
		if call.name == ours+".FirstOf" {
			p.reportOrder(call)
		}
	}
	if p.importsUs() {
		for c := range p.root.Preorder((*ast.CallExpr)(nil)) {
			p.reportClassifier(c)
		}
	}
	if p.importsUs() {
		p.reportMethods()
		p.reportOtherForm()
	}
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
		if plainErrors.MatchString(p.callee(arg)) {
			p.report(c, "no error is equal to this new value: list a variable that the operation returns")
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
			if ok && lastName(field.Key).Name == "AttemptTimeout" {
				return true
			}
		}
	}
	return false
}

// lasting has errors that no retry mends, by their names.
var lasting = regexp.MustCompile(`(?i)(not_?found|no_?rows|not_?exist|permission|permanent|forbidden|unauthori[sz]ed|invalid|fatal|malformed|context\.Canceled)`)

// reportInverted reports a function for OnlyIf that asks for errors to be retried which no
// retry mends, and for nothing else.
func (p *pass) reportInverted(at inspector.Cursor) {
	fn := p.function(at)
	if !fn.Valid() || len(body(fn).List) != 1 {
		return
	}
	ret, ok := body(fn).List[0].(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 || p.callee(ret.Results[0]) != "errors.Is" {
		return
	}
	target := types.ExprString(ret.Results[0].(*ast.CallExpr).Args[1])
	if lasting.MatchString(target) {
		p.report(at, "OnlyIf retries only the errors for which the function returns true: to stop at %s, use PermanentIf(%[1]s)", strings.TrimSpace(target))
	}
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
		if len(p.vars[err].sets) > 1 {
			break // a loop may unwrap it
		}
		switch parent := use.Parent().Node().(type) {
		case *ast.TypeAssertExpr:
			p.report(use.Parent(), "an operation may wrap its error, and AttemptTimeout and markers do: use errors.As or errors.AsType")
		case *ast.BinaryExpr:
			if target, ok := p.info.Uses[lastName(parent.Y)].(*types.Var); ok && target.Kind() == types.PackageVar {
				p.report(use.Parent(), "an operation may wrap its error, and AttemptTimeout and markers do: use errors.Is(%s, %s)", err.Name(), types.ExprString(parent.Y))
			}
		}
	}
	if isFunc && p.isAlone(c) && len(p.vars[err].uses) > 0 {
		p.reportFallback(fn)
	}
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

// inClassifier reports whether c is in a function that only receives an error.
func (p *pass) inClassifier(c inspector.Cursor) bool {
	fn := around(c, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))
	if fn.Node() == nil {
		return false
	}
	params := p.signature(fn).Params()
	return params.Len() == 1 && types.Implements(params.At(0).Type(), errorType)
}

// trusts reports whether a function uses what the target of errors.As points to, and never
// compares the target, such as with nil.
func (p *pass) trusts(c *call) bool {
	address, ok := c.Args[1].(*ast.UnaryExpr)
	if !ok {
		return false
	}
	id, ok := address.X.(*ast.Ident)
	if !ok {
		return false
	}
	if _, isPointer := p.info.TypeOf(id).Underlying().(*types.Pointer); !isPointer {
		return false
	}
	selects := false
	for _, use := range p.vars[p.info.ObjectOf(id)].uses {
		if compares(use.Parent()) {
			return false
		}
		name, _ := field(use)
		selects = selects || name != ""
	}
	return selects
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
