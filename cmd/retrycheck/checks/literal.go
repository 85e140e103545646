package checks

import (
	"go/ast"
	"go/constant"
	"go/types"
	"reflect"
	"slices"
	"time"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/gobackoff/retry"
)

// reportLiteral reports numbers of a policy, or of a budget, that contradict each other or leave no
// retry, although each of them is valid.
func (p *pass) reportLiteral(c inspector.Cursor) {
	lit := c.Node().(*ast.CompositeLit)
	switch typeName(p.info.TypeOf(lit)) {
	case ours + ".Policy":
		if !p.isChanged(c) {
			p.reportUnusedBackoff(c)
			p.reportUnusedDelays(c)
			p.reportNoTime(c)
		}
	case ours + ".SharedBudget":
		reserve, known := p.constantOf(lit, "Reserve")
		if value, _ := constant.Float64Val(constant.ToFloat(reserve)); known && value > 0 && value < 1 {
			p.report(element(c, "Reserve"), "Reserve is a number of tokens, and each retry takes one, so a budget that begins with less than 1 refuses the retries of rare calls: set 1 or more")
		}
	}
}

// element returns a field of a literal, which has it.
func element(c inspector.Cursor, name string) (field inspector.Cursor) {
	for i, e := range c.Node().(*ast.CompositeLit).Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok && types.ExprString(kv.Key) == name {
			field = c.ChildAt(edge.CompositeLit_Elts, i)
		}
	}
	return field
}

// constantOf returns the constant value of a field in a literal.
func (p *pass) constantOf(lit *ast.CompositeLit, name string) (value constant.Value, known bool) {
	e := elementOf(lit, name)
	if e == nil {
		return constant.MakeInt64(0), false
	}
	value = p.info.Types[e].Value
	if value == nil {
		return constant.MakeInt64(0), false
	}
	return value, true
}

// isChanged reports whether statements set a number or the Backoff of the policy that a literal is
// the value of.
func (p *pass) isChanged(c inspector.Cursor) bool {
	for _, v := range p.vars {
		if !slices.Contains(v.values, c) {
			continue
		}
		for _, set := range v.sets {
			if sel, ok := set.Node().(*ast.SelectorExpr); ok && numbers.MatchString(sel.Sel.Name) || set.Parent().Node() == nil {
				return true
			}
			if _, isAddress := set.Parent().Node().(*ast.UnaryExpr); isAddress {
				return true
			}
		}
	}
	return false
}

var numbers = names(`Backoff|MaxAttempts|MaxElapsed|AttemptTimeout`)

// reportUnusedBackoff reports MaxAttempts: 1 beside a Backoff.
func (p *pass) reportUnusedBackoff(c inspector.Cursor) {
	lit := c.Node().(*ast.CompositeLit)
	most, known := p.constantOf(lit, "MaxAttempts")
	rule := elementOf(lit, "Backoff")
	_, isNumber := elementOf(lit, "MaxAttempts").(*ast.BasicLit)
	if known && isNumber && most.ExactString() == "1" && rule != nil && !p.info.Types[rule].IsNil() {
		p.report(element(c, "MaxAttempts"), "MaxAttempts counts the first attempt, so 1 means no retry, and the Backoff is never used: write 2 for one retry, or retry.NoRetry")
	}
}

// reportUnusedDelays reports a Schedule that MaxAttempts cuts short.
func (p *pass) reportUnusedDelays(c inspector.Cursor) {
	lit := c.Node().(*ast.CompositeLit)
	most, known := p.constantOf(lit, "MaxAttempts")
	rule := elementOf(lit, "Backoff")
	if !known || rule == nil || typeName(p.info.TypeOf(rule)) != ours+".Schedule" {
		return
	}
	attempts, _ := constant.Int64Val(constant.ToInt(most))
	schedule, ok := p.value(element(c, "Backoff").ChildAt(edge.KeyValueExpr_Value, -1)).Node().(*ast.CompositeLit)
	if ok && attempts > 1 && attempts <= int64(len(schedule.Elts)) {
		p.report(element(c, "MaxAttempts"), "MaxAttempts counts the first attempt, so only %d of the %d delays of the Schedule are used: leave MaxAttempts out for all of them", attempts-1, len(schedule.Elts))
	}
}

// reportNoTime reports a MaxElapsed that ends a call before its first retry, or before that of an
// attempt that times out.
func (p *pass) reportNoTime(c inspector.Cursor) {
	lit := c.Node().(*ast.CompositeLit)
	all := elementOf(lit, "MaxElapsed")
	if all == nil {
		return
	}
	most, known := p.duration(all)
	if !known || most <= 0 {
		return
	}
	first := p.firstWait(c)
	if first > most {
		p.report(element(c, "MaxElapsed"), "the first wait is at least %v, and the call gives up if a wait would end after %v: no retry follows", first, most)
	}
	if attempt := elementOf(lit, "AttemptTimeout"); attempt != nil {
		longest, known := p.duration(attempt)
		if known && longest >= most {
			p.report(element(c, "MaxElapsed"), "an attempt may take %v, and no retry begins after %v, so one that times out is never retried: shorten AttemptTimeout", longest, most)
		}
	}
}

// firstWait returns the shortest wait before the first retry under the policy of a literal, as far
// as its Backoff is constant.
func (p *pass) firstWait(c inspector.Cursor) time.Duration {
	var policy retry.Policy
	p.set(reflect.ValueOf(&policy).Elem(), "", c.Node().(*ast.CompositeLit))
	if policy.Backoff == nil {
		return 0
	}
	return policy.Backoff.Delay(retry.Attempt{Number: 1, Verdict: retry.Verdict{Class: retry.ClassTransient}}, 0)
}
