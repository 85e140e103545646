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
	case p.classifies(at):
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

// decidesOtherwise has what may make an error transient.
var decidesOtherwise = names(ours + `\.(Classifier|ClassifierFunc|OnlyIf|FirstOf|Codes|Transient|Throttled|After)`)

// classifies reports whether the policy of the test around c may have a classifier. If the test
// makes the policy, the rest of the package matters only if it sets the Classifier of one.
func (p *pass) classifies(c inspector.Cursor) bool {
	test := around(c, (*ast.FuncDecl)(nil))
	makesPolicy := false
	for lit := range test.Preorder((*ast.CompositeLit)(nil)) {
		makesPolicy = makesPolicy || typeName(p.info.TypeOf(lit.Node().(ast.Expr))) == ours+".Policy"
	}
	for id := range p.root.Preorder((*ast.Ident)(nil)) {
		if !decidesOtherwise.MatchString(objectName(p.info.Uses[id.Node().(*ast.Ident)])) {
			continue
		}
		if !makesPolicy || test.Contains(id) || id.Parent().ParentEdgeKind() == edge.AssignStmt_Lhs {
			return true
		}
	}
	return false
}

// isForRetries reports whether the name or a text of the test around c is about retries, and none
// about a failure that has no retry.
func (p *pass) isForRetries(c inspector.Cursor) bool {
	test := around(c, (*ast.FuncDecl)(nil))
	decl, ok := test.Node().(*ast.FuncDecl)
	if !ok {
		return false
	}
	texts := []string{decl.Name.Name}
	for text := range test.Preorder((*ast.BasicLit)(nil)) {
		texts = append(texts, text.Node().(*ast.BasicLit).Value)
	}
	return slices.ContainsFunc(texts, ofRetries.MatchString) && !slices.ContainsFunc(texts, ofFinal.MatchString)
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
