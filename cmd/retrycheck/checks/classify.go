package checks

import (
	"go/ast"
	"go/types"
	"regexp"
	"slices"
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
	if slices.ContainsFunc(p.Pkg.Imports(), func(imported *types.Package) bool { return imported.Path() == ours }) {
		p.reportMethods()
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
			p.report(c, "no error is equal to this new value: to list a type, use OnlyIf with errors.AsType, or give the type a method Is")
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
