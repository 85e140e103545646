package checks

import (
	"go/ast"
	"go/constant"
	"go/types"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// reportKeys reports keys of Transports and of retrysql that recognize nothing, or too much.
func (p *pass) reportKeys() {
	for c := range p.root.Preorder((*ast.KeyValueExpr)(nil)) {
		value := c.ChildAt(edge.KeyValueExpr_Value, -1)
		switch p.field(c) {
		case ours + "/retryhttp.IdempotencyKey":
			p.reportKeyOf(c, p.value(value))
		case ours + "/retrysql.ID":
			if p.isRandom(p.value(value)) || p.isInstant(p.value(value)) || p.isRandomVariable(value) {
				p.report(c, "nobody can send this key again, so the work of a retry is done again: use the key of the request")
			}
		case ours + "/retryhttp.Unprocessed":
			p.reportUnprocessed(value)
		}
	}
}

// reportKeyOf reports a function for the keys of a Transport that returns one key for several
// requests.
func (p *pass) reportKeyOf(c, fn inspector.Cursor) {
	if p.isSame(fn) {
		p.report(c, "all requests have the same key, so the server executes only the first: return another key for each")
		return
	}
	if _, ok := fn.Node().(*ast.FuncLit); !ok || len(p.vars[p.signature(fn).Params().At(0)].uses) > 0 || p.isRandom(fn) {
		return
	}
	for n := range fn.Preorder((*ast.CallExpr)(nil), (*ast.IncDecStmt)(nil)) {
		call, isCall := n.Node().(*ast.CallExpr)
		switch {
		case !isCall, counters.MatchString(p.callee(call)):
			p.report(c, "the counter begins again with the program, so the server takes new requests for old ones: use retryhttp.RandomKey")
			return
		case clocks.MatchString(p.callee(call)):
			p.report(c, "requests at the same time have the same key, so the server executes only the first: use retryhttp.RandomKey")
			return
		}
	}
}

var (
	counters = names(`sync/atomic\.(\w+\.)?Add\w*`)
	clocks   = names(`time\.Time\.(Unix|UnixMilli|Format)`)
)

// instants has what tells the moment of a call.
var instants = names(`time\.Time\.Unix(Nano|Micro|Milli)`)

// isInstant reports whether an expression has the moment of a call.
func (p *pass) isInstant(c inspector.Cursor) bool {
	for call := range c.Preorder((*ast.CallExpr)(nil)) {
		sel, ok := call.Node().(*ast.CallExpr).Fun.(*ast.SelectorExpr)
		if ok && instants.MatchString(p.callee(call.Node())) && p.callee(sel.X) == "time.Now" {
			return true
		}
	}
	return false
}

// isRandomVariable reports whether a part of an ID is a random variable that nothing else uses.
func (p *pass) isRandomVariable(c inspector.Cursor) bool {
	for id := range c.Preorder((*ast.Ident)(nil)) {
		v, ok := p.info.Uses[id.Node().(*ast.Ident)].(*types.Var)
		if !ok || v.IsField() || len(p.vars[v].uses) != 1 {
			continue
		}
		if made := p.declared(v); made.Valid() && p.isRandom(made) {
			return true
		}
	}
	return false
}

// reportUnprocessed reports statuses that do not say that a request was not processed.
func (p *pass) reportUnprocessed(list inspector.Cursor) {
	for element := range p.value(list).Children() {
		e, ok := element.Node().(ast.Expr)
		if !ok {
			continue
		}
		switch n, _ := p.number(e); n {
		case http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout:
			p.report(element, "a server may have executed a request that it answers with %d, so a POST is executed twice: remove it", n)
		}
	}
}

// randoms has what returns something else each time.
var randoms = names(`(crypto|math)/rand(/v2)?\..*`, `github\.com/(google|gofrs)/uuid\.New.*`, `github\.com/rs/xid\.New`,
	`github\.com/oklog/ulid\.(Make|New|MustNew\w*)`, `github\.com/segmentio/ksuid\.New\w*`, ours+`/retryhttp\.RandomKey`)

// isRandom reports whether an expression has a random part.
func (p *pass) isRandom(c inspector.Cursor) bool {
	for call := range c.Preorder((*ast.CallExpr)(nil)) {
		if randoms.MatchString(p.callee(call.Node())) {
			return true
		}
	}
	return false
}

// isSame reports whether a function returns the same text for every request.
func (p *pass) isSame(fn inspector.Cursor) bool {
	lit, ok := fn.Node().(*ast.FuncLit)
	if !ok || len(lit.Body.List) != 1 {
		return false
	}
	ret, ok := lit.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 || len(p.vars[p.signature(fn).Params().At(0)].uses) > 0 {
		return false
	}
	for range fn.Preorder((*ast.CallExpr)(nil)) {
		return false
	}
	value := p.info.Types[ret.Results[0]].Value
	return value == nil || constant.StringVal(value) != ""
}

var (
	sets  = names(`net/http\.Header\.(Set|Add)`)
	posts = names(`net/http\.(Client\.)?Post(Form)?`)
	makes = names(`net/http\.NewRequest(WithContext)?`)
)

// reportPosts reports requests of an operation that a server may execute twice, because it
// cannot recognize the retry.
func (p *pass) reportPosts(loop *call) {
	calls := p.reached(loop.op, p.fails)
	hasKey := slices.ContainsFunc(calls, func(c *call) bool { return sets.MatchString(c.name) && p.isKey(c.Args[0]) })
	knows := slices.ContainsFunc(calls, func(c *call) bool {
		return c.name == ours+".Unrepeatable" || sends.MatchString(c.name) && p.retriesItself(c)
	})
	for _, c := range calls {
		isSent := posts.MatchString(c.name) || makes.MatchString(c.name) && p.isPost(c.Args[len(c.Args)-3])
		if isSent && !hasKey && !knows && !p.asksOnly(c) && !p.retriesOnlySome(loop) {
			p.report(c.Cursor, "a POST whose response is lost is executed again: use a client of retryhttp instead, or set an Idempotency-Key that is made outside the operation")
		}
	}
	for _, fn := range p.functionsOf(loop, calls) {
		for _, key := range p.keysIn(fn) {
			value := p.value(key.value)
			switch {
			case fn.Contains(value) && p.isNewIn(fn, value):
				p.report(key.Cursor, "each attempt has another key, so the server executes a retry again: make the key outside the operation")
			case fn == loop.op:
				p.reportSharedKey(loop, key)
			}
		}
	}
}

// retriesOnlySome reports whether the Classifier of a policy says which errors are retried.
func (p *pass) retriesOnlySome(loop *call) bool {
	return loop.policy.Valid() && slices.ContainsFunc(p.mentions(loop.policy), func(id inspector.Cursor) bool {
		return objectName(p.info.Uses[id.Node().(*ast.Ident)]) == ours+".OnlyIf"
	})
}

// questions has ends of paths whose POST changes nothing: questions to models, searches, queries and
// logins.
var questions = regexp.MustCompile(`(/(completions|responses|embeddings|v1/messages|count_tokens|api/chat|api/generate|_?m?search|query|graphql|tokens?|login)|:(streamG|g)enerateContent|:embedContent)(\?.*)?$`)

// asksOnly reports whether the path of a POST says that it changes nothing.
func (p *pass) asksOnly(c *call) bool {
	at := len(c.Args) - 2
	if posts.MatchString(c.name) {
		at = 0
	}
	for e := range c.ChildAt(edge.CallExpr_Args, at).Preorder((*ast.BasicLit)(nil), (*ast.Ident)(nil)) {
		value := p.info.Types[e.Node().(ast.Expr)].Value
		if value != nil && value.Kind() == constant.String && questions.MatchString(constant.StringVal(value)) {
			return true
		}
	}
	return false
}

// functionsOf returns an operation, and the functions of the package with some calls that it
// reaches.
func (p *pass) functionsOf(loop *call, calls []*call) []inspector.Cursor {
	functions := []inspector.Cursor{loop.op}
	for _, c := range calls {
		decl := around(c.Cursor, (*ast.FuncDecl)(nil))
		if !loop.op.Contains(c.Cursor) && !slices.Contains(functions, decl) {
			functions = append(functions, decl)
		}
	}
	return functions
}

// A key is a place that sets the key by which a server recognizes a repetition.
type key struct {
	inspector.Cursor
	value inspector.Cursor
}

// keyNames has fields, options and methods that set such a key.
var keyNames = regexp.MustCompile(`(?i)^(set|with|nats)?-?(idempotencykey|clientrequesttoken|clienttoken|requesttoken|messagededuplicationid|msg-?id|deduplicationid)$`)

// keysIn returns the keys that are set in a function.
func (p *pass) keysIn(fn inspector.Cursor) (keys []key) {
	for c := range fn.Preorder((*ast.CallExpr)(nil), (*ast.KeyValueExpr)(nil), (*ast.AssignStmt)(nil)) {
		switch n := c.Node().(type) {
		case *ast.CallExpr:
			name := lastName(ast.Unparen(n.Fun))
			if sets.MatchString(p.callee(n)) && p.isKey(n.Args[0]) {
				keys = append(keys, key{c, c.ChildAt(edge.CallExpr_Args, 1)})
			} else if name != nil && len(n.Args) == 1 && keyNames.MatchString(name.Name) {
				keys = append(keys, key{c, c.ChildAt(edge.CallExpr_Args, 0)})
			}
		case *ast.KeyValueExpr:
			if id, ok := n.Key.(*ast.Ident); ok && keyNames.MatchString(id.Name) {
				keys = append(keys, key{c, c.ChildAt(edge.KeyValueExpr_Value, -1)})
			}
		case *ast.AssignStmt:
			sel, ok := n.Lhs[0].(*ast.SelectorExpr)
			if ok && len(n.Rhs) == 1 && keyNames.MatchString(sel.Sel.Name) {
				keys = append(keys, key{c, c.ChildAt(edge.AssignStmt_Rhs, 0)})
			}
		}
	}
	return keys
}

// isNewIn reports whether a value is another one in each attempt: it is random, comes from a
// function without arguments, or has the number of the attempt.
func (p *pass) isNewIn(fn, c inspector.Cursor) bool {
	if p.isNew(c) {
		return true
	}
	for id := range c.Preorder((*ast.Ident)(nil)) {
		obj := p.info.Uses[id.Node().(*ast.Ident)]
		if objectName(obj) == ours+"/retryhttp.AttemptNumber" {
			return true
		}
		v, ok := obj.(*types.Var)
		if !ok {
			continue
		}
		counted := slices.ContainsFunc(p.vars[v].sets, func(set inspector.Cursor) bool {
			return fn.Contains(set) && set.ParentEdgeKind() == edge.IncDecStmt_X
		})
		if counted || typeName(v.Type()) == ours+".Attempt" {
			return true
		}
		if def := p.declared(v); def.Valid() && fn.Contains(def) && !def.Contains(c) && p.isNewIn(fn, def) {
			return true
		}
	}
	return false
}

// reportSharedKey reports a key that is made before a loop over items, and sent with each of them.
func (p *pass) reportSharedKey(loop *call, key key) {
	id, ok := key.value.Node().(*ast.Ident)
	if !ok {
		return
	}
	v, ok := p.info.Uses[id].(*types.Var)
	if !ok || v.IsField() {
		return
	}
	items := around(loop.Cursor, (*ast.RangeStmt)(nil), (*ast.FuncDecl)(nil), (*ast.FuncLit)(nil))
	over, ok := items.Node().(*ast.RangeStmt)
	made := p.declared(v)
	if !ok || !made.Valid() || items.Contains(made) || !p.isNew(made) {
		return
	}
	switch p.info.TypeOf(over.X).Underlying().(type) {
	case *types.Slice, *types.Map, *types.Chan, *types.Array:
		p.report(key.Cursor, "all items have the same key, so the server executes only the first: make a key for each")
	}
}

func (p *pass) isPost(method ast.Expr) bool {
	name := p.info.Types[method].Value
	return name != nil && constant.StringVal(name) == http.MethodPost
}

// isKey reports whether e is the name of the header by which a server recognizes a repetition.
func (p *pass) isKey(e ast.Expr) bool {
	name := p.info.Types[e].Value
	return name != nil && strings.EqualFold(constant.StringVal(name), "Idempotency-Key")
}

// isNew reports whether a value is random, or comes from a function without arguments.
func (p *pass) isNew(c inspector.Cursor) bool {
	for call := range c.Preorder((*ast.CallExpr)(nil)) {
		fn, ok := typeutil.Callee(p.info, call.Node().(*ast.CallExpr)).(*types.Func)
		noArgs := ok && fn.Signature().Recv() == nil && len(call.Node().(*ast.CallExpr).Args) == 0
		if noArgs || randoms.MatchString(p.callee(call.Node())) {
			return true
		}
	}
	return false
}
