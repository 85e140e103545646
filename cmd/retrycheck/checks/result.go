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

// pure has functions that return a marked error or a changed copy and do nothing else.
var pure = names(
	ours+`\.(Permanent|Transient|Throttled|Unrepeatable|Progress|After|Policy\.With|FirstOf|OnlyIf)`,
	ours+`/(retryotel\.Instrument|awspreset\.Preset\.Policy|admit\.Gate\.Handler|retryhttp\.(CheckStatus|Unsent|WithPolicy|WithoutRetry)|retrysql\.AskingDB|retryaws\.WithPolicy|retrygrpc\.(DialOptions|WithPolicy))`,
	cenkalti+`\.(Permanent|RetryAfter|WithContext|WithMaxRetries)`,
	avast+`\.Unrecoverable`,
	sethvargo+`\.(RetryableError|With[A-Z]\w*)`)

// statements are the edges to a call whose result is not used.
var statements = []edge.Kind{edge.ExprStmt_X, edge.GoStmt_Call, edge.DeferStmt_Call}

// Dropped reports calls whose only effect is their result, which is not used.
var Dropped = analyzer("dropped", "report unused results of Permanent(err), policy.With(hooks) and their relatives", func(p *pass) {
	if p.importsUs() {
		p.reportLostChanges()
		p.reportUnusedFakes()
		p.reportUnread()
		p.reportLostPermanent()
		p.reportPlainConnections()
	}
	for _, call := range p.calls {
		p.reportErasedByFlag(call)
		statement := slices.Contains(statements, call.ParentEdgeKind())
		switch {
		case call.name == ours+".FirstOf":
			for i := range len(call.Args) - 1 {
				if c := call.ChildAt(edge.CallExpr_Args, i); p.callee(p.value(c).Node()) == ours+".OnlyIf" {
					p.report(c, "OnlyIf decides about every error, so what follows it in FirstOf is never asked")
				}
			}
		case call.name == "errors.As" && p.importsUs() && call.ParentEdgeKind() == edge.ExprStmt_X && p.inClassifier(call.Cursor) && p.trusts(call):
			p.report(call.Cursor, "the target is only set if errors.As returns true: ask for its result")
		case statement && pure.MatchString(call.name):
			p.report(call.Cursor, "%s has no effect unless its result is used", shortName(call.name))
		case pure.MatchString(call.name) && p.formats(call.Parent()):
			p.report(call.Cursor, "%s has no effect unless the format wraps its result with %%w", shortName(call.name))
		case call.name == "fmt.Errorf" && p.formats(call.Cursor):
			for i, arg := range call.Args {
				if name := p.latest(call.ChildAt(edge.CallExpr_Args, i)); pure.MatchString(name) {
					p.report(call.ChildAt(edge.CallExpr_Args, i), "%s is marked by %s, which has no effect unless the format wraps it with %%w", types.ExprString(arg), shortName(name))
				}
			}
		case statement && (call.policy.Valid() || retriers.MatchString(call.name) && call.ParentEdgeKind() == edge.ExprStmt_X):
			p.report(call.Cursor, "the error of %s is not used, so a final failure goes unnoticed", shortName(call.name))
		}
	}
	p.reportLost()
	if p.importsUs() {
		p.reportOutcomes()
		p.reportBranches()
		p.reportRefused()
		p.reportUnheardRuns()
	}
	for _, loop := range p.operations {
		p.reportLateCost(loop)
	}
	for _, loop := range p.loops {
		p.reportOneReason(loop)
	}
	for _, call := range p.operations {
		if !strings.HasPrefix(call.name, ours) {
			continue
		}
		p.reportLostEnd(call)
		for c := range call.op.Preorder((*ast.ReturnStmt)(nil)) {
			if text, ok := c.LastChild(); ok && p.formats(text) {
				for i, arg := range text.Node().(*ast.CallExpr).Args {
					at := text.ChildAt(edge.CallExpr_Args, i)
					if types.Implements(p.info.TypeOf(arg), errorType) && p.callee(arg) == "" && !pure.MatchString(p.latest(at)) {
						p.report(at, "the operation hides %s, so what it says of a retry is lost: wrap it with %%w", types.ExprString(arg))
					}
				}
			}
		}
	}
})

var errorType = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)

// latest returns the name of the function whose result a variable has at c, if the statement
// that sets it is before c, in a block around it.
func (p *pass) latest(c inspector.Cursor) string {
	if value := p.latestValue(c); value.Valid() {
		return p.callee(value.Node())
	}
	return ""
}

// latestValue returns what the last statement before c in a block around it has set a variable
// to; of v, err := f(), it is f() for both.
func (p *pass) latestValue(c inspector.Cursor) (value inspector.Cursor) {
	id, ok := c.Node().(*ast.Ident)
	if !ok {
		return value
	}
	var last inspector.Cursor
	for _, set := range p.vars[p.info.ObjectOf(id)].sets {
		if set.Node().Pos() < id.Pos() && !set.Parent().Contains(c) && (!last.Valid() || last.Node().Pos() < set.Node().Pos()) {
			last = set
		}
	}
	if !last.Valid() {
		return value
	}
	if in := around(last, (*ast.BlockStmt)(nil), (*ast.CaseClause)(nil)); in == p.root || !in.Contains(c) {
		return value
	}
	return givenAt(last)
}

// formats reports whether c is a call of fmt.Errorf that wraps nothing.
func (p *pass) formats(c inspector.Cursor) bool {
	if p.callee(c.Node()) != "fmt.Errorf" {
		return false
	}
	format := p.info.Types[c.Node().(*ast.CallExpr).Args[0]].Value
	return format != nil && !strings.Contains(format.ExactString(), "%w")
}

var reasons = names(ours + `\.Err(MaxAttempts|MaxElapsed|Budget|Hint|Unrepeatable|Invalid)`)

// Compare reports comparisons that are always false, or false if Do gave up, because it then
// returns a *retry.Error that matches the reason and the last failure, and is neither. A
// hook's e.Reason may be equal to the reason.
var Compare = analyzer("compare", "report errors of Do that are compared with == or switch instead of errors.Is", func(p *pass) {
	for c := range p.root.Preorder((*ast.SelectorExpr)(nil)) {
		reason := p.info.Uses[c.Node().(*ast.SelectorExpr).Sel]
		if !reasons.MatchString(objectName(reason)) {
			continue
		}
		var compared ast.Expr
		switch n := c.Parent().Node().(type) {
		case *ast.BinaryExpr:
			compared = n
		case *ast.CaseClause: // in a switch statement's body
			if s, ok := c.Parent().Parent().Parent().Node().(*ast.SwitchStmt); ok {
				compared = s.Tag
			}
		}
		if compared != nil && !strings.Contains(strings.ToLower(types.ExprString(compared)), "reason") {
			p.report(c, "Do returns an error that matches retry.%[1]s but is not equal to it: use errors.Is(err, retry.%[1]s)", reason.Name())
		}
	}
	if !p.importsUs() {
		return
	}
	p.reportEqual()
	p.reportText()
	p.reportAsserted()
	p.reportUnwrapped()
	p.reportNilErr()
	p.reportOnlyGivenUp()
	for c := range p.root.Preorder((*ast.SwitchStmt)(nil)) {
		p.reportOnlySomeCases(c)
	}
})

// lastName returns the last identifier of a name such as io.EOF, or nil.
func lastName(e ast.Expr) *ast.Ident {
	if sel, ok := e.(*ast.SelectorExpr); ok {
		return sel.Sel
	}
	id, _ := e.(*ast.Ident)
	return id
}

var final = names(ours+`\.Permanent`, cenkalti+`\.Permanent`, avast+`\.Unrecoverable`)

// What ends a test.
var (
	stopsTest = names(`testing\.(common|T|B|TB)\.(Fatal|Fatalf|FailNow)`)
	requires  = names(`github\.com/stretchr/testify/require\.(Assertions\.)?NoErrorf?`)
)

// stops names what ends a test in an operation because a call in it failed.
func (p *pass) stops(op inspector.Cursor) string {
	for c := range op.Preorder((*ast.CallExpr)(nil)) {
		name := p.callee(c.Node())
		test, inIf := around(c, (*ast.IfStmt)(nil), (*ast.FuncLit)(nil)).Node().(*ast.IfStmt)
		if requires.MatchString(name) || stopsTest.MatchString(name) && inIf && p.isFailure(test.Cond) {
			return strings.Replace(shortName(name), "testing.common", "t", 1)
		}
	}
	return ""
}

// isFailure reports whether a condition is err != nil.
func (p *pass) isFailure(e ast.Expr) bool {
	test, ok := e.(*ast.BinaryExpr)
	return ok && test.Op == token.NEQ && p.info.Types[test.Y].IsNil() && p.isError(test.X)
}

// triesAgain reports whether the policy of a call says how often or how long to try.
func (p *pass) triesAgain(call *call) bool {
	return call.policy.Valid() && slices.ContainsFunc(p.mentions(call.policy), func(id inspector.Cursor) bool {
		name := id.Node().(*ast.Ident).Name
		return name == "MaxAttempts" || name == "MaxElapsed"
	})
}

// NoFail reports operations that succeed or fail for good, so that nothing is ever retried.
var NoFail = analyzer("nofail", "report operations that never return an error to retry", func(p *pass) {
	p.reportScripts()
	for _, call := range p.operations {
		returns, retried := false, false
		counted, progress := 0, 0
		for c := range call.op.Preorder((*ast.ReturnStmt)(nil)) {
			if around(c, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) == call.op {
				last, given := c.LastChild()
				returns = true
				if given && !p.info.Types[last.Node().(ast.Expr)].IsNil() {
					counted++
				}
				if given && p.callee(last.Node()) == ours+".Progress" {
					progress++
				}
				retried = retried || !given || !p.info.Types[last.Node().(ast.Expr)].IsNil() && !final.MatchString(p.callee(last.Node()))
			}
		}
		p.reportConstant(call)
		p.reportOldProgress(call)
		p.reportTimeouts(call)
		p.reportSwallowed(call)
		p.reportNeverAgain(call)
		p.reportUnknownToPreset(call)
		if progress > 0 && progress == counted {
			p.report(call.Cursor, "every failure counts as Progress, so attempts start from the first again and never end: mark only what did useful work")
		}
		if !returns || retried || !retriers.MatchString(call.name) || inTx.MatchString(call.name) && !p.works(call.op) {
			continue // retrysql also retries what begins a transaction
		}
		if stop := p.stops(call.op); p.inTest(call.Cursor) && stop != "" && doers.MatchString(call.name) && p.triesAgain(call) {
			p.reportAnywhere(call.Cursor, "%s ends the test at the first failure, so %s never retries it: return an error, and check after the call", stop, shortName(call.name))
		} else {
			p.report(call.Cursor, "the operation never returns an error that is not permanent, so %s never retries it", shortName(call.name))
		}
	}
})

// isMadeUp reports whether a variable is an error that the function makes, as a simulation does,
// and not the result of a call that may fail.
func (p *pass) isMadeUp(v *types.Var) bool {
	value := p.declared(v)
	if !value.Valid() {
		return false
	}
	_, isLit := p.plain(value).Node().(*ast.CompositeLit)
	return isLit || plainErrors.MatchString(p.callee(value.Node()))
}

// reportConstant reports an operation that calls nothing, so that each attempt returns what was
// there before, and one that returns an error whatever happens.
func (p *pass) reportConstant(call *call) {
	if !strings.HasPrefix(call.name, ours) {
		return
	}
	calls, returns, fails := 0, 0, 0
	captured := ""
	for c := range call.op.Preorder((*ast.CallExpr)(nil), (*ast.UnaryExpr)(nil), (*ast.ReturnStmt)(nil), (*ast.SelectStmt)(nil)) {
		switch n := c.Node().(type) {
		case *ast.CallExpr, *ast.SelectStmt:
			calls++
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				calls++
			}
		case *ast.ReturnStmt:
			if around(c, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) != call.op {
				continue
			}
			returns++
			last, given := c.LastChild()
			if !given {
				return
			}
			if plainErrors.MatchString(p.callee(last.Node())) {
				fails++
			}
			if id, ok := last.Node().(*ast.Ident); ok {
				if v, ok := p.info.Uses[id].(*types.Var); ok && outside(v, call.op) && v.Kind() != types.PackageVar && !p.isMadeUp(v) {
					captured = id.Name
				}
			}
		}
	}
	switch {
	case calls == 0 && captured != "":
		p.report(call.Cursor, "the operation calls nothing, so each attempt returns the same %s: make the call in the operation", captured)
	case returns > 0 && fails == returns && calls > fails:
		p.report(call.Cursor, "the operation returns an error even if what it called succeeded, because fmt.Errorf and errors.New never return nil: return nil first if there is no error")
	}
}
