package checks

import (
	"go/ast"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

const waitForReady = "google.golang.org/grpc.WaitForReady"

// reportEndlessReady reports a call with WaitForReady whose first attempt waits for a connection
// without an end, because neither its context nor the policies of the package have a time limit.
func (p *pass) reportEndlessReady(c *call) {
	if c.name != waitForReady || c.ParentEdgeKind() != edge.CallExpr_Args || len(c.Args) != 1 || !p.isTrue(c.Args[0]) {
		return
	}
	sent := c.Parent().Node().(*ast.CallExpr)
	if !isContext(p.info.TypeOf(sent.Args[0])) || !p.neverEnds(c.Parent().ChildAt(edge.CallExpr_Args, 0)) {
		return
	}
	policies := false
	for _, other := range p.calls {
		policies = policies || strings.HasPrefix(other.name, ours+"/retrygrpc.")
	}
	if policies && !p.usesName("AttemptTimeout") && !p.usesName("FirstByteTimeout") {
		p.report(c.Cursor, "an attempt that waits for a connection has no time limit, which MaxElapsed does not end: set AttemptTimeout, or use a context with a deadline")
	}
}

func (p *pass) isTrue(e ast.Expr) bool {
	value := p.info.Types[e].Value
	return value != nil && value.ExactString() == "true"
}

// neverEnds reports whether a context has no deadline, and its parents neither.
func (p *pass) neverEnds(ctx inspector.Cursor) bool {
	made := p.value(ctx)
	if id, ok := made.Node().(*ast.Ident); ok && len(p.vars[p.info.ObjectOf(id)].sets) == 1 {
		made = givenAt(p.vars[p.info.ObjectOf(id)].sets[0])
	}
	if !made.Valid() {
		return false
	}
	if p.isBackground(made.Node()) {
		return true
	}
	parent, ok := made.Node().(*ast.CallExpr)
	inherits := ok && (p.callee(parent) == "context.WithCancel" || p.callee(parent) == "context.WithValue")
	return inherits && p.neverEnds(made.ChildAt(edge.CallExpr_Args, 0))
}

// usesName reports whether the package uses a name.
func (p *pass) usesName(name string) bool {
	for id := range p.root.Preorder((*ast.Ident)(nil)) {
		if id.Node().(*ast.Ident).Name == name {
			return true
		}
	}
	return false
}
