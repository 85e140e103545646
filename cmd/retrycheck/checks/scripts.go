package checks

import (
	"go/ast"
	"go/constant"
	"go/types"
	"regexp"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/gobackoff/retry"
)

// What a test of retries is about, and one of a permanent failure, by their names and texts.
var (
	ofRetries = regexp.MustCompile(`(?i)giv(e|es|ing|en)[ _]?up|gave[ _]?up|attempt|retr(y|ies)|exhaust|budget|backoff|tries`)
	ofFinal   = regexp.MustCompile(`(?i)permanent|final|fatal|stop|once|first|single|immediate|at once|fast|(no|not|never|without|doesn'?t|isn'?t|n't)[ _-]?(be )?(any )?(more )?retr`)
)

// reportScripts reports an operation of package retrytest whose first failure is permanent, in a
// test of retries that does not ask how often it was called.
func (p *pass) reportScripts() {
	for _, c := range p.calls {
		if !p.inTest(c.Cursor) {
			continue
		}
		later, failure := p.script(c)
		if later > 0 && p.isPermanent(failure) && p.isForRetries(c.Cursor) && !p.asksForCalls(c.Cursor) {
			p.reportAnywhere(c.Cursor, "this failure is permanent, so the first attempt is the last, and nothing is retried: take an error that is retried")
		}
	}
}

// script returns the first failure of an operation of package retrytest, and how many failures
// follow.
func (p *pass) script(c *call) (later int64, failure inspector.Cursor) {
	switch c.name {
	case ours + "/retrytest.Fail":
		if n := p.info.Types[c.Args[0]].Value; n != nil {
			times, _ := constant.Int64Val(constant.ToInt(n))
			return times - 1, c.ChildAt(edge.CallExpr_Args, 1)
		}
	case ours + "/retrytest.Script":
		if len(c.Args) > 1 && !c.Ellipsis.IsValid() {
			return int64(len(c.Args)) - 1, c.ChildAt(edge.CallExpr_Args, 0)
		}
	}
	return 0, inspector.Cursor{}
}

// marked has what marks an error that no policy retries.
var marked = names(ours + `\.(Permanent|Unrepeatable)`)

// isPermanent reports whether no policy of the package retries an error.
func (p *pass) isPermanent(at inspector.Cursor) bool {
	value := p.value(at)
	e, ok := value.Node().(ast.Expr)
	switch {
	case !ok:
		return false
	case marked.MatchString(p.callee(e)):
		return true
	case p.classifies():
		return false
	}
	if known := knownErrors[objectName(p.info.Uses[lastName(e)])]; known != nil {
		return (retry.DefaultClassifier{}).Classify(known).Class == retry.ClassPermanent
	}
	return p.neverRetryable(p.info.TypeOf(e))
}

// neverRetryable reports whether the package declares a type with a method NonRetryable that
// returns true.
func (p *pass) neverRetryable(t types.Type) bool {
	for decl := range p.root.Preorder((*ast.FuncDecl)(nil)) {
		n := decl.Node().(*ast.FuncDecl)
		recv := p.signature(decl).Recv()
		if recv == nil || n.Name.Name != "NonRetryable" || n.Body == nil || len(n.Body.List) != 1 || typeName(recv.Type()) != typeName(t) {
			continue
		}
		ret, ok := n.Body.List[0].(*ast.ReturnStmt)
		if ok && len(ret.Results) == 1 && types.ExprString(ret.Results[0]) == "true" {
			return true
		}
	}
	return false
}

// classifies reports whether the package has a classifier of its own, or marks errors as transient.
func (p *pass) classifies() bool {
	for c := range p.root.Preorder((*ast.Ident)(nil)) {
		switch objectName(p.info.Uses[c.Node().(*ast.Ident)]) {
		case ours + ".Classifier", ours + ".ClassifierFunc", ours + ".OnlyIf", ours + ".FirstOf", ours + ".Codes", ours + ".Transient", ours + ".Throttled", ours + ".After":
			return true
		}
	}
	return false
}

// isForRetries reports whether the test around c is about retries, and not about a failure that
// has none.
func (p *pass) isForRetries(c inspector.Cursor) bool {
	test := around(c, (*ast.FuncDecl)(nil))
	decl, ok := test.Node().(*ast.FuncDecl)
	if !ok || ofFinal.MatchString(decl.Name.Name) || decl.Doc != nil && ofFinal.MatchString(decl.Doc.Text()) {
		return false
	}
	about := ofRetries.MatchString(decl.Name.Name)
	for part := range test.Preorder((*ast.BasicLit)(nil), (*ast.Ident)(nil)) {
		switch n := part.Node().(type) {
		case *ast.BasicLit:
			if ofFinal.MatchString(n.Value) {
				return false
			}
			about = about || ofRetries.MatchString(n.Value)
		case *ast.Ident:
			about = about || n.Name == "MaxAttempts" || n.Name == "MaxElapsed"
		}
	}
	return about
}

// asksForCalls reports whether the test around c asks how often an operation was called, or for
// the failure itself.
func (p *pass) asksForCalls(c inspector.Cursor) bool {
	test := around(c, (*ast.FuncDecl)(nil))
	return slices.ContainsFunc(p.calls, func(asks *call) bool {
		if !test.Contains(asks.Cursor) {
			return false
		}
		switch asks.name {
		case ours + "/retrytest.Op.Calls", "errors.Is", "errors.As", "errors.AsType":
			return true
		}
		return errorAssertion.MatchString(asks.name)
	})
}

var errorAssertion = names(`.*testify/(assert|require)\.(Assertions\.)?(ErrorIs|ErrorAs|Equal|Same|ErrorContains|EqualError)f?`)
