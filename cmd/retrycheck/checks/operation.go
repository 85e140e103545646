package checks

import (
	"go/ast"
	"go/constant"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// OpContext reports operations that ignore the context that they are called with, and calls
// whose context has ended.
var OpContext = analyzer("opcontext", "report operations that ignore the context that they are given, and calls whose context has ended", func(p *pass) {
	p.reportEnded()
	p.reportDeafParts()
	for _, call := range p.loops {
		p.reportWithoutContext(call)
		if ctx := p.contextToPass(call.Cursor); ctx != "" && len(call.Args) > 0 && p.isBackground(call.Args[0]) {
			p.report(call.Cursor, "%s goes on after %s is done: pass %[2]s to it", shortName(call.name), ctx)
		}
		if !call.op.Valid() {
			continue
		}
		params := p.signature(call.op).Params()
		if params.Len() == 0 || !isContext(params.At(0).Type()) || slices.ContainsFunc(p.vars[params.At(0)].uses, call.op.Contains) {
			continue
		}
		other, use := p.outer(call.op, func(v *types.Var) bool {
			return isContext(v.Type()) && v.Kind() != types.PackageVar && !v.IsField()
		})
		if other != nil {
			if ownContext.MatchString(call.name) {
				p.report(use, "the operation uses %s instead of the context that %s gives it, so the limits of one attempt do not reach it",
					other.Name(), shortName(call.name))
			}
			continue
		}
		if p.reportContextOfCall(call) {
			continue
		}
		for _, c := range p.calls {
			if !call.op.Contains(c.Cursor) {
				continue
			}
			hint := p.advice(c)
			if p.isBackground(c.CallExpr) && strings.HasPrefix(call.name, ours) {
				hint = "its context"
			}
			if hint != "" {
				p.report(c.Cursor, "the operation ignores its context: after a timeout or cancellation this call goes on (use %s)", hint)
				break
			}
		}
	}
})

// isBackground reports whether e is a new context that never ends.
func (p *pass) isBackground(e ast.Node) bool {
	name := p.callee(e)
	return name == "context.Background" || name == "context.TODO"
}

var gets = names(`net/http\.(Client\.)?(Get|Head|Post|PostForm)`)

// advice names what takes a context, unlike a call, and does the same.
func (p *pass) advice(c *call) string {
	fn := typeutil.Callee(p.info, c.CallExpr).(*types.Func)
	switch {
	case takesContext(fn), fn.Pkg() == nil:
		return ""
	case c.name == "time.Sleep":
		return "a select with ctx.Done()"
	case gets.MatchString(c.name):
		return "http.NewRequestWithContext"
	}
	for _, suffix := range []string{"Context", "WithContext"} {
		variant := fn.Pkg().Scope().Lookup(fn.Name() + suffix)
		if recv := fn.Signature().Recv(); recv != nil {
			variant, _, _ = types.LookupFieldOrMethod(recv.Type(), true, fn.Pkg(), fn.Name()+suffix)
		}
		if variant, ok := variant.(*types.Func); ok && takesContext(variant) {
			return variant.Name()
		}
	}
	return ""
}

func takesContext(fn *types.Func) bool {
	params := fn.Signature().Params()
	return params.Len() > 0 && isContext(params.At(0).Type())
}

// transactions has the types of transactions.
var transactions = names(`database/sql\.Tx`, `github\.com/(jackc/pgx|jmoiron/sqlx|uptrace/bun|go-pg/pg)\.Tx`,
	`go\.etcd\.io/bbolt\.Tx`, `go\.mongodb\.org/mongo-driver/mongo\.SessionContext`)

var (
	inTx = names(ours + `/retrysql\.(InTx|Once)(Func)?`)
	// ending has statements that end a transaction; ROLLBACK TO does not.
	ending      = regexp.MustCompile(`(?i)^\s*(COMMIT|ABORT|ROLLBACK|PREPARE\s+TRANSACTION)\b`)
	toSavepoint = regexp.MustCompile(`(?i)^\s*ROLLBACK\s+((WORK|TRANSACTION)\s+)?TO\b`)
)

// Transaction reports retries of a part of a transaction, which fail because the database
// has already aborted it, and functions that end the transaction that retrysql runs again.
var Transaction = analyzer("transaction", "report retries of a part of a database transaction", func(p *pass) {
	p.reportInProgress()
	for _, call := range p.operations {
		if inTx.MatchString(call.name) {
			p.reportEnds(call)
			p.reportEffects(call)
			p.reportLostResult(call)
			p.reportStale(call)
		}
		tx, _ := p.outer(call.op, func(v *types.Var) bool { return transactions.MatchString(typeName(v.Type())) })
		if tx != nil {
			p.report(call.Cursor, "%s retries a part of the transaction %s, which the database may have aborted: retry the whole transaction (retrysql.InTx)",
				shortName(call.name), tx.Name())
		}
	}
})

// reportEnds reports what ends the transaction within the function of a call of retrysql, or
// is not in it.
func (p *pass) reportEnds(call *call) {
	params := p.signature(call.op).Params()
	for _, c := range p.calls {
		sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
		if !ok || !call.op.Contains(c.Cursor) {
			continue
		}
		if pool := p.info.Uses[lastName(sel.X)]; pool != nil && p.isPool(pool, call) {
			p.report(c.Cursor, "this is not a part of the transaction, so a retry repeats it: use the transaction of %s instead of %s", shortName(call.name), pool.Name())
		}
		if tx, ok := ast.Unparen(sel.X).(*ast.Ident); !ok || params.Len() != 2 || p.info.Uses[tx] != params.At(1) {
			continue
		}
		if sel.Sel.Name == "Commit" || sel.Sel.Name == "Rollback" {
			p.report(c.Cursor, "%s commits and rolls back: remove this call, or the outcome is unknown", shortName(call.name))
		} else if p.unheeded(c.Cursor, call.op) {
			p.report(c.Cursor, "a failure of this statement does not end the transaction, which the database may have aborted: return its error")
		}
		for _, arg := range c.Args {
			value := p.info.Types[arg].Value
			if value == nil || value.Kind() != constant.String {
				continue
			}
			if endsTransaction(constant.StringVal(value)) {
				p.report(c.Cursor, "%s commits and rolls back: remove this statement, or the outcome is unknown", shortName(call.name))
			}
		}
	}
}

// endsTransaction reports whether one of the statements in a text ends the transaction.
func endsTransaction(text string) bool {
	for statement := range strings.SplitSeq(text, ";") {
		if ending.MatchString(statement) && !toSavepoint.MatchString(statement) {
			return true
		}
	}
	return false
}

// unheeded reports whether the error of a statement is only looked at or logged.
func (p *pass) unheeded(c, op inspector.Cursor) bool {
	for c.ParentEdgeKind() == edge.SelectorExpr_X && c.Parent().ParentEdgeKind() == edge.CallExpr_Fun { // QueryRow().Scan()
		c = c.Parent().Parent()
	}
	result := p.info.TypeOf(c.Node().(ast.Expr))
	if all, ok := result.(*types.Tuple); ok && all.Len() > 0 {
		result = all.At(all.Len() - 1).Type()
	}
	if !types.Implements(result, errorType) {
		return false
	}
	assign, ok := c.Parent().Node().(*ast.AssignStmt)
	if !ok {
		return c.ParentEdgeKind() == edge.ExprStmt_X
	}
	id, ok := assign.Lhs[len(assign.Lhs)-1].(*ast.Ident)
	if !ok || id.Name == "_" {
		return false
	}
	err := p.info.ObjectOf(id)
	return body(op).Pos() < err.Pos() && !slices.ContainsFunc(p.vars[err].uses, p.heeds)
}

// heeds reports whether a use of an error may end the function around it.
func (p *pass) heeds(use inspector.Cursor) bool {
	if compares(use.Parent()) {
		test := use.Parent().Parent()
		return test.Node() == nil || use.Parent().ParentEdgeKind() != edge.IfStmt_Cond || leavesIf(test)
	}
	statement := around(use, (*ast.ExprStmt)(nil), (*ast.FuncLit)(nil), (*ast.ReturnStmt)(nil), (*ast.AssignStmt)(nil), (*ast.IfStmt)(nil))
	_, ok := statement.Node().(*ast.ExprStmt)
	return !ok
}

// leavesIf reports whether a branch of an if statement leaves the function around it.
func leavesIf(c inspector.Cursor) bool {
	for leave := range c.Preorder((*ast.ReturnStmt)(nil), (*ast.CallExpr)(nil)) {
		if call, ok := leave.Node().(*ast.CallExpr); !ok || fatal.MatchString(types.ExprString(call.Fun)) {
			return true
		}
	}
	return false
}

// isPool reports whether a call of retrysql begins its transactions in a pool.
func (p *pass) isPool(pool types.Object, call *call) bool {
	if typeName(pool.Type()) == "database/sql.DB" {
		for id := range call.ChildAt(edge.CallExpr_Args, 2).Preorder((*ast.Ident)(nil)) {
			if p.info.Uses[id.Node().(*ast.Ident)] == pool {
				return true
			}
		}
	}
	return false
}

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
var Body = analyzer("body", "report readers and bodies of HTTP requests that a retry finds at their end", func(p *pass) {
	for c := range p.root.Preorder((*ast.SelectorExpr)(nil)) {
		p.reportSameBody(c)
	}
	for _, call := range p.calls {
		p.reportSentOnce(call)
		at, ok := bodies[call.name]
		again, repeated := p.repeated(call.Cursor)
		if !ok || !repeated || at >= len(call.Args) {
			continue
		}
		body, what := call.ChildAt(edge.CallExpr_Args, at), ""
		arg := p.plain(body)
		if at == 0 {
			request := p.value(arg)
			if at = bodies[p.callee(request.Node())]; at == 0 {
				continue
			}
			body, what = request.ChildAt(edge.CallExpr_Args, at), "the body of "
		}
		if id, ok := arg.Node().(*ast.Ident); ok && !empty.MatchString(types.ExprString(p.value(body).Node().(ast.Expr))) {
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

// reportSentOnce reports a PUT of a file by a client of retryhttp, which cannot read the file
// again: http.NewRequest sets no GetBody for it.
func (p *pass) reportSentOnce(c *call) {
	if !sends.MatchString(c.name) || len(c.Args) != 1 || !p.retriesItself(c) || p.buffers() {
		return
	}
	request := p.value(c.ChildAt(edge.CallExpr_Args, 0))
	at := bodies[p.callee(request.Node())]
	if at == 0 {
		return
	}
	n := request.Node().(*ast.CallExpr)
	method := p.info.Types[n.Args[at-2]].Value
	if method == nil || constant.StringVal(method) != "PUT" || typeName(p.info.TypeOf(n.Args[at])) != "os.File" {
		return
	}
	if id, ok := c.Args[0].(*ast.Ident); ok && p.setsGetBody(p.info.ObjectOf(id)) {
		return
	}
	p.report(request, "the client cannot read %s again, so it sends the request once: set GetBody to a function that opens the file", types.ExprString(n.Args[at]))
}

// setsGetBody reports whether a request is given a GetBody.
func (p *pass) setsGetBody(request types.Object) bool {
	return slices.ContainsFunc(p.vars[request].sets, func(set inspector.Cursor) bool {
		sel, ok := set.Node().(*ast.SelectorExpr)
		return ok && sel.Sel.Name == "GetBody"
	})
}

// buffers reports whether the package sets the MaxBuffer of a Transport.
func (p *pass) buffers() bool {
	for c := range p.root.Preorder((*ast.Ident)(nil)) {
		if objectName(p.info.Uses[c.Node().(*ast.Ident)]) == ours+"/retryhttp.MaxBuffer" {
			return true
		}
	}
	return false
}

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

func hasMethod(t types.Type, name string) bool {
	m, _, _ := types.LookupFieldOrMethod(t, true, nil, name)
	return m != nil
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

// What needs no rewinding, and what rewinds, as they are written.
var (
	empty   = names(`nil`, `http\.NoBody`)
	rewinds = names(`Seek`, `Reset`, `GetBody`)
)

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
