package migrate

import (
	"go/ast"
	"go/constant"
	"go/token"
	"strconv"
)

// Paths of the packages that the new code imports.
const (
	retryPkg   pkg = "github.com/gobackoff/retry"
	legacyPkg  pkg = "github.com/gobackoff/retry/legacy"
	adaptPkg   pkg = "github.com/gobackoff/retry/adapt"
	contextPkg pkg = "context"
	timePkg    pkg = "time"
)

// A policy is a retry.Policy in the making. A nil field is left out.
type policy struct {
	backoff, attempts, elapsed, classifier, hooks text
}

// literal returns the composite literal of p.
func (p policy) literal() text {
	out := text{retryPkg, ".Policy{\n"}
	for _, field := range []struct {
		name  string
		value text
	}{
		{"Backoff", p.backoff}, {"MaxAttempts", p.attempts}, {"MaxElapsed", p.elapsed},
		{"Classifier", p.classifier}, {"Hooks", p.hooks},
	} {
		if field.value != nil {
			out = append(append(append(out, field.name+": "), field.value...), ",\n")
		}
	}
	return append(out, "}")
}

// over returns p with the fields of q that are set.
func (p policy) over(q policy) policy {
	for _, f := range []struct{ to, from *text }{
		{&p.backoff, &q.backoff}, {&p.attempts, &q.attempts}, {&p.elapsed, &q.elapsed},
		{&p.classifier, &q.classifier}, {&p.hooks, &q.hooks},
	} {
		if *f.from != nil {
			*f.to = *f.from
		}
	}
	return p
}

// rule returns the literal of a Backoff: name{fields}, where the fields are names and values in turn.
func rule(name string, fields ...any) text {
	out := text{retryPkg, "." + name + "{"}
	first := true
	for i := 0; i < len(fields); i += 2 {
		value := fields[i+1].(text)
		if value == nil {
			continue
		}
		if !first {
			out = append(out, ", ")
		}
		first = false
		out = append(append(out, fields[i].(string)+": "), value...)
	}
	return append(out, "}")
}

func join(parts ...any) text {
	var out text
	for _, part := range parts {
		if t, ok := part.(text); ok {
			out = append(out, t...)
		} else {
			out = append(out, part)
		}
	}
	return out
}

// milliseconds and minutes return durations as constants of package time.
func milliseconds(n int) text { return text{strconv.Itoa(n) + " * ", timePkg, ".Millisecond"} }
func minutes(n int) text {
	if n == 1 {
		return text{timePkg, ".Minute"}
	}
	return text{strconv.Itoa(n) + " * ", timePkg, ".Minute"}
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

// retries returns the MaxAttempts of n retries.
func (r *rewriter) retries(x ast.Expr) text {
	if n, known := r.number(x); known {
		return text{strconv.FormatInt(n+1, 10)}
	} else if r.pass.TypesInfo.Types[x].Value != nil { // math.MaxUint64
		return text{retryPkg, ".Unlimited"}
	}
	if sub, ok := r.inner(x).(*ast.BinaryExpr); ok && sub.Op == token.SUB { // n - 1 retries are n attempts
		if n, known := r.number(sub.Y); known && n == 1 {
			return r.asInt(sub.X)
		}
	}
	return join(r.asInt(x), " + 1")
}

// attempts returns the MaxAttempts of n attempts, where 0 means no bound.
func (r *rewriter) attempts(x ast.Expr) text {
	if n, known := r.number(x); known && n == 0 {
		return text{retryPkg, ".Unlimited"}
	} else if known {
		if lit, ok := ast.Unparen(x).(*ast.BasicLit); ok {
			return text{lit}
		}
		return r.asInt(x)
	}
	return text{legacyPkg, ".Attempts(", x, ")"}
}

// asInt returns x as an int, without a conversion to another integer type around an int.
func (r *rewriter) asInt(x ast.Expr) text {
	if x := r.inner(x); r.pass.TypesInfo.TypeOf(x).String() == "int" {
		return text{x}
	}
	return text{"int(", x, ")"}
}

// inner returns what x converts to another type, or x.
func (r *rewriter) inner(x ast.Expr) ast.Expr {
	x = ast.Unparen(x)
	if call, ok := x.(*ast.CallExpr); ok && len(call.Args) == 1 && r.pass.TypesInfo.Types[call.Fun].IsType() {
		return ast.Unparen(call.Args[0])
	}
	return x
}
