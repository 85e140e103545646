package migrate

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// sethvargo is github.com/sethvargo/go-retry.
type sethvargo struct{}

func (sethvargo) owns(p *types.Package) bool {
	return isPackage(p, "github.com/sethvargo/go-retry")
}

func (l sethvargo) find(r *rewriter) {
	r.calls(func(call *ast.CallExpr, f *types.Func) {
		a := arguments{ctx: nil}
		s := &site{call: call, name: "retry." + f.Name()}
		switch f.Name() {
		case "Next":
			r.loop(call)
			return
		case "Do", "DoValue":
			a.ctx, a.op, s.takes, s.arg = call.Args[0], call.Args[2], call.Args[1], call.Args[1]
		case "Constant", "Exponential", "Fibonacci":
			a.ctx, a.op = call.Args[0], call.Args[2]
			s.value = l.rule(f.Name(), call.Args[1])
		default:
			return
		}
		a.data = f.Name() == "DoValue"
		s.data, s.op = a, a.op
		r.sites[call] = s
	})
}

// rule returns the backoff of a constructor.
func (sethvargo) rule(name string, base ast.Expr) value {
	v := value{policy: policy{attempts: text{retryPkg, ".Unlimited"}}}
	switch name {
	case "Constant":
		v.backoff = text{retryPkg, ".Constant(", base, ")"}
	default:
		v.backoff = rule(name, "Base", text{base})
	}
	return v
}

func (l sethvargo) wraps(r *rewriter, cur inspector.Cursor) bool {
	if cur.ParentEdgeKind() != edge.CallExpr_Args || cur.ParentEdgeIndex() != 1 {
		return false
	}
	f := callee(r.pass.TypesInfo, cur.Parent().Node().(*ast.CallExpr))
	return f != nil && l.owns(f.Pkg()) && strings.HasPrefix(f.Name(), "With")
}

func (l sethvargo) value(r *rewriter, call *ast.CallExpr, name string) (value, string) {
	if kind, ok := strings.CutPrefix(name, "New"); ok && slices.Contains([]string{"Constant", "Exponential", "Fibonacci"}, kind) {
		return l.rule(kind, call.Args[0]), ""
	} else if !strings.HasPrefix(name, "With") {
		return value{}, "retry." + name + " has no counterpart"
	}
	v, why := r.value(call.Args[1])
	if why != "" {
		return v, why
	}
	x := call.Args[0]
	switch {
	case name == "WithMaxRetries":
		v.attempts = r.retries(x)
	case name == "WithMaxDuration":
		v.elapsed = text{x}
	case v.cell != nil:
		return v, name + " changes a backoff that is in a variable"
	case name == "WithJitter":
		v.backoff = join(text{legacyPkg, ".Jitter{Of: "}, v.backoff, ", By: ", x, "}")
	case name == "WithJitterPercent":
		v.backoff = join(text{retryPkg, ".Spread{Of: "}, v.backoff, ", Fraction: ", l.percent(r, x), "}")
	case name == "WithCappedDuration":
		v.backoff = join(text{retryPkg, ".Capped{Of: "}, v.backoff, ", Cap: ", x, "}")
	default:
		return v, "retry." + name + " has no counterpart"
	}
	return v, ""
}

// percent returns a share of 100 as a fraction.
func (sethvargo) percent(r *rewriter, x ast.Expr) text {
	if _, known := r.number(x); known {
		return text{x, " / 100.0"}
	}
	return text{"float64(", x, ") / 100"}
}

func (sethvargo) literal(r *rewriter, lit *ast.CompositeLit) (value, string) {
	return value{}, r.shown(lit) + " implements a backoff of its own"
}

func (sethvargo) finish(_ *rewriter, v *value) { v.classifier = text{legacyPkg, ".RetryMarked{}"} }
func (sethvargo) fields() []string             { return nil }

func (l sethvargo) rewrite(r *rewriter, s *site) {
	a, ok := s.data.(arguments)
	if !ok {
		s.note("the delays are those of an adapt.Sequence")
		return
	}
	p := r.expression(s.value, nil)
	r.function(s.call, a.data)
	r.replace(s.call.Args[1], p...)
}

func (sethvargo) renames() map[string]text {
	return map[string]text{
		"RetryableError": {retryPkg, ".Transient"},
		"RetryFunc":      {"func(", contextPkg, ".Context) error"},
	}
}

func (sethvargo) differs() []string {
	return []string{
		"a wait that would outlast the deadline of the context or MaxElapsed is not begun, rather than cut short",
		"a failure of a function with a value returns the last value",
	}
}
