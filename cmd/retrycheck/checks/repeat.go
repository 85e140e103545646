package checks

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// Repeat reports operations of this library whose retry repeats what may have happened: a
// POST, or what it adds to a variable outside.
var Repeat = analyzer("repeat", func(p *pass) {
	for _, call := range p.operations {
		if !strings.HasPrefix(call.name, ours) {
			continue
		}
		p.reportPosts(call)
		p.reportState(call)
		p.reportOwnError(call)
		p.reportWrites(call)
		p.reportAnswers(call)
	}
	for c := range p.root.Preorder((*ast.KeyValueExpr)(nil)) {
		value := c.ChildAt(edge.KeyValueExpr_Value, -1)
		switch p.field(c) {
		case ours + "/retryhttp.IdempotencyKey":
			if p.isSame(p.value(value)) {
				p.report(c, "all requests have the same key, so the server executes only the first: return another key for each")
			}
		case ours + "/retrysql.ID":
			if p.isRandom(p.value(value)) {
				p.report(c, "nobody can send this key again, so the work of a retry is done again: use the key of the request")
			}
		}
	}
})

// randoms has what returns something else each time.
var randoms = names(`(crypto|math)/rand\..*`, `github\.com/(google|gofrs)/uuid\.New.*`, ours+`/retryhttp\.RandomKey`)

// isRandom reports whether an expression has a random part.
func (p *pass) isRandom(c inspector.Cursor) bool {
	for call := range c.Preorder((*ast.CallExpr)(nil)) {
		if randoms.MatchString(p.callee(call.Node())) {
			return true
		}
	}
	return false
}

// isSame reports whether a function returns the same text for every request.
func (p *pass) isSame(fn inspector.Cursor) bool {
	lit, ok := fn.Node().(*ast.FuncLit)
	if !ok || len(lit.Body.List) != 1 {
		return false
	}
	ret, ok := lit.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 || len(p.vars[p.signature(fn).Params().At(0)].uses) > 0 {
		return false
	}
	for range fn.Preorder((*ast.CallExpr)(nil)) {
		return false
	}
	value := p.info.Types[ret.Results[0]].Value
	return value == nil || constant.StringVal(value) != ""
}

var (
	sets  = names(`net/http\.Header\.(Set|Add)`)
	posts = names(`net/http\.(Client\.)?Post(Form)?`)
	makes = names(`net/http\.NewRequest(WithContext)?`)
)

// reportPosts reports requests of an operation that a server may execute twice, because it
// cannot recognize the retry.
func (p *pass) reportPosts(call *call) {
	var sent []inspector.Cursor
	keys := 0
	for _, c := range p.calls {
		if !call.op.Contains(c.Cursor) {
			continue
		}
		switch {
		case posts.MatchString(c.name), makes.MatchString(c.name) && p.isPost(c.Args[len(c.Args)-3]):
			sent = append(sent, c.Cursor)
		case sets.MatchString(c.name) && p.isKey(c.Args[0]):
			keys++
			if key := p.value(c.ChildAt(edge.CallExpr_Args, 1)); call.op.Contains(key) && p.isNew(key) {
				p.report(c.Cursor, "each attempt has another key, so the server executes a retry again: make the key outside the operation")
			}
		}
	}
	if keys > 0 || p.hasField(call.policy, "Classifier") || !p.dropsAnswers(call.op) { // a Classifier may allow only what was refused
		return
	}
	for _, c := range sent {
		if !p.decides(call.op, c) {
			p.report(c, "a POST whose response is lost is executed again: use a client of retryhttp instead, or set an Idempotency-Key that is made outside the operation")
		}
	}
}

// dropsAnswers reports whether an operation gets responses and uses no more of them than whether
// they are a success. A POST that only asks, such as a search, has an answer that it uses.
func (p *pass) dropsAnswers(op inspector.Cursor) bool {
	got := false
	for c := range op.Preorder((*ast.Ident)(nil)) {
		v, ok := p.info.Uses[c.Node().(*ast.Ident)].(*types.Var)
		if !ok || typeName(v.Type()) != response || v.IsField() {
			continue
		}
		got = true
		if p.usesAnswer(c) && !p.fails(around(c, (*ast.IfStmt)(nil), (*ast.FuncDecl)(nil), (*ast.FuncLit)(nil))) {
			return false
		}
	}
	return got
}

// usesAnswer reports whether a use of a response may take something of its header or its body.
func (p *pass) usesAnswer(use inspector.Cursor) bool {
	name, parent := field(use)
	switch name {
	case "":
		return !compares(parent) && !assigned[use.ParentEdgeKind()] && p.callee(parent.Node()) != ours+"/retryhttp.CheckStatus"
	case "Body":
		sel, isMethod := parent.Node().(*ast.SelectorExpr)
		return !(isMethod && sel.Sel.Name == "Close") && !p.discards(parent.Node())
	case "Status", "StatusCode":
		return false
	}
	return true
}

// discards reports whether n is a call that copies to io.Discard.
func (p *pass) discards(n ast.Node) bool {
	copied, ok := n.(*ast.CallExpr)
	return ok && copying.MatchString(p.callee(n)) && objectName(p.info.Uses[lastName(copied.Args[0])]) == "io.Discard"
}

// fails reports whether c is an if statement that ends with an error that is made of a text.
func (p *pass) fails(c inspector.Cursor) bool {
	n, ok := c.Node().(*ast.IfStmt)
	if !ok || len(n.Body.List) == 0 {
		return false
	}
	ret, ok := n.Body.List[len(n.Body.List)-1].(*ast.ReturnStmt)
	return ok && len(ret.Results) > 0 && plainErrors.MatchString(p.callee(ret.Results[len(ret.Results)-1]))
}

func (p *pass) isPost(method ast.Expr) bool {
	name := p.info.Types[method].Value
	return name != nil && constant.StringVal(name) == http.MethodPost
}

// isKey reports whether e is the name of the header by which a server recognizes a repetition.
func (p *pass) isKey(e ast.Expr) bool {
	name := p.info.Types[e].Value
	return name != nil && strings.EqualFold(constant.StringVal(name), "Idempotency-Key")
}

// isNew reports whether a value is random, or comes from a function without arguments.
func (p *pass) isNew(c inspector.Cursor) bool {
	for call := range c.Preorder((*ast.CallExpr)(nil)) {
		fn, ok := typeutil.Callee(p.info, call.Node().(*ast.CallExpr)).(*types.Func)
		noArgs := ok && fn.Signature().Recv() == nil && len(call.Node().(*ast.CallExpr).Args) == 0
		if noArgs || randoms.MatchString(p.callee(call.Node())) {
			return true
		}
	}
	return false
}

// reportState reports what an operation appends or adds to a variable outside that it uses for
// nothing else, so that a retry adds it again. What a condition decides may be added once only.
func (p *pass) reportState(loop *call) {
	for c := range loop.op.Preorder((*ast.AssignStmt)(nil)) {
		n := c.Node().(*ast.AssignStmt)
		list, isAppend := n.Rhs[0].(*ast.CallExpr)
		appends := isAppend && isBuiltin(p.info, list, "append") && types.ExprString(list.Args[0]) == types.ExprString(n.Lhs[0])
		v := p.owner(n.Lhs[0])
		if !appends && n.Tok != token.ADD_ASSIGN || len(n.Lhs) != 1 || v == nil || !p.survives(v, loop.op) || !p.mayFail(loop.op, c) {
			continue
		}
		used := slices.ContainsFunc(slices.Concat(p.vars[v].uses, p.vars[v].sets), func(at inspector.Cursor) bool {
			return loop.op.Contains(at) && !c.Contains(at)
		})
		counts := !appends && p.info.Types[n.Rhs[0]].Value != nil // attempts
		failures := appends && types.Implements(p.info.TypeOf(n.Lhs[0]).Underlying().(*types.Slice).Elem(), errorType)
		inBranch := loop.op.Contains(around(c, (*ast.IfStmt)(nil), (*ast.CaseClause)(nil), (*ast.CommClause)(nil)))
		if !used && !counts && !failures && !inBranch && !p.decides(loop.op, c) {
			p.report(c, "a retry adds to %s again: collect in a variable of the operation, and set %[1]s at its end", types.ExprString(n.Lhs[0]))
		}
	}
}

func isBuiltin(info *types.Info, call *ast.CallExpr, name string) bool {
	id, ok := call.Fun.(*ast.Ident)
	return ok && id.Name == name && info.Types[call.Fun].IsBuiltin()
}

// reportOwnError reports a request of a client of retryhttp whose status the operation turns into
// an error of its own, which Do retries after the client has given up.
func (p *pass) reportOwnError(loop *call) {
	checked := slices.ContainsFunc(p.calls, func(c *call) bool {
		return loop.op.Contains(c.Cursor) && c.name == ours+"/retryhttp.CheckStatus"
	})
	if checked {
		return
	}
	for _, c := range p.calls {
		if !loop.op.Contains(c.Cursor) || !sends.MatchString(c.name) || !p.retriesItself(c) {
			continue
		}
		p.report(c.Cursor, "this client retries by itself, and Do retries it again, three times three attempts by default: return the error of retryhttp.CheckStatus, which ends both")
	}
}

// What copies a whole content to its first argument, and methods that write to their receiver.
var (
	copying = names(`io\.Copy(N|Buffer)?`)
	writes  = names(`bytes\.Buffer\.(Write|WriteString|ReadFrom)`, `strings\.Builder\.(Write|WriteString)`, `os\.File\.(Write|WriteString|ReadFrom)`)
	closing = names(`Close`, `Sync`, `Flush`, `Name`)
)

// reportWrites reports what an operation writes to a file or a buffer outside, which then has
// a part of each failed attempt.
func (p *pass) reportWrites(loop *call) {
	for _, c := range p.calls {
		if !loop.op.Contains(c.Cursor) || !p.mayFail(loop.op, c.Parent()) && !p.mayFail(loop.op, c.Cursor) {
			continue
		}
		var to inspector.Cursor
		switch {
		case copying.MatchString(c.name):
			to = c.ChildAt(edge.CallExpr_Args, 0)
		case writes.MatchString(c.name):
			if sel := c.ChildAt(edge.CallExpr_Fun, -1); sel.Node() != nil {
				to = sel.ChildAt(edge.SelectorExpr_X, -1)
			}
		}
		if !to.Valid() {
			continue
		}
		e := p.plain(to).Node().(ast.Expr)
		v := p.owner(e)
		if v == nil || !p.survives(v, loop.op) || v.Pkg() != p.Pkg || p.knows(loop.op, v) || p.decides(loop.op, c.Cursor) {
			continue
		}
		p.report(c.Cursor, "%s keeps what a failed attempt has written, and a retry writes all of it again: write to a variable of the operation, or rewind and truncate first", types.ExprString(e))
	}
}

// knows reports whether an operation does more with a variable than to write to it and to close
// it, so that it may go on where the last attempt ended, or begin anew.
func (p *pass) knows(op inspector.Cursor, v *types.Var) bool {
	return slices.ContainsFunc(p.vars[v].uses, func(use inspector.Cursor) bool {
		if !op.Contains(use) {
			return false
		}
		method, called := field(use)
		name := p.callee(called.Node())
		return !closing.MatchString(method) && !writes.MatchString(name) && !copying.MatchString(p.callee(use.Parent().Node())) &&
			!copying.MatchString(p.callee(use.Parent().Parent().Node()))
	})
}

// reportAnswers reports what an operation that may fail later writes to the response of a
// server's handler, which has then begun.
func (p *pass) reportAnswers(loop *call) {
	for id := range loop.op.Preorder((*ast.Ident)(nil)) {
		v, ok := p.info.Uses[id.Node().(*ast.Ident)].(*types.Var)
		if !ok || typeName(v.Type()) != "net/http.ResponseWriter" || !p.survives(v, loop.op) {
			continue
		}
		method, _ := field(id)
		statement := around(id, (*ast.ExprStmt)(nil), (*ast.AssignStmt)(nil), (*ast.ReturnStmt)(nil))
		if method != "Header" && loop.op.Contains(statement) && p.mayFail(loop.op, statement) && !p.decides(loop.op, id) {
			p.report(id, "a retry answers on %s again, behind what the failed attempt has written: answer after %s", v.Name(), shortName(loop.name))
			return
		}
	}
}
