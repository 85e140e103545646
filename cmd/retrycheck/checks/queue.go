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

// Queue reports messages that are acknowledged before the work that Do retries, so that a failure
// loses them.
var Queue = analyzer("queue", "report messages of a queue that are acknowledged before the work is done", func(p *pass) {
	if !p.importsUs() {
		return
	}
	for _, c := range p.calls {
		p.reportAcknowledged(c)
		p.reportAutomatic(c)
		p.reportWorkAfter(c)
		p.reportPrefetched(c)
		p.reportSharedID(c)
		p.reportSettledByHand(c)
	}
	p.reportMessages()
})

// What acknowledges a message, so that the queue forgets it.
var (
	acknowledges = names(`github\.com/nats-io/nats\.go/jetstream\.Msg\.(Ack|DoubleAck)`, `github\.com/nats-io/nats\.go\.Msg\.(Ack|AckSync)`,
		`github\.com/rabbitmq/amqp091-go\.Delivery\.Ack`, `cloud\.google\.com/go/pubsub\.Message\.Ack`,
		`github\.com/segmentio/kafka-go\.Reader\.CommitMessages`, `github\.com/aws/aws-sdk-go-v2/service/sqs\.Client\.DeleteMessage`,
		`github\.com/(IBM|Shopify)/sarama\.ConsumerGroupSession\.MarkMessage`)
	reads    = names(`github\.com/segmentio/kafka-go\.Reader\.ReadMessage`)
	consumed = names(`github\.com/rabbitmq/amqp091-go\.Channel\.Consume(WithContext)?`)
)

// reportAcknowledged reports a message that is acknowledged before the work with retries that it
// asks for, or whatever the work returns.
func (p *pass) reportAcknowledged(c *call) {
	if !acknowledges.MatchString(c.name) {
		return
	}
	fn := p.functionAround(c.Cursor)
	_, deferred := c.Parent().Node().(*ast.DeferStmt)
	scope := around(c.Cursor, (*ast.BlockStmt)(nil), (*ast.CaseClause)(nil), (*ast.CommClause)(nil))
	if in, ok := c.Parent().Parent().Node().(*ast.IfStmt); ok && in.Init == c.Parent().Node() {
		scope = around(c.Parent().Parent(), (*ast.BlockStmt)(nil), (*ast.CaseClause)(nil), (*ast.CommClause)(nil))
	}
	for at := range scope.Preorder((*ast.CallExpr)(nil)) {
		n := at.Node().(*ast.CallExpr)
		work := &call{Cursor: at, CallExpr: n, name: p.callee(n)}
		if n.Pos() < c.End() || p.functionAround(at) != fn || acknowledges.MatchString(work.name) {
			continue
		}
		if (p.isLoop(at) || p.handles(fn) && p.fails(fn, work)) && p.sharesMessage(c, work) {
			when := "before the work is done"
			if deferred {
				when = "even if the work fails"
			}
			p.report(c.Cursor, "this acknowledges the message %s, so a failure loses it: acknowledge it after the work", when)
			return
		}
	}
}

// isLoop reports whether c is a call of a loop of this library.
func (p *pass) isLoop(c inspector.Cursor) bool {
	return slices.ContainsFunc(p.loops, func(loop *call) bool { return loop.Cursor == c && strings.HasPrefix(loop.name, ours) })
}

// handles reports whether retrynats calls a function for each message.
func (p *pass) handles(fn inspector.Cursor) bool {
	return slices.ContainsFunc(p.calls, func(c *call) bool {
		at, ok := handed[c.name]
		return ok && strings.HasPrefix(c.name, ours+"/retrynats.") && at < len(c.Args) && p.function(c.ChildAt(edge.CallExpr_Args, at)) == fn
	})
}

// sharesMessage reports whether a later call uses a variable of the call that acknowledges, other
// than a context.
func (p *pass) sharesMessage(ack, work *call) bool {
	for id := range ack.Preorder((*ast.Ident)(nil)) {
		v, ok := p.info.Uses[id.Node().(*ast.Ident)].(*types.Var)
		if ok && !v.IsField() && !isContext(v.Type()) && slices.ContainsFunc(p.vars[v].uses, work.Contains) {
			return true
		}
	}
	return false
}

// reportAutomatic reports messages that the client acknowledges by itself before the work that Do
// retries.
func (p *pass) reportAutomatic(c *call) {
	remedy := ""
	switch {
	case reads.MatchString(c.name) && p.inGroup(c):
		remedy = "use FetchMessage, and CommitMessages after the work"
	case consumed.MatchString(c.name) && p.acksItself(c):
		remedy = "set autoAck to false, and call Ack after the work"
	default:
		return
	}
	fn := p.functionAround(c.Cursor)
	works := slices.ContainsFunc(p.loops, func(loop *call) bool {
		return strings.HasPrefix(loop.name, ours) && fn.Contains(loop.Cursor) && loop.Pos() > c.Pos()
	})
	if works {
		p.report(c.Cursor, "the client acknowledges each message before the work is done, so a failure loses it: %s", remedy)
	}
}

// acksItself reports whether the argument autoAck of a call is true.
func (p *pass) acksItself(c *call) bool {
	return slices.ContainsFunc(c.Args, func(arg ast.Expr) bool {
		f, ok := p.info.TypeOf(c.Fun).(*types.Signature)
		i := slices.Index(c.Args, arg)
		return ok && i < f.Params().Len() && f.Params().At(i).Name() == "autoAck" && types.ExprString(arg) == "true"
	})
}

// inGroup reports whether a reader of Kafka is in a group, so that ReadMessage commits.
func (p *pass) inGroup(c *call) bool {
	sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	v, ok := p.info.Uses[lastName(sel.X)].(*types.Var)
	return ok && slices.ContainsFunc(p.origins(v, 0), func(made inspector.Cursor) bool {
		return p.mentionsName(made, regexp.MustCompile(`^github\.com/segmentio/kafka-go\.GroupID$`))
	})
}
