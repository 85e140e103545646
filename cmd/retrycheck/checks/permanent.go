package checks

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// reportLostPermanent reports code that looks for a *retry.Error in an error of Do and does nothing
// with other errors: a permanent failure is no *retry.Error.
func (p *pass) reportLostPermanent() {
	for _, c := range p.calls {
		if c.name != "errors.As" && c.name != "errors.AsType" || len(c.Args) == 0 {
			continue
		}
		if t := p.asked(c.CallExpr); t == nil || typeName(t) != ours+".Error" {
			continue
		}
		if target := p.targetOf(c); target != nil && p.isPassedUnasked(target) {
			p.report(c.Cursor, "a permanent failure is no *retry.Error, so %s is nil then: use the error itself, or ask for the result of %s", target.Name(), c.name)
			continue
		}
		id, ok := c.Args[0].(*ast.Ident)
		if !ok || len(p.origin(c.ChildAt(edge.CallExpr_Args, 0)).loops) == 0 || !p.decidesAlone(c.Cursor) {
			continue
		}
		uses := p.vars[p.info.ObjectOf(id)].uses
		lost := !slices.ContainsFunc(uses, func(use inspector.Cursor) bool { return !p.looksForType(use) })
		compared := slices.ContainsFunc(uses, func(use inspector.Cursor) bool { return compares(use.Parent()) }) // otherwise Compare reports it
		if lost && compared {
			p.report(c.Cursor, "a permanent failure is no *retry.Error, so nothing notices it: handle %s itself, too", id.Name)
		}
	}
}

// targetOf returns the variable that a call of errors.As sets, if nothing asks for its result.
func (p *pass) targetOf(c *call) *types.Var {
	if c.name != "errors.As" || len(c.Args) != 2 || c.ParentEdgeKind() != edge.ExprStmt_X && !isDiscarded(c.Cursor) {
		return nil
	}
	id, ok := p.plain(c.ChildAt(edge.CallExpr_Args, 1)).Node().(*ast.Ident)
	if !ok {
		return nil
	}
	v, _ := p.info.ObjectOf(id).(*types.Var)
	return v
}

// isPassedUnasked reports whether a variable is given to a function or returned, and nothing
// compares it with nil.
func (p *pass) isPassedUnasked(v *types.Var) bool {
	passed := false
	for _, use := range p.vars[v].uses {
		if compares(use.Parent()) {
			return false
		}
		switch use.ParentEdgeKind() {
		case edge.CallExpr_Args, edge.ReturnStmt_Results:
			passed = true
		}
	}
	return passed
}

// decidesAlone reports whether a call of errors.As is the condition of an if statement without
// an else branch.
func (p *pass) decidesAlone(c inspector.Cursor) bool {
	if c.ParentEdgeKind() == edge.AssignStmt_Rhs {
		c = c.Parent() // e, ok := errors.AsType[*retry.Error](err); ok
		return c.ParentEdgeKind() == edge.IfStmt_Init && c.Parent().Node().(*ast.IfStmt).Else == nil
	}
	return c.ParentEdgeKind() == edge.IfStmt_Cond && c.Parent().Node().(*ast.IfStmt).Else == nil
}

// looksForType reports whether a use of an error only looks for what it is, or whether it is nil
// to look for that.
func (p *pass) looksForType(use inspector.Cursor) bool {
	switch n := use.Parent().Node().(type) {
	case *ast.CallExpr:
		name := p.callee(n)
		return (name == "errors.As" || name == "errors.AsType") && p.decidesAlone(use.Parent())
	case *ast.BinaryExpr:
		test, ok := use.Parent().Parent().Node().(*ast.IfStmt)
		return ok && n.Op == token.NEQ && use.Parent().ParentEdgeKind() == edge.IfStmt_Cond && test.Else == nil && p.onlyTests(test.Body.List)
	}
	return false
}

// onlyTests reports whether statements are declarations, and if statements that look for errors.
func (p *pass) onlyTests(list []ast.Stmt) bool {
	return !slices.ContainsFunc(list, func(s ast.Stmt) bool {
		test, isTest := s.(*ast.IfStmt)
		if isTest {
			asks := p.callee(test.Cond)
			if assign, ok := test.Init.(*ast.AssignStmt); ok {
				asks = p.callee(assign.Rhs[0])
			}
			return asks != "errors.As" && asks != "errors.AsType"
		}
		_, isDecl := s.(*ast.DeclStmt)
		return !isDecl
	})
}

// The default of a flag is the first value that a variable has.
var textVar = names(`flag\.(FlagSet\.)?TextVar`, `github\.com/spf13/pflag\.(FlagSet\.)?TextVar`)

// reportErasedByFlag reports a flag whose default is another value than that of its variable, if
// the variable was set before: TextVar first sets it to the default.
func (p *pass) reportErasedByFlag(c *call) {
	if !textVar.MatchString(c.name) || len(c.Args) != 4 || typeName(p.info.TypeOf(c.Args[0])) != ours+"/retryconfig.Policy" {
		return
	}
	target, ok := ast.Unparen(c.Args[0]).(*ast.UnaryExpr)
	if !ok || target.Op != token.AND {
		return
	}
	v := p.owner(target.X)
	name := types.ExprString(target.X)
	given, isLit := p.plain(c.ChildAt(edge.CallExpr_Args, 2)).Node().(*ast.CompositeLit)
	if v == nil || !isLit || len(given.Elts) > 0 || p.isParameter(v) {
		return
	}
	set := slices.ContainsFunc(p.vars[v].sets, func(set inspector.Cursor) bool {
		declares := set.ParentEdgeKind() == edge.ValueSpec_Names && len(set.Parent().Node().(*ast.ValueSpec).Values) == 0
		before := set.Node().Pos() < c.Pos() && around(set, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) == around(c.Cursor, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))
		return !declares && before && p.mayConcern(set, name, c.ChildAt(edge.CallExpr_Args, 0))
	})
	if set {
		p.report(c.ChildAt(edge.CallExpr_Args, 2), "TextVar sets %[1]s to this default, which replaces what was set before: pass %[1]s itself", name)
	}
}

// mayConcern reports whether a statement sets what is called name: as a part of the variable, by its
// own name, or by the address of the whole.
func (p *pass) mayConcern(set inspector.Cursor, name string, flag inspector.Cursor) bool {
	if flag.Contains(set) {
		return false
	}
	text := types.ExprString(set.Node().(ast.Expr))
	isAddress := set.ParentEdgeKind() == edge.UnaryExpr_X
	switch {
	case isAddress:
		return (text == name || strings.HasPrefix(name, text+".")) && p.decodes(set.Parent())
	case text == name:
		value := valueSet(set)
		return !value.Valid() || !p.isZeroValue(value.Node().(ast.Expr))
	}
	return strings.HasPrefix(text, name+".")
}

var decoders = regexp.MustCompile(`(^|\.)(Unmarshal\w*|Decode\w*|Process|Load\w*|Parse\w*)$`)

// decodes reports whether an address is given to a function that fills what it points to.
func (p *pass) decodes(address inspector.Cursor) bool {
	call, ok := address.Parent().Node().(*ast.CallExpr)
	return ok && decoders.MatchString(types.ExprString(call.Fun))
}
