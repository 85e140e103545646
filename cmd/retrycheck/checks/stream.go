package checks

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

const event = ours + "/retryhttp/apis.Event"

// Stream reports loops over events that drop the error which ends the stream, or that keep the
// data of an event, whose memory the next one uses again.
var Stream = analyzer("stream", "report loops over events that drop the error of the stream or keep the data of an event", func(p *pass) {
	if !p.importsUs() {
		return
	}
	for c := range p.root.Preorder((*ast.RangeStmt)(nil)) {
		if p.yieldsErrors(c) {
			p.reportDroppedError(c)
			p.reportKeptData(c)
		}
	}
})

// yieldsErrors reports whether a loop runs over pairs of a value and an error, which a function
// of this library made or whose values are its events.
func (p *pass) yieldsErrors(loop inspector.Cursor) bool {
	n := loop.Node().(*ast.RangeStmt)
	iterator, ok := p.info.TypeOf(n.X).Underlying().(*types.Signature)
	if !ok || iterator.Params().Len() != 1 {
		return false
	}
	yield, ok := iterator.Params().At(0).Type().Underlying().(*types.Signature)
	if !ok || yield.Params().Len() != 2 || !types.Identical(yield.Params().At(1).Type(), types.Universe.Lookup("error").Type()) {
		return false
	}
	made := p.callee(p.value(loop.ChildAt(edge.RangeStmt_X, -1)).Node())
	return typeName(yield.Params().At(0).Type()) == event || strings.HasPrefix(made, ours)
}

// reportDroppedError reports a loop in which the error of the stream only ends the loop.
func (p *pass) reportDroppedError(loop inspector.Cursor) {
	n := loop.Node().(*ast.RangeStmt)
	const what = "the error of the stream is dropped, so a part of it, or nothing, is taken for the whole: return the error"
	id, isName := n.Value.(*ast.Ident)
	if n.Value == nil || isName && id.Name == "_" {
		p.report(loop.ChildAt(edge.RangeStmt_X, -1), what)
		return
	}
	if !isName || n.Tok != token.DEFINE {
		return
	}
	var ends inspector.Cursor
	for _, use := range p.vars[p.info.ObjectOf(id)].uses {
		failed, ok := p.onFailure(use)
		if !ok || !p.isQuiet(failed) {
			return
		}
		if failed.Valid() && len(failed.Node().(*ast.BlockStmt).List) > 0 {
			ends, _ = failed.FirstChild()
		}
	}
	if !ends.Valid() {
		ends = loop.ChildAt(edge.RangeStmt_Value, -1)
	}
	p.report(ends, what)
}

// onFailure returns the block that is executed if the error at use is not nil; the block may be
// missing. ok is false if the use is no condition of an if statement.
func (p *pass) onFailure(use inspector.Cursor) (failed inspector.Cursor, ok bool) {
	test := use.Parent()
	kind := edge.IfStmt_Body
	switch n := test.Node().(type) {
	case *ast.BinaryExpr:
		if n.Op == token.EQL && p.info.Types[n.Y].IsNil() {
			kind = edge.IfStmt_Else
		}
	case *ast.CallExpr:
		if p.callee(n) != "errors.Is" {
			return failed, false
		}
	default:
		return failed, false
	}
	branch, isIf := test.Parent().Node().(*ast.IfStmt)
	if !isIf || test.ParentEdgeKind() != edge.IfStmt_Cond {
		return failed, false
	}
	if kind == edge.IfStmt_Body {
		return test.Parent().ChildAt(kind, -1), true
	}
	if branch.Else == nil {
		return failed, true
	}
	failed = test.Parent().ChildAt(kind, -1)
	_, ok = failed.Node().(*ast.BlockStmt)
	return failed, ok
}

// isQuiet reports whether a block does nothing but leave the loop or the function as if
// everything had succeeded.
func (p *pass) isQuiet(block inspector.Cursor) bool {
	if !block.Valid() || len(block.Node().(*ast.BlockStmt).List) == 0 {
		return true
	}
	statements := block.Node().(*ast.BlockStmt).List
	if len(statements) > 1 {
		return false
	}
	switch n := statements[0].(type) {
	case *ast.BranchStmt:
		return n.Tok == token.BREAK || n.Tok == token.CONTINUE
	case *ast.ReturnStmt:
		return p.succeeds(n, around(block, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)))
	}
	return false
}

// succeeds reports whether a statement of fn returns nil as the error, or whether fn has no
// results.
func (p *pass) succeeds(ret *ast.ReturnStmt, fn inspector.Cursor) bool {
	results := p.signature(fn).Results()
	if results.Len() == 0 {
		return true
	}
	if len(ret.Results) != results.Len() || !types.Identical(results.At(results.Len()-1).Type(), types.Universe.Lookup("error").Type()) {
		return false
	}
	return p.info.Types[ret.Results[len(ret.Results)-1]].IsNil()
}

// shares has functions whose result shares the memory of their first argument.
var shares = names(`bytes\.(Trim\w*|Cut\w*|Fields|Split\w*)`)

// reportKeptData reports the data of an event that a loop keeps for later.
func (p *pass) reportKeptData(loop inspector.Cursor) {
	id, ok := loop.Node().(*ast.RangeStmt).Key.(*ast.Ident)
	if !ok {
		return
	}
	e := p.info.ObjectOf(id)
	if e == nil || typeName(e.Type()) != event || len(p.vars[e].sets) > 1 {
		return
	}
	for _, use := range p.vars[e].uses {
		name, parent := field(use)
		at := use
		if name != "" {
			at = use.Parent()
		}
		if name != "" && name != "Data" || p.leavesLoop(parent, loop) {
			continue
		}
		at = p.sharing(at)
		if p.isKept(at, loop, 3) {
			p.report(at, "the next event uses the memory of Data again: keep a copy, such as bytes.Clone(%s.Data)", id.Name)
		}
	}
}

// sharing returns the largest expression around c that shares its memory, such as
// bytes.TrimSpace(c) or json.RawMessage(c[1:]).
func (p *pass) sharing(c inspector.Cursor) inspector.Cursor {
	for {
		switch n := c.Parent().Node().(type) {
		case *ast.SliceExpr:
			if c.ParentEdgeKind() != edge.SliceExpr_X {
				return c
			}
		case *ast.CallExpr:
			_, isSlice := p.info.TypeOf(n).Underlying().(*types.Slice)
			converts := p.info.Types[n.Fun].IsType() && isSlice
			if kind, i := c.ParentEdge(); kind != edge.CallExpr_Args || i != 0 || !converts && !shares.MatchString(p.callee(n)) {
				return c
			}
		case *ast.ParenExpr:
		default:
			return c
		}
		c = c.Parent()
	}
}

// leavesLoop reports whether the block of c ends the loop, so that there is no next event.
func (p *pass) leavesLoop(c, loop inspector.Cursor) bool {
	in := around(c, (*ast.BlockStmt)(nil), (*ast.CaseClause)(nil))
	if in == p.root || !loop.Contains(in) {
		return false
	}
	var statements []ast.Stmt
	switch n := in.Node().(type) {
	case *ast.BlockStmt:
		statements = n.List
	case *ast.CaseClause:
		statements = n.Body
	}
	return slices.ContainsFunc(statements, func(s ast.Stmt) bool {
		branch, isBranch := s.(*ast.BranchStmt)
		_, returns := s.(*ast.ReturnStmt)
		return returns || isBranch && branch.Tok == token.BREAK
	})
}

// isKept reports whether the value at c, as it is and without a copy, becomes a part of a
// variable outside of a loop, or is sent to a channel.
func (p *pass) isKept(c, loop inspector.Cursor, depth int) bool {
	if depth == 0 || p.leavesLoop(c, loop) {
		return false
	}
	for {
		kind, i := c.ParentEdge()
		switch n := c.Parent().Node().(type) {
		case *ast.SendStmt:
			return kind == edge.SendStmt_Value
		case *ast.AssignStmt:
			if kind != edge.AssignStmt_Rhs || len(n.Lhs) != len(n.Rhs) {
				return false
			}
			v := p.owner(n.Lhs[i])
			if v == nil || v.Name() == "_" {
				return false
			}
			return outside(v, loop) || slices.ContainsFunc(p.vars[v].uses, func(use inspector.Cursor) bool {
				return use.Node().Pos() > c.Node().Pos() && p.isKept(p.sharing(use), loop, depth-1)
			})
		case *ast.CallExpr:
			if kind != edge.CallExpr_Args || !isBuiltin(p.info, n, "append") || i == 0 || n.Ellipsis.IsValid() {
				return false
			}
		case *ast.CompositeLit, *ast.KeyValueExpr, *ast.UnaryExpr, *ast.ParenExpr:
		default:
			return false
		}
		c = c.Parent()
	}
}
