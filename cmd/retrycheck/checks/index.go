package checks

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"regexp"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

const (
	ours      = "github.com/gobackoff/retry"
	cenkalti  = "github.com/cenkalti/backoff"
	avast     = "github.com/avast/retry-go"
	sethvargo = "github.com/sethvargo/go-retry"
	wait      = "k8s.io/apimachinery/pkg/util/wait"
	clientgo  = "k8s.io/client-go/util/retry"
)

// Functions that call an operation until it succeeds.
var (
	retriers = names(ours+`\.(Do|DoValue)`, ours+`/retrysql\.(InTx|Once)(Func)?`,
		cenkalti+`\.Retry(Notify(WithTimer)?)?((With|And)Data)?`,
		avast+`\.(Do|DoWithData|Retrier\.Do|RetrierWithData\[T\]\.Do)`,
		sethvargo+`\.(Do|DoValue|Constant|Exponential|Fibonacci)`, clientgo+`\.OnError`)
	pollers = names(clientgo+`\.RetryOnConflict`, wait+`\.(ExponentialBackoff|Poll(Immediate)?)WithContext`,
		wait+`\.PollUntilContext(Cancel|Timeout)`)
	// ownContext has those whose operation gets a context that may end before the caller's.
	ownContext = names(ours+`[./].*`, wait+`\.(PollUntilContextTimeout|Poll(Immediate)?WithContext)`)
)

// names returns a pattern for whole names, as callee, objectName and typeName return them.
func names(patterns ...string) *regexp.Regexp {
	return regexp.MustCompile(`^(` + strings.Join(patterns, `|`) + `)$`)
}

var decoration = regexp.MustCompile(`^\*|[(*)]|/v[0-9]+\b`)

// objectName returns the full name of what is declared in a package, without the major
// version of its module, such as net/http.NoBody.
func objectName(obj types.Object) string {
	if obj == nil || obj.Pkg() == nil {
		return ""
	}
	return decoration.ReplaceAllString(obj.Pkg().Path(), "") + "." + obj.Name()
}

// typeName returns such a name of a type or of what it points to.
func typeName(t types.Type) string {
	return decoration.ReplaceAllString(types.TypeString(types.Unalias(t), nil), "")
}

func shortName(name string) string { return name[strings.LastIndex(name, "/")+1:] }

// A call is a call of a known function or method.
type call struct {
	inspector.Cursor
	*ast.CallExpr
	name   string
	op     inspector.Cursor // the function that retriers and pollers call, if it is in this package
	policy inspector.Cursor // the argument that is a retry.Policy, of retriers
}

// A variable has the places that use it, those that set it, a part of it, or take its
// address, and the values that it is declared with or set to, which may be unknown.
type variable struct{ uses, sets, values []inspector.Cursor }

// indexed has the calls and the variables of a package.
type indexed struct {
	root       inspector.Cursor
	info       *types.Info
	calls      []*call
	loops      []*call // those of retriers and pollers
	operations []*call // those of them that have an op
	vars       map[types.Object]variable
}

var index = &analysis.Analyzer{
	Name:             "retryindex",
	Doc:              "find calls and the uses of variables",
	Requires:         []*analysis.Analyzer{inspect.Analyzer},
	ResultType:       reflect.TypeFor[*indexed](),
	RunDespiteErrors: true,
	Run: func(p *analysis.Pass) (any, error) {
		if len(p.TypeErrors) > 0 {
			return (*indexed)(nil), nil
		}
		x := &indexed{
			root: p.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root(),
			info: p.TypesInfo,
			vars: map[types.Object]variable{},
		}
		for c := range x.root.Preorder((*ast.CallExpr)(nil), (*ast.Ident)(nil)) {
			switch n := c.Node().(type) {
			case *ast.Ident:
				x.addUse(c, n)
			case *ast.CallExpr:
				if name := x.callee(n); name != "" {
					x.calls = append(x.calls, &call{Cursor: c, CallExpr: n, name: name})
				}
			}
		}
		for _, call := range x.calls {
			if retriers.MatchString(call.name) || pollers.MatchString(call.name) {
				x.addLoop(call)
			}
		}
		x.addHelpers()
		return x, nil
	},
}

// within are the edges from v up to v.field[1], and assigned those from there to what sets it.
var (
	within   = map[edge.Kind]bool{edge.SelectorExpr_X: true, edge.IndexExpr_X: true, edge.ParenExpr_X: true, edge.StarExpr_X: true}
	assigned = map[edge.Kind]bool{edge.AssignStmt_Lhs: true, edge.ValueSpec_Names: true, edge.IncDecStmt_X: true,
		edge.RangeStmt_Key: true, edge.RangeStmt_Value: true, edge.Field_Names: true}
)

func (x *indexed) addUse(c inspector.Cursor, id *ast.Ident) {
	obj, ok := x.info.ObjectOf(id).(*types.Var)
	if !ok {
		return
	}
	v, set := x.vars[obj], c
	for within[set.ParentEdgeKind()] {
		set = set.Parent()
	}
	isSet := assigned[set.ParentEdgeKind()]
	if !isSet {
		v.uses = append(v.uses, c)
	}
	if address, ok := set.Parent().Node().(*ast.UnaryExpr); isSet || ok && address.Op == token.AND {
		v.sets = append(v.sets, set)
		if set == c {
			v.values = append(v.values, valueSet(c))
		}
	}
	x.vars[obj] = v
}

// valueSet returns the value that a statement gives to what it sets at c; of v, err := f(),
// the call is v's.
func valueSet(c inspector.Cursor) (value inspector.Cursor) {
	kind, i := c.ParentEdge()
	switch n := c.Parent().Node().(type) {
	case *ast.AssignStmt:
		if kind == edge.AssignStmt_Lhs && i < len(n.Rhs) {
			value = c.Parent().ChildAt(edge.AssignStmt_Rhs, i)
		}
	case *ast.ValueSpec:
		if i < len(n.Values) {
			value = c.Parent().ChildAt(edge.ValueSpec_Values, i)
		}
	}
	return value
}

// declared returns the value of a variable where it is declared, if only parts of it are
// set later.
func (x *indexed) declared(obj types.Object) (value inspector.Cursor) {
	if values := x.vars[obj].values; len(values) == 1 {
		value = values[0]
	}
	return value
}

// callee returns the name of the function or method that an expression calls, such as
// net/http.Client.Do, if it is a call.
func (x *indexed) callee(n ast.Node) string {
	if call, ok := n.(*ast.CallExpr); ok {
		if fn, ok := typeutil.Callee(x.info, call).(*types.Func); ok {
			return decoration.ReplaceAllString(fn.Origin().FullName(), "")
		}
	}
	return ""
}

// addLoop looks for the operation among the arguments of a call: the first function that does
// not receive an error, as predicates and hooks do.
func (x *indexed) addLoop(call *call) {
	x.loops = append(x.loops, call)
	for i, arg := range call.Args {
		at := call.ChildAt(edge.CallExpr_Args, i)
		if typeName(x.info.TypeOf(arg)) == ours+".Policy" {
			call.policy = at
		}
		op := x.function(at)
		if !op.Valid() || call.op.Valid() {
			continue
		}
		params := x.signature(op).Params()
		if params.Len() == 0 || params.At(0).Type().String() != "error" {
			call.op = op
			x.operations = append(x.operations, call)
		}
	}
}

// addHelpers adds the calls of functions of this package that hand one of their parameters to
// a loop as its operation, or call it in the operation.
func (x *indexed) addHelpers() {
	helpers := map[types.Object]*call{}
	for _, loop := range x.loops {
		decl, ok := around(loop.Cursor, (*ast.FuncDecl)(nil)).Node().(*ast.FuncDecl)
		if !ok {
			continue
		}
		for c := range loop.Preorder((*ast.Ident)(nil)) {
			v, ok := x.info.Uses[c.Node().(*ast.Ident)].(*types.Var)
			if !ok || v.Pos() < decl.Pos() || v.Pos() > decl.Type.End() {
				continue
			}
			kind := c.ParentEdgeKind()
			_, isFunc := v.Type().Underlying().(*types.Signature)
			handed := kind == edge.CallExpr_Args && c.Parent() == loop.Cursor
			called := kind == edge.CallExpr_Fun && loop.op.Valid() && loop.op.Contains(c)
			if isFunc && (handed || called) {
				helpers[x.info.Defs[decl.Name]] = loop
			}
		}
	}
	for _, c := range x.calls {
		if loop, ok := helpers[typeutil.Callee(x.info, c.CallExpr)]; ok {
			x.addLoop(&call{Cursor: c.Cursor, CallExpr: c.CallExpr, name: loop.name, policy: loop.policy})
		}
	}
}

// function returns the function literal or declaration of the package that c stands for, if it
// is one.
func (x *indexed) function(c inspector.Cursor) inspector.Cursor {
	c = x.value(c)
	switch n := c.Node().(type) {
	case *ast.FuncLit:
		return c
	case *ast.CallExpr:
		return x.made(n)
	case *ast.Ident, *ast.SelectorExpr:
		fn, ok := x.info.Uses[lastName(n.(ast.Expr))].(*types.Func)
		if !ok {
			break
		}
		return x.declaration(fn)
	}
	return inspector.Cursor{}
}

// declaration returns where a function of the package is declared.
func (x *indexed) declaration(fn types.Object) (decl inspector.Cursor) {
	if fn == nil {
		return decl
	}
	for c := range x.root.Preorder((*ast.FuncDecl)(nil)) {
		if n := c.Node().(*ast.FuncDecl); x.info.Defs[n.Name] == fn && n.Body != nil {
			return c
		}
	}
	return decl
}

// made returns the function literal that a function of the package returns, if it has one
// return statement.
func (x *indexed) made(call *ast.CallExpr) (lit inspector.Cursor) {
	fn, ok := typeutil.Callee(x.info, call).(*types.Func)
	if !ok || fn.Pkg() == nil {
		return lit
	}
	if _, isFunc := x.info.TypeOf(call).(*types.Signature); !isFunc {
		return lit
	}
	decl := x.declaration(fn)
	if !decl.Valid() || len(body(decl).List) == 0 {
		return lit
	}
	ret, ok := body(decl).List[len(body(decl).List)-1].(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 {
		return lit
	}
	for c := range decl.Preorder((*ast.FuncLit)(nil)) {
		if c.Node() == ret.Results[0] {
			return c
		}
	}
	return lit
}

// body returns the statements of a function literal or declaration.
func body(fn inspector.Cursor) *ast.BlockStmt {
	if lit, ok := fn.Node().(*ast.FuncLit); ok {
		return lit.Body
	}
	return fn.Node().(*ast.FuncDecl).Body
}

func isContext(t types.Type) bool { return typeName(t) == "context.Context" }

// signature returns the type of a function literal or declaration.
func (x *indexed) signature(fn inspector.Cursor) *types.Signature {
	e, ok := fn.Node().(ast.Expr)
	if !ok {
		e = fn.Node().(*ast.FuncDecl).Name
	}
	return x.info.TypeOf(e).(*types.Signature)
}
