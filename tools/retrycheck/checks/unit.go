package checks

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"time"

	"golang.org/x/tools/go/ast/inspector"
)

// waits matches the functions and types whose durations are waits between calls over a
// network or limits of them, so that nanoseconds make no sense.
var waits = regexp.MustCompile(`^(` + ours + `[./]|` + cenkalti + `\.|` + avast + `\.|` + sethvargo + `\.|` + wait + `\.` +
	`|github\.com/hashicorp/go-retryablehttp\.|github\.com/failsafe-go/|net/http\.(Client|Server)$|context\.WithTimeout$)`)

// Unit reports numbers such as Base: 100 that stand for nanoseconds.
var Unit = analyzer("unit", "report durations without a unit", func(p *pass) {
	for c := range p.root.Preorder((*ast.BasicLit)(nil)) {
		lit := c.Node().(*ast.BasicLit)
		tv := p.info.Types[lit]
		if tv.Value == nil || !isDuration(tv.Type) {
			continue
		}
		n, exact := constant.Int64Val(constant.ToInt(tv.Value))
		if !exact || n <= 0 || n >= int64(time.Millisecond) {
			continue
		}
		if where := p.durationOf(c); where != "" {
			p.report(c, "%s is %d nanoseconds: multiply the number by a unit, such as time.Millisecond", where, n)
		}
	}
})

func isDuration(t types.Type) bool {
	return t != nil && (typeName(t) == "time.Duration" || typeName(t) == ours+".Constant")
}

// durationOf names the field or parameter that a number is given to.
func (p *pass) durationOf(c inspector.Cursor) string {
	child := c
	for e := range c.Enclosing() {
		if e == c {
			continue
		}
		switch n := e.Node().(type) {
		case *ast.ParenExpr:
		case *ast.CallExpr:
			if tv := p.info.Types[n.Fun]; tv.IsType() {
				if typeName(tv.Type) == ours+".Constant" {
					return "Constant"
				}
				break // a conversion
			}
			if name := p.callee(n); waits.MatchString(name) {
				return "the argument of " + shortName(name)
			}
			return ""
		case *ast.KeyValueExpr:
			lit, ok := e.Parent().Node().(*ast.CompositeLit)
			if id := identOf(n.Key); ok && id != nil && n.Value == child.Node() && waits.MatchString(typeName(p.info.TypeOf(lit))) {
				return id.Name
			}
			return ""
		case *ast.CompositeLit:
			if waits.MatchString(typeName(p.info.TypeOf(n))) {
				return "the element"
			}
			return ""
		case *ast.AssignStmt:
			sel, ok := n.Lhs[0].(*ast.SelectorExpr)
			if ok && len(n.Lhs) == 1 && n.Tok == token.ASSIGN && waits.MatchString(typeName(p.info.TypeOf(sel.X))) {
				return sel.Sel.Name
			}
			return ""
		default:
			return ""
		}
		child = e
	}
	return ""
}
