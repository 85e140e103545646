package checks

import (
	"go/ast"
	"go/constant"
	"reflect"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/gobackoff/retry"
	_ "github.com/gobackoff/retry/awspreset" // its presets for ParsePolicy
)

// validated has the types whose literals are checked by their own method Validate.
var validated = map[string]reflect.Type{}

func init() {
	for _, value := range []any{
		retry.Policy{}, retry.Constant(0), retry.Exponential{}, retry.Linear{}, retry.Fibonacci{}, retry.Schedule{},
		retry.FullJitter{}, retry.EqualJitter{}, retry.DecorrelatedJitter{},
		retry.Jittered{}, retry.Spread{}, retry.Capped{}, retry.WhenThrottled{},
		retry.HintAtLeast{}, retry.HintOrGiveUp{}, retry.HintWindow{},
		&retry.TokenBudget{}, &retry.RatioBudget{}, &retry.ThrottleBudget{},
	} {
		t := reflect.TypeOf(value)
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		validated[ours+"."+t.Name()] = t
	}
}

// Invalid reports literals that Validate refuses, which Do does not call.
var Invalid = analyzer("invalid", "report policies and backoffs that Validate refuses", func(p *pass) {
	p.root.Inspect([]ast.Node{(*ast.CompositeLit)(nil), (*ast.CallExpr)(nil)}, func(c inspector.Cursor) bool {
		if call, ok := c.Node().(*ast.CallExpr); ok && p.callee(call) == ours+".ParsePolicy" {
			p.checkText(c)
		}
		value, ok := p.build(c)
		if !ok {
			return true
		}
		if fault := faultOf(value); fault != "" && !p.completed(c) {
			p.report(c, "%s", fault)
		}
		return false // its parts are validated with it
	})
})

func faultOf(value reflect.Value) string {
	ptr := reflect.New(value.Type())
	ptr.Elem().Set(value)
	v, ok := ptr.Interface().(interface{ Validate() error })
	if !ok {
		return ""
	}
	if err := v.Validate(); err != nil {
		return err.Error()
	}
	return ""
}

func (p *pass) checkText(c inspector.Cursor) {
	text := p.info.Types[c.Node().(*ast.CallExpr).Args[0]].Value
	if text == nil || text.Kind() != constant.String {
		return
	}
	// Other packages may register further presets.
	if _, err := retry.ParsePolicy(constant.StringVal(text)); err != nil && !strings.Contains(err.Error(), "unknown name") {
		p.report(c, "%v", err)
	}
}

// completed reports whether the literal is a variable's first value, and others follow.
func (p *pass) completed(c inspector.Cursor) bool {
	for e := range c.Enclosing((*ast.AssignStmt)(nil), (*ast.ValueSpec)(nil)) {
		var left []ast.Expr
		switch n := e.Node().(type) {
		case *ast.AssignStmt:
			left = n.Lhs
		case *ast.ValueSpec:
			for _, name := range n.Names {
				left = append(left, name)
			}
		}
		for _, lhs := range left {
			if obj := p.rootOf(lhs); obj == nil || p.sets[obj] > 1 {
				return true
			}
		}
		return false
	}
	return false
}

// build returns the value of a literal or a constant of one of the validated types.
// Instead of what is not constant, it has a value that Validate accepts.
func (p *pass) build(c inspector.Cursor) (reflect.Value, bool) {
	e, ok := c.Node().(ast.Expr)
	if !ok {
		return reflect.Value{}, false
	}
	t, ok := validated[typeName(p.info.TypeOf(e))]
	if !ok {
		return reflect.Value{}, false
	}
	value := reflect.New(t).Elem()
	if number := p.info.Types[e].Value; number != nil {
		return value, setConstant(value, number)
	}
	lit, ok := e.(*ast.CompositeLit)
	if !ok {
		return value, false
	}
	for i, element := range lit.Elts {
		at := c.ChildAt(edge.CompositeLit_Elts, i)
		if kv, ok := element.(*ast.KeyValueExpr); ok {
			at = at.ChildAt(edge.KeyValueExpr_Value, -1)
			if t.Kind() == reflect.Struct {
				p.fill(value.FieldByName(kv.Key.(*ast.Ident).Name), kv.Key.(*ast.Ident).Name, at)
				continue
			}
		}
		if t.Kind() == reflect.Slice {
			value.Set(reflect.Append(value, reflect.Zero(t.Elem())))
			p.fill(value.Index(value.Len()-1), "", at)
		} else {
			p.fill(value.Field(i), t.Field(i).Name, at)
		}
	}
	return value, true
}

func (p *pass) fill(field reflect.Value, name string, c inspector.Cursor) {
	tv := p.info.Types[c.Node().(ast.Expr)]
	if !field.IsValid() || tv.IsNil() {
		return
	}
	if unary, ok := c.Node().(*ast.UnaryExpr); ok && unary.Op.String() == "&" {
		c = c.ChildAt(edge.UnaryExpr_X, -1)
	}
	if part, ok := p.build(c); ok {
		if field.Kind() == reflect.Interface && !part.Type().AssignableTo(field.Type()) {
			ptr := reflect.New(part.Type())
			ptr.Elem().Set(part)
			part = ptr
		}
		if part.Type().AssignableTo(field.Type()) {
			field.Set(part)
		}
		return
	}
	if tv.Value != nil && setConstant(field, tv.Value) {
		return
	}
	switch {
	case field.Type() == reflect.TypeFor[retry.Backoff]():
		field.Set(reflect.ValueOf(retry.NoDelay{}))
	case name == "Base":
		field.SetInt(1)
	case name == "Capacity":
		field.SetFloat(1e9)
	}
}

func setConstant(v reflect.Value, c constant.Value) bool {
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		n, exact := constant.Int64Val(constant.ToInt(c))
		if exact {
			v.SetInt(n)
		}
		return exact
	case reflect.Float64:
		f, _ := constant.Float64Val(constant.ToFloat(c))
		v.SetFloat(f)
		return true
	case reflect.Bool:
		v.SetBool(constant.BoolVal(c))
		return true
	}
	return false
}
