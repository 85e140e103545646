package checks

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// reportLostEnd reports a failure at the end of an operation that the operation does not return,
// so that a failed attempt is a success, or the reverse.
func (p *pass) reportLostEnd(loop *call) {
	for c := range loop.op.Preorder((*ast.CallExpr)(nil)) {
		p.reportUnaskedEnd(loop, c)
	}
	for c := range loop.op.Preorder((*ast.DeferStmt)(nil)) {
		if p.functionAround(c) == loop.op {
			p.reportOverwritingDefer(loop, c)
			p.reportRecovered(loop, c)
		}
	}
	for _, ret := range returnsOf(loop.op) {
		p.reportTypedNil(ret)
	}
}

// iterates has the methods after whose false the method Err tells whether all was read.
var iterates = names(`database/sql\.Rows\.Next`, `github\.com/jackc/pgx\.Rows\.Next`, `bufio\.Scanner\.Scan`)

// reportUnaskedEnd reports rows or lines of the operation whose Err is never asked.
func (p *pass) reportUnaskedEnd(loop *call, c inspector.Cursor) {
	if !iterates.MatchString(p.callee(c.Node())) || c.ParentEdgeKind() != edge.ForStmt_Cond {
		return
	}
	id, ok := c.Node().(*ast.CallExpr).Fun.(*ast.SelectorExpr).X.(*ast.Ident)
	if !ok {
		return
	}
	v := p.info.Uses[id]
	if v == nil || outside(v, loop.op) {
		return
	}
	for _, use := range p.vars[v].uses {
		method, _ := field(use)
		if method == "Err" || method == "" {
			return // another function may ask
		}
	}
	p.report(c, "nothing asks %s.Err(), so a connection that breaks off gives a part, and is not retried: return that error after the loop", id.Name)
}

// reportOverwritingDefer reports a deferred function that sets the error of the operation whether
// or not there is one already.
func (p *pass) reportOverwritingDefer(loop *call, c inspector.Cursor) {
	lit, ok := c.Node().(*ast.DeferStmt).Call.Fun.(*ast.FuncLit)
	if !ok {
		return
	}
	results := p.signature(loop.op).Results()
	if results.Len() == 0 {
		return
	}
	result := results.At(results.Len() - 1)
	for i, statement := range lit.Body.List {
		assign, ok := statement.(*ast.AssignStmt)
		if !ok || assign.Tok != token.ASSIGN || len(assign.Lhs) != 1 || !p.isVariable(assign.Lhs[0], result) {
			continue
		}
		_, isCall := assign.Rhs[0].(*ast.CallExpr)
		at := c.ChildAt(edge.DeferStmt_Call, -1).ChildAt(edge.CallExpr_Fun, -1).ChildAt(edge.FuncLit_Body, -1).ChildAt(edge.BlockStmt_List, i)
		if isCall && !p.isMentionedIn(at.ChildAt(edge.AssignStmt_Rhs, 0), result) {
			p.report(at, "this replaces the error of the operation, so a failed attempt is a success: set %s only if it is nil, or use errors.Join", result.Name())
		}
	}
}

// reportRecovered reports a deferred function that recovers and sets no result, so that an
// operation that panics returns nil.
func (p *pass) reportRecovered(loop *call, c inspector.Cursor) {
	recovers, goesOn := false, false
	for at := range c.Preorder((*ast.CallExpr)(nil), (*ast.AssignStmt)(nil)) {
		switch n := at.Node().(type) {
		case *ast.CallExpr:
			name := types.ExprString(n.Fun)
			recovers = recovers || name == "recover"
			goesOn = goesOn || name == "panic"
		case *ast.AssignStmt:
			for result := range p.signature(loop.op).Results().Variables() {
				goesOn = goesOn || slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return p.isVariable(e, result) })
			}
		}
	}
	if recovers && !goesOn {
		p.report(c, "after a panic, the operation returns nil, which is a success: set a named result to an error, or let the panic pass")
	}
}

// reportTypedNil reports a pointer that an operation returns as its error: a nil pointer is an
// error that is not nil.
func (p *pass) reportTypedNil(ret inspector.Cursor) {
	last, given := ret.LastChild()
	if !given {
		return
	}
	value, ok := last.Node().(ast.Expr)
	if !ok {
		return
	}
	t := p.info.TypeOf(value)
	_, isPointer := types.Unalias(t).(*types.Pointer)
	call, isCall := value.(*ast.CallExpr)
	if isPointer && isCall && p.isError(value) && p.mayReturnNil(call) {
		p.report(last, "this is a pointer, and a nil pointer is an error that is not nil, so a success is retried: let the function return error")
	}
}

// mayReturnNil reports whether a function of the package returns nil somewhere.
func (p *pass) mayReturnNil(call *ast.CallExpr) bool {
	fn := p.declaration(call)
	return fn.Valid() && slices.ContainsFunc(returnsOf(fn), func(ret inspector.Cursor) bool {
		last, given := ret.LastChild()
		return given && p.info.Types[last.Node().(ast.Expr)].IsNil()
	})
}

// What meets in a retry what a failed attempt has left, as net/http.Header and os.Mkdir do.
var (
	addsHeader = names(`net/http\.Header\.Add`)
	createsNew = names(`os\.(Mkdir|Link|Symlink)`)
)

// reportLeftover reports what an operation adds to a header outside, and a directory or a link
// that exists after the first attempt.
func (p *pass) reportLeftover(loop *call) {
	for _, c := range p.calls {
		if !loop.op.Contains(c.Cursor) {
			continue
		}
		switch {
		case addsHeader.MatchString(c.name):
			owner := p.owner(ast.Unparen(c.Fun).(*ast.SelectorExpr).X)
			if owner != nil && outside(owner, loop.op) {
				p.report(c.Cursor, "all attempts share this header, so a retry sends what the failed attempt has added, too: use Set, or make the request in each attempt")
			}
		case createsNew.MatchString(c.name) && p.asksExist(loop.op):
		case createsNew.MatchString(c.name):
			p.report(c.Cursor, "what a failed attempt has created still exists, so this fails in a retry: use os.MkdirAll, or remove it first")
		}
	}
}

// asksExist reports whether an operation knows that something may exist, or removes it.
func (p *pass) asksExist(op inspector.Cursor) bool {
	for id := range op.Preorder((*ast.Ident)(nil)) {
		if exists.MatchString(objectName(p.info.Uses[id.Node().(*ast.Ident)])) {
			return true
		}
	}
	return false
}

var exists = names(`(io/fs|os)\.(ErrExist|IsExist|Remove|RemoveAll|MkdirTemp)`)

// reportKeptFirst reports an errgroup that is outside the operation, which keeps the first error,
// and a value that each attempt takes from a channel.
func (p *pass) reportKeptFirst(loop *call) {
	for _, c := range p.calls {
		if c.name != "golang.org/x/sync/errgroup.Group.Wait" || !loop.op.Contains(c.Cursor) {
			continue
		}
		owner := p.owner(ast.Unparen(c.Fun).(*ast.SelectorExpr).X)
		if owner != nil && outside(owner, loop.op) {
			p.report(c.Cursor, "%s keeps the error of the first attempt, so no retry succeeds: make the group in the operation", owner.Name())
		}
	}
	for c := range loop.op.Preorder((*ast.AssignStmt)(nil)) {
		n := c.Node().(*ast.AssignStmt)
		receive, ok := ast.Unparen(n.Rhs[0]).(*ast.UnaryExpr)
		if !ok || receive.Op != token.ARROW || n.Tok != token.DEFINE {
			continue
		}
		from := p.owner(receive.X)
		if from != nil && outside(from, loop.op) && isData(p.info.TypeOf(receive)) && around(c, (*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) == loop.op {
			p.report(c, "each attempt takes another value from %s, so that of a failed attempt is lost: receive before %s", types.ExprString(receive.X), shortName(loop.name))
		}
	}
}

// isData reports whether a value from a channel is more than a signal, a turn or an error.
func isData(t types.Type) bool {
	if tuple, ok := t.(*types.Tuple); ok {
		t = tuple.At(0).Type()
	}
	s, isStruct := t.Underlying().(*types.Struct)
	_, isPointer := t.Underlying().(*types.Pointer)
	return (isStruct && s.NumFields() > 0 || isPointer) && !types.Implements(t, errorType) && typeName(t) != "time.Time"
}

// reportSameBody reports a GetBody that returns a reader from outside.
func (p *pass) reportSameBody(c inspector.Cursor) {
	sel, ok := c.Node().(*ast.SelectorExpr)
	if !ok || c.ParentEdgeKind() != edge.AssignStmt_Lhs || objectName(p.info.Uses[sel.Sel]) != "net/http.GetBody" {
		return
	}
	value := valueSet(c)
	if !value.Valid() {
		return
	}
	lit, ok := value.Node().(*ast.FuncLit)
	if !ok || len(lit.Body.List) != 1 {
		return
	}
	for ret := range value.Preorder((*ast.ReturnStmt)(nil)) {
		results := ret.Node().(*ast.ReturnStmt).Results
		if len(results) != 2 {
			continue
		}
		body := ast.Unparen(results[0])
		if wrap, isCall := body.(*ast.CallExpr); isCall && p.callee(wrap) == "io.NopCloser" {
			body = ast.Unparen(wrap.Args[0])
		}
		if id, isIdent := body.(*ast.Ident); isIdent && !p.info.Types[id].IsNil() {
			p.report(ret, "this is the reader that the first attempt has read to its end: return a new one")
		}
	}
}

// reportSettledByHand reports a message that the function of a retrynats Worker gives back
// itself, so that the policy's wait and end do not apply.
func (p *pass) reportSettledByHand(c *call) {
	if c.name != ours+"/retrynats.Worker.Handle" || len(c.Args) < 3 {
		return
	}
	fn := p.function(c.ChildAt(edge.CallExpr_Args, 2))
	if !fn.Valid() {
		return
	}
	for _, settled := range p.calls {
		if fn.Contains(settled.Cursor) && naks.MatchString(settled.name) {
			p.report(settled.Cursor, "this gives the message back at once, without the wait and the end of the policy: return the error, and the Worker does it")
		}
	}
}

var naks = names(`github\.com/nats-io/nats\.go/jetstream\.Msg\.(Nak|NakWithDelay)`)

// reportWithoutContext reports a Retry of cenkalti/backoff v4 or before that does not know the
// context that the function has.
func (p *pass) reportWithoutContext(c *call) {
	if !oldRetry.MatchString(c.name) || !p.takesNoContext(c) {
		return
	}
	ctx := p.contextToPass(c.Cursor)
	if ctx == "" || len(c.Args) < 2 {
		return
	}
	made := p.value(c.ChildAt(edge.CallExpr_Args, 1))
	making, isCall := made.Node().(*ast.CallExpr)
	if isCall && makesBackoff.MatchString(p.callee(making)) {
		p.report(c.Cursor, "these retries go on after %s is done: pass backoff.WithContext(b, %[1]s)", ctx)
	}
}

var (
	oldRetry     = names(cenkalti + `\.Retry(Notify)?`)
	makesBackoff = names(cenkalti + `\.New(Exponential|Constant)BackOff`)
)

// takesNoContext reports whether the first parameter is the operation, as it was before version 5.
func (p *pass) takesNoContext(c *call) bool {
	f, ok := p.info.TypeOf(c.Fun).(*types.Signature)
	return ok && f.Params().Len() > 0 && !isContext(f.Params().At(0).Type())
}

// reportOneTimer reports a loop that receives from a timer which is made before the loop and
// which nothing resets.
func (p *pass) reportOneTimer(loop inspector.Cursor) {
	for c := range loop.Preorder((*ast.SelectorExpr)(nil)) {
		n := c.Node().(*ast.SelectorExpr)
		id, ok := n.X.(*ast.Ident)
		receive, receives := c.Parent().Node().(*ast.UnaryExpr)
		if !ok || !receives || receive.Op != token.ARROW || n.Sel.Name != "C" || typeName(p.info.TypeOf(id)) != "time.Timer" || block(c) != loop {
			continue
		}
		v := p.info.Uses[id]
		if v == nil || v.Pos() > loop.Node().Pos() || len(p.vars[v].sets) != 1 || !p.goesOn(c.Parent()) {
			continue
		}
		made := p.declared(v)
		reset := slices.ContainsFunc(p.vars[v].uses, func(use inspector.Cursor) bool {
			method, _ := field(use)
			return method == "Reset" || method == ""
		})
		if made.Valid() && p.callee(made.Node()) == "time.NewTimer" && !reset {
			p.report(c.Parent(), "the timer fires once, so the second wait never ends: reset it, or make it in each round")
		}
	}
}

// goesOn reports whether a loop certainly goes on after a receive, which may be a case of a select
// with nothing else in it.
func (p *pass) goesOn(receive inspector.Cursor) bool {
	clause, ok := around(receive, (*ast.CommClause)(nil), (*ast.ForStmt)(nil), (*ast.RangeStmt)(nil)).Node().(*ast.CommClause)
	return !ok || len(clause.Body) == 0
}

// reportEarlyFlag reports the text of a flag that is parsed as a policy before the flags are.
func (p *pass) reportEarlyFlag(c *call) {
	if c.name != ours+"/retryconfig.Parse" || len(c.Args) != 1 {
		return
	}
	star, ok := ast.Unparen(c.Args[0]).(*ast.StarExpr)
	if !ok {
		return
	}
	id, ok := star.X.(*ast.Ident)
	if !ok {
		return
	}
	made := p.declared(p.info.Uses[id])
	if !made.Valid() || !flagText.MatchString(p.callee(made.Node())) {
		return
	}
	fn := p.functionAround(c.Cursor)
	for _, parse := range p.calls {
		if flagsParse.MatchString(parse.name) && fn.Contains(parse.Cursor) && fn.Contains(made) {
			if parse.Pos() > c.Pos() {
				p.report(c.Cursor, "the flags are not parsed yet, so this is always the default of the flag: parse them first, or use flags.TextVar")
			}
			return
		}
	}
}

var (
	flagText   = names(`flag\.(FlagSet\.)?String`)
	flagsParse = names(`flag\.(FlagSet\.)?Parse`)
)

// reportOpaque reports a type of error of the package that has another error in a field and no
// method Unwrap, if an operation returns it: the class of the other is lost.
func (p *pass) reportOpaque(loop *call) {
	if p.names(loop.policy, "Classifier") {
		return
	}
	for lit := range loop.op.Preorder((*ast.CompositeLit)(nil)) {
		p.reportOpaqueLiteral(lit)
	}
}

var causes = names(`[Ee]rr`, `[Cc]ause`, `[Ii]nner`, `[Ww]rapped`, `[Uu]nderlying`)

func (p *pass) reportOpaqueLiteral(c inspector.Cursor) {
	lit := c.Node().(*ast.CompositeLit)
	t := p.info.TypeOf(lit)
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() != p.Pkg || !types.Implements(t, errorType) && !types.Implements(types.NewPointer(t), errorType) {
		return
	}
	for _, method := range []string{"Unwrap", "StatusCode", "HTTPStatusCode", "Code", "GRPCStatus", "Temporary", "Timeout", "RetryableError", "NonRetryable", "Is", "As"} {
		if hasMethod(types.NewPointer(t), method) {
			return
		}
	}
	for _, element := range lit.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		key, ok := pair.Key.(*ast.Ident)
		if ok && causes.MatchString(key.Name) && p.isError(pair.Value) && isReturn(around(c, (*ast.ReturnStmt)(nil), (*ast.BlockStmt)(nil))) {
			p.report(c, "%s has no Unwrap, so the class of the error in it is lost, and a 404 is retried: add Unwrap() error", named.Obj().Name())
		}
	}
}
