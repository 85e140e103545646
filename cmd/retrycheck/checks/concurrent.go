package checks

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// hedged has the functions that call their operation again while it still runs, and the position
// of the operation.
var hedged = map[string]int{ours + "/retryhedge.Do": 3, ours + "/retryhedge.Open": 3}

// concurrent has the methods of parts of a policy, and of a client, that calls use at the same time,
// and the parts.
var concurrent = map[string]string{
	"TryWithdraw": "Budget", "Deposit": "Budget", "Classify": "Classifier", "Observe": "Limiter", "RoundTrip": "RoundTripper",
}

// reportCopies reports what an operation changes outside itself, although a copy of the operation
// may run at the same time.
func (p *pass) reportCopies(c *call) {
	i, ok := hedged[c.name]
	if !ok || i >= len(c.Args) {
		return
	}
	op := p.function(c.ChildAt(edge.CallExpr_Args, i))
	if !op.Valid() || p.guards(op) || p.hasNoCopies(c) {
		return
	}
	for _, change := range p.changes(op) {
		if v := p.owner(change.target); v != nil && v.Pkg() == p.Pkg && p.survives(v, op) && !p.isOwnElement(change.target, op) {
			p.report(change.Cursor, "a copy of the operation runs at the same time, even after %s has returned, so both write to %s: return it from the operation", shortName(c.name), types.ExprString(change.target))
		}
	}
	for id := range op.Preorder((*ast.Ident)(nil)) {
		v, ok := p.info.Uses[id.Node().(*ast.Ident)].(*types.Var)
		if ok && v.Pkg() == p.Pkg && p.survives(v, op) && p.isFilled(id) {
			p.report(id, "a copy of the operation runs at the same time, even after %s has returned, so both write to %s: return it from the operation", shortName(c.name), v.Name())
		}
	}
}

// hasNoCopies reports whether the Hedge of a call is nil.
func (p *pass) hasNoCopies(c *call) bool { return p.info.Types[c.Args[1]].IsNil() }

// isOwnElement reports whether target is the element of a slice or an array at an index that each
// copy has for itself: a parameter of the operation.
func (p *pass) isOwnElement(target ast.Expr, op inspector.Cursor) bool {
	index, ok := ast.Unparen(target).(*ast.IndexExpr)
	if !ok {
		return false
	}
	if _, isMap := p.info.TypeOf(index.X).Underlying().(*types.Map); isMap {
		return false
	}
	id, ok := index.Index.(*ast.Ident)
	if !ok {
		return false
	}
	params := p.signature(op).Params()
	return params.Len() == 2 && p.info.Uses[id] == params.At(1)
}

// fills has functions that write to what an argument points to.
var fills = names(`encoding/(json|xml|gob|asn1)\.(Unmarshal|Decoder\.Decode)`, `database/sql\.(Row|Rows)\.Scan`, `github\.com/jackc/pgx\.(Row|Rows)\.Scan`, `fmt\.[SF]?scan(f|ln)?`)

// isPointer reports whether an expression is a pointer.
func (p *pass) isPointer(c inspector.Cursor) bool {
	e, ok := c.Node().(ast.Expr)
	if !ok {
		return false
	}
	_, isPointer := p.info.TypeOf(e).Underlying().(*types.Pointer)
	return isPointer
}

// isFilled reports whether the address of a variable, or of a part of it, or a pointer that it is,
// is given to a function that writes to it.
func (p *pass) isFilled(c inspector.Cursor) bool {
	for within[c.ParentEdgeKind()] {
		c = c.Parent()
	}
	if c.ParentEdgeKind() == edge.CallExpr_Args && p.isPointer(c) {
		return fills.MatchString(p.callee(c.Parent().Node()))
	}
	address, ok := c.Parent().Node().(*ast.UnaryExpr)
	if !ok || address.Op != token.AND || c.Parent().ParentEdgeKind() != edge.CallExpr_Args {
		return false
	}
	return fills.MatchString(p.callee(c.Parent().Parent().Node()))
}

// reportStateOfPart reports what a method of a part of a policy, or of a client, changes in its
// receiver without a lock, although calls that run at the same time share the part.
func (p *pass) reportStateOfPart(method inspector.Cursor) {
	decl, ok := method.Node().(*ast.FuncDecl)
	if !ok || decl.Recv == nil || decl.Body == nil {
		return
	}
	part, ok := concurrent[decl.Name.Name]
	recv := p.signature(method).Recv()
	if !ok || !p.isPart(decl.Name.Name, method) || p.guards(method) || p.isTesting(method) || p.Pkg.Name() == "main" && !p.isConcurrent() {
		return
	}
	for _, change := range p.changes(method) {
		if p.owner(change.target) != recv || !p.changesShared(recv, change.target) {
			continue
		}
		if _, isName := ast.Unparen(change.target).(*ast.Ident); isName {
			continue
		}
		p.report(change.Cursor, "calls that run at the same time share this %s, so they race for %s: use a lock or sync/atomic", part, types.ExprString(change.target))
	}
}

// reportStateOfTripper reports what a function that is a RoundTripper changes outside itself
// without a lock.
func (p *pass) reportStateOfTripper(c inspector.Cursor) {
	n, ok := c.Parent().Node().(*ast.CallExpr)
	if !ok || c.ParentEdgeKind() != edge.CallExpr_Args || !p.info.Types[n.Fun].IsType() || !hasMethod(p.info.TypeOf(n), "RoundTrip") {
		return
	}
	if p.guards(c) || p.isTesting(c) || p.Pkg.Name() == "main" && !p.isConcurrent() {
		return
	}
	for _, change := range p.changes(c) {
		v := p.owner(change.target)
		if v != nil && v.Pkg() == p.Pkg && outside(v, c) && (v.Kind() == types.PackageVar || isReturn(p.whole(c).Parent())) {
			p.report(change.Cursor, "requests that are sent at the same time share this RoundTripper, so they race for %s: use a lock or sync/atomic", types.ExprString(change.target))
		}
	}
}

// isPart reports whether a method has the signature of the part of a policy, or of the client of
// one, whose name it has.
func (p *pass) isPart(name string, method inspector.Cursor) bool {
	params := p.signature(method).Params()
	if params.Len() == 0 {
		return false
	}
	first := typeName(params.At(0).Type())
	switch name {
	case "RoundTrip":
		return params.Len() == 1 && first == "net/http.Request"
	case "Classify":
		return params.Len() == 1 && types.Implements(params.At(0).Type(), errorType) && p.signature(method).Results().Len() == 1 &&
			typeName(p.signature(method).Results().At(0).Type()) == ours+".Verdict"
	}
	return strings.HasPrefix(first, ours+".Attempt")
}
