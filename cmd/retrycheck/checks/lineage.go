package checks

import (
	"go/ast"
	"go/token"
	"go/types"
	"math"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// A contextCall is a call that ends with a context: one of a loop, or of a function of the
// package that passes the context on to a loop.
type contextCall struct {
	inspector.Cursor
	ctx  inspector.Cursor
	name string
	loop *call // nil for a function of the package
}

// contextCalls returns the calls that end with a context.
func (p *pass) contextCalls() (all []contextCall) {
	for _, loop := range p.loops {
		if len(loop.Args) > 0 && isContext(p.info.TypeOf(loop.Args[0])) {
			all = append(all, contextCall{loop.Cursor, loop.ChildAt(edge.CallExpr_Args, 0), shortName(loop.name), loop})
		}
	}
	seen := map[types.Object]bool{}
	for i := 0; i < len(all); i++ { // all grows
		decl, isDecl := around(all[i].Cursor, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)).Node().(*ast.FuncDecl)
		if !isDecl || seen[p.info.Defs[decl.Name]] || all[i].ParentEdgeKind() == edge.GoStmt_Call {
			continue
		}
		from := p.lineage(all[i].ctx)
		at := p.contextParameter(p.info.Defs[decl.Name].(*types.Func), from)
		if at < 0 {
			continue
		}
		seen[p.info.Defs[decl.Name]] = true
		for _, c := range p.calls {
			if typeutil.Callee(p.info, c.CallExpr) == p.info.Defs[decl.Name] && at < len(c.Args) {
				all = append(all, contextCall{c.Cursor, c.ChildAt(edge.CallExpr_Args, at), decl.Name.Name, nil})
			}
		}
	}
	return all
}

// contextParameter returns the position of the parameter that a context comes from, or -1.
func (p *pass) contextParameter(fn *types.Func, from lineage) int {
	if !from.known {
		return -1
	}
	params := fn.Signature().Params()
	for i := range params.Len() {
		if from.has(params.At(i)) {
			return i
		}
	}
	return -1
}

// A lineage has what a context comes from: variables, the requests whose contexts they are, and
// the calls that derived it. It is not known if the context, or one that it comes from, may
// never end, or comes from something else.
type lineage struct {
	vars     []types.Object
	requests []inspector.Cursor // calls of Request.Context
	derived  []inspector.Cursor // such as context.WithTimeout(ctx, d)
	test     bool               // t.Context()
	known    bool
}

func (l *lineage) has(v types.Object) bool { return slices.Contains(l.vars, v) }

// What returns a context that ends with its first argument, and what returns one that does not.
var (
	derives   = names(`context\.With(Cancel|Timeout|Deadline)(Cause)?`, `context\.WithValue`, `os/signal\.NotifyContext`, `golang\.org/x/sync/errgroup\.WithContext`, `go\.opentelemetry\.io/otel/.*`)
	cancels   = names(`context\.With(Cancel|Timeout|Deadline)(Cause)?`, `os/signal\.NotifyContext`)
	group     = `golang.org/x/sync/errgroup.WithContext`
	ofTesting = names(`testing\.(common|T|B|F|TB)\.Context`)
)

// lineage returns what the context at c comes from.
func (p *pass) lineage(c inspector.Cursor) lineage {
	l := lineage{known: true}
	p.trace(c, &l)
	return l
}

func (p *pass) trace(c inspector.Cursor, l *lineage) {
	switch n := c.Node().(type) {
	case *ast.ParenExpr:
		p.trace(c.ChildAt(edge.ParenExpr_X, -1), l)
	case *ast.SelectorExpr:
		l.vars = append(l.vars, p.info.Uses[n.Sel])
	case *ast.Ident:
		p.traceVariable(c, n, l)
	case *ast.CallExpr:
		name := p.callee(n)
		switch {
		case derives.MatchString(name) && len(n.Args) > 0 && isContext(p.info.TypeOf(n.Args[0])):
			l.derived = append(l.derived, c)
			if !p.isBackground(n.Args[0]) {
				p.trace(c.ChildAt(edge.CallExpr_Args, 0), l)
			}
		case name == "net/http.Request.Context":
			l.requests = append(l.requests, c)
		case ofTesting.MatchString(name):
			l.test = true
		default:
			l.known = false
		}
	default:
		l.known = false
	}
}

func (p *pass) traceVariable(c inspector.Cursor, id *ast.Ident, l *lineage) {
	v, ok := p.info.Uses[id].(*types.Var)
	if !ok || v.Kind() == types.PackageVar {
		l.known = false
		return
	}
	if l.has(v) {
		return
	}
	l.vars = append(l.vars, v)
	for i, set := range p.vars[v].sets {
		value := givenAt(set)
		if i == 0 && p.isRenewed(v) {
			continue
		}
		if set.ParentEdgeKind() == edge.Field_Names {
			value = p.passed(v, set)
			if !value.Valid() {
				continue // a parameter of a function that others call
			}
		}
		if !value.Valid() {
			l.known = false
			return
		}
		p.trace(value, l)
	}
}

// isRenewed reports whether a variable is context.Background() only until another context is derived
// from it, and set as the variable.
func (p *pass) isRenewed(v *types.Var) bool {
	sets := p.vars[v].sets
	first := givenAt(sets[0])
	if len(sets) < 2 || !first.Valid() || !p.isBackground(first.Node()) {
		return false
	}
	next := givenAt(sets[1])
	if !next.Valid() || !derives.MatchString(p.callee(next.Node())) || block(sets[1]) != block(sets[0]) {
		return false
	}
	id, ok := firstArg(next.Node()).(*ast.Ident)
	return ok && p.info.Uses[id] == v
}

// passed returns what a parameter of a function literal gets: the argument, if the literal is
// called where it stands, or the context of the call whose operation it is.
func (p *pass) passed(v *types.Var, parameter inspector.Cursor) (value inspector.Cursor) {
	fn := around(parameter, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))
	if fn.ParentEdgeKind() == edge.CallExpr_Fun {
		params := p.signature(fn).Params()
		for i := range params.Len() {
			if params.At(i) == v && i < len(fn.Parent().Node().(*ast.CallExpr).Args) {
				return fn.Parent().ChildAt(edge.CallExpr_Args, i)
			}
		}
	}
	if _, isLit := fn.Node().(*ast.FuncLit); !isLit {
		return value
	}
	for _, loop := range p.operations {
		if loop.op == fn && len(loop.Args) > 0 && isContext(p.info.TypeOf(loop.Args[0])) {
			return loop.ChildAt(edge.CallExpr_Args, 0)
		}
	}
	return value
}

// A start is what runs a call later, or at the same time as the code around: a statement, or a
// call such as wg.Go. Its way is go, defer, after (context.AfterFunc) or cleanup.
type start struct {
	inspector.Cursor
	way string
}

var (
	starters = names(`sync\.WaitGroup\.Go`, `golang\.org/x/sync/errgroup\.Group\.(Go|TryGo)`, `time\.AfterFunc`)
	cleanups = names(`testing\.(common|T|B|F|TB)\.Cleanup`)
)

// startOf returns what starts the innermost function around c that is not called where it is
// written.
func (p *pass) startOf(c inspector.Cursor) start {
	if s := startedBy(c); s.way != "" {
		return s
	}
	for fn := range c.Enclosing((*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
		kind, parent := fn.ParentEdgeKind(), fn.Parent()
		isOp := slices.ContainsFunc(p.operations, func(loop *call) bool { return loop.op == fn })
		switch {
		case kind == edge.CallExpr_Fun:
			if s := startedBy(parent); s.way != "" {
				return s
			}
		case kind == edge.CallExpr_Args && p.isStarter(parent.Node()):
			return start{parent, "go"}
		case kind == edge.SendStmt_Value:
			return start{parent, "go"}
		case kind == edge.CallExpr_Args && p.callee(parent.Node()) == "context.AfterFunc":
			return start{parent, "after"}
		case kind == edge.CallExpr_Args && cleanups.MatchString(p.callee(parent.Node())):
			return start{parent, "cleanup"}
		case kind == edge.AssignStmt_Rhs && !isOp:
			return p.startOfVariable(fn)
		case !isOp:
			return start{}
		}
	}
	return start{}
}

// queueing has names of functions that call another one later.
var queueing = names(`(?i)(submit|enqueue|schedule|spawn|async|background)\w*`, `Go`)

// isStarter reports whether a call runs its argument later.
func (p *pass) isStarter(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	id := lastName(ast.Unparen(call.Fun))
	return starters.MatchString(p.callee(call)) || id != nil && queueing.MatchString(id.Name)
}

// startedBy returns the go or defer statement of a call.
func startedBy(c inspector.Cursor) start {
	switch c.ParentEdgeKind() {
	case edge.GoStmt_Call:
		return start{c.Parent(), "go"}
	case edge.DeferStmt_Call:
		return start{c.Parent(), "defer"}
	}
	return start{}
}

// startOfVariable returns what starts a function literal that is the value of a variable.
func (p *pass) startOfVariable(fn inspector.Cursor) start {
	kind, i := fn.ParentEdge()
	assign := fn.Parent().Node().(*ast.AssignStmt)
	if kind != edge.AssignStmt_Rhs || i >= len(assign.Lhs) {
		return start{}
	}
	id, ok := assign.Lhs[i].(*ast.Ident)
	if !ok {
		return start{}
	}
	for _, use := range p.vars[p.info.ObjectOf(id)].uses {
		if use.ParentEdgeKind() == edge.CallExpr_Fun {
			if s := startedBy(use.Parent()); s.way != "" {
				return s
			}
		}
	}
	return start{}
}

// servers has types of parameters of handlers of requests.
var servers = names(`net/http\.ResponseWriter`, `github\.com/gin-gonic/gin\.Context`, `github\.com/labstack/echo\.Context`, `connectrpc\.com/connect\.Request\[.*`)

// isHandler reports whether a function handles requests, and the request ends when it returns.
// withContext is true if its context is that of the request.
func (p *pass) isHandler(fn inspector.Cursor) (is, withContext bool) {
	sig := p.signature(fn)
	for v := range sig.Params().Variables() {
		name := typeName(v.Type())
		if servers.MatchString(name) {
			return true, strings.HasPrefix(name, "connectrpc.com")
		}
	}
	if sig.Recv() == nil {
		return false, false
	}
	s, ok := pointee(sig.Recv().Type()).Underlying().(*types.Struct)
	if !ok {
		return false, false
	}
	for f := range s.Fields() {
		if f.Embedded() && strings.HasPrefix(f.Name(), "Unimplemented") && strings.HasSuffix(f.Name(), "Server") {
			return true, true
		}
	}
	return false, false
}

// endsWithRequest reports whether a context ends with the request that a function around at handles,
// and returns the function.
func (p *pass) endsWithRequest(l lineage, at inspector.Cursor) (handler inspector.Cursor, ends bool) {
	for fn := range at.Enclosing((*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
		is, withContext := p.isHandler(fn)
		if !is {
			continue
		}
		for v := range p.signature(fn).Params().Variables() {
			if withContext && isContext(v.Type()) && l.has(v) || slices.ContainsFunc(l.requests, func(c inspector.Cursor) bool { return p.isContextOf(c, v) }) {
				return fn, true
			}
		}
	}
	return handler, false
}

// isContextOf reports whether a call of Request.Context is of the request that v is or has.
func (p *pass) isContextOf(c inspector.Cursor, v *types.Var) bool {
	sel, ok := ast.Unparen(c.Node().(*ast.CallExpr).Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	from := sel.X
	if call, isCall := from.(*ast.CallExpr); isCall { // c.Request().Context()
		if inner, isSelector := call.Fun.(*ast.SelectorExpr); isSelector {
			from = inner.X
		}
	}
	return p.owner(from) == v && len(p.vars[v].sets) == 1
}

// awaiting has names of what waits for goroutines.
var awaiting = names(`(?i)(wait|join|drain|await)\w*`)

// awaits reports whether a function may wait for what it starts.
func (p *pass) awaits(fn, started inspector.Cursor) bool {
	if p.awaitedAt(fn, started) != never {
		return true
	}
	for c := range fn.Preorder((*ast.UnaryExpr)(nil), (*ast.CallExpr)(nil)) {
		if isDeferred(c) && !started.Contains(c) && p.mayWait(c) {
			return true
		}
	}
	return false
}

const never = token.Pos(math.MaxInt)

// awaitedAt returns the first position behind a statement at which a function may wait for what the
// statement starts, or never.
func (p *pass) awaitedAt(fn, started inspector.Cursor) token.Pos {
	first := never
	for c := range fn.Preorder((*ast.UnaryExpr)(nil), (*ast.SelectStmt)(nil), (*ast.RangeStmt)(nil), (*ast.CallExpr)(nil)) {
		if at := c.Node().Pos(); at > started.Node().End() && at < first && !isDeferred(c) && p.mayWait(c) {
			first = at
		}
	}
	return first
}

// mayWait reports whether a statement or a call may wait for a goroutine.
func (p *pass) mayWait(c inspector.Cursor) bool {
	switch n := c.Node().(type) {
	case *ast.SelectStmt:
		return true
	case *ast.UnaryExpr:
		return n.Op == token.ARROW
	case *ast.RangeStmt:
		t := p.info.TypeOf(n.X)
		if t == nil {
			return false
		}
		_, isChan := t.Underlying().(*types.Chan)
		return isChan
	case *ast.CallExpr:
		id := lastName(ast.Unparen(n.Fun))
		return id != nil && awaiting.MatchString(id.Name) || slices.ContainsFunc(n.Args, p.isSignal)
	}
	return false
}

func isDeferred(c inspector.Cursor) bool {
	_, ok := around(c, (*ast.DeferStmt)(nil), (*ast.FuncDecl)(nil)).Node().(*ast.DeferStmt)
	return ok
}

// isSignal reports whether an expression is a channel or a group by which a function may learn
// that a goroutine has ended.
func (p *pass) isSignal(e ast.Expr) bool {
	t := p.info.TypeOf(e)
	if t == nil || p.info.Types[e].IsType() {
		return false
	}
	_, isChan := t.Underlying().(*types.Chan)
	return isChan || typeName(t) == "sync.WaitGroup" || typeName(t) == "golang.org/x/sync/errgroup.Group"
}
