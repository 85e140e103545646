package checks

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// literals returns the composite literals that an expression may stand for: those that its
// variable or field is declared with, set to, or gets in a literal of its struct, and those that
// a function of the package returns.
func (p *pass) literals(c inspector.Cursor, depth int) (all []inspector.Cursor) {
	c = p.plain(c)
	if depth == 0 || !c.Valid() {
		return nil
	}
	switch n := c.Node().(type) {
	case *ast.CompositeLit:
		return []inspector.Cursor{c}
	case *ast.ParenExpr:
		return p.literals(c.ChildAt(edge.ParenExpr_X, -1), depth)
	case *ast.StarExpr:
		return p.literals(c.ChildAt(edge.StarExpr_X, -1), depth)
	case *ast.Ident, *ast.SelectorExpr:
		if c.ParentEdgeKind() == edge.SelectorExpr_Sel {
			c = c.Parent()
		}
		v, ok := p.info.ObjectOf(lastName(c.Node().(ast.Expr))).(*types.Var)
		if !ok {
			return nil
		}
		for _, value := range p.given(v) {
			all = append(all, p.literals(value, depth-1)...)
		}
	case *ast.CallExpr:
		if p.callee(n) == ours+".Policy.With" {
			return p.literals(c.ChildAt(edge.CallExpr_Fun, -1).ChildAt(edge.SelectorExpr_X, -1), depth)
		}
		for _, value := range p.returns(c) {
			all = append(all, p.literals(value, depth-1)...)
		}
	}
	return all
}

// part returns the value that a composite literal gives to a field, or an invalid cursor.
func part(lit inspector.Cursor, name string) (value inspector.Cursor) {
	n, ok := lit.Node().(*ast.CompositeLit)
	if !ok {
		return value
	}
	for i, element := range n.Elts {
		kv, ok := element.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if key, ok := kv.Key.(*ast.Ident); ok && key.Name == name {
			return lit.ChildAt(edge.CompositeLit_Elts, i).ChildAt(edge.KeyValueExpr_Value, -1)
		}
	}
	return value
}

// blanked reports whether a use is _ = v.
func blanked(use inspector.Cursor) bool {
	assign, ok := use.Parent().Node().(*ast.AssignStmt)
	return ok && use.ParentEdgeKind() == edge.AssignStmt_Rhs && len(assign.Lhs) == 1 && types.ExprString(assign.Lhs[0]) == "_"
}
