package checks

import (
	"fmt"
	"go/ast"
	"go/constant"
	"reflect"
	"strings"
	"time"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryconfig"
)

type validator interface{ Validate() error }

// validated has the types whose literals are checked by their own method Validate.
var validated = map[string]reflect.Type{}

func init() {
	for _, value := range []validator{
		//retrycheck:ignore invalid the values stand for their types
		&retry.Policy{}, new(retry.Constant), &retry.Exponential{}, &retry.Linear{}, &retry.Fibonacci{}, &retry.Schedule{},
		&retry.FullJitter{}, &retry.EqualJitter{}, &retry.DecorrelatedJitter{}, &retry.Jittered{}, &retry.Spread{}, &retry.Capped{},
		&retry.WhenThrottled{}, &retry.HintAtLeast{}, &retry.HintOrGiveUp{}, &awspreset.HintWindow{},
		&retry.SharedBudget{}, &awspreset.TokenBudget{},
	} {
		t := reflect.TypeOf(value).Elem()
		validated[t.PkgPath()+"."+t.Name()] = t
	}
}

// Invalid reports literals that Validate refuses, which Do does not call.
var Invalid = analyzer("invalid", func(p *pass) {
	for c := range p.root.Preorder((*ast.CompositeLit)(nil), (*ast.CallExpr)(nil)) {
		e := c.Node().(ast.Expr)
		var err error
		_, isLit := e.(*ast.CompositeLit)
		if t, ok := validated[typeName(p.info.TypeOf(e))]; ok && (isLit || p.info.Types[e].Value != nil) {
			value := reflect.New(t)
			p.set(value.Elem(), "", e)
			err = value.Interface().(validator).Validate()
		} else if p.callee(e) == ours+"/retryconfig.Parse" {
			if text := p.info.Types[e.(*ast.CallExpr).Args[0]].Value; text != nil {
				_, err = retryconfig.Parse(constant.StringVal(text))
			}
		}
		if err != nil && !strings.Contains(err.Error(), "unknown name") && !p.completed(c) { // which another package may register
			p.report(c, "%v", err)
		}
	}
})

// completed reports whether c is in one of several values that a variable has.
func (p *pass) completed(c inspector.Cursor) bool {
	for id := range around(c, (*ast.AssignStmt)(nil), (*ast.ValueSpec)(nil), (*ast.BlockStmt)(nil)).Children() {
		if id, ok := id.Node().(*ast.Ident); ok && len(p.vars[p.info.ObjectOf(id)].sets) > 1 {
			return true
		}
	}
	return false
}

// set sets a value to that of an expression, or to something harmless as far as that is not
// constant.
func (p *pass) set(v reflect.Value, name string, e ast.Expr) {
	lit, isLit := e.(*ast.CompositeLit)
	switch tv := p.info.Types[e]; {
	case !v.IsValid(): // a field of a later version
	case v.Type() == reflect.TypeFor[retry.Backoff]() && !tv.IsNil():
		v.Set(reflect.ValueOf(p.rule(e)))
	case tv.Value != nil:
		_, _ = fmt.Sscan(tv.Value.String(), v.Addr().Interface())
	case v.Kind() == reflect.Slice && isLit:
		v.Set(reflect.MakeSlice(v.Type(), len(lit.Elts), len(lit.Elts)))
		for i, element := range lit.Elts {
			p.set(v.Index(i), "", element)
		}
	case v.Kind() == reflect.Struct && isLit:
		for i, element := range lit.Elts {
			if keyed, ok := element.(*ast.KeyValueExpr); ok {
				field := keyed.Key.(*ast.Ident).Name
				p.set(v.FieldByName(field), field, keyed.Value)
			} else {
				p.set(v.Field(i), v.Type().Field(i).Name, element)
			}
		}
	case name == "Base":
		v.SetInt(int64(time.Microsecond)) // less would be a number without its unit
	case name == "Cap" || name == "MaxElapsed":
		v.SetInt(int64(1000 * time.Hour)) // 0 would be none
	}
}

// rule returns the rule of a literal that is valid, or a harmless one: an invalid literal is
// reported by itself.
func (p *pass) rule(e ast.Expr) retry.Backoff {
	t, ok := validated[typeName(p.info.TypeOf(e))]
	if _, isLit := e.(*ast.CompositeLit); !ok || !isLit && p.info.Types[e].Value == nil {
		return retry.NoDelay{}
	}
	value := reflect.New(t)
	p.set(value.Elem(), "", e)
	rule, ok := value.Elem().Interface().(retry.Backoff)
	if !ok || value.Interface().(validator).Validate() != nil {
		return retry.NoDelay{}
	}
	return rule
}
