package migrate

import (
	"go/ast"
	"go/types"
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
			avastOptions(r, s, options)
			return s
		},
		classifier: "retry.OnlyIf(nil)",
		marked:     "retry.OnlyIf(%.IsRecoverable)",
		marks:      []string{"Unrecoverable"},
		errors:     []string{"Error"},
		renames:    map[string]string{"Unrecoverable": "retry.Permanent"},
		differs: []string{
			"a wait that would outlast the deadline of the context is not begun",
			"a failure of a function with a value returns the last value",
			"OnRetry does not run after the last attempt",
			"OnlyIf does not retry the failure of an inner call that has retried, nor what may have taken effect; without it, DefaultClassifier also ends calls that would fail again, such as status 404",
			"the error after the last attempt is a *retry.Error, which errors.Is and errors.As look into",
		},
	}
}

// avastOptions reads the options of a call.
func avastOptions(r *rewriter, s *site, options []ast.Expr) {
	base, jitter := code("100 * time.Millisecond"), code("100 * time.Millisecond")
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
			base = text{arg[0]}
		case "MaxJitter":
			jitter = text{arg[0]}
		case "MaxDelay":
			longest = arg[0]
		case "DelayType":
			rule = arg[0]
		case "Attempts":
			s.limits.attempts = r.attempts(arg[0])
		case "UntilSucceeded":
			s.limits.attempts = code("retry.Unlimited")
		case "OnRetry":
			s.limits.hooks = r.hook(arg[0], "uint(failed.Number - 1)", "failed.Err")
		case "RetryIf":
			s.limits.classifier = code("retry.OnlyIf(%)", arg[0])
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
	s.value.backoff = avastRule(r, s, rule, base, jitter, longest)
}

// avastRule returns the rule of a DelayType, which is nil by default, with the longest delay,
// if there is one.
func avastRule(r *rewriter, s *site, x ast.Expr, base, jitter text, longest ast.Expr) text {
	limit := text{}
	capped := func(rule text) text { return rule }
	if longest != nil && !r.isZero(longest) {
		limit = code(", Cap: %", longest)
		capped = func(rule text) text { return code("retry.Capped{Of: %%}", rule, limit) }
	}
	random := capped(code("retry.Jittered{Of: retry.Constant(%), Share: 1}", jitter))
	rules := map[string]text{
		"": capped(code(`retry.BackoffFunc(func(a retry.Attempt, u float64) time.Duration {
			return retry.Exponential{Base: %}.Delay(a, u) + time.Duration(u*float64(%))
		})`, base, jitter)),
		"BackOffDelay":           code("retry.Exponential{Base: %%}", base, limit),
		"FixedDelay":             capped(r.constant(base)),
		"RandomDelay":            random,
		"FullJitterBackoffDelay": code("retry.FullJitter{Base: 2 * (%)%}", base, limit),
	}
	if none := code("retry.NoDelay{}"); r.zero(base) {
		rules[""], rules["BackOffDelay"], rules["FixedDelay"], rules["FullJitterBackoffDelay"] = random, none, none, none
	}
	if x == nil {
		return rules[""]
	}
	f, ok := r.object(x).(*types.Func)
	if !ok || !r.lib.owns(f.Pkg()) || rules[f.Name()] == nil {
		s.fail("its DelayType %s has no counterpart: make it a retry.BackoffFunc", r.shown(x))
		return nil
	}
	return rules[f.Name()]
}
