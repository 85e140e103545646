package migrate

import (
	"go/ast"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
)

// avast is github.com/avast/retry-go, versions 2 to 5. Its calls take options.
type avast struct{ noBackoffs }

var avastPath = regexp.MustCompile(`^(.*/vendor/)?github\.com/avast/retry-go(/v[3-5])?$`)

func (avast) owns(p *types.Package) bool { return p != nil && avastPath.MatchString(p.Path()) }

// An avastCall has the options of a call that retries.
type avastCall struct {
	op                  ast.Expr
	data                bool
	options             map[string]ast.Expr // the argument of each option
	lastOnly, unlimited bool
	ctx                 text
	policy              policy
}

func (l avast) find(r *rewriter) {
	r.calls(func(call *ast.CallExpr, f *types.Func) {
		if !slices.Contains([]string{"Do", "DoWithData"}, f.Name()) {
			return
		}
		s := &site{call: call, name: "retry." + f.Name()}
		r.sites[call] = s
		a := avastCall{op: call.Args[0], data: f.Name() == "DoWithData", options: map[string]ast.Expr{}}
		options := r.listed(s, call, 1)
		if f.Signature().Recv() != nil { // version 5: New(options).Do(op)
			made := l.constructor(r, call)
			if made == nil {
				s.fail("its retrier is not made in the call")
				return
			}
			a.data = strings.HasSuffix(callee(r.pass.TypesInfo, made).Name(), "WithData")
			options = r.listed(s, made, 0)
		}
		for _, x := range options {
			l.option(r, s, &a, x)
		}
		l.policy(r, s, &a)
		s.data, s.op = a, a.op
	})
}

// constructor returns the call of New that made the retrier of a call of Do, or nil.
func (l avast) constructor(r *rewriter, call *ast.CallExpr) *ast.CallExpr {
	x := ast.Unparen(ast.Unparen(call.Fun).(*ast.SelectorExpr).X)
	made, f := r.option(x)
	if f == nil || !strings.HasPrefix(f.Name(), "New") {
		return nil
	}
	return made
}

// option reads one option.
func (l avast) option(r *rewriter, s *site, a *avastCall, x ast.Expr) {
	call, f := r.option(x)
	if f == nil {
		s.fail("the option %s is not understood", r.shown(x))
		return
	}
	switch name := f.Name(); name {
	case "Attempts", "Delay", "MaxDelay", "MaxJitter", "DelayType", "OnRetry", "RetryIf", "Context":
		a.options[name] = call.Args[0]
	case "UntilSucceeded":
		a.unlimited = true
	case "LastErrorOnly", "WrapContextErrorWithLastError":
		value := r.pass.TypesInfo.Types[call.Args[0]].Value
		if value == nil {
			s.fail("%s is not a constant", name)
		} else if name == "LastErrorOnly" {
			a.lastOnly = value.String() == "true"
		}
	default:
		s.fail("the option %s has no counterpart", name)
	}
}

// policy makes the policy of the options.
func (l avast) policy(r *rewriter, s *site, a *avastCall) {
	p := policy{attempts: text{"10"}, backoff: l.backoff(r, s, *a), classifier: text{legacyPkg, ".RetryAll{}"}}
	if x := a.options["Attempts"]; x != nil {
		p.attempts = r.attempts(x)
	} else if a.unlimited {
		p.attempts = text{retryPkg, ".Unlimited"}
	}
	if x := a.options["OnRetry"]; x != nil {
		p.hooks = text{legacyPkg, ".OnFailure(", x, ")"}
	}
	if x := a.options["RetryIf"]; x != nil {
		p.classifier = text{legacyPkg, ".If(", x, ")"}
	}
	a.ctx = text{contextPkg, ".Background()"}
	if x := a.options["Context"]; x != nil {
		a.ctx = text{x}
	} else {
		s.note("the call has no context: pass one to end it early")
	}
	if !a.lastOnly {
		s.note("the error names the last failure, not all of them")
	}
	a.policy = p
}

func (l avast) rewrite(r *rewriter, s *site) {
	a := s.data.(avastCall)
	r.call(s, a.op, a.data, join(a.ctx, ", ", a.policy.literal()))
}

// backoff returns the rule of the options.
func (l avast) backoff(r *rewriter, s *site, a avastCall) text {
	get := func(name string, standard text) text {
		if x := a.options[name]; x != nil {
			return text{x}
		}
		return standard
	}
	out := l.delay(r, s, a.options["DelayType"], get("Delay", milliseconds(100)), get("MaxJitter", milliseconds(100)))
	if x := a.options["MaxDelay"]; x != nil && !r.isZero(x) {
		return join(text{retryPkg, ".Capped{Of: "}, out, ", Cap: ", x, "}")
	}
	return out
}

// delay returns the rule of a DelayType.
func (l avast) delay(r *rewriter, s *site, x ast.Expr, base, jitter text) text {
	exponential := rule("Exponential", "Base", base)
	random := join(text{retryPkg, ".Jittered{Of: ", retryPkg, ".Constant("}, jitter, "), Share: 1}")
	sum := func(a, b text) text { return join(text{legacyPkg, ".Sum{"}, a, ", ", b, "}") }
	if x == nil {
		return sum(exponential, random)
	}
	switch name, args := l.delayType(r, x); name {
	case "BackOffDelay":
		return exponential
	case "FixedDelay":
		return join(text{retryPkg, ".Constant("}, base, ")")
	case "RandomDelay":
		return random
	case "CombineDelay":
		if len(args) == 2 {
			return sum(l.delay(r, s, args[0], base, jitter), l.delay(r, s, args[1], base, jitter))
		}
	case "FullJitterBackoffDelay":
		return join(text{retryPkg, ".FullJitter{Base: 2 * ("}, base, ")}")
	}
	s.fail("the DelayType %s is a function of its own", r.shown(x))
	return nil
}

// delayType returns the name of a delay type of the library, and the types it combines.
func (l avast) delayType(r *rewriter, x ast.Expr) (string, []ast.Expr) {
	if call, ok := ast.Unparen(x).(*ast.CallExpr); ok {
		if f := callee(r.pass.TypesInfo, call); f != nil && l.owns(f.Pkg()) {
			return f.Name(), call.Args
		}
		return "", nil
	}
	if obj := r.object(x); obj != nil && l.owns(obj.Pkg()) {
		return obj.Name(), nil
	}
	return "", nil
}

func (avast) renames() map[string]text {
	return map[string]text{"Unrecoverable": {retryPkg, ".Permanent"}}
}

func (avast) differs() []string {
	return []string{
		"a wait that would outlast the deadline of the context is not begun",
		"a failure of a function with a value returns the last value",
		"RetryAll also ends with the failure of an inner call that has retried",
	}
}

// noBackoffs is for libraries without values of a backoff type.
type noBackoffs struct{}

func (noBackoffs) wraps(*rewriter, inspector.Cursor) bool { return false }
func (noBackoffs) value(*rewriter, *ast.CallExpr, string) (value, string) {
	return value{}, "it is no backoff"
}
func (noBackoffs) literal(*rewriter, *ast.CompositeLit) (value, string) {
	return value{}, "it is no backoff"
}
func (noBackoffs) finish(*rewriter, *value) {}
func (noBackoffs) fields() []string         { return nil }
