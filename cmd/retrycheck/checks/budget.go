package checks

import (
	"go/ast"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// shared has the types of budgets and limiters, and functions that make one.
var shared = names(ours+`\.SharedBudget`, ours+`/awspreset\.TokenBudget`, ours+`/retrygrpc\.ThrottleBudget`, ours+`/ratelimit\.Limiter`, `golang\.org/x/time/rate\.NewLimiter`,
	ours+`/awspreset\.(AdaptiveLimiter|Preset\.Policy|FromEnv)`)

// keeps has the parts of a client that know its earlier requests.
var keeps = names(ours + `/retryhttp\.(Transport|NewClient|PerHost|PerScope)`)

// perCall has what has the state of one call.
var perCall = names(ours+`/adapt\.NewSequence`, sethvargo+`\.(New(Exponential|Fibonacci)|WithMax(Retries|Duration))`)

// Budget reports budgets and limiters that each call makes for itself, so that they bound
// nothing, and backoffs of one call that all calls share. What main makes is made once.
var Budget = analyzer("budget", func(p *pass) {
	for v, variable := range p.vars {
		if v.Parent() != p.Pkg.Scope() || len(variable.values) != 1 || !variable.values[0].Valid() {
			continue
		}
		if name := p.callee(variable.values[0].Node()); perCall.MatchString(name) {
			p.report(variable.values[0], "%s is shared by all calls, but counts for one: make it in each call", v.Name())
		}
	}
	for c := range p.root.Preorder((*ast.KeyValueExpr)(nil)) {
		value := c.ChildAt(edge.KeyValueExpr_Value, -1)
		sel, ok := value.Node().(*ast.SelectorExpr)
		if ok && p.field(c) == ours+".Rand" && generators.MatchString(typeName(p.info.TypeOf(sel.X))) && !p.isLocal(c) {
			p.report(value, "calls that share the policy share this generator, which is not safe for that: leave Rand nil, or lock it")
		}
	}
	for c := range p.root.Preorder((*ast.CompositeLit)(nil), (*ast.CallExpr)(nil)) {
		name, what := p.callee(c.Node()), "the result of "
		if lit, ok := c.Node().(*ast.CompositeLit); ok {
			name, what = typeName(p.info.TypeOf(lit)), ""
		}
		fn, ok := block(c).Node().(*ast.FuncDecl)
		isShared := shared.MatchString(name)
		if !isShared && !keeps.MatchString(name) || ok && fn.Recv == nil && fn.Name.Name == "main" {
			continue
		}
		if p.isSentOnce(c) {
			p.reportClient(c, name, what)
		}
		if !isShared {
			continue
		}
		arg := p.destination(c)
		for _, call := range p.loops {
			if call.policy.Valid() && (call.policy == arg || p.returned(arg, call)) {
				p.report(c, "%s is made for each call of %s, so it bounds nothing: make it once and share it", what+shortName(name), shortName(call.name))
			}
		}
	}
})

// generators have types whose methods must not be called at the same time.
var generators = names(`math/rand\.Rand`)

// isLocal reports whether a policy is only used for calls of Do in the same function.
func (p *pass) isLocal(c inspector.Cursor) bool {
	arg := p.destination(c)
	return slices.ContainsFunc(p.loops, func(call *call) bool { return call.policy == arg })
}

// isSentOnce reports whether a client sends a single request with c.
func (p *pass) isSentOnce(c inspector.Cursor) bool {
	use := p.destination(c)
	if p.callee(use.Parent().Node()) == newClient {
		use = p.destination(use.Parent())
	}
	return sends.MatchString(p.callee(use.Node())) || sends.MatchString(p.callee(use.Parent().Node()))
}

// mayShare has the fields by which Transports share a budget.
var mayShare = names(ours + `(\.Budget|/retryhttp\.PerHost)`)

// reportClient reports a part of a client that is made for one request. A Transport may have
// a budget that is not, and a command may send one request in all.
func (p *pass) reportClient(c inspector.Cursor, name, what string) {
	if name != transport && name != newClient {
		p.report(c, "%s is made for one request, so it bounds nothing: make it once and share it", what+shortName(name))
		return
	}
	shares := slices.ContainsFunc(p.mentions(c), func(id inspector.Cursor) bool {
		return mayShare.MatchString(objectName(p.info.Uses[id.Node().(*ast.Ident)]))
	})
	if !shares && p.Pkg.Name() != "main" {
		p.report(c, "a Transport is made for one request, so its budget bounds nothing: make the client once and share it")
	}
}

// returned reports whether c is what a function returns that is called for the policy of a call
// of Do, other than in main.
func (p *pass) returned(c inspector.Cursor, call *call) bool {
	fn, ok := block(c).Node().(*ast.FuncDecl)
	if _, returns := c.Parent().Node().(*ast.ReturnStmt); !returns || !ok {
		return false
	}
	if in, ok := block(call.Cursor).Node().(*ast.FuncDecl); ok && in.Recv == nil && in.Name.Name == "main" {
		return false
	}
	made, ok := call.policy.Node().(*ast.CallExpr)
	return ok && typeutil.Callee(p.info, made) == p.info.Defs[fn.Name]
}
