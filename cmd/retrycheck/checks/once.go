package checks

import (
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// Once reports what an operation of a retry uses although it works only once, so that no
// attempt but the first can succeed.
var Once = analyzer("once", func(p *pass) {
	for _, call := range p.operations {
		if !retriers.MatchString(call.name) {
			continue
		}
		p.reportOnce(call)
		p.reportUsedUp(call)
	}
})

// What runs a command, and what ends a member of a group.
var (
	runs = names(`os/exec\.Cmd\.(Run|Start|Output|CombinedOutput)`)
	done = names(`sync\.WaitGroup\.Done`)
)

// reportUsedUp reports a command that was made outside the operation, a group in which the
// operation counts itself as done, and a connection that was dialed outside.
func (p *pass) reportUsedUp(loop *call) {
	for _, c := range p.calls {
		method, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
		if !ok || !loop.op.Contains(c.Cursor) {
			continue
		}
		at := c.ChildAt(edge.CallExpr_Fun, -1)
		if sel, isSelector := at.Node().(*ast.SelectorExpr); !isSelector || sel != method {
			continue
		}
		from := at.ChildAt(edge.SelectorExpr_X, -1)
		v := p.owner(method.X)
		if v == nil || !p.survives(v, loop.op) || p.sets(loop.op, v) {
			continue
		}
		name := types.ExprString(method.X)
		switch {
		case runs.MatchString(c.name):
			p.report(c.Cursor, "%s runs only once, so every retry fails: make the command in the operation", name)
		case done.MatchString(c.name) && !p.adds(loop.op, v) && p.returnsErrors(loop.op):
			p.report(c.Cursor, "each attempt counts as done in %s, which panics below 0: call Done after %s", name, shortName(loop.name))
		case p.isDialed(from) && (method.Sel.Name == "Write" || method.Sel.Name == "Read"):
			p.report(c.Cursor, "a connection that failed stays broken, and a retry uses %s again: dial in the operation", name)
		}
	}
}

// sets reports whether an operation sets a variable.
func (p *pass) sets(op inspector.Cursor, v *types.Var) bool {
	return slices.ContainsFunc(p.vars[v].sets, op.Contains)
}

// adds reports whether an operation adds to a group.
func (p *pass) adds(op inspector.Cursor, group *types.Var) bool {
	return slices.ContainsFunc(p.vars[group].uses, func(use inspector.Cursor) bool {
		name, _ := field(use)
		return op.Contains(use) && name == "Add"
	})
}

// isDialed reports whether c is a connection of the function around, other than one of
// datagrams.
func (p *pass) isDialed(c inspector.Cursor) bool {
	dial, ok := p.value(c).Node().(*ast.CallExpr)
	if !ok || !strings.HasPrefix(p.callee(dial), "net.Dial") && !strings.HasPrefix(p.callee(dial), "crypto/tls.Dial") {
		return false
	}
	for _, arg := range dial.Args {
		value := p.info.Types[arg].Value
		if value == nil || value.Kind() != constant.String {
			continue
		}
		return strings.HasPrefix(constant.StringVal(value), "tcp") || constant.StringVal(value) == "unix"
	}
	return false
}

// returnsErrors reports whether an operation may fail.
func (p *pass) returnsErrors(op inspector.Cursor) bool {
	for ret := range op.Preorder((*ast.ReturnStmt)(nil)) {
		last, given := ret.LastChild()
		if !given || !p.info.Types[last.Node().(ast.Expr)].IsNil() {
			return true
		}
	}
	return false
}

// reportOnce reports a sync.Once whose function may fail: no attempt but the first calls it.
func (p *pass) reportOnce(loop *call) {
	for _, c := range p.calls {
		if !loop.op.Contains(c.Cursor) || c.name != "sync.Once.Do" {
			continue
		}
		once, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
		if !ok {
			continue
		}
		v := p.owner(once.X)
		if fn := p.function(c.ChildAt(edge.CallExpr_Args, 0)); v != nil && p.survives(v, loop.op) && fn.Valid() && p.setsError(fn) {
			p.report(c.Cursor, "%s has run its function in the first attempt, so a retry gets the first failure again: call the function in each attempt", types.ExprString(once.X))
		}
	}
}

// setsError reports whether a function sets an error outside of it.
func (p *pass) setsError(fn inspector.Cursor) bool {
	for c := range fn.Preorder((*ast.AssignStmt)(nil)) {
		for _, target := range c.Node().(*ast.AssignStmt).Lhs {
			v := p.owner(target)
			if v != nil && outside(v, fn) && types.Implements(p.info.TypeOf(target), errorType) {
				return true
			}
		}
	}
	return false
}
