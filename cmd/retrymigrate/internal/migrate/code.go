package migrate

import (
	"go/ast"
	"go/constant"
	"go/token"
	"regexp"
	"strconv"
)

const contextPkg pkg = "context"

// packages has the packages that the new code imports, by the names used in templates.
var packages = map[string]pkg{
	"cmp":     "cmp",
	"context": contextPkg,
	"errors":  "errors",
	"time":    "time",
	"retry":   "github.com/gobackoff/retry",
	"adapt":   "github.com/gobackoff/retry/adapt",
}

var variable = regexp.MustCompile(`%|\b(cmp|context|errors|time|retry|adapt)\.`)

// code returns the text of a template, in which each % stands for the next argument (a
// string, a node or a text), and the names of packages for those of their imports.
func code(template string, args ...any) text {
	var out text
	for {
		at := variable.FindStringIndex(template)
		if at == nil {
			return append(out, template)
		}
		out = append(out, template[:at[0]])
		if found := template[at[0]:at[1]]; found != "%" {
			out = append(out, packages[found[:len(found)-1]], ".")
		} else {
			if t, ok := args[0].(text); ok {
				out = append(out, t...)
			} else {
				out = append(out, args[0])
			}
			args = args[1:]
		}
		template = template[at[1]:]
	}
}

// A policy is a retry.Policy in the making. A nil field is left out.
type policy struct {
	backoff, attempts, elapsed, classifier, hooks text
}

func (p *policy) fields() []*text {
	return []*text{&p.backoff, &p.attempts, &p.elapsed, &p.classifier, &p.hooks}
}

// literal returns the composite literal of p.
func (p policy) literal() text {
	out := code("retry.Policy{\n")
	for i, name := range []string{"Backoff", "MaxAttempts", "MaxElapsed", "Classifier", "Hooks"} {
		if value := *p.fields()[i]; value != nil {
			out = append(out, code("%: %,\n", name, value)...)
		}
	}
	return append(out, "}")
}

// over returns q with the fields of p that are set.
func (p policy) over(q policy) policy {
	for i, field := range p.fields() {
		if *field != nil {
			*q.fields()[i] = *field
		}
	}
	return q
}

// number returns the value of a constant integer.
func (r *rewriter) number(x ast.Expr) (int64, bool) {
	value := r.pass.TypesInfo.Types[x].Value
	if value == nil {
		return 0, false
	}
	return constant.Int64Val(constant.ToInt(value))
}

// isZero reports whether x is the constant 0, of any type.
func (r *rewriter) isZero(x ast.Expr) bool {
	value := r.pass.TypesInfo.Types[x].Value
	return value != nil && constant.Sign(value) == 0
}

// zero reports whether t is the constant 0.
func (r *rewriter) zero(t text) bool {
	x, ok := t[0].(ast.Expr)
	return ok && r.isZero(x) || t[0] == "0"
}

// constant returns the rule that always waits for d. Without a wait, it has another name.
func (r *rewriter) constant(d text) text {
	if r.zero(d) {
		return code("retry.NoDelay{}")
	}
	return code("retry.Constant(%)", d)
}

func (r *rewriter) isNil(x ast.Expr) bool { return r.pass.TypesInfo.Types[x].IsNil() }

// retries returns the MaxAttempts of n retries.
func (r *rewriter) retries(x ast.Expr) text {
	if n, known := r.number(x); known {
		return text{strconv.FormatInt(n+1, 10)}
	} else if r.pass.TypesInfo.Types[x].Value != nil { // math.MaxUint64
		return code("retry.Unlimited")
	}
	if less, ok := r.inner(x).(*ast.BinaryExpr); ok && less.Op == token.SUB { // n - 1 retries
		if one, known := r.number(less.Y); known && one == 1 {
			return r.asInt(less.X)
		}
	}
	return code("% + 1", r.asInt(x))
}

// attempts returns the MaxAttempts of n attempts, where 0 means no bound.
func (r *rewriter) attempts(x ast.Expr) text {
	if n, known := r.number(x); known && n == 0 {
		return code("retry.Unlimited")
	} else if _, literal := ast.Unparen(x).(*ast.BasicLit); literal {
		return text{x}
	} else if !known {
		return code("cmp.Or(%, retry.Unlimited)", r.asInt(x))
	}
	return r.asInt(x)
}

// asInt returns x as an int, without a conversion to another integer type around an int.
func (r *rewriter) asInt(x ast.Expr) text {
	if x := r.inner(x); r.pass.TypesInfo.TypeOf(x).String() == "int" {
		return text{x}
	}
	return code("int(%)", x)
}

// inner returns what x converts to another type, or x.
func (r *rewriter) inner(x ast.Expr) ast.Expr {
	x = ast.Unparen(x)
	if call, ok := x.(*ast.CallExpr); ok && len(call.Args) == 1 && r.pass.TypesInfo.Types[call.Fun].IsType() {
		return ast.Unparen(call.Args[0])
	}
	return x
}
