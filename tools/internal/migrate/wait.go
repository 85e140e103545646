package migrate

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// wait returns the library k8s.io/apimachinery/pkg/util/wait. Its calls repeat a condition.
func wait() *library {
	return &library{
		path: path(`k8s\.io/apimachinery/pkg/util/wait`),
		site: func(r *rewriter, call *ast.CallExpr, f *types.Func) *site {
			name := f.Name()
			if f.Signature().Recv() != nil || !strings.HasPrefix(name, "Poll") && !strings.HasPrefix(name, "ExponentialBackoff") {
				return nil
			}
			last := len(call.Args) - 1
			s := &site{name: "wait." + name, op: call.Args[last], wrap: code("legacy.Until("), passes: strings.Contains(name, "Context")}
			args := call.Args[:last]
			switch {
			case strings.HasSuffix(name, "Until"): // it ends with a channel, behind the condition
				s.op, s.ctx, args = call.Args[last-1], waitChannel(r, call.Args[last]), args[:last-1]
			case s.passes:
				s.ctx, args = text{args[0]}, args[1:]
			}
			if strings.HasPrefix(name, "ExponentialBackoff") {
				waitBackoff(s, args[0])
			} else {
				waitPoll(r, s, name, args)
			}
			if waitNamesTimeout(r) {
				s.fail("the package compares errors with wait.ErrWaitTimeout")
			}
			return s
		},
		classifier: "legacy.RetryAll{}",
		delays:     "legacy.Steps(%).Policy()",
		renames: map[string]string{
			"ConditionFunc":            "func() (bool, error)",
			"ConditionWithContextFunc": "func(context.Context) (bool, error)",
		},
		differs: []string{
			"no attempt begins once the context is done, and a wait that would outlast its deadline or the timeout is not begun",
			"the interval begins when the condition has returned",
			"panics of the condition are not logged",
		},
	}
}

// waitChannel returns the context that ends with a channel.
func waitChannel(r *rewriter, x ast.Expr) text {
	if x := ast.Unparen(x); r.calls(x, "(context.Context).Done") {
		return text{x.(*ast.CallExpr).Fun.(*ast.SelectorExpr).X}
	}
	return code("legacy.Stop(%)", x)
}

// waitPoll reads the interval of a call and what stands between it and the condition.
func waitPoll(r *rewriter, s *site, name string, args []ast.Expr) {
	s.value = value{policy: policy{backoff: code("retry.Constant(%)", args[0]), attempts: code("retry.Unlimited")}}
	args = args[1:]
	if strings.HasPrefix(name, "PollUntilContext") {
		immediate := args[len(args)-1]
		args = args[:len(args)-1]
		if value := r.pass.TypesInfo.Types[immediate].Value; value == nil {
			s.wrap = code("legacy.Poll(%, ", immediate)
		} else if value.String() == "false" {
			s.wrap = code("legacy.UntilLater(")
		}
	} else if !strings.Contains(name, "Immediate") {
		s.wrap = code("legacy.UntilLater(")
	}
	if len(args) == 1 {
		s.limits.elapsed = text{args[0]}
		s.note("the condition's context does not end with the timeout")
	}
}

// waitBackoff reads a wait.Backoff, which becomes a policy at run time.
func waitBackoff(s *site, x ast.Expr) {
	s.value.expr = x
	if lit, ok := ast.Unparen(x).(*ast.CompositeLit); ok {
		var fields text
		for _, field := range lit.Elts {
			fields = append(fields, field, ", ")
		}
		s.value.delays = code("legacy.Steps{%}.Policy()", fields)
	}
}

// waitNamesTimeout reports whether the package names the old error of the library, other than
// as the target of errors.Is, which finds it.
func waitNamesTimeout(r *rewriter) bool {
	for obj, ids := range r.uses {
		if obj.Name() == "ErrWaitTimeout" && r.lib.owns(obj.Pkg()) {
			return slices.ContainsFunc(ids, func(id *ast.Ident) bool {
				return !r.calls(r.cursors[id].Parent().Parent().Node(), "errors.Is")
			})
		}
	}
	return false
}
