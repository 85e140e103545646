package migrate

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// cenkalti returns the library github.com/cenkalti/backoff, versions 2 to 7.
func cenkalti() *library {
	return &library{
		path: path(`github\.com/cenkalti/backoff(/v[3-7])?`),
		site: func(r *rewriter, call *ast.CallExpr, f *types.Func) *site {
			switch name := f.Name(); {
			case name == "NextBackOff":
				return &site{name: name, asks: true}
			case !strings.HasPrefix(name, "Retry") || f.Signature().Recv() != nil || name == "RetryAfter":
				return nil
			case hasOptions(f):
				return cenkaltiOptions(r, call)
			default:
				s := &site{name: "backoff." + name, value: r.read(call.Args[1]), op: call.Args[0], data: strings.Contains(name, "Data")}
				if len(call.Args) > 2 && !r.isNil(call.Args[2]) {
					s.limits.hooks = r.hook(call.Args[2], "failed.Err", "wait")
				}
				if len(call.Args) > 3 && !r.isNil(call.Args[3]) {
					s.fail("has a timer of its own")
				}
				return s
			}
		},
		constructed: cenkaltiBackOff,
		literal: func(r *rewriter, name string, fields map[string]text) value {
			v := value{policy: policy{attempts: code("retry.Unlimited")}}
			switch {
			case name == "ZeroBackOff":
				v.backoff = code("retry.NoDelay{}")
			case name == "StopBackOff":
				v.backoff, v.attempts = code("retry.NoDelay{}"), text{"1"}
			case name == "ConstantBackOff" && fields["Interval"] != nil:
				v.backoff = r.constant(fields["Interval"])
			case name == "ExponentialBackOff" && fields["InitialInterval"] != nil && fields["Multiplier"] != nil && fields["MaxInterval"] != nil:
				is := func(name, standard string) bool {
					x := fields[name]
					return x != nil && strings.HasSuffix(r.shown(x[0].(ast.Expr)), "."+standard)
				}
				if !is("Stop", "Stop") && (fields["Stop"] != nil || fields["MaxElapsedTime"] != nil) || fields["Clock"] != nil && !is("Clock", "SystemClock") {
					return value{} // with a zero Stop, MaxElapsedTime ends no call
				}
				v.exponential = fields
				if fields["RandomizationFactor"] == nil {
					fields["RandomizationFactor"] = text{"0"}
				}
			}
			return v
		},
		fields:     []string{"InitialInterval", "RandomizationFactor", "Multiplier", "MaxInterval", "MaxElapsedTime"},
		classifier: "retry.OnlyIf(nil)",
		marked:     "retry.OnlyIf(func(err error) bool { return !errors.As(err, new(*%.PermanentError)) })",
		marks:      []string{"Permanent"},
		waits:      "RetryAfter",
		errors:     []string{"RetryError"},
		renames: map[string]string{
			"Permanent":                  "retry.Permanent",
			"Stop":                       "-1",
			"Operation":                  "func() error",
			"Notify":                     "func(error, time.Duration)",
			"DefaultInitialInterval":     "500 * time.Millisecond",
			"DefaultMaxInterval":         "time.Minute",
			"DefaultMaxElapsedTime":      "15 * time.Minute",
			"DefaultMultiplier":          "1.5",
			"DefaultRandomizationFactor": "0.5",
		},
		differs: []string{
			"no attempt begins once the context is done, and a wait that would outlast its deadline is not begun",
			"OnlyIf(nil) does not retry the failure of an inner call that has retried, nor what may have taken effect; without it, DefaultClassifier also ends calls that would fail again, such as status 404",
			"the error after the last attempt is a *retry.Error, which errors.Is and errors.As look into",
		},
	}
}

// major returns the last element of the path of a function's package.
func major(f *types.Func) string { return pkg(f.Pkg().Path()).base() }

// hasOptions reports whether a function takes options, as since version 5.
func hasOptions(f *types.Func) bool { return slices.Contains([]string{"v5", "v6", "v7"}, major(f)) }

// cenkaltiOptions reads a call of version 5 and later.
func cenkaltiOptions(r *rewriter, call *ast.CallExpr) *site {
	s := &site{name: "backoff.Retry", ctx: text{call.Args[0]}, op: call.Args[1], data: true}
	s.value = value{exponential: map[string]text{}, policy: policy{attempts: code("retry.Unlimited")}}
	s.limits.elapsed = code("15 * time.Minute")
	for _, x := range r.listed(s, call, 2) {
		option, f := r.option(x)
		if f == nil {
			s.fail("the option %s is not understood", r.shown(x))
			return s
		}
		switch arg := option.Args[0]; f.Name() {
		case "WithBackOff":
			s.value = r.read(arg)
		case "WithNotify":
			s.limits.hooks = r.hook(arg, "failed.Err", "wait")
		case "WithMaxTries":
			s.limits.attempts = r.attempts(arg)
		case "WithMaxElapsedTime":
			s.limits.elapsed = text{arg}
			if r.isZero(arg) {
				s.limits.elapsed = nil
			}
		default:
			s.fail("the option %s has no counterpart", f.Name())
		}
	}
	return s
}

// cenkaltiBackOff returns what a call that makes or changes a BackOff means.
func cenkaltiBackOff(r *rewriter, f *types.Func, args []ast.Expr) value {
	v := value{policy: policy{attempts: code("retry.Unlimited")}}
	switch f.Name() {
	case "NewExponentialBackOff":
		v.exponential = map[string]text{}
		if !hasOptions(f) {
			v.elapsed = code("15 * time.Minute")
		}
		for _, x := range args {
			option, g := r.option(x)
			if g == nil || len(option.Args) != 1 || !slices.Contains(r.lib.fields, strings.TrimPrefix(g.Name(), "With")) {
				return value{}
			}
			v.exponential[strings.TrimPrefix(g.Name(), "With")] = text{option.Args[0]}
		}
	case "NewConstantBackOff":
		v.backoff = r.constant(text{args[0]})
	case "WithContext":
		v = r.read(args[0])
		v.ctx = args[1]
	case "WithMaxRetries":
		v = r.read(args[0])
		if !v.known() {
			return value{}
		}
		v.attempts = r.retries(args[1])
		if r.isZero(args[1]) && (major(f) == "backoff" || major(f) == "v3") { // which means no bound there
			v.attempts = code("retry.Unlimited")
		}
	default:
		return value{}
	}
	return v
}

// exponentialPolicy returns the policy of an ExponentialBackOff.
func exponentialPolicy(r *rewriter, v value) policy {
	p := v.policy
	field := func(name, standard string) text {
		if x := v.exponential[name]; x != nil {
			return x
		}
		return code(standard)
	}
	p.backoff = code("retry.Exponential{Base: %, Cap: %, Factor: %}", field("InitialInterval", "500 * time.Millisecond"),
		field("MaxInterval", "time.Minute"), field("Multiplier", "1.5"))
	if random := field("RandomizationFactor", "0.5"); !r.zero(random) {
		p.backoff = code("retry.Spread{Of: %, Fraction: %}", p.backoff, random)
	}
	if r.zero(field("InitialInterval", "")) {
		p.backoff = code("retry.NoDelay{}")
	}
	if limit := v.exponential["MaxElapsedTime"]; limit != nil {
		p.elapsed = limit
		if r.zero(limit) {
			p.elapsed = nil
		}
	}
	return p
}
