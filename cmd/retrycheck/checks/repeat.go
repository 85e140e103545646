package checks

import (
	"go/ast"
	"go/constant"
	"go/types"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// Repeat reports operations of this library whose retry repeats what may have happened: a
// POST, or an append to a slice outside.
var Repeat = analyzer("repeat", "report operations that send a POST or append to a slice again", func(p *pass) {
	for _, call := range p.operations {
		if !strings.HasPrefix(call.name, ours) {
			continue
		}
		p.reportPosts(call)
		for c := range call.op.Preorder((*ast.AssignStmt)(nil)) {
			v := p.grown(c)
			if v == nil || !outside(v, call.op) {
				continue
			}
			if list, ok := v.Type().Underlying().(*types.Slice); !ok || types.Implements(list.Elem(), errorType) {
				continue // a list of the attempts' failures
			}
			emptied := slices.ContainsFunc(p.vars[v].sets, func(set inspector.Cursor) bool {
				return call.op.Contains(set) && p.grown(set.Parent()) != v
			})
			if !emptied && p.mayFail(call.op, c) {
				p.report(c, "a retry appends to %s again: collect in a variable of the operation, and set %[1]s at its end", v.Name())
			}
		}
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
	for _, c := range sent {
		if keys == 0 {
			p.report(c, "a POST whose response is lost is executed again: use a client of retryhttp instead, or set an Idempotency-Key that is made outside the operation")
		}
	}
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

// grown returns the variable of a statement v = append(v, ...).
func (p *pass) grown(c inspector.Cursor) *types.Var {
	assign, ok := c.Node().(*ast.AssignStmt)
	if !ok || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 {
		return nil
	}
	id, isID := assign.Lhs[0].(*ast.Ident)
	call, isCall := assign.Rhs[0].(*ast.CallExpr)
	if !isID || !isCall || !p.info.Types[call.Fun].IsBuiltin() || types.ExprString(call.Fun) != "append" {
		return nil
	}
	v, _ := p.info.ObjectOf(id).(*types.Var)
	if first, ok := call.Args[0].(*ast.Ident); !ok || v == nil || p.info.ObjectOf(first) != v {
		return nil
	}
	return v
}

// mayFail reports whether an operation may return an error after the statement c, or in a
// later round of the loop, or of the function that is called in it, around c.
func (p *pass) mayFail(op, c inspector.Cursor) bool {
	again := block(c)
	for ret := range op.Preorder((*ast.ReturnStmt)(nil)) {
		last, given := ret.LastChild()
		fails := !given || !p.info.Types[last.Node().(ast.Expr)].IsNil()
		if fails && (ret.Node().End() > c.Node().End() || again != op && again.Contains(ret)) {
			return true
		}
	}
	return false
}
