package migrate

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// avast returns the library github.com/avast/retry-go, versions 2 to 5. Its calls take
// options.
func avast() *library {
	return &library{
		path: path(`github\.com/avast/retry-go(/v[3-5])?`),
		site: func(r *rewriter, call *ast.CallExpr, f *types.Func) *site {
			if f.Name() != "Do" && f.Name() != "DoWithData" {
				return nil
			}
			s := &site{name: "retry." + f.Name(), op: call.Args[0], data: f.Name() == "DoWithData"}
			options := r.listed(s, call, 1)
			if f.Signature().Recv() != nil { // version 5: New(options).Do(op)
				made, g := r.option(ast.Unparen(call.Fun).(*ast.SelectorExpr).X)
				if g == nil || !strings.HasPrefix(g.Name(), "New") {
					s.fail("its retrier is not made in the package")
					return s
				}
				s.data = strings.HasSuffix(g.Name(), "WithData")
				options = r.listed(s, made, 0)
			}
			avastOptions(r, s, f, options)
			return s
		},
		classifier: "legacy.RetryAll{}",
		renames:    map[string]string{"Unrecoverable": "retry.Permanent"},
		differs: []string{
			"a wait that would outlast the deadline of the context is not begun",
			"a failure of a function with a value returns the last value",
			"RetryAll also ends with the failure of an inner call that has retried",
		},
	}
}

// avastOptions reads the options of a call.
func avastOptions(r *rewriter, s *site, f *types.Func, options []ast.Expr) {
	d := avastDelay{r: r, s: s, base: code("100 * time.Millisecond"), jitter: code("100 * time.Millisecond"), longest: text{"0"}, version: major(f)}
	var rule, longest ast.Expr
	s.limits.attempts = text{"10"}
	lastOnly := false
	for _, x := range options {
		call, f := r.option(x)
		if f == nil {
			s.fail("the option %s is not understood", r.shown(x))
			return
		}
		arg := call.Args
		switch name := f.Name(); name {
		case "Delay":
			d.base = text{arg[0]}
		case "MaxJitter":
			d.jitter = text{arg[0]}
		case "MaxDelay":
			longest, d.longest = arg[0], text{arg[0]}
		case "DelayType":
			rule = arg[0]
			d.library, _ = call.Fun.(*ast.SelectorExpr)
		case "Attempts":
			s.limits.attempts = r.attempts(arg[0])
		case "UntilSucceeded":
			s.limits.attempts = code("retry.Unlimited")
		case "OnRetry":
			s.limits.hooks = code("legacy.OnFailure(%)", arg[0])
		case "RetryIf":
			s.limits.classifier = code("legacy.If(%)", arg[0])
		case "Context":
			s.ctx = text{arg[0]}
		case "LastErrorOnly", "WrapContextErrorWithLastError":
			value := r.pass.TypesInfo.Types[arg[0]].Value
			if value == nil {
				s.fail("%s is not a constant", name)
			}
			lastOnly = lastOnly || name == "LastErrorOnly" && value != nil && value.String() == "true"
		default:
			s.fail("the option %s has no counterpart", name)
		}
	}
	if !lastOnly {
		s.note("the error names the last failure, not all of them")
	}
	s.value.backoff = code("legacy.Sum{retry.Exponential{Base: %}, retry.Jittered{Of: retry.Constant(%), Share: 1}}", d.base, d.jitter)
	if rule != nil {
		s.value.backoff = d.rule(rule)
	}
	if longest != nil && !r.isZero(longest) {
		s.value.backoff = code("retry.Capped{Of: %, Cap: %}", s.value.backoff, longest)
	}
}

// An avastDelay has what the rule of a DelayType depends on.
type avastDelay struct {
	r                     *rewriter
	s                     *site
	version               string
	library               *ast.SelectorExpr // library.DelayType
	base, jitter, longest text
}

// rule returns the rule of a DelayType.
func (d avastDelay) rule(x ast.Expr) text {
	f, _ := d.r.object(x).(*types.Func)
	call, combined := d.r.own(ast.Unparen(x))
	if combined != nil {
		f = combined
	}
	if f == nil || !d.r.lib.owns(f.Pkg()) {
		return d.function(x)
	}
	switch name := f.Name(); {
	case name == "BackOffDelay":
		return code("retry.Exponential{Base: %}", d.base)
	case name == "FixedDelay":
		return code("retry.Constant(%)", d.base)
	case name == "RandomDelay":
		return code("retry.Jittered{Of: retry.Constant(%), Share: 1}", d.jitter)
	case name == "FullJitterBackoffDelay":
		return code("retry.FullJitter{Base: 2 * (%)}", d.base)
	case name == "CombineDelay" && len(call.Args) == 2:
		return code("legacy.Sum{%, %}", d.rule(call.Args[0]), d.rule(call.Args[1]))
	}
	d.s.fail("the DelayType %s has no counterpart", d.r.shown(x))
	return nil
}

// function returns the rule of a function of the program's own. Its last argument is the
// library's, unless it does not use it.
func (d avastDelay) function(x ast.Expr) text {
	first := "1"
	if d.version == "retry-go" || d.version == "v3" {
		first = "0"
	}
	if lit, ok := ast.Unparen(x).(*ast.FuncLit); ok {
		last := lit.Type.Params.List[len(lit.Type.Params.List)-1]
		if !slices.ContainsFunc(last.Names, func(id *ast.Ident) bool { return len(d.r.uses[d.r.pass.TypesInfo.Defs[id]]) > 0 }) {
			d.r.replace(last.Type, "any")
			return code("legacy.DelayType(%, %, nil)", x, first)
		}
	}
	if d.library == nil {
		d.s.fail("the library is imported without a name")
		return nil
	}
	lib := d.library.X
	options := code("%.Delay(%), %.MaxDelay(%), %.MaxJitter(%)", lib, d.base, lib, d.longest, lib, d.jitter)
	if d.version == "v5" {
		return code("legacy.DelayType[%.DelayContext](%, %, %.New(%))", lib, x, first, lib, options)
	}
	return code("legacy.DelayType(%, %, legacy.Config(%))", x, first, options)
}
