package checks

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// takesWait has functions that wait, or are told how long to wait, and the position of the time.
var takesWait = map[string]int{
	ours + ".After": 1, ours + ".Clock.Sleep": 1, ours + ".SystemClock.Sleep": 1,
	"time.Sleep": 0, "time.After": 0, "time.NewTimer": 0, "time.AfterFunc": 0, "time.Timer.Reset": 0,
	"context.WithTimeout": 1, "context.WithTimeoutCause": 1,
}

// waitFields has the fields that say how long to wait.
var waitFields = names(ours+`\.Hint`, ours+`/ratelimit\.(Hint|Reset)`)

// reportSigns reports waits that are negative because the two times that they are between are
// exchanged, and an elapsed time that is.
func (p *pass) reportSigns() {
	for _, c := range p.calls {
		if i, ok := takesWait[c.name]; ok && i < len(c.Args) {
			p.reportNegativeWait(c.ChildAt(edge.CallExpr_Args, i))
		}
		if sets.MatchString(c.name) && p.isRetryAfter(c.Args[0]) {
			p.reportHeader(c)
		}
		if c.name == ours+".Policy.Next" {
			p.reportNegativeTime(c.ChildAt(edge.CallExpr_Args, 1))
		}
	}
	for c := range p.root.Preorder((*ast.KeyValueExpr)(nil), (*ast.ReturnStmt)(nil), (*ast.CallExpr)(nil)) {
		switch n := c.Node().(type) {
		case *ast.KeyValueExpr:
			if waitFields.MatchString(p.field(c)) {
				p.reportNegativeWait(c.ChildAt(edge.KeyValueExpr_Value, -1))
			}
		case *ast.ReturnStmt:
			if len(n.Results) == 1 && p.returnsWait(p.functionAround(c)) {
				p.reportNegativeWait(c.ChildAt(edge.ReturnStmt_Results, 0))
			}
		case *ast.CallExpr:
			if p.info.Types[n.Fun].IsType() && typeName(p.info.TypeOf(n)) == ours+"/admit.Refused" && len(n.Args) == 1 {
				p.reportNegativeWait(c.ChildAt(edge.CallExpr_Args, 0))
			}
		}
	}
}

// isRetryAfter reports whether an expression is the name of the header with a wait.
func (p *pass) isRetryAfter(e ast.Expr) bool {
	value := p.info.Types[e].Value
	return value != nil && value.Kind() == constant.String && strings.EqualFold(constant.StringVal(value), "Retry-After")
}

// reportHeader reports a header Retry-After with a negative wait.
func (p *pass) reportHeader(c *call) {
	for part := range c.ChildAt(edge.CallExpr_Args, 1).Preorder((*ast.CallExpr)(nil)) {
		p.reportNegativeWait(part)
	}
}

// returnsWait reports whether a function is a rule for delays, or the method of an error that says
// how long to wait.
func (p *pass) returnsWait(fn inspector.Cursor) bool {
	if fn.Node() == nil {
		return false
	}
	decl, ok := fn.Node().(*ast.FuncDecl)
	return p.isRule(fn) || ok && decl.Recv != nil && decl.Name.Name == "RetryAfter"
}

// A distance is the time between now and another one.
type distance struct {
	to     inspector.Cursor
	passed bool // whether it is positive if the other time has passed
}

// distanceOf returns the distance that an expression is.
func (p *pass) distanceOf(c inspector.Cursor) (d distance, ok bool) {
	c = p.value(c)
	switch n := c.Node().(type) {
	case *ast.ParenExpr:
		return p.distanceOf(c.ChildAt(edge.ParenExpr_X, -1))
	case *ast.UnaryExpr:
		if n.Op == token.SUB {
			d, ok = p.distanceOf(c.ChildAt(edge.UnaryExpr_X, -1))
			d.passed = !d.passed
		}
		return d, ok
	case *ast.CallExpr:
		switch name := p.callee(n); {
		case name == "time.Since" || name == "time.Until":
			return distance{c.ChildAt(edge.CallExpr_Args, 0), name == "time.Since"}, true
		case name == "time.Time.Sub":
			return p.difference(c)
		case isBuiltin(p.info, n, "max"):
			for i := range n.Args {
				if d, ok = p.distanceOf(c.ChildAt(edge.CallExpr_Args, i)); ok {
					return d, true
				}
			}
		}
	}
	return d, false
}

// difference returns the distance of now.Sub(t) or t.Sub(now).
func (p *pass) difference(c inspector.Cursor) (d distance, ok bool) {
	method := c.ChildAt(edge.CallExpr_Fun, -1)
	if _, isSelector := method.Node().(*ast.SelectorExpr); !isSelector {
		return d, false
	}
	from, to := method.ChildAt(edge.SelectorExpr_X, -1), c.ChildAt(edge.CallExpr_Args, 0)
	switch {
	case p.isNow(from):
		return distance{to, true}, true
	case p.isNow(to):
		return distance{from, false}, true
	}
	return d, false
}

// isNow reports whether an expression is time.Now(), or a variable named now.
func (p *pass) isNow(c inspector.Cursor) bool {
	id, ok := c.Node().(*ast.Ident)
	return p.callee(c.Node()) == "time.Now" || ok && strings.EqualFold(id.Name, "now")
}

// Names of times to come, and of times that have passed.
var (
	toCome = regexp.MustCompile(`(?i)(reset|until|deadline|expir|retry|next|available|due|open|resume|unlock|allowed|not_?before|ends?$|ending)`)
	gone   = regexp.MustCompile(`(?i)(last|prev|start|beg[aiu]n|since|first|created|opened|ended|expired$|now)`)
)

// isToCome reports whether a time is in the future, as far as its name says so.
func (p *pass) isToCome(c inspector.Cursor) bool {
	e := ast.Unparen(c.Node().(ast.Expr))
	if call, ok := e.(*ast.CallExpr); ok {
		e = call.Fun // x.Deadline()
	}
	id := lastName(e)
	if id == nil || gone.MatchString(id.Name) || p.isPast(c) {
		return false
	}
	return toCome.MatchString(id.Name) || parsesTime.MatchString(p.latest(c))
}

// parsesTime has what makes a time of the text or the number in a response.
var parsesTime = names(`net/http\.ParseTime`, `time\.(Parse|Unix|UnixMilli)`)

// isPast reports whether a time is time.Now() of before.
func (p *pass) isPast(c inspector.Cursor) bool {
	id, ok := c.Node().(*ast.Ident)
	if !ok {
		return false
	}
	values := p.vars[p.info.ObjectOf(id)].values
	return slices.ContainsFunc(values, func(value inspector.Cursor) bool {
		return value.Valid() && p.callee(value.Node()) == "time.Now"
	})
}

// reportNegativeWait reports a wait until a time to come that has the wrong sign, and one until a
// time that has passed.
func (p *pass) reportNegativeWait(c inspector.Cursor) {
	d, ok := p.distanceOf(c)
	if !ok {
		return
	}
	to := types.ExprString(d.to.Node().(ast.Expr))
	switch {
	case d.passed && p.isToCome(d.to):
		p.report(c, "this is negative as long as %s is to come, so nothing waits: use time.Until(%[1]s)", to)
	case !d.passed && p.isAlwaysPast(d.to):
		p.report(c, "this is negative, because %s has passed, so nothing waits", to)
	}
}

// isAlwaysPast reports whether the only value of a variable is time.Now().
func (p *pass) isAlwaysPast(c inspector.Cursor) bool {
	id, ok := c.Node().(*ast.Ident)
	if !ok {
		return false
	}
	def := p.declared(p.info.ObjectOf(id))
	return def.Valid() && p.callee(def.Node()) == "time.Now"
}

// reportNegativeTime reports an elapsed time that has the wrong sign.
func (p *pass) reportNegativeTime(c inspector.Cursor) {
	if d, ok := p.distanceOf(c); ok && !d.passed {
		p.report(c, "this is negative, so MaxElapsed is never reached: use time.Since(%s)", types.ExprString(d.to.Node().(ast.Expr)))
	}
}

// Names of what limits a rate, and of what ends a wait early.
var (
	ofRate  = regexp.MustCompile(`(?i)(rate|too[_ ]?(fast|many|often)|(per|this|each|a)[_ ]?(second|minute|hour)|quota|throttl|limit|tokens?$|bucket|slow[_ ]?down|exceeded|window)`)
	ofSkip  = regexp.MustCompile(`(?i)(skip|wake|woke|early|retry[_ ]?now|try[_ ]?now|at[_ ]?once|hurry|pressed|interrupt)`)
	ofBreak = regexp.MustCompile(`(?i)(open|breaker|circuit|closed|shut|stop|cancel|maintenance|progress|flight|concurren|running|busy)`)
)

// reportFailingWait reports the method Wait of a Limiter that never waits, and the method Sleep of a
// Clock, if they return an error of their own, which ends the call.
func (p *pass) reportFailingWait(method inspector.Cursor) {
	sig := p.signature(method)
	params, results := sig.Params(), sig.Results()
	if params.Len() == 0 || !isContext(params.At(0).Type()) || results.Len() != 1 || !types.Implements(results.At(0).Type(), errorType) {
		return
	}
	name := method.Node().(*ast.FuncDecl).Name.Name
	isLimiter := name == "Wait" && params.Len() == 1 && !p.pausesAnyhow(method)
	isClock := name == "Sleep" && params.Len() == 2 && params.At(1).Type().String() == "time.Duration"
	if !isLimiter && !isClock {
		return
	}
	for ret := range method.Preorder((*ast.ReturnStmt)(nil)) {
		last, given := ret.LastChild()
		if !given || p.functionAround(ret) != method {
			continue
		}
		text := p.textOfError(last)
		switch {
		case isLimiter && ofRate.MatchString(text+" "+typeName(sig.Recv().Type())) && text != "" && !ofBreak.MatchString(text):
			p.report(last, "an error of a Limiter ends the call: wait until the attempt may start, or until ctx is done")
		case isClock && ofSkip.MatchString(text):
			p.report(last, "an error of Sleep ends the call: return nil to end the wait alone")
		}
	}
}

// textOfError returns the name or the text of an error that a function returns, if it is a variable
// of a package or is made of a text.
func (p *pass) textOfError(c inspector.Cursor) string {
	switch n := c.Node().(type) {
	case *ast.CallExpr:
		switch name := p.callee(n); {
		case len(n.Args) == 0:
		case plainErrors.MatchString(name):
			return types.ExprString(n.Args[0])
		case pure.MatchString(name): // a marker
			return p.textOfError(c.ChildAt(edge.CallExpr_Args, 0))
		}
	case *ast.Ident, *ast.SelectorExpr:
		v, ok := p.info.Uses[lastName(n.(ast.Expr))].(*types.Var)
		if ok && v.Kind() == types.PackageVar {
			return v.Name()
		}
	}
	return ""
}

// pausesAnyhow reports whether a function waits for something: a channel, a time, or another
// function that gets its context.
func (p *pass) pausesAnyhow(fn inspector.Cursor) bool {
	for c := range fn.Preorder((*ast.SelectStmt)(nil), (*ast.UnaryExpr)(nil), (*ast.RangeStmt)(nil), (*ast.CallExpr)(nil)) {
		switch n := c.Node().(type) {
		case *ast.SelectStmt:
			if !hasDefault(n) {
				return true
			}
		case *ast.UnaryExpr:
			clause := around(c, (*ast.CommClause)(nil), (*ast.BlockStmt)(nil))
			choice, inSelect := clause.Parent().Parent().Node().(*ast.SelectStmt)
			if n.Op == token.ARROW && !(inSelect && hasDefault(choice)) {
				return true
			}
		case *ast.RangeStmt:
			if _, isChan := p.info.TypeOf(n.X).Underlying().(*types.Chan); isChan {
				return true
			}
		case *ast.CallExpr:
			if p.isPause(n) {
				return true
			}
		}
	}
	return false
}

// hasDefault reports whether a select statement does not wait.
func hasDefault(n *ast.SelectStmt) bool {
	return slices.ContainsFunc(n.Body.List, func(s ast.Stmt) bool { return s.(*ast.CommClause).Comm == nil })
}

// isPause reports whether a call may wait.
func (p *pass) isPause(n *ast.CallExpr) bool {
	name := p.callee(n)
	if pauses.MatchString(name) || strings.HasSuffix(name, ".Wait") || strings.HasSuffix(name, ".Acquire") {
		return true
	}
	return slices.ContainsFunc(n.Args, func(arg ast.Expr) bool { return isContext(p.info.TypeOf(arg)) })
}
