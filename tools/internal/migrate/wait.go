package migrate

import (
	"go/ast"
	"go/types"
	"strings"
)

// wait is k8s.io/apimachinery/pkg/util/wait. Its calls repeat a condition.
type wait struct{ noBackoffs }

func (wait) owns(p *types.Package) bool {
	return isPackage(p, "k8s.io/apimachinery/pkg/util/wait")
}

// A waitCall has the parts of a call that polls.
type waitCall struct {
	condition ast.Expr
	front     text // the arguments of the new call in front of the operation
	context   bool // the condition takes a context
	later     bool // the first attempt follows the first delay
}

func (l wait) find(r *rewriter) {
	r.calls(func(call *ast.CallExpr, f *types.Func) {
		if f.Signature().Recv() != nil || !strings.HasPrefix(f.Name(), "Poll") && !strings.HasPrefix(f.Name(), "ExponentialBackoff") {
			return
		}
		s := &site{call: call, name: "wait." + f.Name()}
		r.sites[call] = s
		args := call.Args
		a := waitCall{context: strings.Contains(f.Name(), "Context")}
		p := policy{classifier: text{legacyPkg, ".RetryAll{}"}}
		ctx := text{contextPkg, ".Background()"}
		if a.context {
			ctx, args = text{args[0]}, args[1:]
		} else {
			s.note("the call has no context: pass one to end it early")
		}
		switch {
		case strings.HasPrefix(f.Name(), "ExponentialBackoff"):
			l.exponential(r, s, &p, args[0])
		case strings.HasSuffix(f.Name(), "Until"):
			s.fail("it ends with a channel, not a context")
		default:
			p.backoff, p.attempts = text{retryPkg, ".Constant(", args[0], ")"}, text{retryPkg, ".Unlimited"}
			a.later = !strings.Contains(f.Name(), "Immediate")
			l.limits(r, s, &a, &p, f.Name(), args[1:len(args)-1])
		}
		if l.namesTimeout(r) {
			s.fail("the package compares errors with wait.ErrWaitTimeout")
		}
		a.condition = args[len(args)-1]
		a.front = join(ctx, ", ", p.literal())
		s.data, s.op = a, a.condition
	})
}

// limits reads the arguments between the interval and the condition.
func (wait) limits(r *rewriter, s *site, a *waitCall, p *policy, name string, args []ast.Expr) {
	if strings.HasPrefix(name, "PollUntilContext") {
		immediate := r.pass.TypesInfo.Types[args[len(args)-1]].Value
		if immediate == nil {
			s.fail("whether the first attempt is made at once is decided at run time")
			return
		}
		a.later, args = immediate.String() == "false", args[:len(args)-1]
	}
	if len(args) == 1 {
		p.elapsed = text{args[0]}
		s.note("the condition's context does not end with the timeout")
	}
}

// exponential reads a wait.Backoff.
func (l wait) exponential(r *rewriter, s *site, p *policy, x ast.Expr) {
	lit, ok := r.definition(x).(*ast.CompositeLit)
	if !ok || lit != ast.Unparen(x) && !r.fixed(nil, text{lit}) {
		s.fail("the backoff %s is not a literal of the package", r.shown(x))
		return
	}
	fields := map[string]ast.Expr{}
	for _, elt := range lit.Elts {
		if kv, ok := elt.(*ast.KeyValueExpr); ok && !r.isZero(kv.Value) {
			fields[kv.Key.(*ast.Ident).Name] = kv.Value
		}
	}
	if fields["Cap"] != nil || fields["Steps"] == nil || len(lit.Elts) > 0 && len(fields) == 0 {
		s.fail("the backoff has a Cap, which ends the call, or no Steps")
		return
	}
	if fields["Duration"] == nil {
		p.backoff = text{retryPkg, ".NoDelay{}"}
	} else if fields["Factor"] == nil {
		p.backoff = text{retryPkg, ".Constant(", fields["Duration"], ")"}
	} else {
		p.backoff = rule("Exponential", "Base", text{fields["Duration"]}, "Factor", text{fields["Factor"]})
	}
	if fields["Jitter"] != nil {
		p.backoff = join(text{legacyPkg, ".Longer{Of: "}, p.backoff, ", By: ", fields["Jitter"], "}")
	}
	p.attempts = r.asInt(fields["Steps"])
}

// namesTimeout reports whether the package names an error of the library.
func (l wait) namesTimeout(r *rewriter) bool {
	for obj := range r.uses {
		if obj.Name() == "ErrWaitTimeout" && l.owns(obj.Pkg()) {
			return true
		}
	}
	return false
}

func (l wait) rewrite(r *rewriter, s *site) {
	a := s.data.(waitCall)
	name := ".Until("
	if a.later {
		name = ".UntilLater("
	}
	r.function(s.call, false)
	r.replaceRange(s.call.Lparen+1, a.condition.Pos(), join(a.front, ", ", legacyPkg, name)...)
	if lit := r.onlyLiteral(a.condition); lit != nil && !a.context {
		r.insert(lit.Type.Params.Opening+1, contextPkg, ".Context")
	} else if !a.context {
		r.insert(a.condition.Pos(), legacyPkg, ".OpValue(")
		r.insert(a.condition.End(), ")")
	}
	r.insert(s.call.Rparen, ")")
}

func (wait) renames() map[string]text {
	return map[string]text{
		"ConditionFunc":            {"func() (bool, error)"},
		"ConditionWithContextFunc": {"func(", contextPkg, ".Context) (bool, error)"},
	}
}

func (wait) differs() []string {
	return []string{
		"no attempt begins once the context is done, and a wait that would outlast its deadline or the timeout is not begun",
		"the interval begins when the condition has returned",
		"panics of the condition are not logged",
	}
}
