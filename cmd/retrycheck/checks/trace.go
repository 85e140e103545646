package checks

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// around returns the innermost of some kinds of nodes around c, or the root, which has no node.
func around(c inspector.Cursor, kinds ...ast.Node) inspector.Cursor {
	for e := range c.Enclosing(kinds...) {
		return e
	}
	return c.Inspector().Root()
}

// block returns the innermost function or loop around c.
func block(c inspector.Cursor) inspector.Cursor {
	return around(c, (*ast.FuncDecl)(nil), (*ast.FuncLit)(nil), (*ast.ForStmt)(nil), (*ast.RangeStmt)(nil))
}

// outside reports whether a variable is declared outside an operation.
func outside(v types.Object, op inspector.Cursor) bool {
	return v.Pos() < op.Node().Pos() || v.Pos() >= op.Node().End()
}

// survives reports whether what a variable has is there in the next attempt: it is declared
// outside the operation, or is the receiver of the method that is the operation.
func (p *pass) survives(v *types.Var, op inspector.Cursor) bool {
	if outside(v, op) {
		return true
	}
	recv := p.signature(op).Recv()
	if recv != v {
		return false
	}
	_, isPointer := v.Type().(*types.Pointer)
	return isPointer
}

// owner returns the variable that has x: s of s.list and of s.counts[key].
func (p *pass) owner(x ast.Expr) *types.Var {
	switch n := ast.Unparen(x).(type) {
	case *ast.Ident:
		v, _ := p.info.ObjectOf(n).(*types.Var)
		return v
	case *ast.SelectorExpr:
		if _, isField := p.info.Selections[n]; isField {
			return p.owner(n.X)
		}
		v, _ := p.info.Uses[n.Sel].(*types.Var) // of another package
		return v
	case *ast.IndexExpr:
		return p.owner(n.X)
	case *ast.StarExpr:
		return p.owner(n.X)
	}
	return nil
}

// field returns the selector of a field or method of a variable at c, and what is done with it.
func field(c inspector.Cursor) (name string, parent inspector.Cursor) {
	if sel, ok := c.Parent().Node().(*ast.SelectorExpr); ok {
		return sel.Sel.Name, c.Parent().Parent()
	}
	return "", c.Parent()
}

// field returns the name of the field that a composite literal sets at c.
func (p *pass) field(c inspector.Cursor) string {
	if kv, ok := c.Node().(*ast.KeyValueExpr); ok {
		if id, ok := kv.Key.(*ast.Ident); ok {
			return objectName(p.info.Uses[id])
		}
	}
	return ""
}

// plain returns c without &, and req for req.WithContext(ctx).
func (x *indexed) plain(c inspector.Cursor) inspector.Cursor {
	switch n := c.Node().(type) {
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			return x.plain(c.ChildAt(edge.UnaryExpr_X, -1))
		}
	case *ast.CallExpr:
		if copies.MatchString(x.callee(n)) {
			return x.plain(c.ChildAt(edge.CallExpr_Fun, -1).ChildAt(edge.SelectorExpr_X, -1))
		}
	}
	return c
}

// value follows variables to the values that they are declared with.
func (x *indexed) value(c inspector.Cursor) inspector.Cursor {
	c = x.plain(c)
	if id, ok := c.Node().(*ast.Ident); ok {
		if def := x.declared(x.info.ObjectOf(id)); def.Valid() {
			return x.value(def)
		}
	}
	return c
}

// mentions returns the identifiers in c and in the values of the variables among them.
func (x *indexed) mentions(c inspector.Cursor) (ids []inspector.Cursor) {
	for id := range c.Preorder((*ast.Ident)(nil)) {
		ids = append(ids, id)
		if def := x.declared(x.info.Uses[id.Node().(*ast.Ident)]); def.Valid() && !def.Contains(c) {
			ids = append(ids, x.mentions(def)...)
		}
	}
	return ids
}

// latest returns the name of the function whose result a variable has at c, as far as
// latestValue knows it.
func (p *pass) latest(c inspector.Cursor) string {
	if value := p.latestValue(c); value.Valid() {
		return p.callee(value.Node())
	}
	return ""
}

// latestValue returns what a variable was set to before c, if the statement that did so is in a
// block around c. Of v, err := f(), it is the call.
func (p *pass) latestValue(c inspector.Cursor) (value inspector.Cursor) {
	id, ok := c.Node().(*ast.Ident)
	if !ok {
		return value
	}
	var last inspector.Cursor
	for _, set := range p.vars[p.info.ObjectOf(id)].sets {
		if _, isAssign := set.Parent().Node().(*ast.AssignStmt); isAssign && set.Parent().Contains(c) { // of err = f(err), the argument has what err had before
			continue
		}
		if set.Node().Pos() < id.Pos() && (!last.Valid() || last.Node().Pos() < set.Node().Pos()) {
			last = set
		}
	}
	if !last.Valid() {
		return value
	}
	if in := around(last, (*ast.BlockStmt)(nil), (*ast.CaseClause)(nil)); in == p.root || !in.Contains(c) {
		return value
	}
	if assign, ok := last.Parent().Node().(*ast.AssignStmt); ok && len(assign.Rhs) == 1 {
		return last.Parent().ChildAt(edge.AssignStmt_Rhs, 0)
	}
	return valueSet(last)
}

// parts arethe edges from a value to what it is a part of, or what a method makes of it.
var parts = map[edge.Kind]bool{edge.CompositeLit_Elts: true, edge.KeyValueExpr_Value: true, edge.UnaryExpr_X: true,
	edge.ParenExpr_X: true, edge.SelectorExpr_X: true, edge.CallExpr_Fun: true}

// destination returns the expression that c ends up in: what it is a part of, or, if that is
// assigned to a variable that is used once, in the same function or loop, that use.
func (p *pass) destination(c inspector.Cursor) inspector.Cursor {
	for parts[c.ParentEdgeKind()] {
		c = c.Parent()
	}
	for v := range p.vars {
		for _, set := range p.vars[v].sets {
			if uses := p.vars[v].uses; valueSet(set) == c && len(uses) == 1 && block(uses[0]) == block(c) {
				return p.destination(uses[0])
			}
		}
	}
	return c
}

// isParameter reports whether a variable is a parameter, whose value comes from the caller.
func (p *pass) isParameter(v types.Object) bool {
	return slices.ContainsFunc(p.vars[v].sets, func(set inspector.Cursor) bool {
		return set.ParentEdgeKind() == edge.Field_Names
	})
}

// retries reports whether the function around c calls an operation with retries.
func (p *pass) retries(c inspector.Cursor) bool {
	fn := around(c, (*ast.FuncDecl)(nil))
	if _, ok := fn.Node().(*ast.FuncDecl); !ok {
		return false // a variable of the package
	}
	return slices.ContainsFunc(p.loops, func(call *call) bool { return fn.Contains(call.Cursor) })
}

// hasField reports whether a policy has a field such as AttemptTimeout, as far as it is in sight.
func (p *pass) hasField(policy inspector.Cursor, field string) bool {
	return policy.Valid() && slices.ContainsFunc(p.mentions(policy), func(id inspector.Cursor) bool {
		return objectName(p.info.Uses[id.Node().(*ast.Ident)]) == ours+"."+field
	})
}

// decides reports whether a condition in an operation decides that c is executed, so that it may
// differ from attempt to attempt. Tests of an error for nil do not count: they say only whether
// an attempt fails.
func (p *pass) decides(op, c inspector.Cursor) bool {
	for e := range c.Enclosing((*ast.IfStmt)(nil), (*ast.CaseClause)(nil), (*ast.CommClause)(nil)) {
		if op.Contains(e) && !p.testsFailure(e) {
			return true
		}
	}
	for e := range op.Preorder((*ast.IfStmt)(nil)) { // if done { return nil }
		if e.Node().End() < c.Node().Pos() && !p.testsFailure(e) && p.leavesWell(e) {
			return true
		}
	}
	return false
}

// testsFailure reports whether the condition of an if statement is err != nil or err == nil.
func (p *pass) testsFailure(c inspector.Cursor) bool {
	n, ok := c.Node().(*ast.IfStmt)
	return ok && (p.isFailure(n.Cond) || p.isSuccess(n.Cond))
}

// leavesWell reports whether an if statement ends the function without an error that it makes, or
// goes on with the next iteration of a loop.
func (p *pass) leavesWell(c inspector.Cursor) bool {
	list := c.Node().(*ast.IfStmt).Body.List
	if len(list) == 0 {
		return false
	}
	switch last := list[len(list)-1].(type) {
	case *ast.BranchStmt:
		return last.Tok == token.CONTINUE
	case *ast.ReturnStmt:
		if len(last.Results) == 0 {
			return false
		}
		result := last.Results[len(last.Results)-1]
		_, isCall := result.(*ast.CallExpr)
		made := plainErrors.MatchString(p.callee(result)) || markers.MatchString(p.callee(result))
		return p.info.Types[result].IsNil() || isCall && !made
	}
	return false
}

// retriesItself reports whether the client that sends a request has a Transport of retryhttp.
func (p *pass) retriesItself(c *call) bool {
	client, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	v := p.info.Uses[lastName(client.X)]
	values := slices.Clone(p.vars[v].values)
	for kv := range p.root.Preorder((*ast.KeyValueExpr)(nil)) { // a field of a struct
		if key, ok := kv.Node().(*ast.KeyValueExpr).Key.(*ast.Ident); ok && v != nil && p.info.Uses[key] == v {
			values = append(values, kv.ChildAt(edge.KeyValueExpr_Value, -1))
		}
	}
	return slices.ContainsFunc(values, func(value inspector.Cursor) bool {
		if !value.Valid() {
			return false
		}
		value = p.value(value)
		if p.callee(value.Node()) == newClient {
			return true
		}
		for lit := range value.Preorder((*ast.CompositeLit)(nil)) {
			if typeName(p.info.TypeOf(lit.Node().(ast.Expr))) == transport {
				return true
			}
		}
		return false
	})
}

// mayFail reports whether an operation may return an error after the statement c, or in a
// later round of the loop, or of the function that is called in it, around c.
func (p *pass) mayFail(op, c inspector.Cursor) bool {
	again := block(c)
	for ret := range op.Preorder((*ast.ReturnStmt)(nil)) {
		last, given := ret.LastChild()
		fails := !given || !p.info.Types[last.Node().(ast.Expr)].IsNil() && !final.MatchString(p.callee(last.Node()))
		if fails && (ret.Node().End() > c.Node().End() || again != op && again.Contains(ret)) {
			return true
		}
	}
	return false
}

// outer returns the first use in c of a variable that is declared outside c and matches.
func (x *indexed) outer(c inspector.Cursor, matches func(v *types.Var) bool) (*types.Var, inspector.Cursor) {
	for id := range c.Preorder((*ast.Ident)(nil)) {
		v, ok := x.info.Uses[id.Node().(*ast.Ident)].(*types.Var)
		if ok && (v.Pos() < c.Node().Pos() || v.Pos() >= c.Node().End()) && matches(v) {
			return v, id
		}
	}
	return nil, inspector.Cursor{}
}

// contextAround returns the context parameter of the innermost function around c that has
// one.
func (x *indexed) contextAround(c inspector.Cursor) *types.Var {
	return x.parameterAround(c, func(v *types.Var) bool { return isContext(v.Type()) })
}

// contextToPass names the context that the functions around c have, as a parameter or in the
// request that they handle, or is empty.
func (x *indexed) contextToPass(c inspector.Cursor) string {
	v := x.parameterAround(c, func(v *types.Var) bool {
		return isContext(v.Type()) || typeName(v.Type()) == "net/http.Request"
	})
	switch {
	case v == nil:
		return ""
	case isContext(v.Type()):
		return v.Name()
	}
	return v.Name() + ".Context()"
}

// parameterAround returns the parameter that matches of the innermost function around c that
// has one. A parameter of a function around a literal counts only if the literal is called
// there or passed on: what go and defer start may outlive it on purpose.
func (x *indexed) parameterAround(c inspector.Cursor, matches func(*types.Var) bool) *types.Var {
	for e := range c.Enclosing((*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
		for v := range x.signature(e).Params().Variables() {
			if v.Name() != "_" && v.Name() != "" && matches(v) {
				return v
			}
		}
		kind, started := e.ParentEdgeKind(), e.Parent().ParentEdgeKind()
		if kind != edge.CallExpr_Args && kind != edge.CallExpr_Fun ||
			kind == edge.CallExpr_Fun && (started == edge.GoStmt_Call || started == edge.DeferStmt_Call) {
			return nil
		}
	}
	return nil
}

// lastNamereturns the last identifier of a name such as io.EOF, or nil.
func lastName(e ast.Expr) *ast.Ident {
	if sel, ok := e.(*ast.SelectorExpr); ok {
		return sel.Sel
	}
	id, _ := e.(*ast.Ident)
	return id
}

// isFailure reports whether a condition is err != nil.
func (p *pass) isFailure(e ast.Expr) bool {
	test, ok := e.(*ast.BinaryExpr)
	return ok && test.Op == token.NEQ && p.info.Types[test.Y].IsNil() && p.isError(test.X)
}

// isSuccess reports whether a condition is err == nil.
func (p *pass) isSuccess(e ast.Expr) bool {
	test, ok := e.(*ast.BinaryExpr)
	return ok && test.Op == token.EQL && p.info.Types[test.Y].IsNil() && p.isError(test.X)
}

var errorType = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)

// copies has methods that copy a request, but share its body.
var copies = names(`net/http\.Request\.(WithContext|Clone)`)

func hasMethod(t types.Type, name string) bool {
	m, _, _ := types.LookupFieldOrMethod(t, true, nil, name)
	return m != nil
}

// plainErrors makes errors of a text.
var plainErrors = names(`errors\.New`, `fmt\.Errorf`)

var doers = names(ours + `\.(Do|DoValue)`)

var final = names(ours+`\.Permanent`, cenkalti+`\.Permanent`, avast+`\.Unrecoverable`)

// sends has what sends a request with a client.
var sends = names(`net/http\.Client\.(Do|Get|Head|Post|PostForm)`, ours+`/retryhttp\.Read`)

// What makes a Transport.
const (
	transport = ours + "/retryhttp.Transport"
	newClient = ours + "/retryhttp.NewClient"
)
