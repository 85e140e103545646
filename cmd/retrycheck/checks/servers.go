package checks

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// oneServer has types of values that stand for one server.
var oneServer = names(`database/sql\.DB`, `github\.com/jackc/pgx/pgxpool\.Pool`, `github\.com/jmoiron/sqlx\.DB`, `google\.golang\.org/grpc\.ClientConn`,
	`github\.com/redis/go-redis\.(Client|ClusterClient|UniversalClient)`, `go\.mongodb\.org/mongo-driver/mongo\.(Client|Database|Collection)`, `github\.com/nats-io/nats\.go\.Conn`)

// A budgeted is a policy's own budget and a call of Do under it.
type budgeted struct {
	budget inspector.Cursor
	loop   *call
}

// reportBudgetsOfServer reports a budget of its own of a policy whose calls go to a server for
// which another policy of the package has a budget of its own, too.
func (p *pass) reportBudgetsOfServer() {
	of := map[string][]budgeted{}
	for _, loop := range p.loops {
		if !loop.policy.Valid() || p.inTest(loop.Cursor) || !strings.HasPrefix(loop.name, ours) {
			continue
		}
		budget := p.ownBudget(loop.policy, 5)
		if !budget.Valid() {
			continue
		}
		for server := range p.serversOf(loop) {
			of[server] = append(of[server], budgeted{budget, loop})
		}
	}
	for _, server := range slices.Sorted(maps.Keys(of)) {
		calls := of[server]
		slices.SortFunc(calls, func(a, b budgeted) int { return int(a.budget.Node().Pos() - b.budget.Node().Pos()) })
		for _, c := range calls {
			if c.budget != calls[0].budget {
				first := p.Fset.Position(calls[0].budget.Node().Pos())
				p.report(c.budget, "these calls go to the same server as those of the budget in line %d, so each budget bounds only a part of the retries: share one budget", first.Line)
			}
		}
	}
}

// ownBudget returns what makes the budget that a policy alone has, if the policy is in sight.
func (p *pass) ownBudget(policy inspector.Cursor, depth int) (none inspector.Cursor) {
	if depth == 0 {
		return none
	}
	policy = p.plain(policy)
	switch n := policy.Node().(type) {
	case *ast.ParenExpr:
		return p.ownBudget(policy.ChildAt(edge.ParenExpr_X, -1), depth)
	case *ast.CompositeLit:
		for i, element := range n.Elts {
			field, ok := element.(*ast.KeyValueExpr)
			if ok && types.ExprString(field.Key) == "Budget" {
				return p.newBudget(policy.ChildAt(edge.CompositeLit_Elts, i).ChildAt(edge.KeyValueExpr_Value, -1))
			}
		}
	case *ast.CallExpr:
		return p.ownBudgetOfCall(policy, depth)
	case *ast.Ident, *ast.SelectorExpr:
		v, ok := p.info.Uses[lastName(n.(ast.Expr))].(*types.Var)
		if !ok {
			return none
		}
		if set := p.setBudget(v); set.Valid() {
			return p.newBudget(set)
		}
		if value := p.onlyValue(v); value.Valid() {
			return p.ownBudget(value, depth-1)
		}
	}
	return none
}

// ownBudgetOfCall is ownBudget for policy.With(hooks), a preset, a text, and a function of the
// package that makes a policy, which make a budget in each call.
func (p *pass) ownBudgetOfCall(policy inspector.Cursor, depth int) (none inspector.Cursor) {
	n := policy.Node().(*ast.CallExpr)
	switch p.callee(n) {
	case ours + ".Policy.With":
		return p.ownBudget(policy.ChildAt(edge.CallExpr_Fun, -1).ChildAt(edge.SelectorExpr_X, -1), depth-1)
	case ours + "/awspreset.Preset.Policy":
		return policy
	case ours + "/retryconfig.Parse":
		text := p.info.Types[n.Args[0]].Value
		if text != nil && strings.Contains(constant.StringVal(text), "budget=shared") {
			return policy
		}
	}
	fn := p.declaration(n)
	if !fn.Valid() || len(body(fn).List) == 0 {
		return none
	}
	if ret, ok := body(fn).List[len(body(fn).List)-1].(*ast.ReturnStmt); ok && len(ret.Results) == 1 {
		for c := range fn.Preorder((*ast.ReturnStmt)(nil)) {
			if c.Node() == ret && p.ownBudget(c.ChildAt(edge.ReturnStmt_Results, 0), depth-1).Valid() {
				return policy
			}
		}
	}
	return none
}

// declaration returns the declaration of the function that a call calls, if it is in the package.
func (p *pass) declaration(call *ast.CallExpr) (none inspector.Cursor) {
	fn := typeutil.Callee(p.info, call)
	if fn == nil || fn.Pkg() != p.Pkg {
		return none
	}
	for decl := range p.root.Preorder((*ast.FuncDecl)(nil)) {
		if n := decl.Node().(*ast.FuncDecl); p.info.Defs[n.Name] == fn && n.Body != nil {
			return decl
		}
	}
	return none
}

// newBudget returns what makes a budget, if it is new where it is set, and no other policy gets it.
func (p *pass) newBudget(at inspector.Cursor) (none inspector.Cursor) {
	made := p.plain(at)
	if id, ok := made.Node().(*ast.Ident); ok { // a variable that a single policy uses
		v, ok := p.info.Uses[id].(*types.Var)
		if !ok || len(p.vars[v].uses) != 1 || v.Exported() && v.Kind() == types.PackageVar {
			return none
		}
		value := p.declared(v)
		if !value.Valid() {
			return none
		}
		made = p.plain(value)
	}
	switch n := made.Node().(type) {
	case *ast.CompositeLit:
		if typeName(p.info.TypeOf(n)) == ours+".SharedBudget" {
			return made
		}
	case *ast.CallExpr:
		if isBuiltin(p.info, n, "new") && typeName(p.info.TypeOf(n)) == ours+".SharedBudget" {
			return made
		}
	}
	return none
}

// setBudget returns the value that statements give to the Budget of a policy, if one does.
func (p *pass) setBudget(policy *types.Var) (value inspector.Cursor) {
	for _, set := range p.vars[policy].sets {
		if sel, ok := set.Node().(*ast.SelectorExpr); ok && sel.Sel.Name == "Budget" {
			value = valueSet(set)
		}
	}
	return value
}

// onlyValue returns the value of a variable, a field or a parameter of the package, if it has a
// single one.
func (p *pass) onlyValue(v *types.Var) (none inspector.Cursor) {
	switch {
	case v.Pkg() != p.Pkg:
		return none
	case v.IsField():
		values := p.valuesOfField(v)
		if len(values) == 1 {
			return values[0]
		}
		return none
	case v.Kind() == types.ParamVar:
		return p.onlyArgument(v)
	}
	return p.declared(v)
}

// valuesOfField returns the values that literals and statements give to a field. An invalid one
// is unknown.
func (p *pass) valuesOfField(v *types.Var) (values []inspector.Cursor) {
	for _, use := range p.vars[v].uses {
		if use.ParentEdgeKind() == edge.KeyValueExpr_Key {
			values = append(values, use.Parent().ChildAt(edge.KeyValueExpr_Value, -1))
			continue
		}
		if use.ParentEdgeKind() == edge.SelectorExpr_Sel && assigned[use.Parent().ParentEdgeKind()] {
			values = append(values, valueSet(use.Parent()))
		}
	}
	for c := range p.root.Preorder((*ast.CompositeLit)(nil)) {
		lit := c.Node().(*ast.CompositeLit)
		s, ok := p.info.TypeOf(lit).Underlying().(*types.Struct)
		if !ok || len(lit.Elts) == 0 {
			continue
		}
		if _, keyed := lit.Elts[0].(*ast.KeyValueExpr); keyed {
			continue
		}
		for i := range min(s.NumFields(), len(lit.Elts)) {
			if s.Field(i) == v {
				values = append(values, c.ChildAt(edge.CompositeLit_Elts, i))
			}
		}
	}
	return values
}

// onlyArgument returns the argument for a parameter of a function that the package calls once. An
// exported function may have other callers, which change nothing for this call.
func (p *pass) onlyArgument(v *types.Var) (none inspector.Cursor) {
	if len(p.vars[v].values) != 1 { // set in the function
		return none
	}
	for decl := range p.root.Preorder((*ast.FuncDecl)(nil)) {
		n := decl.Node().(*ast.FuncDecl)
		if n.Pos() > v.Pos() || v.Pos() > n.Type.End() {
			continue
		}
		calls := p.callsOf(decl)
		params := p.signature(decl).Params()
		for i := range params.Len() {
			if params.At(i) == v && len(calls) == 1 && i < len(calls[0].Args) && !calls[0].Ellipsis.IsValid() {
				return calls[0].ChildAt(edge.CallExpr_Args, i)
			}
		}
	}
	return none
}

// serversOf returns the names of the servers that the operation of a call uses.
func (p *pass) serversOf(loop *call) map[string]bool {
	found := map[string]bool{}
	for i, arg := range loop.Args {
		at := loop.ChildAt(edge.CallExpr_Args, i)
		if sel, ok := arg.(*ast.SelectorExpr); ok && p.info.Selections[sel] != nil { // db.PingContext
			p.addServer(found, at.ChildAt(edge.SelectorExpr_X, -1))
		}
		p.addServer(found, at)
	}
	if loop.op.Valid() {
		p.addServers(found, loop.op, 2)
	}
	return found
}

// addServers adds the servers that a function, or one of the package that it calls, uses.
func (p *pass) addServers(found map[string]bool, fn inspector.Cursor, depth int) {
	for c := range fn.Preorder((*ast.CallExpr)(nil)) {
		n := c.Node().(*ast.CallExpr)
		if sel, ok := n.Fun.(*ast.SelectorExpr); ok {
			if _, isMethod := p.info.Selections[sel]; isMethod {
				p.addServer(found, c.ChildAt(edge.CallExpr_Fun, -1).ChildAt(edge.SelectorExpr_X, -1))
			}
		}
		for i := range n.Args {
			p.addServer(found, c.ChildAt(edge.CallExpr_Args, i))
		}
		if host := p.host(c); host != "" {
			found[host] = true
		}
		if decl := p.declaration(n); decl.Valid() && depth > 0 && decl != fn {
			p.addServers(found, decl, depth-1)
		}
	}
}

// addServer adds the server that an expression stands for, if it does.
func (p *pass) addServer(found map[string]bool, c inspector.Cursor) {
	t := p.info.TypeOf(c.Node().(ast.Expr))
	if t == nil || !oneServer.MatchString(typeName(t)) && !isServiceClient(t) {
		return
	}
	if name := p.identity(c, 4); name != "" {
		found[name] = true
	}
}

// isServiceClient reports whether a type is the client of a gRPC service.
func isServiceClient(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	if !ok || i.NumMethods() == 0 {
		return false
	}
	sig := i.Method(0).Signature()
	return sig.Variadic() && strings.HasSuffix(typeName(sig.Params().At(sig.Params().Len()-1).Type()), "google.golang.org/grpc.CallOption")
}

// identity names a variable, or a field of the receiver or of a variable, so that equal names stand
// for the same value. It is empty if that is not certain.
func (p *pass) identity(c inspector.Cursor, depth int) string {
	c = p.plain(c)
	switch n := c.Node().(type) {
	case *ast.Ident:
		v, ok := p.info.Uses[n].(*types.Var)
		if !ok {
			return ""
		}
		if value := p.onlyValue(v); value.Valid() && depth > 0 {
			if name := p.identityOfValue(value, depth-1); name != "" {
				return name
			}
		}
		if v.Kind() == types.PackageVar {
			return objectName(v)
		}
		return p.Fset.Position(v.Pos()).String()
	case *ast.SelectorExpr:
		v, ok := p.info.Uses[n.Sel].(*types.Var)
		if !ok {
			return ""
		}
		if !v.IsField() { // of another package
			return objectName(v)
		}
		root, ok := ast.Unparen(n.X).(*ast.Ident)
		if !ok {
			return ""
		}
		owner, ok := p.info.Uses[root].(*types.Var)
		if !ok {
			return ""
		}
		if owner.Kind() == types.RecvVar {
			if value := p.onlyValue(v); value.Valid() && depth > 0 {
				if name := p.identityOfValue(value, depth-1); name != "" {
					return name
				}
			}
			return typeName(owner.Type()) + "." + v.Name()
		}
		return p.identity(c.ChildAt(edge.SelectorExpr_X, -1), depth) + "." + v.Name()
	}
	return ""
}

// identityOfValue is identity for the value of a variable, which may be a variable, or the client
// of a service that uses one.
func (p *pass) identityOfValue(value inspector.Cursor, depth int) string {
	n, ok := value.Node().(*ast.CallExpr)
	if !ok {
		return p.identity(value, depth)
	}
	if len(n.Args) == 1 && oneServer.MatchString(typeName(p.info.TypeOf(n.Args[0]))) {
		return p.identity(value.ChildAt(edge.CallExpr_Args, 0), depth)
	}
	return ""
}

// urls has functions that take a URL, and its position.
var urls = map[string]int{
	"net/http.NewRequest": 1, "net/http.NewRequestWithContext": 2,
	"net/http.Get": 0, "net/http.Head": 0, "net/http.Post": 0, "net/http.PostForm": 0,
	"net/http.Client.Get": 0, "net/http.Client.Head": 0, "net/http.Client.Post": 0, "net/http.Client.PostForm": 0,
}

// host names the host that a request goes to: that of a constant URL, or a variable with which the
// URL begins.
func (p *pass) host(c inspector.Cursor) string {
	name := p.callee(c.Node())
	if sends.MatchString(name) && strings.HasSuffix(name, ".Do") {
		request := p.value(c.ChildAt(edge.CallExpr_Args, 0))
		if _, made := urls[p.callee(request.Node())]; made && request != c {
			return p.host(request)
		}
		return ""
	}
	at, ok := urls[name]
	if !ok {
		return ""
	}
	return p.base(c.ChildAt(edge.CallExpr_Args, at), 4)
}

// base returns the identity of what a URL begins with.
func (p *pass) base(c inspector.Cursor, depth int) string {
	e := c.Node().(ast.Expr)
	if value := p.info.Types[e].Value; value != nil && value.Kind() == constant.String {
		u, err := url.Parse(constant.StringVal(value))
		if err != nil || u.Host == "" {
			return ""
		}
		return "host " + u.Host
	}
	if depth == 0 {
		return ""
	}
	switch n := e.(type) {
	case *ast.ParenExpr:
		return p.base(c.ChildAt(edge.ParenExpr_X, -1), depth)
	case *ast.BinaryExpr:
		if n.Op == token.ADD {
			return p.base(c.ChildAt(edge.BinaryExpr_X, -1), depth)
		}
	case *ast.CallExpr:
		return p.baseOfCall(c, depth)
	case *ast.Ident, *ast.SelectorExpr:
		v, ok := p.info.Uses[lastName(e)].(*types.Var)
		if !ok {
			return ""
		}
		if value := p.onlyValue(v); value.Valid() && !v.IsField() {
			return p.base(value, depth-1)
		}
		if v.IsField() || v.Kind() == types.PackageVar {
			return p.identity(c, 3)
		}
	}
	return ""
}

// baseOfCall is base for functions that put a URL together.
func (p *pass) baseOfCall(c inspector.Cursor, depth int) string {
	n := c.Node().(*ast.CallExpr)
	switch p.callee(n) {
	case "fmt.Sprintf":
		format := p.info.Types[n.Args[0]].Value
		if format == nil || len(n.Args) < 2 {
			return ""
		}
		text := constant.StringVal(format)
		if strings.HasPrefix(text, "%s") {
			return p.base(c.ChildAt(edge.CallExpr_Args, 1), depth-1)
		}
		u, err := url.Parse(strings.SplitN(text, "%", 2)[0])
		if err != nil || u.Host == "" || u.Path == "" {
			return ""
		}
		return "host " + u.Host
	case "net/url.JoinPath":
		return p.base(c.ChildAt(edge.CallExpr_Args, 0), depth-1)
	case "net/url.URL.JoinPath", "net/url.URL.String":
		return p.base(c.ChildAt(edge.CallExpr_Fun, -1).ChildAt(edge.SelectorExpr_X, -1), depth-1)
	}
	return ""
}
