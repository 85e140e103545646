package checks

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// A verdict is a result of a function of this library that the caller has to look at.
type verdict struct {
	index int    // of the result
	means string // what happens if nobody looks at it
}

// verdicts has the functions of this library with such a result, besides the errors of Do and
// its relatives.
var verdicts = map[string]verdict{
	ours + ".Policy.Next":             {1, givesUp},
	ours + "/adapt.DelayFor":          {1, givesUp},
	ours + "/adapt.Sequence.Next":     {1, "it is true when the policy gives up, and the delay is then no wait: end the loop"},
	ours + "/adapt.Sequence.Retry":    {1, "it is false when the policy gives up, and the delay is then no wait: end the loop"},
	ours + ".HintOrGiveUp.Wait":       {1, "it is false if the hint is too long to wait for"},
	ours + ".HintRule.Wait":           {1, "it is false if the hint is too long to wait for"},
	ours + "/retryhedge.Open":         {1, "the context of the result lives until it is called: call it when the result has been read"},
	ours + "/admit.Gate.Enter":        {1, "it refuses the request, so an overloaded server serves it nevertheless"},
	ours + "/retryconfig.Parse":       {1, anotherPolicy},
	ours + "/retryconfig.Text":        {1, "the text is empty if the policy has none"},
	ours + "/awspreset.FromEnv":       {1, anotherPolicy},
	ours + "/retrygrpc.ServiceConfig": {1, "it lists what the service config cannot say"},
}

const (
	givesUp       = "if it is not nil, the policy gives up, and the wait is 0: end the loop"
	anotherPolicy = "if it is not nil, the policy is not the one of the text, but the zero one: return the error"
)

// onlyResults has functions and methods of this library that do nothing but return something,
// besides those of pure.
var onlyResults = names(
	ours+`\.(PermanentIf|AttemptInContext|AttemptFrom|Policy\.(Validate|Next|Classify|Attempts|Delays|String))`,
	ours+`/adapt\.(DelayFor|OneBased|ZeroBased|NewSequence)`,
	ours+`/awspreset\.(FromEnv|Preset\.RetryAfter)`,
	ours+`/ratelimit\.(WithCost|Read)`,
	ours+`/retryaws\.(WithPolicy|Safely|New)`,
	ours+`/retryconfig\.(Parse|Text|NewPlan)`,
	ours+`/retrygrpc\.(WithPolicy|DialOptions|ServiceConfig|Client\.DialOptions)`,
	ours+`/retryhttp\.(CheckStatus|Unsent|WithPolicy|WithoutRetry|AttemptNumber|InfoFrom|Ambiguous|RetryAfter|KeyForHosts|Unbudgeted|NewClient)`,
	ours+`/retryhttp/apis\.(Complete|CheckWithin)`,
	ours+`/retryotel\.(OneCall|ResendCount|Instrumentation\.(Instrument|CountItems))`,
	ours+`/retrysql\.(Asking|AskingDB|Resetting)`,
	ours+`/retrytest\.(Twice|TwiceValue)`,
	ours+`(\.\w+|/\w+\.\w+)\.(Classify|Validate)`,
)

// loud has functions whose unused error is a failure that nobody learns of.
var loud = names(
	ours+`/retryhedge\.Do`, ours+`/retrybatch\.Do`, ours+`/retrykeep\.Keeper\.Run`,
)

// inContext has functions of this library that put something into a context.
var inContext = names(ours+`/retryhttp\.(WithPolicy|WithoutRetry)`, ours+`/ratelimit\.WithCost`, ours+`/retryotel\.OneCall`)

// reportUnread reports results of this library that nothing looks at, and contexts that nothing
// uses.
func (p *pass) reportUnread() {
	for _, c := range p.calls {
		if v, ok := verdicts[c.name]; ok {
			p.reportVerdict(c, v)
		}
		if c.ParentEdgeKind() == edge.ExprStmt_X {
			p.reportStatement(c)
		}
		if c.name == ours+"/admit.Gate.Enter" {
			p.reportTicket(c)
		}
		if c.name == ours+"/ratelimit.Correct" {
			p.reportWithoutCost(c)
		}
	}
	for c := range p.root.Preorder((*ast.AssignStmt)(nil)) {
		p.reportUnusedValue(c)
	}
}

// reportStatement reports a call that is a statement although all that it does is to return
// something.
func (p *pass) reportStatement(c *call) {
	switch {
	case onlyResults.MatchString(c.name):
		p.report(c.Cursor, "%s has no effect unless its result is used", shortName(c.name))
	case copies.MatchString(c.name):
		p.report(c.Cursor, "%s returns a copy of the request, which nothing uses", shortName(c.name))
	case loud.MatchString(c.name) && !p.hears(c):
		p.report(c.Cursor, "the error of %s is not used, so a final failure goes unnoticed", shortName(c.name))
	}
}

// hears reports whether the package learns of failures in another way than by the error of a
// call: by a hook, or by the state of a Keeper.
func (p *pass) hears(c *call) bool {
	if c.name == ours+"/retrykeep.Keeper.Run" {
		return p.mentionsAnywhere(names(ours + `(\.OnGiveUp|\.Policy\.With|/retrykeep\.(OnChange|Stopped)|/retryotel\..*|/retryslog\..*)`))
	}
	return false
}

// mentionsAnywhere reports whether the package names what matches.
func (p *pass) mentionsAnywhere(name interface{ MatchString(string) bool }) bool {
	for c := range p.root.Preorder((*ast.Ident)(nil)) {
		if name.MatchString(objectName(p.info.Uses[c.Node().(*ast.Ident)])) {
			return true
		}
	}
	return false
}

// reportVerdict reports a call whose verdict is assigned to _, or to a variable that nothing
// reads before it is set again.
func (p *pass) reportVerdict(c *call, v verdict) {
	result, given := p.givenTo(c, v.index)
	if !given || p.isSettled(c) {
		return
	}
	kind := p.nameOfResult(c, v.index)
	inLoop := p.inLoop(c.Cursor)
	if v.means == givesUp && inLoop && result != nil && !p.heedsResult(c, result, p.mayLeave) {
		p.report(c.Cursor, "%s of %s does not end this loop: %s", kind, shortName(c.name), v.means)
		return
	}
	logged := v.means == givesUp && !inLoop && result != nil && !p.heedsResult(c, result, p.mayDecide)
	if result == nil || !p.isRead(c, result) || logged {
		p.report(c.Cursor, "nothing looks at %s of %s: %s", kind, shortName(c.name), v.means)
	}
}

// nameOfResult says what a result is.
func (p *pass) nameOfResult(c *call, i int) string {
	switch t := p.info.TypeOf(c.CallExpr).(*types.Tuple).At(i).Type(); {
	case verdicts[c.name].means == givesUp:
		return "the reason"
	case types.Implements(t, errorType):
		return "the error"
	case t.String() == "bool":
		return "the second result"
	case typeName(t) == "context.CancelFunc":
		return "the function done"
	}
	return "the second result"
}

// givenTo returns the variable that gets a result of a call, or nil for _. It reports whether
// the call is assigned in a way that says so.
func (p *pass) givenTo(c *call, i int) (v *types.Var, ok bool) {
	assign, isAssign := c.Parent().Node().(*ast.AssignStmt)
	if !isAssign || len(assign.Rhs) != 1 || i >= len(assign.Lhs) {
		return nil, false
	}
	id, isIdent := assign.Lhs[i].(*ast.Ident)
	if !isIdent {
		return nil, false
	}
	if id.Name == "_" {
		return nil, true
	}
	v, ok = p.info.ObjectOf(id).(*types.Var)
	return v, ok && v.Kind() == types.LocalVar
}

// isSettled reports whether the verdict of a call is known before: the delay of a failure that is
// only assumed, or a text that has been parsed before.
func (p *pass) isSettled(c *call) bool {
	switch c.name {
	case ours + ".Policy.Next":
		elapsed, known := p.duration(c.Args[1])
		return known && elapsed == 0 && !p.waitsIn(around(c.Cursor, (*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)))
	case ours + "/adapt.DelayFor":
		return p.isAssumed(c.Args[3])
	case ours + "/retryconfig.Text":
		return true // "" is a way to show it
	case ours + "/retryconfig.Parse":
		return p.info.Types[c.Args[0]].Value != nil || p.parsesElsewhere(c)
	}
	return false
}

// isAssumed reports whether an error is a variable of a package, or is made by a marker of one.
func (p *pass) isAssumed(e ast.Expr) bool {
	if call, ok := e.(*ast.CallExpr); ok {
		return len(call.Args) > 0 && (plainErrors.MatchString(p.callee(call)) || pure.MatchString(p.callee(call)) && p.isAssumed(call.Args[0]))
	}
	v, ok := p.info.Uses[lastName(e)].(*types.Var)
	return ok && v.Kind() == types.PackageVar
}

// parsesElsewhere reports whether another call of the package parses a text and looks at the error.
func (p *pass) parsesElsewhere(c *call) bool {
	return slices.ContainsFunc(p.calls, func(other *call) bool {
		v, ok := p.givenTo(other, 1)
		return other != c && other.name == c.name && (!ok || v != nil)
	})
}

// pauses has what waits for a time.
var pauses = names(`time\.(Sleep|After|AfterFunc|NewTimer|Timer\.Reset)`, ours+`\.(Clock|SystemClock)\.Sleep`)

// waitsIn reports whether a function or a loop waits for a time.
func (p *pass) waitsIn(c inspector.Cursor) bool {
	return slices.ContainsFunc(p.calls, func(wait *call) bool { return c.Contains(wait.Cursor) && pauses.MatchString(wait.name) })
}

// inLoop reports whether c is in a loop of the function around it.
func (p *pass) inLoop(c inspector.Cursor) bool {
	switch block(c).Node().(type) {
	case *ast.ForStmt, *ast.RangeStmt:
		return true
	}
	return false
}

// isRead reports whether something may read a variable that a call sets, before it is set again.
func (p *pass) isRead(c *call, v *types.Var) bool {
	fn := p.functionAround(c.Cursor)
	if outside(v, fn) || len(p.readsAfter(fn, c, v)) > 0 {
		return true
	}
	for loop := range c.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil)) {
		if !fn.Contains(loop) || !outside(v, loop) {
			continue
		}
		if slices.ContainsFunc(p.vars[v].uses, loop.Contains) {
			return true // in the next round
		}
	}
	return false
}

// readsAfter returns the uses of a variable in a function behind a call, until it is set again.
func (p *pass) readsAfter(fn inspector.Cursor, c *call, v *types.Var) []inspector.Cursor {
	return slices.DeleteFunc(p.usesAfter(fn, c.Cursor, v), c.Contains)
}

// heedsResult reports whether something that reads a variable which a call sets acts on it.
func (p *pass) heedsResult(c *call, v *types.Var, acts func(use inspector.Cursor) bool) bool {
	fn := p.functionAround(c.Cursor)
	if outside(v, fn) {
		return true
	}
	uses := p.readsAfter(fn, c, v)
	if len(uses) == 0 {
		return p.isRead(c, v)
	}
	return slices.ContainsFunc(uses, acts)
}

// mayDecide reports whether what a use of a result is a part of may do something else than to log
// the result.
func (p *pass) mayDecide(use inspector.Cursor) bool {
	if p.mayLeave(use) {
		return true
	}
	test := around(use, (*ast.IfStmt)(nil), (*ast.BlockStmt)(nil))
	if _, ok := test.Node().(*ast.IfStmt); !ok {
		return false
	}
	for c := range test.ChildAt(edge.IfStmt_Body, -1).Preorder((*ast.CallExpr)(nil)) {
		if n := c.Node().(*ast.CallExpr); !writesLog.MatchString(p.callee(n)) && !p.info.Types[n.Fun].IsType() {
			return true
		}
	}
	return false
}

// writesLog has what writes to a log.
var writesLog = names(`log\.\w+`, `log\.Logger\.\w+`, `log/slog\.\w+`, `log/slog\.Logger\.\w+`, `fmt\.F?[Pp]rint\w*`, `.*\.(Debug|Info|Warn|Error|Print)(f|ln|w|Context)?`, `.*\.Error`)

// isLogged reports whether a use of a result is only written to a log.
func (p *pass) isLogged(use inspector.Cursor) bool {
	statement := around(use, (*ast.ExprStmt)(nil), (*ast.FuncLit)(nil), (*ast.ReturnStmt)(nil), (*ast.AssignStmt)(nil), (*ast.IfStmt)(nil))
	n, ok := statement.Node().(*ast.ExprStmt)
	return ok && writesLog.MatchString(p.callee(n.X))
}

// mayLeave reports whether what a use of a result is a part of may end the loop or the function
// around it.
func (p *pass) mayLeave(use inspector.Cursor) bool {
	if !compares(use.Parent()) {
		return !p.isLogged(use)
	}
	for c := range use.Enclosing((*ast.IfStmt)(nil), (*ast.ForStmt)(nil), (*ast.SwitchStmt)(nil), (*ast.AssignStmt)(nil), (*ast.CaseClause)(nil)) {
		test, ok := c.Node().(*ast.IfStmt)
		if !ok {
			return true
		}
		return test.Else != nil || leavesIf(c) || p.branches(c) || p.isSuccess(test.Cond) || p.setsIn(c)
	}
	return true
}

// setsIn reports whether a branch sets something that a loop may ask for later.
func (p *pass) setsIn(c inspector.Cursor) bool {
	for range c.Preorder((*ast.AssignStmt)(nil), (*ast.SendStmt)(nil)) {
		return true
	}
	return false
}

// branches reports whether a branch has a break, a continue or a goto.
func (p *pass) branches(c inspector.Cursor) bool {
	for branch := range c.Preorder((*ast.BranchStmt)(nil)) {
		if branch.Node().(*ast.BranchStmt).Tok != token.FALLTHROUGH {
			return true
		}
	}
	return false
}

// reportTicket reports the ticket of a request that is never given back.
func (p *pass) reportTicket(c *call) {
	ticket, ok := p.givenTo(c, 0)
	if ok && ticket == nil {
		p.report(c.Cursor, "nothing has the ticket, so the request never leaves the gate: pass it to Leave at the end of the request")
	}
}

// reportWithoutCost reports a correction of the cost of a context that has none, because
// WithCost made another one of it.
func (p *pass) reportWithoutCost(c *call) {
	ctx, ok := c.Args[0].(*ast.Ident)
	if !ok {
		return
	}
	v := p.info.Uses[ctx]
	for _, set := range p.vars[v].sets {
		if value := givenAt(set); value.Valid() && set.ParentEdgeKind() != edge.Field_Names {
			return // perhaps one that has a cost
		}
	}
	fn := p.functionAround(c.Cursor)
	for _, with := range p.calls {
		from, isIdent := ast.Expr(nil), false
		if with.name == ours+"/ratelimit.WithCost" && fn.Contains(with.Cursor) {
			from, isIdent = with.Args[0], true
		}
		if id, ok := from.(*ast.Ident); ok && isIdent && p.info.Uses[id] == v {
			p.report(c.Cursor, "%s has no cost, so this does nothing: pass the context that WithCost returned", ctx.Name)
			return
		}
	}
}

// reportUnusedValue reports a variable that gets a marked error, or a context or a request with
// something of this library, and that nothing uses afterwards.
func (p *pass) reportUnusedValue(c inspector.Cursor) {
	assign := c.Node().(*ast.AssignStmt)
	if len(assign.Lhs) != 1 || len(assign.Rhs) != 1 || assign.Tok != token.ASSIGN && assign.Tok != token.DEFINE {
		return
	}
	id, ok := assign.Lhs[0].(*ast.Ident)
	if !ok {
		return
	}
	v, ok := p.info.ObjectOf(id).(*types.Var)
	if !ok || v.Kind() == types.PackageVar || v.Kind() == types.ResultVar || v.IsField() {
		return
	}
	made := p.madeWith(c.ChildAt(edge.AssignStmt_Rhs, 0))
	if made != "" && p.isUnused(v, c) {
		p.report(c, "nothing uses %s after this, so %s has no effect: what was made before does not have it", v.Name(), made)
	}
}

// madeWith names the function of this library that makes a context, or a request with one, or that
// marks an error.
func (p *pass) madeWith(value inspector.Cursor) string {
	call, ok := value.Node().(*ast.CallExpr)
	if !ok {
		return ""
	}
	name := p.callee(call)
	if inContext.MatchString(name) || pure.MatchString(name) && p.isError(call) {
		return shortName(name)
	}
	if copies.MatchString(name) && len(call.Args) == 1 {
		return p.madeWith(p.value(value.ChildAt(edge.CallExpr_Args, 0)))
	}
	return ""
}

// quiet has functions to which a context means nothing but what they log.
var quiet = names(`log/slog\..*`, `log\..*`)

// isUnused reports whether nothing uses a variable after a statement that sets it, other than to
// log it or to ask whether it has ended.
func (p *pass) isUnused(v *types.Var, statement inspector.Cursor) bool {
	fn := p.functionAround(statement)
	again := p.repeats(v, statement)
	for _, set := range p.vars[v].sets {
		if _, isAddress := set.Parent().Node().(*ast.UnaryExpr); isAddress {
			return false
		}
	}
	return !slices.ContainsFunc(p.vars[v].uses, func(use inspector.Cursor) bool {
		if statement.Contains(use) || isContext(v.Type()) && p.isOnlyAsked(use) {
			return false
		}
		later := use.Node().Pos() >= statement.Node().End()
		repeated := again.Valid() && again.Contains(use)
		return later || repeated || p.functionAround(use) != fn
	})
}

// isOnlyAsked reports whether a use of a context is for a log, or asks whether it has ended.
func (p *pass) isOnlyAsked(use inspector.Cursor) bool {
	if method, _ := field(use); method == "Err" || method == "Done" || method == "Deadline" {
		return true
	}
	return use.ParentEdgeKind() == edge.CallExpr_Args && quiet.MatchString(p.callee(use.Parent().Node()))
}
