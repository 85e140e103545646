package migrate

import (
	"go/ast"
	"go/types"
	"slices"
)

// definition returns the value of x if it names a variable of the package that is
// declared with a value and never changed; otherwise x. Declarations that only calls use
// that are rewritten are removed in the end.
func (r *rewriter) definition(x ast.Expr) ast.Expr {
	x = ast.Unparen(x)
	id, ok := x.(*ast.Ident)
	if !ok {
		return x
	}
	v, ok := r.pass.TypesInfo.Uses[id].(*types.Var)
	if !ok || r.decls[v] == nil || r.reassigned(v) || v.Exported() && !r.private() {
		return x
	}
	cur := r.cursors[r.decls[v]]
	var value ast.Expr
	switch def := cur.Parent().Node().(type) {
	case *ast.AssignStmt:
		if len(def.Lhs) == 1 && len(def.Rhs) == 1 {
			value = def.Rhs[0]
		}
	case *ast.ValueSpec:
		if len(def.Names) == 1 && len(def.Values) == 1 {
			value = def.Values[0]
		}
	}
	if value == nil {
		return x
	}
	r.followed = append(r.followed, v)
	return r.definition(value)
}

// listed returns the options of a call, from its argument n on. Those that are passed as a
// list must be written out in the package.
func (r *rewriter) listed(s *site, call *ast.CallExpr, n int) []ast.Expr {
	options, last := call.Args[n:], len(call.Args)-n-1
	if !call.Ellipsis.IsValid() {
		return options
	}
	list, ok := r.definition(options[last]).(*ast.CompositeLit)
	if !ok {
		s.fail("its options are not listed in the package: %s", r.shown(options[last]))
		return options[:last]
	}
	return slices.Concat(options[:last], list.Elts)
}

// option returns the call of the library that x is, or that it names, and the function;
// nil if it is none.
func (r *rewriter) option(x ast.Expr) (*ast.CallExpr, *types.Func) {
	call, ok := r.definition(x).(*ast.CallExpr)
	if !ok {
		return nil, nil
	}
	f := callee(r.pass.TypesInfo, call)
	if f == nil || !r.lib.owns(f.Pkg()) || call != ast.Unparen(x) && slices.ContainsFunc(call.Args, func(arg ast.Expr) bool { return !r.fixed(nil, text{arg}) }) {
		return nil, nil
	}
	return call, f
}

// removeFollowed removes the declarations of the variables that only calls used that are
// rewritten, and other such declarations.
func (r *rewriter) removeFollowed() {
	var gone []ast.Node
	for _, s := range r.sites {
		if s.why == "" {
			gone = append(gone, s.call)
		}
	}
	for _, v := range r.followed { // those that use others come first
		within := func(id *ast.Ident) bool {
			return slices.ContainsFunc(gone, func(n ast.Node) bool { return contains(n, id) })
		}
		def := r.cursors[r.decls[v]].Parent().Node()
		if !slices.Contains(gone, def) && !slices.ContainsFunc(r.uses[v], func(id *ast.Ident) bool { return !within(id) }) {
			gone = append(gone, def)
			r.remove(r.declared(def))
		}
	}
}

// declared returns the declaration of which def is the only part, or def.
func (r *rewriter) declared(def ast.Node) ast.Node {
	cur, _ := r.root.FindNode(def)
	if decl, ok := cur.Parent().Node().(*ast.GenDecl); ok && len(decl.Specs) == 1 {
		if up, ok := cur.Parent().Parent().Node().(*ast.DeclStmt); ok {
			return up
		}
		return decl
	}
	return def
}

func contains(n ast.Node, id *ast.Ident) bool {
	return n != nil && n.Pos() <= id.Pos() && id.End() <= n.End()
}
