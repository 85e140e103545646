package checks

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
)

// Sleep reports waits that go on when the context that the function has is done.
var Sleep = analyzer("sleep", "report loops that call time.Sleep and ignore the context that they have", func(p *pass) {
	for c := range p.root.Preorder((*ast.ExprStmt)(nil)) {
		if !p.sleeps(c.Node().(*ast.ExprStmt).X) {
			continue
		}
		loop, ctx := outermost(c), p.contextAround(c)
		if !loop.Valid() || ctx == nil || leaves(c, loop) {
			continue
		}
		const advice = "wait in a select with %[1]s.Done(), or use retry.Do"
		switch p.endingOf(loop) {
		case notAtAll:
			p.report(c, "this loop sleeps and never looks at %s, so it continues after the context is done: "+advice, ctx.Name())
		case onSuccess:
			p.report(c, "no failure ends this loop, so once %s is done it fails and sleeps forever: "+advice, ctx.Name())
		}
	}
})

func (p *pass) sleeps(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		return p.callee(e) == "time.Sleep"
	case *ast.UnaryExpr:
		call, ok := ast.Unparen(e.X).(*ast.CallExpr)
		return ok && e.Op == token.ARROW && p.callee(call) == "time.After"
	}
	return false
}

// outermost returns the outermost loop around c in its function.
func outermost(c inspector.Cursor) (loop inspector.Cursor) {
	for e := range c.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
		if signatureOf(e) != nil {
			break
		}
		loop = e
	}
	return loop
}

// leaves reports whether the loop always ends after the statement c.
func leaves(c, loop inspector.Cursor) bool {
	for block := range c.Enclosing((*ast.BlockStmt)(nil), (*ast.CaseClause)(nil)) {
		if !loop.Contains(block) {
			break
		}
		last, _ := block.LastChild()
		switch n := last.Node().(type) {
		case *ast.ReturnStmt:
			return true
		case *ast.BranchStmt:
			return n.Tok == token.BREAK && n.Label != nil
		}
	}
	return false
}

// ending says how a loop ends once its context is done.
type ending uint8

const (
	notAtAll  ending = iota
	onSuccess        // calls get the context and fail, but no failure ends the loop
	early            // or at least it may
)

// looks has the names of package context that say that a context is done.
var looks = map[string]bool{"Canceled": true, "DeadlineExceeded": true, "Cause": true}

func (p *pass) endingOf(loop inspector.Cursor) ending {
	for c := range loop.Preorder((*ast.SelectStmt)(nil), (*ast.UnaryExpr)(nil), (*ast.SelectorExpr)(nil)) {
		switch n := c.Node().(type) {
		case *ast.SelectStmt:
			return early
		case *ast.UnaryExpr:
			if n.Op == token.ARROW && !p.sleeps(n) {
				return early // receives from a channel
			}
		case *ast.SelectorExpr:
			pkg, qualified := p.info.Uses[identOf(n.X)].(*types.PkgName)
			if isContext(p.info.TypeOf(n.X)) || qualified && pkg.Imported().Path() == "context" && looks[n.Sel.Name] {
				return early
			}
		}
	}
	if !p.mentionsContext(loop) {
		return notAtAll
	}
	if n, ok := loop.Node().(*ast.ForStmt); ok && n.Cond == nil && !p.failureEnds(loop) {
		return onSuccess
	}
	return early
}

// mentionsContext reports whether a loop uses a context, a value made with one, such as a
// request, or a function literal that does.
func (p *pass) mentionsContext(loop inspector.Cursor) bool {
	for range p.contexts(loop) {
		return true
	}
	for c := range loop.Preorder((*ast.Ident)(nil)) {
		def, ok := p.defs[p.info.Uses[c.Node().(*ast.Ident)]]
		if !ok || def.Contains(loop) {
			continue
		}
		switch n := def.Node().(type) {
		case *ast.FuncLit:
			if p.mentionsContext(def) {
				return true
			}
		case *ast.CallExpr:
			if slices.ContainsFunc(n.Args, func(arg ast.Expr) bool { return isContext(p.info.TypeOf(arg)) }) {
				return true
			}
		}
	}
	return false
}

// failureEnds reports whether a loop has a statement that leaves it because of an error.
func (p *pass) failureEnds(loop inspector.Cursor) bool {
	for c := range loop.Preorder((*ast.ReturnStmt)(nil), (*ast.BranchStmt)(nil), (*ast.CallExpr)(nil)) {
		switch n := c.Node().(type) {
		case *ast.ReturnStmt:
			if len(n.Results) > 0 && !p.info.Types[n.Results[len(n.Results)-1]].IsNil() {
				return true
			}
		case *ast.BranchStmt:
			if n.Tok == token.CONTINUE {
				continue
			}
		case *ast.CallExpr:
			if p.panics(n) {
				return true
			}
			continue
		}
		conditions := 0
		for cond := range c.Enclosing((*ast.IfStmt)(nil), (*ast.SwitchStmt)(nil)) {
			if !loop.Contains(cond) {
				break
			}
			conditions++
			test, ok := cond.Node().(*ast.IfStmt)
			if !ok || !isSuccess(test.Cond) {
				return true
			}
		}
		if conditions == 0 {
			return true
		}
	}
	return false
}

// panics reports whether a call does not return.
func (p *pass) panics(call *ast.CallExpr) bool {
	if _, builtin := p.info.Uses[identOf(call.Fun)].(*types.Builtin); builtin && identOf(call.Fun).Name == "panic" {
		return true
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	return ok && (strings.HasPrefix(sel.Sel.Name, "Fatal") || p.callee(call) == "os.Exit")
}

// isSuccess reports whether a condition is err == nil.
func isSuccess(e ast.Expr) bool {
	test, ok := ast.Unparen(e).(*ast.BinaryExpr)
	id := (*ast.Ident)(nil)
	if ok {
		id = identOf(test.Y)
	}
	return ok && test.Op == token.EQL && id != nil && id.Name == "nil"
}
