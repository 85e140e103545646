package checks

import (
	"go/ast"
	"go/constant"
	"go/types"
	"regexp"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// reportWorkAfter reports a message that the function of a Worker acknowledges before it fails
// with something else than this acknowledgment.
func (p *pass) reportWorkAfter(c *call) {
	if !acknowledges.MatchString(c.name) {
		return
	}
	fn := p.functionAround(c.Cursor)
	if fn == p.root || !p.handles(fn) || !p.failsAfter(fn, c) {
		return
	}
	when := "before the work is done"
	if c.ParentEdgeKind() == edge.DeferStmt_Call {
		when = "even if the work fails"
	}
	p.report(c.Cursor, "this acknowledges the message %s, so a failure loses it: acknowledge it after the work", when)
}

// failsAfter reports whether a function may return an error after a statement with a call, other
// than the error of this call. It follows the blocks around the call until one of them leaves the
// function.
func (p *pass) failsAfter(fn inspector.Cursor, c *call) bool {
	own := p.errorOf(c)
	at := c.Cursor
	for at != fn && at.Parent().Node() != nil {
		if _, leaves := at.Node().(*ast.ReturnStmt); leaves {
			return false
		}
		kind, _ := at.ParentEdge()
		if kind != edge.BlockStmt_List && kind != edge.CaseClause_Body {
			at = at.Parent()
			continue
		}
		for next, ok := at.NextSibling(); ok; next, ok = next.NextSibling() {
			if p.returnsOther(next, own) {
				return true
			}
			if _, leaves := next.Node().(*ast.ReturnStmt); leaves {
				return false
			}
		}
		at = at.Parent()
	}
	return false
}

// errorOf returns the variable that has the error of a call, or nil.
func (p *pass) errorOf(c *call) types.Object {
	assign, ok := c.Parent().Node().(*ast.AssignStmt)
	if !ok || len(assign.Lhs) != 1 {
		return nil
	}
	id, ok := assign.Lhs[0].(*ast.Ident)
	if !ok {
		return nil
	}
	return p.info.ObjectOf(id)
}

// returnsOther reports whether a statement may return an error other than own.
func (p *pass) returnsOther(c inspector.Cursor, own types.Object) bool {
	if test, ok := c.Node().(*ast.IfStmt); ok && own != nil && p.isFailure(test.Cond) {
		id, isName := test.Cond.(*ast.BinaryExpr).X.(*ast.Ident)
		if isName && p.info.ObjectOf(id) == own && test.Else == nil && test.Init == nil {
			return false
		}
	}
	for ret := range c.Preorder((*ast.ReturnStmt)(nil)) {
		last, given := ret.LastChild()
		inLiteral := c.Contains(p.functionAround(ret))
		if given && !inLiteral && !p.info.Types[last.Node().(ast.Expr)].IsNil() && !acknowledges.MatchString(p.callee(last.Node())) && !p.isVariableOf(last, own) {
			return true
		}
	}
	return false
}

// isVariableOf reports whether an expression is a variable.
func (p *pass) isVariableOf(c inspector.Cursor, v types.Object) bool {
	id, ok := c.Node().(*ast.Ident)
	return ok && v != nil && p.info.ObjectOf(id) == v
}

const (
	natsConsume  = "github.com/nats-io/nats.go/jetstream.Consumer.Consume"
	natsConfig   = "github.com/nats-io/nats.go/jetstream.ConsumerConfig"
	workerHandle = ours + "/retrynats.Worker.Handle"
)

// reportPrefetched reports a consumer that fetches many messages although its Worker says
// OneByOne, if the package makes consumers and none has a MaxAckPending of 1.
func (p *pass) reportPrefetched(c *call) {
	if c.name != natsConsume || len(c.Args) != 1 || !p.handlesOneByOne(c.ChildAt(edge.CallExpr_Args, 0)) {
		return
	}
	configs := 0
	for lit := range p.root.Preorder((*ast.CompositeLit)(nil)) {
		if typeName(p.info.TypeOf(lit.Node().(ast.Expr))) != natsConfig {
			continue
		}
		configs++
		if pending, ok := fieldOf(lit, "MaxAckPending"); ok {
			n, known := p.integer(pending)
			if !known || n == 1 {
				return
			}
		}
	}
	if configs > 0 {
		p.report(c.Cursor, "the Worker says OneByOne, but Consume fetches 500 messages, and those that wait exceed AckWait: add jetstream.PullMaxMessages(1)")
	}
}

// handlesOneByOne reports whether a handler comes from a Worker with OneByOne.
func (p *pass) handlesOneByOne(handler inspector.Cursor) bool {
	id, ok := handler.Node().(*ast.Ident)
	if !ok {
		return false
	}
	return slices.ContainsFunc(p.vars[p.info.ObjectOf(id)].sets, func(set inspector.Cursor) bool {
		made := givenAt(set)
		if !made.Valid() || p.callee(made.Node()) != workerHandle {
			return false
		}
		fun := made.ChildAt(edge.CallExpr_Fun, -1)
		if _, isMethod := fun.Node().(*ast.SelectorExpr); !isMethod {
			return false
		}
		worker := p.value(fun.ChildAt(edge.SelectorExpr_X, -1))
		if _, isLit := worker.Node().(*ast.CompositeLit); !isLit {
			return false
		}
		oneByOne, set1 := fieldOf(worker, "OneByOne")
		return set1 && types.ExprString(oneByOne) == "true"
	})
}

// fieldOf returns the value that a composite literal gives to a field.
func fieldOf(lit inspector.Cursor, name string) (value ast.Expr, ok bool) {
	for _, element := range lit.Node().(*ast.CompositeLit).Elts {
		if kv, isKeyed := element.(*ast.KeyValueExpr); isKeyed && types.ExprString(kv.Key) == name {
			return kv.Value, true
		}
	}
	return nil, false
}

// integer returns the constant value of an expression.
func (p *pass) integer(e ast.Expr) (n int64, known bool) {
	value := p.info.Types[e].Value
	if value == nil {
		return 0, false
	}
	return constant.Int64Val(constant.ToInt(value))
}

// ofMany matches names of what many jobs have in common.
var ofMany = regexp.MustCompile(`^(Type|TypeName|Kind|Topic|TopicName|Queue|QueueName|Subject|RoutingKey|Exchange|Partition|Group)$`)

// reportSharedID reports an id for DelayFor that many jobs share, so that those that failed
// together are retried together.
func (p *pass) reportSharedID(c *call) {
	if c.name != ours+"/adapt.DelayFor" || len(c.Args) != 4 {
		return
	}
	arg := c.ChildAt(edge.CallExpr_Args, 1)
	e := p.value(arg).Node().(ast.Expr)
	isShared := p.info.Types[e].Value != nil
	if call, ok := e.(*ast.CallExpr); ok && len(call.Args) == 0 {
		e = call.Fun
	}
	if sel, ok := e.(*ast.SelectorExpr); ok {
		isShared = isShared || ofMany.MatchString(sel.Sel.Name)
	}
	if isShared {
		p.report(arg, "many jobs have this id, so those that failed together are retried together: use what only one of them has")
	}
}
