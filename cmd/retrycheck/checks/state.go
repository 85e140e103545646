package checks

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// callbacks has the fields with functions that all calls under a policy, or all requests of a
// client, call.
var callbacks = names(ours+`\.(OnAttempt|OnRetry|OnGiveUp|Rand)`, ours+`/retryhedge\.OnEvent`,
	ours+`/retryhttp\.(Check|MayRepeat|IdempotencyKey|Prepare|OnOuterRetry)`)

// reportStateOfCallbacks reports what hooks and classifiers change without a lock.
func (p *pass) reportStateOfCallbacks() {
	for c := range p.root.Preorder((*ast.KeyValueExpr)(nil)) {
		if callbacks.MatchString(p.field(c)) {
			p.reportStateOfCallback(c, c.ChildAt(edge.KeyValueExpr_Value, -1))
		}
	}
	for c := range p.root.Preorder((*ast.AssignStmt)(nil)) {
		n := c.Node().(*ast.AssignStmt)
		for i, left := range n.Lhs {
			sel, ok := left.(*ast.SelectorExpr)
			if ok && len(n.Lhs) == len(n.Rhs) && callbacks.MatchString(objectName(p.info.Uses[sel.Sel])) {
				p.reportStateOfCallback(c.ChildAt(edge.AssignStmt_Lhs, i), c.ChildAt(edge.AssignStmt_Rhs, i))
			}
		}
	}
	for c := range p.root.Preorder((*ast.CallExpr)(nil)) {
		n := c.Node().(*ast.CallExpr)
		converts := p.info.Types[n.Fun].IsType() && typeName(p.info.TypeOf(n)) == ours+".ClassifierFunc"
		if (converts || p.callee(n) == ours+".OnlyIf") && len(n.Args) == 1 {
			p.reportStateOfCallback(c, c.ChildAt(edge.CallExpr_Args, 0))
		}
	}
}

// reportStateOfCallback reports what the function of a hook or a classifier changes, if calls
// that run at the same time share it. The function becomes a part of a policy at c.
func (p *pass) reportStateOfCallback(c, value inspector.Cursor) {
	fn := p.function(value)
	if !fn.Valid() || p.guards(fn) {
		return
	}
	for _, change := range p.changes(fn) {
		if p.isShared(change, fn, c) {
			p.report(change.Cursor, "calls that run at the same time call this %s, so they race for %s: use a lock or sync/atomic", p.kindOfCallback(c), types.ExprString(change.target))
		}
	}
}

// kindOfCallback names what a function is a part of at c.
func (p *pass) kindOfCallback(c inspector.Cursor) string {
	_, isCall := c.Node().(*ast.CallExpr)
	switch {
	case isCall:
		return "classifier"
	case p.field(c) == ours+".Rand":
		return "source of random numbers"
	case strings.HasPrefix(p.field(c), ours+"/retryhttp."):
		return "function"
	}
	return "hook"
}

// A change is a statement or a call that changes target.
type change struct {
	inspector.Cursor
	target ast.Expr
}

// mutators has methods that change their receiver and must not be called at the same time.
var mutators = names(`bytes\.Buffer\.(Write\w*|Reset|Read\w*)`, `strings\.Builder\.(Write\w*|Reset)`, `container/list\.List\.(Push|Insert|Remove|Move)\w*`,
	`math/rand(/v2)?\.Rand\.\w+`)

// changes returns what a function changes by itself, or by a method that it calls.
func (p *pass) changes(fn inspector.Cursor) (all []change) {
	for c := range fn.Preorder((*ast.AssignStmt)(nil), (*ast.IncDecStmt)(nil), (*ast.CallExpr)(nil)) {
		if p.isHandedOn(c, fn) {
			continue
		}
		call, ok := c.Node().(*ast.CallExpr)
		if !ok {
			for _, target := range targets(c.Node()) {
				all = append(all, change{c, target})
			}
			continue
		}
		name := p.callee(call)
		sel, isSelector := call.Fun.(*ast.SelectorExpr)
		switch {
		case isBuiltin(p.info, call, "delete"), isBuiltin(p.info, call, "clear"):
			all = append(all, change{c, call.Args[0]})
		case strings.HasPrefix(name, "fmt.Fprint") && inBuffer.MatchString(typeName(p.info.TypeOf(call.Args[0]))):
			all = append(all, change{c, p.plain(c.ChildAt(edge.CallExpr_Args, 0)).Node().(ast.Expr)})
		case isSelector && mutators.MatchString(name):
			all = append(all, change{c, sel.X})
		case isSelector:
			all = append(all, p.changesOfMethod(c, sel)...)
		}
	}
	return all
}

var inBuffer = names(`bytes\.Buffer`, `strings\.Builder`)

func isBuiltin(info *types.Info, call *ast.CallExpr, name string) bool {
	id, ok := call.Fun.(*ast.Ident)
	return ok && id.Name == name && info.Types[call.Fun].IsBuiltin()
}

// isHandedOn reports whether c is in a function literal within fn that another function gets,
// which may call it under a lock.
func (p *pass) isHandedOn(c, fn inspector.Cursor) bool {
	for lit := range c.Enclosing((*ast.FuncLit)(nil)) {
		if lit == fn || !fn.Contains(lit) {
			return false
		}
		if lit.ParentEdgeKind() == edge.CallExpr_Args {
			return true
		}
	}
	return false
}

// changesOfMethod returns what a method of the package changes in its receiver, at the call.
func (p *pass) changesOfMethod(c inspector.Cursor, sel *ast.SelectorExpr) (all []change) {
	method := p.function(c.ChildAt(edge.CallExpr_Fun, -1))
	if !method.Valid() || p.guards(method) || p.signature(method).Recv() == nil {
		return nil
	}
	for at := range method.Preorder((*ast.AssignStmt)(nil), (*ast.IncDecStmt)(nil)) {
		for _, target := range targets(at.Node()) {
			_, isName := ast.Unparen(target).(*ast.Ident)
			v := p.owner(target)
			if v != nil && v == p.signature(method).Recv() && p.changesShared(v, target) && !isName {
				all = append(all, change{c, sel.X})
			}
		}
	}
	return all
}

// changesShared reports whether a change of target, which v has, changes what copies of v have,
// too: a field of a pointer, or an element of a map or a slice.
func (p *pass) changesShared(v *types.Var, target ast.Expr) bool {
	if _, isPointer := v.Type().Underlying().(*types.Pointer); isPointer {
		return true
	}
	for e := ast.Unparen(target); ; {
		switch n := e.(type) {
		case *ast.IndexExpr:
			switch p.info.TypeOf(n.X).Underlying().(type) {
			case *types.Map, *types.Slice:
				return true
			}
			e = ast.Unparen(n.X)
		case *ast.SelectorExpr:
			if _, isPointer := p.info.TypeOf(n.X).Underlying().(*types.Pointer); isPointer {
				return true
			}
			e = ast.Unparen(n.X)
		default:
			return false
		}
	}
}

// guards reports whether a function takes a lock, or sends to or receives from a channel, which
// may serve as one.
func (p *pass) guards(fn inspector.Cursor) bool {
	if p.locks(fn) {
		return true
	}
	for c := range fn.Preorder((*ast.SendStmt)(nil), (*ast.UnaryExpr)(nil)) {
		if n, ok := c.Node().(*ast.UnaryExpr); !ok || n.Op == token.ARROW {
			return true
		}
	}
	return false
}

// isShared reports whether calls that run at the same time share what a callback changes. The
// callback becomes a part of a policy at c.
func (p *pass) isShared(change change, callback, c inspector.Cursor) bool {
	v := p.owner(change.target)
	if v == nil || v.Pkg() != p.Pkg {
		return false
	}
	if !outside(v, callback) { // the receiver, if the callback is a method
		if p.signature(callback).Recv() != v || !p.changesShared(v, change.target) {
			return false
		}
	}
	if p.isAnswering(c, v) {
		return true
	}
	if p.Pkg.Name() == "main" && !p.isConcurrent() {
		return false
	}
	if decl := around(c, (*ast.FuncDecl)(nil)); decl == p.root {
		return true
	} else if p.isParameter(v) && p.signature(decl).Recv() != v && outside(v, callback) && !p.isCalled(decl) {
		return false // the caller knows what it is for
	}
	inFunction := slices.ContainsFunc(p.loops, func(loop *call) bool { return around(c, (*ast.FuncDecl)(nil)).Contains(loop.Cursor) })
	return (inFunction || p.leavesFunction(c, 4)) && !p.isForOneCall(c, 2) && !p.callsUnderLock(v)
}

// isAnswering reports whether c is in a handler of HTTP requests, which run at the same time, and
// v outlives a request.
func (p *pass) isAnswering(c inspector.Cursor, v *types.Var) bool {
	for fn := range c.Enclosing((*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
		for param := range p.signature(fn).Params().Variables() {
			if typeName(param.Type()) == "net/http.ResponseWriter" && p.survives(v, fn) {
				return true
			}
		}
	}
	return false
}

// isConcurrent reports whether the package starts goroutines or serves requests.
func (p *pass) isConcurrent() bool {
	for range p.root.Preorder((*ast.GoStmt)(nil)) {
		return true
	}
	return slices.ContainsFunc(p.calls, func(c *call) bool {
		return strings.HasSuffix(c.name, ".Go") || strings.HasPrefix(c.name, "net/http.ListenAndServe") || strings.HasPrefix(c.name, "net/http.Server.")
	})
}

// isCalled reports whether the package calls a function that it declares.
func (p *pass) isCalled(decl inspector.Cursor) bool { return len(p.callsOf(decl)) > 0 }

// callsOf returns the calls of a function that the package declares.
func (p *pass) callsOf(decl inspector.Cursor) (all []*call) {
	fn := p.info.Defs[decl.Node().(*ast.FuncDecl).Name]
	for _, c := range p.calls {
		if typeutil.Callee(p.info, c.CallExpr) == fn && !p.inTest(c.Cursor) {
			all = append(all, c)
		}
	}
	return all
}

// leavesFunction reports whether what has c as a part is returned by the function around c, or
// stored in what was there before.
func (p *pass) leavesFunction(c inspector.Cursor, depth int) bool {
	c = p.whole(c)
	if depth == 0 {
		return false
	}
	kind, i := c.ParentEdge()
	switch n := c.Parent().Node().(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.AssignStmt:
		if kind == edge.AssignStmt_Lhs { // the function of c.hooks.OnRetry = f
			return p.ownerLeaves(n.Lhs[i], c, depth)
		}
		return i < len(n.Lhs) && p.ownerLeaves(n.Lhs[i], c, depth)
	case *ast.ValueSpec:
		return i < len(n.Names) && p.ownerLeaves(n.Names[i], c, depth)
	}
	return false
}

// ownerLeaves reports whether the variable that target is a part of is of the package, is a
// parameter, or leaves the function around c.
func (p *pass) ownerLeaves(target ast.Expr, c inspector.Cursor, depth int) bool {
	v := p.owner(target)
	if v == nil {
		return false
	}
	if v.Parent() == p.Pkg.Scope() {
		return true
	}
	_, isName := target.(*ast.Ident)
	_, isPointer := v.Type().Underlying().(*types.Pointer)
	if !isName && isPointer && p.isParameter(v) {
		return true
	}
	return slices.ContainsFunc(p.vars[v].uses, func(use inspector.Cursor) bool {
		return use.Node().Pos() > c.Node().Pos() && p.leavesFunction(use, depth-1)
	})
}

// whole returns what c is a part of, as far as the same expression says. A function that gets a
// policy and no context, such as NewClient, returns what has the policy.
func (p *pass) whole(c inspector.Cursor) inspector.Cursor {
	for {
		if parts[c.ParentEdgeKind()] {
			c = c.Parent()
			continue
		}
		call, ok := c.Parent().Node().(*ast.CallExpr)
		if !ok || c.ParentEdgeKind() != edge.CallExpr_Args || slices.ContainsFunc(call.Args, func(e ast.Expr) bool { return isContext(p.info.TypeOf(e)) }) {
			return c
		}
		c = c.Parent()
	}
}

// isForOneCall reports whether what is made at c may serve a single call of Do: in the same
// function, or in one that calls it for a variable of its own.
func (p *pass) isForOneCall(c inspector.Cursor, depth int) bool {
	decl := around(c, (*ast.FuncDecl)(nil))
	if decl == p.root {
		return false
	}
	if slices.ContainsFunc(p.loops, func(loop *call) bool { return decl.Contains(loop.Cursor) && !p.runsOften(loop, c) }) {
		return true
	}
	if decl.Node().(*ast.FuncDecl).Recv == nil && decl.Node().(*ast.FuncDecl).Name.Name == "main" {
		return false
	}
	return depth > 0 && slices.ContainsFunc(p.callsOf(decl), func(made *call) bool {
		return p.isForOneCall(made.Cursor, depth-1) || around(made.Cursor, (*ast.FuncDecl)(nil)) != p.root && !p.leavesFunction(made.Cursor, 4) && !p.inMain(made.Cursor)
	})
}

// inMain reports whether c is in the function main or init.
func (p *pass) inMain(c inspector.Cursor) bool {
	decl, ok := around(c, (*ast.FuncDecl)(nil)).Node().(*ast.FuncDecl)
	return ok && decl.Recv == nil && (decl.Name.Name == "main" || decl.Name.Name == "init")
}

// runsOften reports whether a call of Do is in a function literal that is returned, kept, or
// started in a loop, and that does not contain c.
func (p *pass) runsOften(loop *call, c inspector.Cursor) bool {
	for lit := range loop.Enclosing((*ast.FuncLit)(nil)) {
		if lit.Contains(c) {
			return false
		}
		for param := range p.signature(lit).Params().Variables() {
			if typeName(param.Type()) == "net/http.ResponseWriter" {
				return true
			}
		}
		started := lit.Parent().Parent().Node()
		_, isGo := started.(*ast.GoStmt)
		isGo = isGo || strings.HasSuffix(p.callee(lit.Parent().Node()), ".Go")
		again := around(lit, (*ast.ForStmt)(nil), (*ast.RangeStmt)(nil))
		if isGo && again != p.root && !again.Contains(c) {
			return true
		}
		switch lit.ParentEdgeKind() {
		case edge.ReturnStmt_Results, edge.KeyValueExpr_Value:
			return true
		}
	}
	return false
}

// callsUnderLock reports whether the methods of the type of v that call Do take a lock.
func (p *pass) callsUnderLock(v *types.Var) bool {
	calls := 0
	for _, loop := range p.loops {
		decl := around(loop.Cursor, (*ast.FuncDecl)(nil))
		if decl == p.root {
			continue
		}
		recv := p.signature(decl).Recv()
		if recv == nil || typeName(recv.Type()) != typeName(v.Type()) {
			continue
		}
		if !p.locks(decl) {
			return false
		}
		calls++
	}
	return calls > 0
}
