package migrate

import (
	"go/ast"
	"go/types"
	"slices"
)

// retryable returns the library github.com/hashicorp/go-retryablehttp. A client that is made
// and set up in a function, and used as a standard client, becomes one with a
// retryhttp.Transport. All others stay, and package legacyhttp reads their settings.
func retryable() *library {
	return &library{
		path: path(`github\.com/hashicorp/go-retryablehttp`),
		site: func(r *rewriter, call *ast.CallExpr, f *types.Func) *site {
			sel, _ := ast.Unparen(call.Fun).(*ast.SelectorExpr)
			if sel == nil || !slices.Contains([]string{"StandardClient", "Do", "Get", "Head", "Post", "PostForm"}, f.Name()) {
				return nil
			}
			s := &site{name: "retryablehttp." + f.Name()}
			client := code("legacyhttp.Client(%)", sel.X)
			if f.Signature().Recv() == nil {
				client = code("legacyhttp.Client(%.NewClient())", sel.X)
			}
			switch f.Name() {
			case "StandardClient":
				x, _ := sel.X.(*ast.Ident)
				if l := r.local(r.variable(x)); l != nil && len(l.rest) == 1 && l.wraps == nil && r.once(l, x) && r.shown(l.source) == "retryablehttp.NewClient()" {
					if c := standardClient(r, l); c != nil {
						s.note("the statuses that are retried are those of retryhttp, and after the last attempt the client returns the response, not an error")
						client, s.value.stmts, s.value.vars = c, l.stmts, []*types.Var{l.v}
					}
				}
				s.change = func() { r.replace(call, client...) }
			case "Do":
				x := call.Args[0]
				if r.object(x) == nil || r.uses[r.method(x, "SetResponseHandler")] != nil || r.method(x, "BodyBytes") == nil {
					s.fail("its request is not in a variable, or has a response handler")
				}
				s.change = func() { r.replace(call, code("legacyhttp.Do(%, %.Request, %.BodyBytes)", sel.X, x, x)...) }
			default:
				if f.Name() == "Post" && !r.isNil(call.Args[2]) && r.method(call.Args[2], "Read") == nil {
					s.fail("its body is no io.Reader")
				}
				s.note("errors are wrapped in a *url.Error")
				s.change = func() { r.replace(sel, code("%.%", client, f.Name())...) }
			}
			return s
		},
		fields: []string{"RetryMax", "RetryWaitMin", "RetryWaitMax", "Logger", "ErrorHandler"},
		differs: []string{
			"a client that stays keeps its settings, and the program its dependency",
			"a retryhttp.Transport in its place logs nothing, retries the statuses 408, 421 and 425, not 505, honors a Retry-After of up to a minute with every status, and sends once a body above 1 MiB that cannot be rewound",
		},
	}
}

// method returns the method of an expression's type, or nil.
func (r *rewriter) method(x ast.Expr, name string) types.Object {
	obj, _, _ := types.LookupFieldOrMethod(r.pass.TypesInfo.TypeOf(x), true, r.pass.Pkg, name)
	return obj
}

// standardClient returns the client with a retryhttp.Transport that a local makes, or nil if a
// setting has no counterpart.
func standardClient(r *rewriter, l *local) text {
	get := func(name, standard string) text {
		if x := l.fields[name]; x != nil {
			return x
		}
		return code(standard)
	}
	for name, x := range l.fields {
		handler := r.object(x[0].(ast.Expr))
		if name == "ErrorHandler" && (handler == nil || handler.Name() != "PassthroughErrorHandler") {
			return nil
		}
	}
	p := policy{attempts: text{"5"}, backoff: code("retry.Exponential{Base: %, Cap: %}", get("RetryWaitMin", "time.Second"), get("RetryWaitMax", "30 * time.Second"))}
	if x := l.fields["RetryMax"]; x != nil {
		p.attempts = r.retries(x[0].(ast.Expr))
	}
	return code("&http.Client{Transport: &retryhttp.Transport{\nPolicy: %,\n"+
		"MayRepeat: func(*http.Request) bool { return true },\nPerHost: retryhttp.Unbudgeted(),\nMaxBuffer: 1 << 20,\n}}", p.literal())
}
