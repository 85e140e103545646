package checks

import (
	"fmt"
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
	if waits.MatchString(withoutMajor(p.Pkg.Path()) + ".") {
		return // a library may count in nanoseconds
	}
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

// durationOf names the field or parameter that a number is given to, "" if waits does not
// match its type or function.
func (p *pass) durationOf(c inspector.Cursor) string {
	parent := c.Parent()
	switch n := parent.Node().(type) {
	case *ast.ParenExpr:
		return p.durationOf(parent)
	case *ast.CallExpr:
		tv := p.info.Types[n.Fun]
		switch {
		case tv.IsType() && typeName(tv.Type) == ours+".Constant":
			return "Constant"
		case tv.IsType(): // a conversion
			return p.durationOf(parent)
		case waits.MatchString(p.callee(n)):
			return "the argument of " + shortName(p.callee(n))
		}
	case *ast.KeyValueExpr:
		if lit, ok := parent.Parent().Node().(*ast.CompositeLit); ok && n.Value == c.Node() && p.waits(lit) {
			return fmt.Sprint(n.Key)
		}
	case *ast.CompositeLit:
		if p.waits(n) {
			return "the element"
		}
	case *ast.AssignStmt:
		if sel, ok := n.Lhs[0].(*ast.SelectorExpr); ok && len(n.Lhs) == 1 && n.Tok == token.ASSIGN && p.waits(sel.X) {
			return sel.Sel.Name
		}
	}
	return ""
}

func (p *pass) waits(e ast.Expr) bool { return waits.MatchString(typeName(p.info.TypeOf(e))) }
