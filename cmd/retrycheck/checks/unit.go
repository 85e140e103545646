package checks

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"time"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// waits has the functions and types whose durations are waits between calls over a network
// or limits of them, so that nanoseconds make no sense.
var waits = names(ours+`[./].*`, `(`+cenkalti+`|`+avast+`|`+sethvargo+`|`+wait+`|github\.com/hashicorp/go-retryablehttp)\..*`,
	`github\.com/failsafe-go/.*`, `net/http\.(Client|Server)`, `context\.WithTimeout`)

var durations = names(`time\.Duration`, ours+`\.Constant`)

// Unit reports numbers such as Base: 100 that stand for nanoseconds.
var Unit = analyzer("unit", func(p *pass) {
	if waits.MatchString(decoration.ReplaceAllString(p.Pkg.Path(), "") + ".") {
		return // a library may count in nanoseconds
	}
	for c := range p.root.Preorder((*ast.CallExpr)(nil)) {
		p.reportConversion(c)
	}
	for c := range p.root.Preorder((*ast.BasicLit)(nil), (*ast.Ident)(nil)) {
		tv := p.info.Types[c.Node().(ast.Expr)]
		id, ok := c.Node().(*ast.Ident)
		if !durations.MatchString(typeName(tv.Type)) || tv.Value == nil || ok && durations.MatchString(typeName(p.info.ObjectOf(id).Type())) {
			continue // a constant that is a duration has its unit
		}
		if n, exact := constant.Int64Val(constant.ToInt(tv.Value)); exact && 0 < n && n < int64(time.Millisecond) && waits.MatchString(p.receiver(c)) {
			p.report(c, "this is %d nanoseconds: multiply the number by a unit, such as time.Millisecond", n)
		}
	}
})

// fromText reads a number that has no unit.
var fromText = names(`strconv\.(Atoi|ParseInt|ParseUint)`)

// reportConversion reports time.Duration(n), if nothing multiplies it by a unit, and n was read
// from a text, or is a field or a parameter of a type that holds few seconds of nanoseconds.
func (p *pass) reportConversion(c inspector.Cursor) {
	conversion := c.Node().(*ast.CallExpr)
	if len(conversion.Args) != 1 || !p.info.Types[conversion.Fun].IsType() || typeName(p.info.TypeOf(conversion)) != "time.Duration" {
		return
	}
	id := lastName(ast.Unparen(conversion.Args[0]))
	if id == nil || p.info.Types[conversion].Value != nil {
		return
	}
	arg := c.ChildAt(edge.CallExpr_Args, 0)
	if !fromText.MatchString(p.latest(arg)) && !p.isCount(id) {
		return
	}
	places := []inspector.Cursor{c}
	for _, v := range p.vars {
		if slices.Contains(v.values, c) {
			places = append(places, v.uses...)
		}
	}
	if slices.ContainsFunc(places, func(at inspector.Cursor) bool { return waits.MatchString(p.receiver(at)) }) {
		p.report(c, "this takes %s as nanoseconds: multiply the Duration by its unit, such as time.Second", id.Name)
	}
}

// isCount reports whether id is a field or a parameter of an integer type other than int64, which
// nobody chooses for nanoseconds.
func (p *pass) isCount(id *ast.Ident) bool {
	v, ok := p.info.ObjectOf(id).(*types.Var)
	if !ok || !v.IsField() && !p.isParameter(v) {
		return false
	}
	t, ok := v.Type().(*types.Basic)
	return ok && t.Info()&types.IsInteger != 0 && t.Kind() != types.Int64 && t.Kind() != types.Uint64
}

// receiver names the function or the type that a value is given to, if it is one.
func (p *pass) receiver(c inspector.Cursor) string {
	parent := c.Parent()
	switch n := parent.Node().(type) {
	case *ast.KeyValueExpr:
		return p.receiver(parent)
	case *ast.ParenExpr, *ast.CallExpr, *ast.CompositeLit:
		if name := p.callee(n); name != "" {
			return name
		}
		if name := typeName(p.info.TypeOf(n.(ast.Expr))); name != "time.Duration" {
			return name
		}
		return p.receiver(parent)
	case *ast.AssignStmt:
		if field, ok := n.Lhs[0].(*ast.SelectorExpr); ok && n.Tok == token.ASSIGN {
			return typeName(p.info.TypeOf(field.X))
		}
	}
	return ""
}
