package checks

import (
	"go/ast"
	"go/types"
	"regexp"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// OpContext reports operations that ignore the context that they are called with.
var OpContext = analyzer("opcontext", "report operations that ignore the context that they are given", func(p *pass) {
	for _, call := range p.loops {
		if ctx := p.contextAround(call.Cursor); ctx != nil && len(call.Args) > 0 && p.isBackground(call.Args[0]) {
			p.report(call.Cursor, "%s goes on after %s is done: pass %[2]s to it", shortName(call.name), ctx.Name())
		}
		if !call.op.Valid() {
			continue
		}
		params := p.signature(call.op).Params()
		if params.Len() == 0 || !isContext(params.At(0).Type()) || slices.ContainsFunc(p.vars[params.At(0)].uses, call.op.Contains) {
			continue
		}
		if other := p.otherContext(call.op); other.Valid() {
			if ownContext.MatchString(call.name) {
				p.report(other, "the operation uses %s instead of the context that %s gives it, so the limits of one attempt do not reach it",
					other.Node().(*ast.Ident).Name, shortName(call.name))
			}
			continue
		}
		for _, c := range p.calls {
			if hint := advice(c.fn); call.op.Contains(c.Cursor) && hint != "" {
				p.report(c.Cursor, "the operation ignores its context: after a timeout or cancellation this call goes on (use %s)", hint)
				break
			}
		}
	}
})

// isBackground reports whether e is a new context that never ends.
func (p *pass) isBackground(e ast.Node) bool {
	name := p.callee(e)
	return name == "context.Background" || name == "context.TODO"
}

// otherContext returns the first use of a context of the functions around the operation.
func (p *pass) otherContext(op inspector.Cursor) inspector.Cursor {
	for c := range op.Preorder((*ast.Ident)(nil)) {
		v, ok := p.info.Uses[c.Node().(*ast.Ident)].(*types.Var)
		if ok && isContext(v.Type()) && v.Kind() != types.PackageVar && !v.IsField() && outside(v, op) {
			return c
		}
	}
	return inspector.Cursor{}
}

var gets = names(`net/http\.(Client\.)?(Get|Head|Post|PostForm)`)

// advice names what takes a context, unlike fn, and does the same.
func advice(fn *types.Func) string {
	switch name := nameOf(fn); {
	case takesContext(fn):
		return ""
	case name == "time.Sleep":
		return "a select with ctx.Done()"
	case gets.MatchString(name):
		return "http.NewRequestWithContext"
	}
	for _, suffix := range []string{"Context", "WithContext"} {
		var variant types.Object
		if recv := fn.Signature().Recv(); recv != nil {
			variant, _, _ = types.LookupFieldOrMethod(recv.Type(), true, fn.Pkg(), fn.Name()+suffix)
		} else if fn.Pkg() != nil {
			variant = fn.Pkg().Scope().Lookup(fn.Name() + suffix)
		}
		if variant, ok := variant.(*types.Func); ok && takesContext(variant) {
			return variant.Name()
		}
	}
	return ""
}

func takesContext(fn *types.Func) bool {
	params := fn.Signature().Params()
	return params.Len() > 0 && isContext(params.At(0).Type())
}

// transactions has the types of transactions.
var transactions = names(`database/sql\.Tx`, `github\.com/(jackc/pgx|jmoiron/sqlx|uptrace/bun|go-pg/pg)\.Tx`,
	`go\.etcd\.io/bbolt\.Tx`, `go\.mongodb\.org/mongo-driver/mongo\.SessionContext`)

// Transaction reports retries of a part of a transaction, which fail because the database
// has already aborted it.
var Transaction = analyzer("transaction", "report retries of a part of a database transaction", func(p *pass) {
	for _, call := range p.operations {
		for id := range call.op.Preorder((*ast.Ident)(nil)) {
			v, ok := p.info.Uses[id.Node().(*ast.Ident)].(*types.Var)
			if ok && outside(v, call.op) && transactions.MatchString(typeName(v.Type())) {
				p.report(call.Cursor, "%s retries a part of the transaction %s, which the database may have aborted: retry the whole transaction (retrysql.InTx)",
					shortName(call.name), v.Name())
				break
			}
		}
	}
})

// retrying has the types whose methods retry by themselves.
var retrying = names(`github\.com/aws/aws-sdk-go(-v2)?/service/[a-z0-9]+(/[a-z0-9]+iface)?\.[A-Za-z0-9]+`,
	`github\.com/hashicorp/go-retryablehttp\.Client`,
	`github\.com/hashicorp/vault/api\.(Client|Logical|KVv1|KVv2|Auth|Sys|TokenAuth)`,
	`github\.com/hashicorp/go-tfe\.[A-Za-z]+`,
	`gitlab\.com/gitlab-org/api/client-go\.[A-Za-z]+(Service|Interface)`,
	`cloud\.google\.com/go/[a-z0-9/]+\.[A-Za-z]*(Client|Handle)`,
	`github\.com/Azure/azure-sdk-for-go/sdk/[a-z0-9/]+\.[A-Za-z]*Client`,
	`github\.com/(openai/openai-go|anthropics/anthropic-sdk-go)(/[a-z]+)?\.[A-Za-z]+Service`,
	`github\.com/stripe/stripe-go/[a-z/]+\.Client`,
	`github\.com/redis/go-redis\.(Client|ClusterClient|UniversalClient|Cmdable)`,
	`github\.com/digitalocean/godo\.[A-Za-z]+Service`)

// single matches the settings that turn such retries off or change them.
var single = regexp.MustCompile(`^(With)?(Nop)?(RetryMax|RetryMaxAttempts|MaxRetries|Retryer|NopRetryer|RetryOptions|SetRetry|Retries)$`)

// Nested reports retries around calls that already retry, so that attempts multiply.
var Nested = analyzer("nested", "report retries around clients that retry by themselves", func(p *pass) {
	for c := range p.root.Preorder((*ast.Ident)(nil)) {
		if single.MatchString(c.Node().(*ast.Ident).Name) {
			return
		}
	}
	for _, outer := range p.operations {
		if !retriers.MatchString(outer.name) {
			continue
		}
		for _, c := range p.calls {
			if what := p.retriesItself(c); what != "" && outer.op.Contains(c.Cursor) {
				p.report(c.Cursor, "%s already retries: %s around it multiplies the attempts (turn off one of the two)", shortName(what), shortName(outer.name))
				break
			}
		}
	}
})

// retriesItself names what retries in a call: the function or the client.
func (p *pass) retriesItself(c *call) string {
	if retriers.MatchString(c.name) {
		return c.name
	}
	results := c.fn.Signature().Results()
	sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if ok && results.Len() > 0 && isError(results.At(results.Len()-1).Type()) {
		if client := typeName(p.info.TypeOf(sel.X)); retrying.MatchString(client) {
			return client
		}
	}
	return ""
}

// bodies has functions that send a request or make one, and the position of the argument
// that is the request or its body.
var bodies = map[string]int{
	"net/http.Client.Do":              0,
	"net/http.RoundTripper.RoundTrip": 0,
	"net/http.Transport.RoundTrip":    0,
	"net/http.NewRequest":             2,
	"net/http.NewRequestWithContext":  3,
	"net/http.Post":                   2,
	"net/http.Client.Post":            2,
}

// Body reports requests whose body the first attempt has read to its end.
var Body = analyzer("body", "report HTTP requests that are sent again with a body that has been read", func(p *pass) {
	for _, call := range p.calls {
		at, ok := bodies[call.name]
		again, repeated := p.repeated(call.Cursor)
		if !ok || !repeated || at >= len(call.Args) {
			continue
		}
		arg := call.ChildAt(edge.CallExpr_Args, at)
		body, what, advice := arg, "", "make the reader in each attempt"
		if at == 0 {
			arg = p.withoutContext(arg)
			made := p.value(arg)
			if at = bodies[p.callee(made.Node())]; at == 0 {
				continue
			}
			body, what = made.ChildAt(edge.CallExpr_Args, at), "the body of "
			advice = "make the request in each attempt, or set its Body from GetBody"
		}
		if id, ok := arg.Node().(*ast.Ident); ok && !p.empty(body) {
			if v := p.info.Uses[id]; v != nil && outside(v, again) && !p.renews(again, arg) {
				p.report(arg, "%s%s is read by the first attempt, so later ones send nothing: %s", what, id.Name, advice)
			}
		}
	}
})

// repeated returns the loop or the operation around c, which runs more than once.
func (p *pass) repeated(c inspector.Cursor) (inspector.Cursor, bool) {
	again := block(c)
	switch again.Node().(type) {
	case *ast.ForStmt, *ast.RangeStmt:
		return again, true
	}
	return again, slices.ContainsFunc(p.loops, func(loop *call) bool { return loop.op == again })
}

// withoutContext returns req for req.WithContext(ctx) and req.Clone(ctx), which share its body.
func (p *pass) withoutContext(c inspector.Cursor) inspector.Cursor {
	if name := p.callee(c.Node()); name == "net/http.Request.WithContext" || name == "net/http.Request.Clone" {
		return c.ChildAt(edge.CallExpr_Fun, -1).ChildAt(edge.SelectorExpr_X, -1)
	}
	return c
}

// empty reports whether a body is nil, http.NoBody, or a variable that is.
func (p *pass) empty(c inspector.Cursor) bool {
	e := p.value(c).Node().(ast.Expr)
	sel, ok := e.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "NoBody" || p.info.Types[e].IsNil()
}

// renews reports whether c sets or rewinds a variable that e or its value mentions.
func (p *pass) renews(c, e inspector.Cursor) bool {
	for id := range p.mentions(e) {
		v := p.vars[p.info.Uses[id.Node().(*ast.Ident)]]
		if slices.ContainsFunc(v.sets, c.Contains) || slices.ContainsFunc(v.uses, func(use inspector.Cursor) bool {
			sel, ok := use.Parent().Node().(*ast.SelectorExpr)
			return ok && c.Contains(use) && (sel.Sel.Name == "Seek" || sel.Sel.Name == "Reset" || sel.Sel.Name == "GetBody")
		}) {
			return true
		}
	}
	return false
}
