package migrate

import (
	"go/ast"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// cenkalti is github.com/cenkalti/backoff, versions 2 to 7.
type cenkalti struct{}

var cenkaltiPath = regexp.MustCompile(`^(.*/vendor/)?github\.com/cenkalti/backoff(/v[3-7])?$`)

func (cenkalti) owns(p *types.Package) bool { return p != nil && cenkaltiPath.MatchString(p.Path()) }

// options reports whether the functions of a package take options, as since version 5.
func (cenkalti) options(p *types.Package) bool {
	return slices.Contains([]string{"v5", "v6", "v7"}, p.Path()[strings.LastIndexByte(p.Path(), '/')+1:])
}

// arguments are the arguments of a call that retries.
type arguments struct {
	ctx, op, notify ast.Expr
	data            bool // the operation returns a value
	options         []ast.Expr
}

func (l cenkalti) find(r *rewriter) {
	r.calls(func(call *ast.CallExpr, f *types.Func) {
		if f.Name() == "NextBackOff" {
			r.loop(call)
		}
		if !strings.HasPrefix(f.Name(), "Retry") || f.Signature().Recv() != nil || f.Name() == "RetryAfter" {
			return
		}
		s := &site{call: call, name: "backoff." + f.Name()}
		r.sites[call] = s
		a := arguments{data: strings.Contains(f.Name(), "Data")}
		switch {
		case l.options(f.Pkg()):
			a.ctx, a.op, a.options, a.data = call.Args[0], call.Args[1], r.listed(s, call, 2), true
			l.readOptions(r, s, &a)
		case strings.Contains(f.Name(), "Timer"):
			s.fail("has a timer of its own")
		case len(call.Args) < 2:
			s.fail("its arguments are the results of another call")
		default:
			a.op, s.takes, s.arg = call.Args[0], call.Args[1], call.Args[1]
			if len(call.Args) > 2 {
				a.notify = call.Args[2]
			}
		}
		s.data, s.op = a, a.op
	})
}

// readOptions reads the options of version 5 and later.
func (l cenkalti) readOptions(r *rewriter, s *site, a *arguments) {
	s.value.elapsed = minutes(15)
	for _, x := range a.options {
		call, f := r.option(x)
		if f == nil {
			s.fail("the option %s is not understood", r.shown(x))
			return
		}
		switch f.Name() {
		case "WithBackOff":
			s.takes, s.arg = call.Args[0], x
		case "WithNotify":
			a.notify = call.Args[0]
		case "WithMaxTries":
			s.value.attempts = r.attempts(call.Args[0])
		case "WithMaxElapsedTime":
			s.value.elapsed = text{call.Args[0]}
			if r.isZero(call.Args[0]) {
				s.value.elapsed = nil
			}
		default:
			s.fail("the option %s has no counterpart", f.Name())
		}
	}
}

func (l cenkalti) wraps(r *rewriter, cur inspector.Cursor) bool {
	if cur.ParentEdgeKind() != edge.CallExpr_Args || cur.ParentEdgeIndex() != 0 {
		return false
	}
	f := callee(r.pass.TypesInfo, cur.Parent().Node().(*ast.CallExpr))
	return f != nil && l.owns(f.Pkg()) && slices.Contains([]string{"WithMaxRetries", "WithContext", "WithBackOff"}, f.Name())
}

func (l cenkalti) value(r *rewriter, call *ast.CallExpr, name string) (value, string) {
	switch name {
	case "NewExponentialBackOff":
		v := value{fields: map[string]text{}, policy: policy{attempts: text{retryPkg, ".Unlimited"}}}
		if !l.options(callee(r.pass.TypesInfo, call).Pkg()) {
			v.elapsed = minutes(15)
		}
		for _, x := range call.Args {
			option, f := r.option(x)
			if f == nil || len(option.Args) != 1 || !l.set(r, &v, strings.TrimPrefix(f.Name(), "With"), option.Args[0]) {
				return v, "the option " + r.shown(x) + " is not understood"
			}
		}
		return v, ""
	case "NewConstantBackOff":
		return value{policy: policy{backoff: text{retryPkg, ".Constant(", call.Args[0], ")"}, attempts: text{retryPkg, ".Unlimited"}}}, ""
	case "WithMaxRetries", "WithContext":
		v, why := r.value(call.Args[0])
		if name == "WithContext" {
			v.ctx = text{call.Args[1]}
		} else if l.unbounded(callee(r.pass.TypesInfo, call).Pkg()) && r.isZero(call.Args[1]) {
			v.attempts = text{retryPkg, ".Unlimited"}
		} else {
			v.attempts = r.retries(call.Args[1])
		}
		return v, why
	}
	return value{}, "backoff." + name + " has no counterpart"
}

// unbounded reports whether WithMaxRetries(b, 0) means no bound, as before version 4.
func (cenkalti) unbounded(p *types.Package) bool {
	return !slices.Contains([]string{"v4", "v5", "v6", "v7"}, p.Path()[strings.LastIndexByte(p.Path(), '/')+1:])
}

func (l cenkalti) literal(r *rewriter, lit *ast.CompositeLit) (value, string) {
	named, _ := types.Unalias(r.pass.TypesInfo.TypeOf(lit)).(*types.Named)
	if named == nil || !l.owns(named.Obj().Pkg()) {
		return value{}, r.shown(lit) + " implements a backoff of its own"
	}
	v := value{policy: policy{attempts: text{retryPkg, ".Unlimited"}}}
	switch named.Obj().Name() {
	case "ZeroBackOff":
		v.backoff = text{retryPkg, ".NoDelay{}"}
		return v, ""
	case "StopBackOff":
		v.backoff, v.attempts = text{retryPkg, ".NoDelay{}"}, text{"1"}
		return v, ""
	case "ConstantBackOff":
		if len(lit.Elts) == 1 {
			if kv, ok := lit.Elts[0].(*ast.KeyValueExpr); ok {
				v.backoff = text{retryPkg, ".Constant(", kv.Value, ")"}
				return v, ""
			}
		}
	case "ExponentialBackOff":
		v.fields = map[string]text{"RandomizationFactor": {"0"}}
		for _, x := range lit.Elts {
			kv, ok := x.(*ast.KeyValueExpr)
			if !ok || !l.set(r, &v, kv.Key.(*ast.Ident).Name, kv.Value) {
				return v, "the field " + r.shown(x) + " is not understood"
			}
		}
		if v.fields["InitialInterval"] != nil && v.fields["Multiplier"] != nil && v.fields["MaxInterval"] != nil {
			return v, ""
		}
	}
	return v, r.shown(lit) + " leaves fields at zero"
}

func (cenkalti) fields() []string {
	return []string{"InitialInterval", "RandomizationFactor", "Multiplier", "MaxInterval", "MaxElapsedTime"}
}

// set sets a field of an ExponentialBackOff.
func (l cenkalti) set(r *rewriter, v *value, name string, x ast.Expr) bool {
	if slices.Contains(l.fields(), name) {
		v.fields[name] = text{x}
		return true
	}
	// What would set the default.
	return (name == "Stop" || name == "RetryStopDuration" || name == "Clock" || name == "ClockProvider") &&
		slices.Contains([]string{"Stop", "SystemClock"}, r.shown(x)[strings.LastIndexByte(r.shown(x), '.')+1:])
}

func (l cenkalti) finish(r *rewriter, v *value) {
	v.classifier = text{legacyPkg, ".RetryAll{}"}
	if v.fields == nil {
		return
	}
	or := func(name string, standard text) text {
		if x := v.fields[name]; x != nil {
			return x
		}
		return standard
	}
	exp := rule("Exponential", "Base", or("InitialInterval", milliseconds(500)), "Cap", or("MaxInterval", minutes(1)),
		"Factor", or("Multiplier", text{"1.5"}))
	random := or("RandomizationFactor", text{"0.5"})
	if x, ok := random[0].(ast.Expr); ok && r.isZero(x) || random[0] == "0" {
		v.backoff = exp
	} else {
		v.backoff = rule("Spread", "Of", exp, "Fraction", random)
	}
	if x := v.fields["MaxElapsedTime"]; x != nil {
		v.elapsed = x
		if x, ok := x[0].(ast.Expr); ok && r.isZero(x) {
			v.elapsed = nil
		}
	}
}

func (l cenkalti) rewrite(r *rewriter, s *site) {
	a, ok := s.data.(arguments)
	if !ok { // a call of NextBackOff
		s.note("the delays are those of an adapt.Sequence")
		return
	}
	v := s.value
	if s.takes == nil {
		v.fields = map[string]text{}
	}
	if a.notify != nil && !r.isNil(a.notify) {
		v.hooks = text{legacyPkg, ".OnRetry(", a.notify, ")"}
	}
	if v.attempts == nil && v.cell == nil {
		v.attempts = text{retryPkg, ".Unlimited"}
	}
	ctx := v.ctx
	if a.ctx == nil && ctx == nil && v.cell != nil {
		ctx = v.cell.ctx
	}
	if a.ctx == nil && ctx == nil {
		ctx = text{contextPkg, ".Background()"}
		s.note("the call has no context: pass one to end it early")
	}
	p := r.expression(v, nil)
	if a.ctx == nil {
		p = join(ctx, ", ", p)
	}
	r.call(s, a.op, a.data, p)
}

func (r *rewriter) isNil(x ast.Expr) bool { return r.pass.TypesInfo.Types[x].IsNil() }

func (cenkalti) renames() map[string]text {
	return map[string]text{
		"Permanent":                  {retryPkg, ".Permanent"},
		"Stop":                       {"-1"},
		"Operation":                  {"func() error"},
		"Notify":                     {"func(error, ", timePkg, ".Duration)"},
		"DefaultInitialInterval":     milliseconds(500),
		"DefaultMaxInterval":         minutes(1),
		"DefaultMaxElapsedTime":      minutes(15),
		"DefaultMultiplier":          {"1.5"},
		"DefaultRandomizationFactor": {"0.5"},
	}
}

func (cenkalti) differs() []string {
	return []string{
		"no attempt begins once the context is done, and a wait that would outlast its deadline is not begun",
		"delays never exceed MaxInterval, which the random part could",
		"RetryAll also ends with the failure of an inner call that has retried",
	}
}
