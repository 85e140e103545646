package checks

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// reportMessages reports messages of queues, and items of batches, that are lost or handled twice
// because of what happens after a retry, or how long it takes.
func (p *pass) reportMessages() {
	for _, loop := range p.loops {
		p.reportLogged(loop)
	}
	p.reportOutlasted()
	for _, c := range p.calls {
		if c.name == ours+"/retrybatch.Do" {
			p.reportAllAgain(c)
		}
	}
}

// What acknowledges a message, and what logs or counts, by the name of the function or method.
var (
	acks    = names(`[aA]ck`, `DoubleAck`, `AckSync`, `[aA]cknowledge`, `[aA]ckMessage`, `CommitMessages?`, `MarkMessage`, `[dD]eleteMessage(WithContext)?`, `XAck`, `CompleteMessage`)
	logging = names(`(Print|Log|Trace|Debug|Info|Notice|Warn|Warning|Error|Err|Msg)(f|w|ln|Attrs|Context|ContextF)?`, `Inc`, `Observe`, `RecordError`, `SetStatus`, `CaptureException`)
)

// called returns the name of the function or method of a call, without what it belongs to.
func called(e ast.Expr) string {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return ""
	}
	if id := lastName(ast.Unparen(call.Fun)); id != nil {
		return id.Name
	}
	return ""
}

// reportLogged reports a message that is acknowledged after a call of Do, although the
// error of Do was only logged.
func (p *pass) reportLogged(loop *call) {
	if !retriers.MatchString(loop.name) || loop.op.Valid() && hasAck(loop.op) {
		return
	}
	statement, rest := p.afterLogging(loop.Cursor, false)
	if !statement.Valid() {
		if statement, _ = p.afterLogging(loop.Cursor, true); statement.Valid() {
			p.reportAckOfAll(statement, loop)
		}
		return
	}
	if p.reportAck(statement, rest, loop) || p.reportAckOfAll(statement, loop) {
		return
	}
	decl := around(statement, (*ast.FuncDecl)(nil), (*ast.FuncLit)(nil))
	if _, isDecl := decl.Node().(*ast.FuncDecl); !isDecl || p.signature(decl).Results().Len() > 0 {
		return
	}
	for _, c := range p.callsOf(decl) { // handle(ctx, msg), which returns nothing
		if c.ParentEdgeKind() == edge.ExprStmt_X {
			_, rest := following(c.Parent())
			p.reportAck(c.Parent(), rest, loop)
		}
	}
}

// reportAck reports an acknowledgment among the statements that follow one whose failure is
// ignored, or a deferred one before it.
func (p *pass) reportAck(statement inspector.Cursor, rest []ast.Stmt, loop *call) bool {
	list, _ := following(statement)
	for _, s := range list {
		d, ok := s.(*ast.DeferStmt)
		if ok && d.Pos() < statement.Node().Pos() && !acknowledges.MatchString(p.callee(d.Call)) && acks.MatchString(called(d.Call)) {
			p.reportLostMessage(statement, d.Call, loop)
			return true
		}
	}
	for _, s := range rest {
		if call := acknowledgment(s); call != nil {
			p.reportLostMessage(statement, call, loop)
			return true
		}
		if leavesBlock(s) {
			break
		}
	}
	return false
}

// reportAckOfAll reports that a loop over messages only logs failures, and that all of the messages
// are acknowledged behind it.
func (p *pass) reportAckOfAll(statement inspector.Cursor, loop *call) bool {
	all := statement.Parent().Parent()
	messages, ok := all.Node().(*ast.RangeStmt)
	if !ok {
		return false
	}
	_, rest := following(all)
	for _, s := range rest {
		ack := acknowledgment(s)
		if ack != nil && slices.ContainsFunc(ack.Args, func(arg ast.Expr) bool { return types.ExprString(arg) == types.ExprString(messages.X) }) {
			p.reportLostMessage(statement, ack, loop)
			return true
		}
		if leavesBlock(s) {
			break
		}
	}
	return false
}

// reportLostMessage reports an acknowledgment if the statement before it does the work for the
// message.
func (p *pass) reportLostMessage(statement inspector.Cursor, ack *ast.CallExpr, loop *call) {
	fn := p.functionAround(statement)
	if fn == p.root {
		return
	}
	for c := range fn.Preorder((*ast.CallExpr)(nil)) {
		if c.Node() == ack && p.isWork(fn, statement, c) {
			p.report(c, "the message is acknowledged although the error of %s was only logged, so it is lost: return, or give the message back, after a failure", shortName(loop.name))
		}
	}
}

// decodes has functions that read a message, and do not work for it.
var decodes = names(`(?i)(unmarshal|decode|parse|read|valid|check)\w*`)

// isWork reports whether a statement uses a message that is acknowledged at ack, or what was decoded
// from it, and nothing before the statement does the work for the message. After that work, a
// notification that fails may be logged.
func (p *pass) isWork(fn, statement, ack inspector.Cursor) bool {
	of := p.messageVars(fn, ack)
	if !p.usesAny(statement, of) {
		return false
	}
	for c := range fn.Preorder((*ast.CallExpr)(nil)) {
		if c.Node().Pos() > statement.Node().Pos() || p.functionAround(c) != fn || c == ack {
			continue
		}
		name := called(c.Node().(ast.Expr))
		makes := slices.ContainsFunc(p.setBy(c), func(v types.Object) bool { return of[v] })
		if !makes && p.mayReturnError(c) && !decodes.MatchString(name) && !logging.MatchString(name) && p.usesAny(c, of) {
			return false
		}
	}
	return true
}

// messageVars returns the variables of a message that is acknowledged at ack, and those that a
// call with one of them sets.
func (p *pass) messageVars(fn, ack inspector.Cursor) map[types.Object]bool {
	of := map[types.Object]bool{}
	for id := range ack.Preorder((*ast.Ident)(nil)) {
		v, ok := p.info.Uses[id.Node().(*ast.Ident)].(*types.Var)
		if ok && !v.IsField() && !isContext(v.Type()) && v.Kind() != types.RecvVar && v.Kind() != types.PackageVar {
			of[v] = true
		}
	}
	for c := range fn.Preorder((*ast.RangeStmt)(nil)) {
		loop := c.Node().(*ast.RangeStmt)
		if value, ok := loop.Value.(*ast.Ident); ok && p.usesAny(c.ChildAt(edge.RangeStmt_X, -1), of) {
			of[p.info.ObjectOf(value)] = true
		}
	}
	for c := range fn.Preorder((*ast.CallExpr)(nil)) {
		if p.usesAny(c, of) && c != ack {
			for _, v := range p.setBy(c) {
				if !types.Implements(v.Type(), errorType) {
					of[v] = true
				}
			}
		}
	}
	return of
}

// setBy returns the variables that get a result of a call, or whose address the call gets.
func (p *pass) setBy(c inspector.Cursor) (all []types.Object) {
	if assign, ok := c.Parent().Node().(*ast.AssignStmt); ok && c.ParentEdgeKind() == edge.AssignStmt_Rhs {
		for _, left := range assign.Lhs {
			if id, ok := left.(*ast.Ident); ok && id.Name != "_" {
				all = append(all, p.info.ObjectOf(id))
			}
		}
	}
	for _, arg := range c.Node().(*ast.CallExpr).Args {
		address, ok := arg.(*ast.UnaryExpr)
		if !ok || address.Op != token.AND {
			continue
		}
		if id, ok := address.X.(*ast.Ident); ok {
			all = append(all, p.info.ObjectOf(id))
		}
	}
	return all
}

// usesAny reports whether c uses one of some variables.
func (p *pass) usesAny(c inspector.Cursor, of map[types.Object]bool) bool {
	for id := range c.Preorder((*ast.Ident)(nil)) {
		if of[p.info.Uses[id.Node().(*ast.Ident)]] {
			return true
		}
	}
	return false
}

// acknowledgment returns the call that acknowledges a message in a statement, unless it is under
// a condition.
func acknowledgment(s ast.Stmt) *ast.CallExpr {
	var e ast.Expr
	switch n := s.(type) {
	case *ast.ExprStmt:
		e = n.X
	case *ast.AssignStmt:
		if len(n.Rhs) == 1 {
			e = n.Rhs[0]
		}
		if collects(e) {
			return e.(*ast.CallExpr)
		}
	case *ast.ReturnStmt:
		if len(n.Results) == 1 {
			e = n.Results[0]
		}
	case *ast.IfStmt:
		if n.Init != nil {
			return acknowledgment(n.Init)
		}
		if test, ok := n.Cond.(*ast.BinaryExpr); ok {
			e = test.X
		}
	}
	if acks.MatchString(called(e)) {
		return e.(*ast.CallExpr)
	}
	return nil
}

// collects reports whether an expression appends an entry of a DeleteMessageBatch.
func collects(e ast.Expr) bool {
	if called(e) != "append" {
		return false
	}
	return slices.ContainsFunc(e.(*ast.CallExpr).Args, func(arg ast.Expr) bool {
		lit, ok := arg.(*ast.CompositeLit)
		id := (*ast.Ident)(nil)
		if ok && lit.Type != nil {
			id = lastName(lit.Type)
		}
		return id != nil && id.Name == "DeleteMessageBatchRequestEntry"
	})
}

// hasAck reports whether an operation acknowledges a message itself.
func hasAck(op inspector.Cursor) bool {
	for c := range op.Preorder((*ast.CallExpr)(nil)) {
		if acks.MatchString(called(c.Node().(ast.Expr))) {
			return true
		}
	}
	return false
}

// leavesBlock reports whether a statement always ends the block that it is in.
func leavesBlock(s ast.Stmt) bool {
	switch n := s.(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	case *ast.ExprStmt:
		return fatal.MatchString(calledText(n.X))
	}
	return false
}

func calledText(e ast.Expr) string {
	if call, ok := e.(*ast.CallExpr); ok {
		return types.ExprString(call.Fun)
	}
	return ""
}

// following returns the statements of the block that has the statement c, and those behind c.
func following(c inspector.Cursor) (list, rest []ast.Stmt) {
	switch n := c.Parent().Node().(type) {
	case *ast.BlockStmt:
		list = n.List
	case *ast.CaseClause:
		list = n.Body
	case *ast.CommClause:
		list = n.Body
	}
	if i := slices.Index(list, asStatement(c.Node())); i >= 0 {
		return list, list[i+1:]
	}
	return list, nil
}

func asStatement(n ast.Node) ast.Stmt {
	s, _ := n.(ast.Stmt)
	return s
}

// afterLogging returns the statement that only logs the error of a call, and what follows it. The
// statement is if err := f(); err != nil { log }, or follows err := f(). If continues, it goes on with
// the next round of a loop.
func (p *pass) afterLogging(c inspector.Cursor, continues bool) (statement inspector.Cursor, rest []ast.Stmt) {
	assign, ok := c.Parent().Node().(*ast.AssignStmt)
	if !ok || len(assign.Rhs) != 1 {
		return statement, nil
	}
	id, ok := assign.Lhs[len(assign.Lhs)-1].(*ast.Ident)
	if !ok || id.Name == "_" {
		return statement, nil
	}
	err := p.info.ObjectOf(id)
	if c.Parent().ParentEdgeKind() == edge.IfStmt_Init {
		test := c.Parent().Parent()
		if !p.onlyLogs(test.Node().(*ast.IfStmt), err, continues) {
			return statement, nil
		}
		_, rest = following(test)
		return test, rest
	}
	list, rest := following(c.Parent())
	if len(rest) == 0 {
		return statement, nil
	}
	test, ok := rest[0].(*ast.IfStmt)
	if !ok || !p.onlyLogs(test, err, continues) || p.usedBehind(list, test, err) {
		return statement, nil
	}
	return c.Parent(), rest[1:]
}

// onlyLogs reports whether a statement is if err != nil { log }, with a continue if continues.
func (p *pass) onlyLogs(test *ast.IfStmt, err types.Object, continues bool) bool {
	id, ok := leftOf(test.Cond).(*ast.Ident)
	if !ok || !p.isFailure(test.Cond) || p.info.ObjectOf(id) != err || len(test.Body.List) == 0 || test.Else != nil && !onlyCalls(test.Else) {
		return false
	}
	list := test.Body.List
	if last, ok := list[len(list)-1].(*ast.BranchStmt); ok && continues && last.Tok == token.CONTINUE {
		list = list[:len(list)-1]
	}
	for _, s := range list {
		switch n := s.(type) {
		case *ast.IncDecStmt:
		case *ast.ExprStmt:
			if !logging.MatchString(called(n.X)) && !p.countsUp(n.X) || fatal.MatchString(calledText(n.X)) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// countsUp reports whether an expression is counter.Add(1).
func (p *pass) countsUp(e ast.Expr) bool {
	return called(e) == "Add" && !slices.ContainsFunc(e.(*ast.CallExpr).Args, func(arg ast.Expr) bool {
		return p.info.Types[arg].Value == nil && !isContext(p.info.TypeOf(arg))
	})
}

// onlyCalls reports whether a branch does not leave the function and acknowledges nothing.
func onlyCalls(branch ast.Stmt) bool {
	only := true
	ast.Inspect(branch, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt, *ast.BranchStmt, *ast.IfStmt, *ast.AssignStmt:
			only = false
		case *ast.CallExpr:
			only = only && !acks.MatchString(called(n))
		}
		return only
	})
	return only
}

func leftOf(e ast.Expr) ast.Expr {
	if test, ok := e.(*ast.BinaryExpr); ok {
		return test.X
	}
	return nil
}

// usedBehind reports whether a statement behind test uses err in a condition or returns it, before
// it is set again.
func (p *pass) usedBehind(list []ast.Stmt, test *ast.IfStmt, err types.Object) bool {
	end := list[len(list)-1].End()
	for _, set := range p.vars[err].sets {
		if at := set.Node().Pos(); at > test.End() && at < end {
			end = at
		}
	}
	return slices.ContainsFunc(p.vars[err].uses, func(use inspector.Cursor) bool {
		return use.Node().Pos() > test.End() && use.Node().Pos() < end
	})
}

// Types of messages of queues that deliver a message again if it is not acknowledged in time, and
// what asks a queue for more time.
var (
	messages = names(`github\.com/aws/aws-sdk-go-v2/service/sqs/types\.Message`, `github\.com/aws/aws-sdk-go/service/sqs\.Message`,
		`github\.com/nats-io/nats\.go/jetstream\.Msg`, `github\.com/nats-io/nats\.go\.Msg`)
	prolongs = names(`ChangeMessageVisibility(Batch)?(WithContext|Input|BatchInput)?`, `InProgress`)
)

// reportOutlasted reports calls of Do for a message whose MaxElapsed is longer than the message
// stays with its consumer.
func (p *pass) reportOutlasted() {
	held, what := p.held()
	if held == 0 {
		return
	}
	for _, loop := range p.loops {
		if !loop.policy.Valid() || loop.op.Valid() && hasAck(loop.op) || !p.handlesMessage(loop.Cursor, 3) {
			continue
		}
		for _, lit := range p.literals(loop.policy, 4) {
			most := part(lit, "MaxElapsed")
			if !most.Valid() || typeName(p.info.TypeOf(lit.Node().(ast.Expr))) != ours+".Policy" {
				continue
			}
			d, known := p.duration(most.Node().(ast.Expr))
			if known && d > held {
				p.report(loop.Cursor, "MaxElapsed %v is longer than the %s of %v, after which another consumer gets the message meanwhile", d, what, held)
			}
		}
	}
}

// held returns the longest time for which the package receives messages, and what sets it, or 0
// if the package sets none, or prolongs it.
func (p *pass) held() (longest time.Duration, what string) {
	for c := range p.root.Preorder((*ast.Ident)(nil)) {
		if prolongs.MatchString(c.Node().(*ast.Ident).Name) {
			return 0, ""
		}
	}
	longer := func(d time.Duration, name string) {
		if d > longest {
			longest, what = d, name
		}
	}
	for c := range p.root.Preorder((*ast.KeyValueExpr)(nil)) {
		switch name := p.field(c); {
		case strings.HasSuffix(name, "/sqs.VisibilityTimeout"):
			seconds, known := p.seconds(c.Node().(*ast.KeyValueExpr).Value)
			if !known {
				return 0, ""
			}
			longer(seconds, "VisibilityTimeout")
		case strings.HasPrefix(name, "github.com/nats-io/") && strings.HasSuffix(name, ".AckWait"):
			d, known := p.duration(c.Node().(*ast.KeyValueExpr).Value)
			if !known || part(c.Parent(), "BackOff").Valid() {
				return 0, ""
			}
			longer(d, "AckWait")
		}
	}
	for _, c := range p.calls {
		if c.name == "github.com/nats-io/nats.go.AckWait" {
			d, known := p.duration(c.Args[0])
			if !known {
				return 0, ""
			}
			longer(d, "AckWait")
		}
	}
	return longest, what
}

// seconds returns a constant number of seconds, or that of aws.Int64(30).
func (p *pass) seconds(e ast.Expr) (time.Duration, bool) {
	if call, ok := e.(*ast.CallExpr); ok && len(call.Args) == 1 {
		e = call.Args[0]
	}
	value := p.info.Types[e].Value
	if value == nil || value.Kind() != constant.Int {
		return 0, false
	}
	n, exact := constant.Int64Val(value)
	return time.Duration(n) * time.Second, exact && n < 1e6
}

// handlesMessage reports whether c is in a function or a loop that handles one message, or in a
// function that is called there, and that sets no time limit.
func (p *pass) handlesMessage(c inspector.Cursor, depth int) bool {
	for e := range c.Enclosing((*ast.RangeStmt)(nil), (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
		if loop, ok := e.Node().(*ast.RangeStmt); ok {
			for _, item := range []ast.Expr{loop.Key, loop.Value} {
				if item != nil && isMessage(p.info.TypeOf(item)) {
					return true
				}
			}
			continue
		}
		if p.limitsTime(e) {
			return false
		}
		for param := range p.signature(e).Params().Variables() {
			if isMessage(param.Type()) {
				return true
			}
		}
		if _, isDecl := e.Node().(*ast.FuncDecl); isDecl {
			calls := p.callsOf(e)
			return depth > 0 && len(calls) > 0 && !slices.ContainsFunc(calls, func(c *call) bool { return !p.handlesMessage(c.Cursor, depth-1) })
		}
	}
	return false
}

func isMessage(t types.Type) bool { return t != nil && messages.MatchString(typeName(t)) }

// limitsTime reports whether a function makes a context with a deadline.
func (p *pass) limitsTime(fn inspector.Cursor) bool {
	return slices.ContainsFunc(p.calls, func(c *call) bool {
		return fn.Contains(c.Cursor) && (strings.HasPrefix(c.name, "context.WithTimeout") || strings.HasPrefix(c.name, "context.WithDeadline"))
	})
}

// puts has names of functions and methods that keep something for later.
var puts = names(`(?i:re)?(?i:queue|add|push|put|prepend|append|pushback|pushfront|enqueue|requeue|schedule)(?i:all|items|back|again)?`)

// reportAllAgain reports that all items of a batch are kept for later after retrybatch.Do has
// returned an error, although it has said which of them were not accepted.
func (p *pass) reportAllAgain(c *call) {
	assign, ok := c.Parent().Node().(*ast.AssignStmt)
	if !ok || len(assign.Lhs) != 2 || len(c.Args) < 3 || p.mayRepeatItems(c) {
		return
	}
	failed, isName := assign.Lhs[0].(*ast.Ident)
	errName, errIsName := assign.Lhs[1].(*ast.Ident)
	if !isName || !errIsName || errName.Name == "_" {
		return
	}
	if v := p.info.ObjectOf(failed); failed.Name != "_" && v != nil && slices.ContainsFunc(p.vars[v].uses, p.looksAtItems) {
		return
	}
	fn := p.functionAround(c.Cursor)
	if fn == p.root {
		return
	}
	for test := range fn.Preorder((*ast.IfStmt)(nil)) {
		n := test.Node().(*ast.IfStmt)
		left, isIdent := leftOf(n.Cond).(*ast.Ident)
		if n.Pos() > c.Pos() || test.Contains(c.Cursor) {
			if isIdent && p.isFailure(n.Cond) && p.info.ObjectOf(left) == p.info.ObjectOf(errName) {
				p.reportKeptAgain(test, c)
			}
		}
	}
}

// mayRepeatItems reports whether the Batch of a call has a MayRepeat, or is not in sight.
func (p *pass) mayRepeatItems(c *call) bool {
	lits := p.literals(c.ChildAt(edge.CallExpr_Args, 1), 3)
	return len(lits) == 0 || slices.ContainsFunc(lits, func(lit inspector.Cursor) bool { return part(lit, "MayRepeat").Valid() })
}

// looksAtItems reports whether a use of the failures of a batch is more than their number or a
// comparison.
func (p *pass) looksAtItems(use inspector.Cursor) bool {
	if call, ok := use.Parent().Node().(*ast.CallExpr); ok && isBuiltin(p.info, call, "len") {
		return false
	}
	return !compares(use.Parent())
}

// reportKeptAgain reports where the body of a test for the error of a batch keeps all items, or
// where it leaves a list of items as it was, which is emptied after a success.
func (p *pass) reportKeptAgain(test inspector.Cursor, batch *call) {
	const message = "retrybatch.Do has sent the items that are not in its first result, so these are sent again: keep those of its first result"
	items := ast.Unparen(batch.Args[2])
	v := p.owner(items)
	if v == nil {
		return
	}
	text := types.ExprString(items)
	body := test.ChildAt(edge.IfStmt_Body, -1)
	sets := false
	for c := range body.Preorder((*ast.AssignStmt)(nil), (*ast.SendStmt)(nil), (*ast.CallExpr)(nil), (*ast.RangeStmt)(nil)) {
		switch n := c.Node().(type) {
		case *ast.AssignStmt:
			sets = sets || slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return types.ExprString(e) == text })
			if n.Tok == token.ASSIGN && len(n.Rhs) == 1 && p.keeps(n.Rhs[0], text) {
				p.report(c, message)
			}
		case *ast.CallExpr:
			isArgument := slices.ContainsFunc(n.Args, func(e ast.Expr) bool { return types.ExprString(e) == text })
			if isArgument && puts.MatchString(called(n)) && !isBuiltin(p.info, n, "append") {
				p.report(c, message)
			}
		case *ast.RangeStmt:
			if types.ExprString(n.X) == text && p.keepsEach(c) {
				p.report(c, message)
			}
		}
	}
	if _, isField := items.(*ast.SelectorExpr); isField && !sets && leavesIf(test) && p.empties(test, text) {
		p.report(batch.Cursor, "after an error, %s still has the items that retrybatch.Do has sent, so they are sent again: keep those of its first result", text)
	}
}

// keeps reports whether an expression is a list, or append with all of it.
func (p *pass) keeps(e ast.Expr, list string) bool {
	if types.ExprString(ast.Unparen(e)) == list {
		return true
	}
	call, ok := e.(*ast.CallExpr)
	return ok && (isBuiltin(p.info, call, "append") || strings.HasPrefix(p.callee(call), "slices.")) && slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
		return types.ExprString(ast.Unparen(arg)) == list
	})
}

// keepsEach reports whether a loop sends its items to a channel, appends them, or puts them
// somewhere, and does nothing else with them.
func (p *pass) keepsEach(loop inspector.Cursor) bool {
	list := loop.Node().(*ast.RangeStmt).Body.List
	if len(list) != 1 {
		return false
	}
	switch n := list[0].(type) {
	case *ast.SendStmt:
		return true
	case *ast.ExprStmt:
		return puts.MatchString(called(n.X))
	case *ast.AssignStmt:
		_, appends := p.appendsTo(n)
		return appends
	}
	return false
}

func (p *pass) appendsTo(n *ast.AssignStmt) (*types.Slice, bool) {
	if len(n.Lhs) != 1 || len(n.Rhs) != 1 {
		return nil, false
	}
	return p.appends(n)
}

// empties reports whether a list is emptied behind a test, in the same block.
func (p *pass) empties(test inspector.Cursor, list string) bool {
	_, rest := following(test)
	for _, s := range rest {
		assign, ok := s.(*ast.AssignStmt)
		if !ok || len(assign.Lhs) != 1 || types.ExprString(assign.Lhs[0]) != list {
			continue
		}
		cut, isCut := assign.Rhs[0].(*ast.SliceExpr)
		if p.info.Types[assign.Rhs[0]].IsNil() || isCut && cut.High != nil && types.ExprString(cut.High) == "0" {
			return true
		}
	}
	return false
}
