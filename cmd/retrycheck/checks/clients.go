package checks

import (
	"go/ast"
	"go/constant"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// A layer is a library whose clients retry by themselves, and whose errors do not say so. What
// says so, such as an error of the AWS SDK, ends Do.
type layer struct {
	client *regexp.Regexp // types of clients
	made   *regexp.Regexp // functions and types of literals that make a client
	number *regexp.Regexp // fields, options and methods that set the number of retries or attempts
	off    int64          // the number that means no retry
	asked  bool           // whether the client retries only if a number is set
	other  *regexp.Regexp // what else decides about retries, in a way that is not looked into
	remedy string         // what switches the retries off
}

var layers = []layer{
	{
		client: names(`github\.com/hashicorp/go-retryablehttp\.Client`),
		made:   names(`github\.com/hashicorp/go-retryablehttp\.NewClient`),
		number: names(`github\.com/hashicorp/go-retryablehttp\.RetryMax`),
		other:  names(`github\.com/hashicorp/go-retryablehttp\.CheckRetry`),
		remedy: "RetryMax = 0",
	},
	{
		client: names(`github\.com/go-resty/resty\.Client`, `resty\.dev\.Client`),
		made:   names(`(github\.com/go-resty/resty|resty\.dev)\.New(WithClient)?`),
		number: names(`(github\.com/go-resty/resty|resty\.dev)\.(SetRetryCount|RetryCount)`),
		other:  names(`resty\.dev\.(SetRetryDefaultConditions|DisableRetryDefaultConditions)`),
		asked:  true,
		remedy: "SetRetryCount(0)",
	},
	{
		client: names(`github\.com/(redis/go-redis|go-redis/redis)\.(Client|Ring|UniversalClient|Cmdable)`),
		made:   names(`github\.com/(redis/go-redis|go-redis/redis)\.New(Client|Ring|FailoverClient)`),
		number: names(`github\.com/(redis/go-redis|go-redis/redis)\.MaxRetries`),
		off:    -1,
		other:  names(`github\.com/(redis/go-redis|go-redis/redis)\.ParseURL`),
		remedy: "MaxRetries: -1",
	},
	{
		client: names(`github\.com/gojek/heimdall/(httpclient|hystrix)\.Client`),
		made:   names(`github\.com/gojek/heimdall/(httpclient|hystrix)\.NewClient`),
		number: names(`github\.com/gojek/heimdall/(httpclient|hystrix)\.WithRetryCount`),
		asked:  true,
		remedy: "WithRetryCount(0)",
	},
	{
		client: names(`github\.com/(openai/openai-go|anthropics/anthropic-sdk-go)\.Client`),
		made:   names(`github\.com/(openai/openai-go|anthropics/anthropic-sdk-go)\.NewClient`),
		number: names(`github\.com/(openai/openai-go|anthropics/anthropic-sdk-go)/option\.WithMaxRetries`),
		remedy: "option.WithMaxRetries(0)",
	},
	{
		client: names(`github\.com/Azure/azure-sdk-for-go/sdk/.*Client`),
		made:   names(`github\.com/Azure/azure-sdk-for-go/sdk/.*\.New\w*Client\w*`),
		number: names(`github\.com/Azure/azure-sdk-for-go/sdk/azcore/policy\.MaxRetries`),
		off:    -1,
		other:  names(`github\.com/Azure/azure-sdk-for-go/sdk/azcore/policy\.(ShouldRetry|WithRetryOptions)`),
		remedy: "MaxRetries: -1",
	},
	{
		client: names(`github\.com/minio/minio-go\.Client`),
		made:   names(`github\.com/minio/minio-go\.New`),
		number: names(`github\.com/minio/minio-go\.(MaxRetries|MaxRetry)`),
		off:    1,
		remedy: "MaxRetries: 1",
	},
	{
		client: names(`github\.com/segmentio/kafka-go\.Writer`),
		made:   names(`github\.com/segmentio/kafka-go\.(Writer|NewWriter)`),
		number: names(`github\.com/segmentio/kafka-go\.MaxAttempts`),
		off:    1,
		remedy: "MaxAttempts: 1",
	},
	{
		client: names(`github\.com/elastic/go-elasticsearch\.(Typed)?Client`),
		made:   names(`github\.com/elastic/go-elasticsearch\.Config`),
		number: names(`github\.com/elastic/go-elasticsearch\.DisableRetry`),
		off:    1,
		remedy: "DisableRetry: true",
	},
}

// announces has clients that a Transport of retryhttp recognizes, and does not retry.
var announces = names(`github\.com/(openai/openai-go|anthropics/anthropic-sdk-go)\..*`)

// reportStacked reports a client of another library that retries and sends through a Transport of
// retryhttp, which retries each of its attempts.
func (p *pass) reportStacked() {
	for c := range p.root.Preorder((*ast.CallExpr)(nil), (*ast.CompositeLit)(nil)) {
		name := p.callee(c.Node())
		if lit, ok := c.Node().(*ast.CompositeLit); ok {
			name = typeName(p.info.TypeOf(lit))
		}
		l := layerOf(name, func(l layer) *regexp.Regexp { return l.made })
		if l == nil || announces.MatchString(name) {
			continue
		}
		s := source{layer: *l, made: c}
		if p.sendsThroughUs(s) && p.clientRetries(s, &call{Cursor: c}) {
			p.report(c, "this client retries, and its Transport of retryhttp retries each of its attempts, so attempts multiply: make the client with %s", l.remedy)
		}
	}
}

// sendsThroughUs reports whether a client is made with, or is given, an http.Client or a Transport
// that retries.
func (p *pass) sendsThroughUs(s source) bool {
	all := p.chain(s.made)
	for part := range all.Preorder((*ast.CallExpr)(nil), (*ast.CompositeLit)(nil), (*ast.Ident)(nil), (*ast.SelectorExpr)(nil)) {
		if part != s.made && part != all && isHTTP(p.info.TypeOf(part.Node().(ast.Expr))) && p.isRetrying(part, 0) {
			return true
		}
	}
	for assign := range p.root.Preorder((*ast.AssignStmt)(nil)) {
		n := assign.Node().(*ast.AssignStmt)
		sel, ok := n.Lhs[0].(*ast.SelectorExpr)
		if !ok || len(n.Rhs) != len(n.Lhs) || !isHTTP(p.info.TypeOf(sel)) {
			continue
		}
		to := p.clientOf(assign.ChildAt(edge.AssignStmt_Lhs, 0).ChildAt(edge.SelectorExpr_X, -1), 0)
		if to.made == s.made && p.isRetrying(assign.ChildAt(edge.AssignStmt_Rhs, 0), 0) {
			return true
		}
	}
	return false
}

// isHTTP reports whether a type is one of a client or a transport of net/http.
func isHTTP(t types.Type) bool {
	return t != nil && httpTypes.MatchString(typeName(t))
}

var httpTypes = names(`net/http\.(Client|RoundTripper)`, ours+`/retryhttp\.Transport`, `.*/azcore/policy\.Transporter`)

// reportInner reports a call of this library in a loop of another one, which does not know its
// errors.
func (p *pass) reportInner(loop *call) {
	var mark string
	switch {
	case strings.HasPrefix(loop.name, cenkalti):
		mark = "backoff.Permanent"
	case strings.HasPrefix(loop.name, avast):
		mark = "Unrecoverable"
	default:
		return
	}
	for _, c := range p.reached(loop.op, p.fails) {
		if strings.HasPrefix(c.name, ours) && retriers.MatchString(c.name) && p.fails(p.functionAround(c.Cursor), c) {
			p.report(c.Cursor, "%s retries by itself, and %s retries it again, so attempts multiply: return %s(err), or remove one of the two", shortName(c.name), shortName(loop.name), mark)
		}
	}
}

// reportLayers reports what retries by itself in an operation, and fails with an error that Do
// retries: a client of another library, and a loop of one.
func (p *pass) reportLayers(loop *call) {
	if p.names(loop.policy, "Classifier") || p.makesOneAttempt(loop.policy) {
		return
	}
	for _, c := range p.reached(loop.op, p.fails) {
		if p.fails(p.functionAround(c.Cursor), c) {
			p.reportLayer(loop, c)
		}
	}
}

func (p *pass) reportLayer(loop, c *call) {
	if remedy := p.loopsAgain(c); remedy != "" {
		p.report(c.Cursor, "%s retries by itself, and %s retries it again, so attempts multiply: %s", shortName(c.name), shortName(loop.name), remedy)
		return
	}
	if requestsOnce.MatchString(c.name) {
		p.report(c.Cursor, "%s retries by itself, and %s retries it again, so attempts multiply: use a client with RetryMax = 0", shortName(c.name), shortName(loop.name))
		return
	}
	method, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok || local.MatchString(method.Sel.Name) {
		return
	}
	from := c.ChildAt(edge.CallExpr_Fun, -1)
	if _, ok := from.Node().(*ast.SelectorExpr); !ok {
		return
	}
	s := p.clientOf(from.ChildAt(edge.SelectorExpr_X, -1), 0)
	if s.made.Valid() && p.clientRetries(s, c) {
		p.report(c.Cursor, "this client retries by itself, and %s retries it again, so attempts multiply: make the client with %s", shortName(loop.name), s.remedy)
	}
}

var (
	// requestsOnce has functions that use a client with retries.
	requestsOnce = names(`github\.com/hashicorp/go-retryablehttp\.(Get|Head|Post|PostForm)`)
	// apart has methods that return what does not retry.
	apart = names(`\w?Subscribe`, `Conn`)
	// local has methods that send nothing, or whose failure means something else.
	local = names(`Close\w*`, `Shutdown`, `Watch`, `Subscribe`, `PSubscribe`, `Process`)
)

// loopsAgain returns how to end a retry loop of another library in an operation, if its error
// does not say that it has retried.
func (p *pass) loopsAgain(c *call) string {
	fn := typeutil.Callee(p.info, c.CallExpr).(*types.Func)
	switch {
	case strings.HasPrefix(c.name, cenkalti) && retriers.MatchString(c.name) && !strings.HasSuffix(fn.Pkg().Path(), "/v7"),
		strings.HasPrefix(c.name, sethvargo) && retriers.MatchString(c.name),
		c.name == clientgo+".OnError":
		return "call the function without it"
	case c.name == "github.com/googleapis/gax-go.Invoke" && p.mentionsName(c.Cursor, names(`github\.com/googleapis/gax-go\.WithRetry`)):
		return "leave gax.WithRetry out"
	}
	return ""
}

// mentionsName reports whether c, or the value of a variable in it, names what matches.
func (p *pass) mentionsName(c inspector.Cursor, name *regexp.Regexp) bool {
	return slices.ContainsFunc(p.mentions(c), func(id inspector.Cursor) bool {
		return name.MatchString(objectName(p.info.Uses[id.Node().(*ast.Ident)]))
	})
}

// makesOneAttempt reports whether a policy in sight allows one attempt.
func (p *pass) makesOneAttempt(policy inspector.Cursor) bool {
	if !policy.Valid() {
		return false
	}
	return slices.ContainsFunc(p.mentions(policy), func(id inspector.Cursor) bool {
		name := id.Node().(*ast.Ident).Name
		if id.ParentEdgeKind() == edge.KeyValueExpr_Key && name == "MaxAttempts" {
			n, constant := p.number(id.Parent().Node().(*ast.KeyValueExpr).Value)
			return constant && n == 1
		}
		return name == "NoRetry"
	})
}

// A source is a client that a method is called on.
type source struct {
	layer
	made inspector.Cursor // the call or the literal that makes the client
}

// clientOf finds the client that an expression is, or is a part of, and where the package makes
// it.
func (p *pass) clientOf(c inspector.Cursor, depth int) (s source) {
	if depth > 8 || !c.Valid() {
		return s
	}
	c = p.plain(c)
	switch n := c.Node().(type) {
	case *ast.ParenExpr:
		return p.clientOf(c.ChildAt(edge.ParenExpr_X, -1), depth)
	case *ast.StarExpr:
		return p.clientOf(c.ChildAt(edge.StarExpr_X, -1), depth)
	case *ast.Ident:
		return p.clientIn(n, depth)
	case *ast.SelectorExpr:
		s = p.clientIn(n.Sel, depth)
		if !s.made.Valid() && p.info.Selections[n] != nil {
			return p.clientOf(c.ChildAt(edge.SelectorExpr_X, -1), depth+1) // client.Chat
		}
		return s
	case *ast.CompositeLit:
		return p.clientOfLiteral(c, depth)
	case *ast.CallExpr:
		return p.clientOfCall(c, depth)
	}
	return s
}

// clientIn finds the client that a variable has.
func (p *pass) clientIn(id *ast.Ident, depth int) (s source) {
	v, ok := p.info.Uses[id].(*types.Var)
	if !ok {
		return s
	}
	for _, value := range p.given(v) {
		s = p.clientOf(value, depth+1)
		if s.made.Valid() {
			return s
		}
	}
	return source{}
}

// clientOfLiteral finds the client that a literal is, or that an http.Client sends through.
func (p *pass) clientOfLiteral(c inspector.Cursor, depth int) source {
	name := typeName(p.info.TypeOf(c.Node().(ast.Expr)))
	if l := layerOf(name, func(l layer) *regexp.Regexp { return l.made }); l != nil {
		return source{layer: *l, made: c}
	}
	if name != "net/http.Client" && !strings.HasSuffix(name, ".RoundTripper") {
		return source{}
	}
	for field := range c.Children() {
		if keyed, ok := field.Node().(*ast.KeyValueExpr); ok && keyed.Value != nil {
			if s := p.clientOf(field.ChildAt(edge.KeyValueExpr_Value, -1), depth+1); s.made.Valid() {
				return s
			}
		}
	}
	return source{}
}

// clientOfCall finds the client that a call makes, returns, or is a method of.
func (p *pass) clientOfCall(c inspector.Cursor, depth int) source {
	name := p.callee(c.Node())
	if l := layerOf(name, func(l layer) *regexp.Regexp { return l.made }); l != nil {
		return source{layer: *l, made: c}
	}
	for _, result := range p.returns(c) {
		if s := p.clientOf(result, depth+1); s.made.Valid() {
			return s
		}
	}
	fun := c.ChildAt(edge.CallExpr_Fun, -1)
	if sel, ok := fun.Node().(*ast.SelectorExpr); ok && p.info.Selections[sel] != nil && !apart.MatchString(sel.Sel.Name) {
		return p.clientOf(fun.ChildAt(edge.SelectorExpr_X, -1), depth+1) // client.R().SetContext(ctx)
	}
	return source{}
}

// returns returns the first results of the return statements of the function that c calls, if it
// is one of the package.
func (p *pass) returns(c inspector.Cursor) (results []inspector.Cursor) {
	decl := p.function(c.ChildAt(edge.CallExpr_Fun, -1))
	if !decl.Valid() {
		return nil
	}
	for ret := range decl.Preorder((*ast.ReturnStmt)(nil)) {
		if first, ok := ret.FirstChild(); ok && p.functionAround(ret) == decl {
			results = append(results, first)
		}
	}
	return results
}

func layerOf(name string, of func(layer) *regexp.Regexp) *layer {
	for i, l := range layers {
		if name != "" && of(l).MatchString(name) {
			return &layers[i]
		}
	}
	return nil
}

// given returns the values that the package gives to a variable, a field, or a parameter of one
// of its functions, as far as they are in sight.
func (p *pass) given(v *types.Var) (values []inspector.Cursor) {
	for _, set := range p.vars[v].sets {
		if set.Node() == nil || !isIdent(set) {
			continue // a part of the variable
		}
		value := givenAt(set)
		if value.Valid() {
			values = append(values, value)
		}
	}
	if v.IsField() || v.Pkg() != p.Pkg {
		values = append(values, p.givenToField(v)...)
	}
	return append(values, p.arguments(v)...)
}

// origins follows variables to the values that the package gives to them.
func (p *pass) origins(v *types.Var, depth int) (values []inspector.Cursor) {
	for _, value := range p.given(v) {
		value = p.plain(value)
		next, isVar := p.info.Uses[lastName(ast.Unparen(value.Node().(ast.Expr)))].(*types.Var)
		if isVar && depth < 5 {
			values = append(values, p.origins(next, depth+1)...)
		} else {
			values = append(values, value)
		}
	}
	return values
}

// givenToField returns the values of a field in literals and assignments.
func (p *pass) givenToField(v *types.Var) (values []inspector.Cursor) {
	for c := range p.root.Preorder((*ast.KeyValueExpr)(nil), (*ast.AssignStmt)(nil), (*ast.CompositeLit)(nil)) {
		switch n := c.Node().(type) {
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && p.info.Uses[key] == v {
				values = append(values, c.ChildAt(edge.KeyValueExpr_Value, -1))
			}
		case *ast.AssignStmt:
			for i, target := range n.Lhs {
				sel, ok := target.(*ast.SelectorExpr)
				if ok && p.info.Uses[sel.Sel] == v {
					values = append(values, c.ChildAt(edge.AssignStmt_Rhs, min(i, len(n.Rhs)-1)))
				}
			}
		case *ast.CompositeLit:
			t := p.info.TypeOf(n)
			if t == nil {
				continue // of a package that a survey does not read
			}
			s, ok := t.Underlying().(*types.Struct)
			for i := range n.Elts {
				if _, keyed := n.Elts[i].(*ast.KeyValueExpr); ok && !keyed && i < s.NumFields() && s.Field(i) == v {
					values = append(values, c.ChildAt(edge.CompositeLit_Elts, i))
				}
			}
		}
	}
	return values
}

// arguments returns what the package passes for a parameter of a function of it.
func (p *pass) arguments(v *types.Var) (args []inspector.Cursor) {
	for decl := range p.root.Preorder((*ast.FuncDecl)(nil)) {
		if v.Pos() < decl.Node().Pos() || v.Pos() > decl.Node().(*ast.FuncDecl).Type.End() {
			continue
		}
		fn := p.info.Defs[decl.Node().(*ast.FuncDecl).Name]
		params := p.signature(decl).Params()
		for i := range params.Len() {
			for _, c := range p.calls {
				if params.At(i) == v && typeutil.Callee(p.info, c.CallExpr) == fn && i < len(c.Args) {
					args = append(args, c.ChildAt(edge.CallExpr_Args, i))
				}
			}
		}
	}
	return args
}

// clientRetries reports whether a client retries, as far as the package says so: by default, or by a
// number that it sets, and nothing that concerns the client says otherwise.
func (p *pass) clientRetries(s source, sent *call) bool {
	retries := !s.asked
	for c := range p.root.Preorder((*ast.Ident)(nil)) {
		name := objectName(p.info.Uses[c.Node().(*ast.Ident)])
		sets := s.number.MatchString(name)
		if !sets && (s.other == nil || !s.other.MatchString(name)) || !p.concerns(c, s, sent) {
			continue
		}
		n, known := p.numberSet(c)
		if !sets || !known || n == s.off {
			return false
		}
		retries = true
	}
	return retries && p.visible(s.made)
}

// visible reports whether all that decides about a client is in sight: none of the options that
// it is made with comes from elsewhere.
func (p *pass) visible(made inspector.Cursor) bool {
	call, ok := made.Node().(*ast.CallExpr)
	if !ok {
		return true
	}
	for i, arg := range call.Args {
		if options.MatchString(p.info.TypeOf(arg).String()) && !p.inSight(made.ChildAt(edge.CallExpr_Args, i)) {
			return false
		}
	}
	return true
}

// options has the types of values that may say how often a client retries.
var options = regexp.MustCompile(`(Options?|Config|Settings)\b`)

// inSight reports whether an expression is made in the package.
func (p *pass) inSight(c inspector.Cursor) bool {
	value := p.value(c)
	switch n := value.Node().(type) {
	case *ast.CompositeLit, *ast.FuncLit, *ast.BasicLit:
		return true
	case *ast.Ident:
		return p.info.Types[n].IsNil()
	case *ast.CallExpr:
		if p.callee(n) != "" {
			return true
		}
		for i := range n.Args { // of append
			if !p.inSight(value.ChildAt(edge.CallExpr_Args, i)) {
				return false
			}
		}
		return true
	}
	return false
}

// concerns reports whether what sets a number of retries at c may set that of a client: it is
// in what makes the client, or in the call that sends, or it is not known to belong to another
// client or another call.
func (p *pass) concerns(c inspector.Cursor, s source, sent *call) bool {
	if s.made.Contains(c) || sent.Contains(c) || slices.Contains(p.mentions(s.made), c) {
		return true
	}
	if outer := p.chain(s.made); outer.Contains(c) {
		return true // New().SetRetryCount(3)
	}
	if c.ParentEdgeKind() == edge.SelectorExpr_Sel && p.info.Selections[c.Parent().Node().(*ast.SelectorExpr)] != nil {
		if other := p.clientOf(c.Parent().ChildAt(edge.SelectorExpr_X, -1), 0); other.made.Valid() {
			return other.made == s.made
		}
	}
	for e := range c.Enclosing((*ast.CallExpr)(nil), (*ast.CompositeLit)(nil)) {
		name := p.callee(e.Node())
		if lit, ok := e.Node().(*ast.CompositeLit); ok {
			name = typeName(p.info.TypeOf(lit))
		}
		other := s.layer.made.MatchString(name)
		if call, ok := e.Node().(*ast.CallExpr); ok && !other {
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && p.info.Selections[sel] != nil && e != c.Parent().Parent() {
				other = true // an option of another call
			}
		}
		if other {
			return false
		}
	}
	return true
}

// chain returns the last call of c.Method().Method().
func (p *pass) chain(c inspector.Cursor) inspector.Cursor {
	for c.ParentEdgeKind() == edge.SelectorExpr_X && c.Parent().ParentEdgeKind() == edge.CallExpr_Fun {
		c = c.Parent().Parent()
	}
	return c
}

// numberSet returns the number that is set at c: of a field, or by a function.
func (p *pass) numberSet(c inspector.Cursor) (n int64, known bool) {
	if c.ParentEdgeKind() == edge.SelectorExpr_Sel {
		c = c.Parent()
	}
	kind, i := c.ParentEdge()
	switch parent := c.Parent().Node().(type) {
	case *ast.KeyValueExpr:
		if kind == edge.KeyValueExpr_Key {
			return p.number(parent.Value)
		}
	case *ast.AssignStmt:
		if kind == edge.AssignStmt_Lhs && len(parent.Lhs) == len(parent.Rhs) {
			return p.number(parent.Rhs[i])
		}
	case *ast.CallExpr:
		if kind == edge.CallExpr_Fun && len(parent.Args) == 1 {
			return p.number(parent.Args[0])
		}
	}
	return 0, false
}

// number returns a constant integer.
func (p *pass) number(e ast.Expr) (n int64, known bool) {
	value := p.info.Types[e].Value
	if value == nil {
		return 0, false
	}
	return constant.Int64Val(constant.ToInt(value))
}

// reached returns the calls in a function, and in the functions of the package that it calls, if
// follow is true of such a call, or nil.
func (p *pass) reached(fn inspector.Cursor, follow func(fn inspector.Cursor, c *call) bool) []*call {
	return p.reach(fn, follow, map[ast.Node]bool{})
}

func (p *pass) reach(fn inspector.Cursor, follow func(fn inspector.Cursor, c *call) bool, seen map[ast.Node]bool) (calls []*call) {
	if seen[fn.Node()] || len(seen) > 20 {
		return nil
	}
	seen[fn.Node()] = true
	for _, c := range p.calls {
		if !fn.Contains(c.Cursor) {
			continue
		}
		calls = append(calls, c)
		called, ok := typeutil.Callee(p.info, c.CallExpr).(*types.Func)
		if !ok || called.Pkg() != p.Pkg || follow != nil && !follow(fn, c) {
			continue
		}
		if decl := p.function(c.ChildAt(edge.CallExpr_Fun, -1)); decl.Valid() {
			calls = append(calls, p.reach(decl, follow, seen)...)
		}
	}
	return calls
}

// functionAround returns the innermost function around c.
func (p *pass) functionAround(c inspector.Cursor) inspector.Cursor {
	return around(c, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))
}

// fails reports whether a function fails with the error of a call, in a way that Do retries: it
// returns the error, or something else after it has looked at it, and does not mark it.
func (p *pass) fails(fn inspector.Cursor, c *call) bool {
	at := p.chain(c.Cursor)
	if !p.mayReturnError(at) {
		return false
	}
	for at.ParentEdgeKind() == edge.CallExpr_Args && !settles.MatchString(p.callee(at.Parent().Node())) {
		at = at.Parent() // wrap(client.Get(url))
	}
	switch n := at.Parent().Node().(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.AssignStmt:
		id, ok := n.Lhs[len(n.Lhs)-1].(*ast.Ident)
		if !ok || id.Name == "_" || !p.isError(id) {
			return false
		}
		obj := p.info.ObjectOf(id)
		return p.endsWith(fn, at, obj) || p.isResult(at, obj) && len(p.usesAfter(fn, at, obj)) == 0
	}
	return false
}

// isResult reports whether a variable is a named result of a function around c.
func (p *pass) isResult(c inspector.Cursor, v types.Object) bool {
	for fn := range c.Enclosing((*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
		for result := range p.signature(fn).Results().Variables() {
			if result == v {
				return true
			}
		}
	}
	return false
}

// mayReturnError reports whether the last result of a call is an error.
func (p *pass) mayReturnError(c inspector.Cursor) bool {
	t := p.info.TypeOf(c.Node().(ast.Expr))
	if tuple, ok := t.(*types.Tuple); ok && tuple.Len() > 0 {
		t = tuple.At(tuple.Len() - 1).Type()
	}
	return t != nil && types.Implements(t, errorType)
}

// settles has what marks an error so that Do does not retry it.
var settles = names(ours+`\.(Permanent|Unrepeatable)`, cenkalti+`\.Permanent`, avast+`\.Unrecoverable`)

// endsWith reports whether a function returns an error that is set at c, or another one after a
// comparison, and does not mark it as final.
func (p *pass) endsWith(fn, c inspector.Cursor, err types.Object) bool {
	ends := false
	for _, use := range p.usesAfter(fn, c, err) {
		if settles.MatchString(p.callee(use.Parent().Node())) {
			return false
		}
		statement := around(use, (*ast.ReturnStmt)(nil), (*ast.IfStmt)(nil), (*ast.BlockStmt)(nil), (*ast.FuncLit)(nil))
		switch n := statement.Node().(type) {
		case *ast.ReturnStmt:
			ends = true
		case *ast.IfStmt:
			ends = ends || n.Cond.Pos() <= use.Node().Pos() && use.Node().Pos() < n.Cond.End() && p.returnsFailure(statement)
		}
	}
	return ends
}

// usesAfter returns the uses of a variable in a function after c, until it is set again.
func (p *pass) usesAfter(fn, c inspector.Cursor, v types.Object) (uses []inspector.Cursor) {
	end := fn.Node().End()
	for _, set := range p.vars[v].sets {
		if at := set.Node().Pos(); at > c.Node().End() && at < end {
			end = at
		}
	}
	for _, use := range p.vars[v].uses {
		if at := use.Node().Pos(); fn.Contains(use) && at > c.Node().Pos() && at < end {
			uses = append(uses, use)
		}
	}
	return uses
}

// returnsFailure reports whether the body of an if statement returns an error.
func (p *pass) returnsFailure(test inspector.Cursor) bool {
	for ret := range test.ChildAt(edge.IfStmt_Body, -1).Preorder((*ast.ReturnStmt)(nil)) {
		last, given := ret.LastChild()
		if given && !p.info.Types[last.Node().(ast.Expr)].IsNil() && !settles.MatchString(p.callee(last.Node())) {
			return true
		}
	}
	return false
}

func isIdent(c inspector.Cursor) bool {
	_, ok := c.Node().(*ast.Ident)
	return ok
}
