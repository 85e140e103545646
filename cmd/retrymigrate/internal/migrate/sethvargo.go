package migrate

import (
	"go/ast"
	"go/types"
	"strings"
)

// sethvargo returns the library github.com/sethvargo/go-retry.
func sethvargo() *library {
	return &library{
		path: path(`github\.com/sethvargo/go-retry`),
		site: func(r *rewriter, call *ast.CallExpr, f *types.Func) *site {
			switch name := f.Name(); name {
			case "Next":
				return &site{name: name, asks: true}
			case "Do", "DoValue", "Constant", "Exponential", "Fibonacci":
				s := &site{name: "retry." + name, ctx: text{call.Args[0]}, op: call.Args[2], passes: true, data: name == "DoValue"}
				if name[0] == 'D' {
					s.value = r.read(call.Args[1])
				} else {
					s.value = sethvargoRule(name, call.Args[1])
				}
				return s
			}
			return nil
		},
		constructed: sethvargoBackoff,
		classifier:  "retry.OnlyIf(func(error) bool { return false })", // but what is marked
		marks:       []string{"RetryableError"},
		renames:     map[string]string{"RetryableError": "retry.Transient", "RetryFunc": "func(context.Context) error"},
		differs: []string{
			"a wait that would outlast the deadline of the context or MaxElapsed is not begun, rather than cut short",
			"a failure of a function with a value returns the last value",
			"the error after the last attempt is a *retry.Error, which errors.Is and errors.As look into",
			"the marks of other packages count only after these packages are rewritten, too",
			"a Fibonacci begins with 1, 1, 2, 3 times its base, not 1, 2, 3, 5",
		},
	}
}

// sethvargoRule returns a backoff by the name of its rule.
func sethvargoRule(name string, base ast.Expr) value {
	template := "retry." + name + "{Base: %}"
	if name == "Constant" {
		template = "retry.Constant(%)"
	}
	return value{policy: policy{backoff: code(template, base), attempts: code("retry.Unlimited")}}
}

// sethvargoBackoff returns what a call that makes or wraps a Backoff means.
func sethvargoBackoff(r *rewriter, f *types.Func, args []ast.Expr) value {
	if name, made := strings.CutPrefix(f.Name(), "New"); made {
		return sethvargoRule(name, args[0])
	} else if len(args) == 0 {
		return value{}
	}
	v := r.read(args[len(args)-1])
	templates := map[string]string{
		"WithJitter":         "retry.BackoffFunc(func(a retry.Attempt, u float64) time.Duration {\nreturn %.Delay(a, u) + time.Duration((2*u-1)*float64(%))\n})",
		"WithCappedDuration": "retry.Capped{Of: %, Cap: %}",
		"WithJitterPercent":  "retry.Spread{Of: %, Fraction: float64(%) / 100}",
		"WithFullJitter":     "retry.Jittered{Of: %, Share: 1}",
	}
	x := args[0]
	switch template := templates[f.Name()]; {
	case !v.known():
		return value{}
	case f.Name() == "WithMaxRetries":
		v.attempts = r.retries(x)
	case f.Name() == "WithMaxDuration":
		v.elapsed = text{x}
	case template == "":
		return value{}
	default:
		if _, known := r.number(x); known && f.Name() == "WithJitterPercent" {
			template = "retry.Spread{Of: %, Fraction: % / 100.0}"
		}
		v.backoff = code(template, v.backoff, x)
	}
	return v
}
