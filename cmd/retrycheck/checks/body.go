package checks

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// bodies has functions that send a request or make one, and the position of the argument
// that is the request or its body.
var bodies = map[string]int{
	"net/http.Client.Do":              0,
	"net/http.RoundTripper.RoundTrip": 0,
	"net/http.Transport.RoundTrip":    0,
	"net/http.NewRequest":             2,
	"net/http.NewRequestWithContext":  3,
	"net/http.Post":                   2,
	"net/http.Client.Post":            2,
}

// Body reports requests whose body the first attempt has read to its end.
var Body = analyzer("body", func(p *pass) {
	for _, call := range p.calls {
		at, ok := bodies[call.name]
		again, repeated := p.repeated(call.Cursor)
		if !ok || !repeated || at >= len(call.Args) {
			continue
		}
		body, what := call.ChildAt(edge.CallExpr_Args, at), ""
		arg := p.plain(body)
		if at == 0 {
			request := p.value(arg)
			at = bodies[p.callee(request.Node())]
			if at == 0 {
				continue
			}
			body, what = request.ChildAt(edge.CallExpr_Args, at), "the body of "
		}
		if id, ok := arg.Node().(*ast.Ident); ok && !p.isEmpty(p.value(body).Node().(ast.Expr)) {
			v, _ := p.outer(again, func(v *types.Var) bool { return v == p.info.Uses[id] })
			if v != nil && !p.renews(again, arg) {
				p.report(arg, "%s%s is read by the first attempt, so later ones send nothing: make it in each attempt", what, id.Name)
			}
		}
	}
	for _, call := range p.operations {
		if strings.HasPrefix(call.name, ours) {
			p.reportReaders(call)
		}
	}
})

// readers have types that are at their end when they have been read.
var readers = names(`os\.File`, `strings\.Reader`, `bytes\.(Reader|Buffer)`, `mime/multipart\.File`, `io\.(Reader|ReadCloser)`,
	`bufio\.(Reader|Scanner)`, `encoding/(csv\.Reader|json\.Decoder)`)

// consumes has the methods that read a part of what a reader has.
var consumes = names(`Read\w*`, `Scan`, `Decode`, `WriteTo`)

// reportReaders reports what an operation of this library reads, or gives to another function
// to read.
func (p *pass) reportReaders(call *call) {
	for id := range call.op.Preorder((*ast.Ident)(nil)) {
		v, ok := p.info.Uses[id.Node().(*ast.Ident)].(*types.Var)
		if !ok || !outside(v, call.op) || id.ParentEdgeKind() == edge.KeyValueExpr_Key || p.renews(call.op, id) {
			continue
		}
		read, name := id, v.Name()
		if v.IsField() {
			owner := p.owner(id.Parent().Node().(ast.Expr))
			if owner == nil || !p.survives(owner, call.op) {
				continue
			}
			read, name = id.Parent(), types.ExprString(id.Parent().Node().(ast.Expr))
		}
		if part, _ := field(id); part == "Body" && typeName(v.Type()) == "net/http.Request" {
			read, name = id.Parent(), name+".Body"
		}
		if !readers.MatchString(typeName(p.info.TypeOf(read.Node().(ast.Expr)))) {
			continue
		}
		method, called := field(read)
		reads := consumes.MatchString(method) && called.ParentEdgeKind() != edge.AssignStmt_Lhs
		if reads || p.givesToRead(read) {
			p.report(read, "%s is read by the first attempt, so later ones get nothing: make or rewind it in each attempt", name)
		}
	}
}

// givesToRead reports whether c is an argument or a field whose type is an interface for
// reading alone. Body reports bodies of requests.
func (p *pass) givesToRead(c inspector.Cursor) bool {
	var as types.Type // of the parameter or field
	kind, i := c.ParentEdge()
	switch n := c.Parent().Node().(type) {
	case *ast.CallExpr:
		f, ok := p.info.TypeOf(n.Fun).(*types.Signature)
		_, known := bodies[p.callee(n)]
		if ok && !known && kind == edge.CallExpr_Args && i < f.Params().Len() {
			as = f.Params().At(i).Type()
		}
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok {
			as = p.info.TypeOf(key)
		}
	}
	return as != nil && types.IsInterface(as) && hasMethod(as, "Read") && !hasMethod(as, "Write")
}

// repeated returns the loop or the operation around c, which runs more than once.
func (p *pass) repeated(c inspector.Cursor) (inspector.Cursor, bool) {
	again := block(c)
	switch again.Node().(type) {
	case *ast.ForStmt, *ast.RangeStmt:
		return again, true
	}
	return again, slices.ContainsFunc(p.loops, func(loop *call) bool { return loop.op == again })
}

// isEmpty reports whether a body needs no rewinding.
func (p *pass) isEmpty(body ast.Expr) bool {
	return p.info.Types[body].IsNil() || objectName(p.info.Uses[lastName(body)]) == "net/http.NoBody"
}

// rewinds has the methods that begin a reader again, or give another one.
var rewinds = names(`Seek`, `Reset`, `GetBody`)

// renews reports whether c sets or rewinds a variable that e or its value mentions.
func (p *pass) renews(c, e inspector.Cursor) bool {
	for _, id := range p.mentions(e) {
		v := p.vars[p.info.Uses[id.Node().(*ast.Ident)]]
		for _, at := range slices.Concat(v.sets, v.uses) {
			sel, ok := at.Parent().Node().(*ast.SelectorExpr)
			renews := slices.Contains(v.sets, at) || ok && rewinds.MatchString(sel.Sel.Name)
			if renews && at != e && c.Contains(at) {
				return true
			}
		}
	}
	return false
}
