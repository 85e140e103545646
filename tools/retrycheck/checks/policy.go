package checks

import (
	"go/ast"
	"go/constant"
	"go/token"
	"reflect"
	"strings"
	"time"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/gobackoff/retry"
	_ "github.com/gobackoff/retry/awspreset" // its presets for ParsePolicy
)

type validator interface{ Validate() error }

// validated has the types whose literals are checked by their own method Validate.
var validated = map[string]reflect.Type{}

func init() {
	for _, value := range []validator{
		&retry.Policy{}, new(retry.Constant), &retry.Exponential{}, &retry.Linear{}, &retry.Fibonacci{}, &retry.Schedule{},
		&retry.FullJitter{}, &retry.EqualJitter{}, &retry.DecorrelatedJitter{}, &retry.Jittered{}, &retry.Spread{}, &retry.Capped{},
		&retry.WhenThrottled{}, &retry.HintAtLeast{}, &retry.HintOrGiveUp{}, &retry.HintWindow{},
		&retry.TokenBudget{}, &retry.RatioBudget{}, &retry.ThrottleBudget{},
	} {
		t := reflect.TypeOf(value).Elem()
		validated[ours+"."+t.Name()] = t
	}
}

// Invalid reports literals that Validate refuses, which Do does not call.
var Invalid = analyzer("invalid", "report policies and backoffs that Validate refuses", func(p *pass) {
	p.root.Inspect([]ast.Node{(*ast.CompositeLit)(nil), (*ast.CallExpr)(nil)}, func(c inspector.Cursor) bool {
		value, known := p.build(c)
		var err error
		if known && !p.completed(c) {
			err = value.Addr().Interface().(validator).Validate()
		} else if p.callee(c.Node()) == ours+".ParsePolicy" {
			if text := p.info.Types[c.Node().(*ast.CallExpr).Args[0]].Value; text != nil {
				_, err = retry.ParsePolicy(constant.StringVal(text))
			}
		}
		if err != nil && !strings.Contains(err.Error(), "unknown name") { // which another package may register
			p.report(c, "%v", err)
		}
		return !known // its parts are validated with it
	})
})

// completed reports whether the literal is one of several values that a variable has.
func (p *pass) completed(c inspector.Cursor) bool {
	for _, v := range p.vars {
		for _, set := range v.sets {
			if value := valueSet(set); len(v.sets) > 1 && value.Valid() && value.Contains(c) {
				return true
			}
		}
	}
	return false
}

// build returns the value of a literal or a constant of one of the validated types, which
// has something harmless instead of what is not constant.
func (p *pass) build(c inspector.Cursor) (reflect.Value, bool) {
	e := c.Node().(ast.Expr)
	if unary, ok := e.(*ast.UnaryExpr); ok && unary.Op == token.AND {
		return p.build(c.ChildAt(edge.UnaryExpr_X, -1))
	}
	t, ok := validated[typeName(p.info.TypeOf(e))]
	if !ok {
		return reflect.Value{}, false
	}
	value := reflect.New(t).Elem()
	lit, ok := e.(*ast.CompositeLit)
	if !ok {
		return value, setConstant(value, p.info.Types[e].Value)
	}
	for i, element := range lit.Elts {
		at := c.ChildAt(edge.CompositeLit_Elts, i)
		keyed, ok := element.(*ast.KeyValueExpr)
		if ok {
			at = at.ChildAt(edge.KeyValueExpr_Value, -1)
		}
		switch {
		case t.Kind() == reflect.Slice:
			value.Set(reflect.Append(value, reflect.Zero(t.Elem())))
			p.fill(value.Index(i), "", at)
		case ok:
			name := keyed.Key.(*ast.Ident).Name
			p.fill(value.FieldByName(name), name, at)
		default:
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
	part, ok := p.build(c)
	switch {
	case ok && part.Type().AssignableTo(field.Type()):
		field.Set(part)
	case ok && part.Addr().Type().AssignableTo(field.Type()):
		field.Set(part.Addr())
	case setConstant(field, tv.Value):
	case field.Type() == reflect.TypeFor[retry.Backoff]():
		field.Set(reflect.ValueOf(retry.NoDelay{}))
	case name == "Base":
		field.SetInt(1)
	case name == "Capacity":
		field.SetFloat(1e9)
	}
}

func setConstant(v reflect.Value, c constant.Value) bool {
	if c == nil {
		return false
	}
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		n, exact := constant.Int64Val(constant.ToInt(c))
		v.SetInt(n)
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

// waits has the functions and types whose durations are waits between calls over a network
// or limits of them, so that nanoseconds make no sense.
var waits = names(ours+`[./].*`, `(`+cenkalti+`|`+avast+`|`+sethvargo+`|`+wait+`|github\.com/hashicorp/go-retryablehttp)\..*`,
	`github\.com/failsafe-go/.*`, `net/http\.(Client|Server)`, `context\.WithTimeout`)

// Unit reports numbers such as Base: 100 that stand for nanoseconds.
var Unit = analyzer("unit", "report durations without a unit", func(p *pass) {
	if waits.MatchString(decoration.ReplaceAllString(p.Pkg.Path(), "") + ".") {
		return // a library may count in nanoseconds
	}
	for c := range p.root.Preorder((*ast.BasicLit)(nil)) {
		tv := p.info.Types[c.Node().(*ast.BasicLit)]
		if name := typeName(tv.Type); tv.Value == nil || name != "time.Duration" && name != ours+".Constant" {
			continue
		}
		if n, exact := constant.Int64Val(constant.ToInt(tv.Value)); exact && 0 < n && n < int64(time.Millisecond) && waits.MatchString(p.receiver(c)) {
			p.report(c, "this is %d nanoseconds: multiply the number by a unit, such as time.Millisecond", n)
		}
	}
})

// receiver names the function or the type that a value is given to, if it is one.
func (p *pass) receiver(c inspector.Cursor) string {
	parent := c.Parent()
	switch n := parent.Node().(type) {
	case *ast.ParenExpr, *ast.KeyValueExpr:
		return p.receiver(parent)
	case *ast.CallExpr:
		if fn := p.info.Types[n.Fun]; !fn.IsType() {
			return p.callee(n)
		} else if typeName(fn.Type) == "time.Duration" {
			return p.receiver(parent)
		}
		return typeName(p.info.TypeOf(n))
	case *ast.CompositeLit:
		return typeName(p.info.TypeOf(n))
	case *ast.AssignStmt:
		if field, ok := n.Lhs[0].(*ast.SelectorExpr); ok && n.Tok == token.ASSIGN {
			return typeName(p.info.TypeOf(field.X))
		}
	}
	return ""
}

// shared has the types of budgets and limiters, and functions that make one.
var shared = names(ours+`\.((Token|Ratio|Throttle)Budget|FleetBudget)`, `golang\.org/x/time/rate\.NewLimiter`,
	ours+`/awspreset\.(AdaptiveLimiter|Preset\.Policy|FromEnv)`)

// Budget reports budgets and limiters that each call makes for itself, so that they bound
// nothing.
var Budget = analyzer("budget", "report budgets and limiters that are made for one call", func(p *pass) {
	for _, call := range p.loops {
		if !call.policy.Valid() {
			continue
		}
		policy := p.perCall(call, call.policy)
		if !policy.Valid() {
			continue
		}
		for c := range policy.Preorder((*ast.CompositeLit)(nil), (*ast.CallExpr)(nil), (*ast.Ident)(nil)) {
			made := p.perCall(call, c)
			if !made.Valid() {
				continue
			}
			name, what := p.callee(made.Node()), "the result of "
			if lit, ok := made.Node().(*ast.CompositeLit); ok {
				name, what = typeName(p.info.TypeOf(lit)), ""
			}
			if shared.MatchString(name) {
				p.report(made, "%s is made for each call of %s, so it bounds nothing: make it once and share it", what+shortName(name), shortName(call.name))
				break
			}
		}
	}
})

// perCall returns the expression that c stands for if it is evaluated once for each call: c
// itself, or the value of a variable of the same function that is used by this call only.
// What main makes is made once.
func (p *pass) perCall(call *call, c inspector.Cursor) (made inspector.Cursor) {
	made = c
	if id, ok := c.Node().(*ast.Ident); ok {
		v := p.vars[p.info.Uses[id]]
		made = p.value(c)
		if len(v.uses) != 1 || made == c || block(made) != block(call.Cursor) {
			return inspector.Cursor{}
		}
	}
	if fn, ok := block(made).Node().(*ast.FuncDecl); ok && fn.Recv == nil && (fn.Name.Name == "main" || fn.Name.Name == "init") {
		return inspector.Cursor{}
	}
	return made
}

// block returns the innermost function or loop around c.
func block(c inspector.Cursor) inspector.Cursor {
	return around(c, (*ast.FuncDecl)(nil), (*ast.FuncLit)(nil), (*ast.ForStmt)(nil), (*ast.RangeStmt)(nil))
}

// What sets no limit of attempts or time, if its argument is 0, and what sets one.
var (
	unlimited = names(`(`+ours+`|math)\.(Unlimited|MaxInt)`, avast+`\.UntilSucceeded`, sethvargo+`\.New(Constant|Exponential|Fibonacci)`, cenkalti+`\.NewConstantBackOff`)
	zero      = names(avast+`\.Attempts`, cenkalti+`\.WithMaxElapsedTime`)
	limits    = names(ours+`\.MaxElapsed`, avast+`\.Context`, cenkalti+`\.With(Context|MaxRetries)`, sethvargo+`\.WithMax(Retries|Duration)`)
)

// Unbounded reports retries that nothing ends: neither the policy nor the context.
var Unbounded = analyzer("unbounded", "report retries without a limit on attempts or time", func(p *pass) {
	for _, call := range p.loops {
		endless, limited := false, false
		for part := range call.Children() {
			if part == call.op || p.value(part) == call.op {
				continue
			}
			for c := range p.mentions(part) {
				id := c.Node().(*ast.Ident)
				name := objectName(p.info.Uses[id])
				number, none := zero.MatchString(name), p.isZero(c.Parent().Parent())
				endless = endless || unlimited.MatchString(name) || number && none
				limited = limited || limits.MatchString(name) || number && !none || isContext(p.info.TypeOf(id)) && !p.isBackground(p.value(c).Node())
			}
		}
		if endless && !limited {
			p.report(call.Cursor, "nothing ends these retries while the operation fails: set MaxElapsed, or use a context with a deadline")
		}
	}
})

// isZero reports whether c is a call with the argument 0.
func (p *pass) isZero(c inspector.Cursor) bool {
	call, ok := c.Node().(*ast.CallExpr)
	return ok && len(call.Args) == 1 && p.info.Types[call.Args[0]].Value != nil && p.info.Types[call.Args[0]].Value.ExactString() == "0"
}
