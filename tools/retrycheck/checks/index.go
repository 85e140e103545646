package checks

import (
	"go/ast"
	"go/types"
	"iter"
	"reflect"
	"regexp"

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

// A kind is what a function does that runs an operation until it succeeds.
type kind uint8

const (
	retries    kind = 1 << iota
	ownContext      // the operation's context may end before the caller's
)

// kinds has the names of such functions, without the major version of their module.
var kinds = map[string]kind{
	ours + ".Do":                              retries | ownContext,
	ours + ".DoValue":                         retries | ownContext,
	ours + ".Group.Go":                        retries | ownContext,
	ours + "/retrysql.InTx":                   retries | ownContext,
	ours + "/retrysql.InTxFunc":               retries | ownContext,
	cenkalti + ".Retry":                       retries,
	cenkalti + ".RetryNotify":                 retries,
	cenkalti + ".RetryWithData":               retries,
	cenkalti + ".RetryNotifyWithData":         retries,
	cenkalti + ".RetryNotifyWithTimer":        retries,
	cenkalti + ".RetryNotifyWithTimerAndData": retries,
	avast + ".Do":                             retries,
	avast + ".DoWithData":                     retries,
	avast + ".Retrier.Do":                     retries,
	avast + ".RetrierWithData.Do":             retries,
	sethvargo + ".Do":                         retries,
	sethvargo + ".DoValue":                    retries,
	sethvargo + ".Constant":                   retries,
	sethvargo + ".Exponential":                retries,
	sethvargo + ".Fibonacci":                  retries,
	clientgo + ".OnError":                     retries,
	clientgo + ".RetryOnConflict":             0,
	wait + ".ExponentialBackoffWithContext":   0,
	wait + ".PollUntilContextCancel":          0,
	wait + ".PollUntilContextTimeout":         ownContext,
	wait + ".PollWithContext":                 ownContext,
	wait + ".PollImmediateWithContext":        ownContext,
}

// A retryCall is a call of one of kinds.
type retryCall struct {
	inspector.Cursor // of the call
	*ast.CallExpr
	kind kind
	name string
	op   inspector.Cursor // the operation, a function literal; invalid if it is something else
}

// indexed has what several analyzers need to know about a package.
type indexed struct {
	root  inspector.Cursor
	info  *types.Info
	defs  map[types.Object]inspector.Cursor // the values of variables that are assigned once; of v, err := f(), the call is v's
	sets  map[types.Object]int              // the assignments to a variable, a field of it, or through its address
	calls []retryCall
}

var index = &analysis.Analyzer{
	Name:       "retryindex",
	Doc:        "find the calls that retry",
	Requires:   []*analysis.Analyzer{inspect.Analyzer},
	ResultType: reflect.TypeFor[*indexed](),
	Run: func(p *analysis.Pass) (any, error) {
		x := &indexed{
			root: p.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root(),
			info: p.TypesInfo,
			defs: map[types.Object]inspector.Cursor{},
			sets: map[types.Object]int{},
		}
		x.findAssignments()
		for c := range x.root.Preorder((*ast.CallExpr)(nil)) {
			call := c.Node().(*ast.CallExpr)
			name := x.callee(call)
			if kind, ok := kinds[name]; ok {
				x.calls = append(x.calls, retryCall{c, call, kind, name, x.operation(c)})
			}
		}
		return x, nil
	},
}

func (x *indexed) findAssignments() {
	for c := range x.root.Preorder((*ast.AssignStmt)(nil), (*ast.ValueSpec)(nil), (*ast.UnaryExpr)(nil), (*ast.IncDecStmt)(nil), (*ast.RangeStmt)(nil)) {
		switch n := c.Node().(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				obj := x.set(lhs)
				if i < len(n.Rhs) && x.info.Defs[identOf(lhs)] != nil {
					x.defs[obj] = c.ChildAt(edge.AssignStmt_Rhs, i)
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if obj := x.set(name); obj != nil && i < len(n.Values) {
					x.defs[obj] = c.ChildAt(edge.ValueSpec_Values, i)
				}
			}
		case *ast.UnaryExpr:
			if _, literal := ast.Unparen(n.X).(*ast.CompositeLit); n.Op.String() == "&" && !literal {
				x.set(n.X)
			}
		case *ast.IncDecStmt:
			x.set(n.X)
		case *ast.RangeStmt:
			x.set(n.Key)
			x.set(n.Value)
		}
	}
	for obj := range x.defs {
		if x.sets[obj] != 1 {
			delete(x.defs, obj)
		}
	}
}

// set counts an assignment to e and returns the variable that e belongs to.
func (x *indexed) set(e ast.Expr) types.Object {
	obj := x.rootOf(e)
	if obj != nil {
		x.sets[obj]++
	}
	return obj
}

// rootOf returns the variable v of an expression such as v.field[1].
func (x *indexed) rootOf(e ast.Expr) types.Object {
	for {
		switch n := e.(type) {
		case *ast.Ident:
			return x.info.ObjectOf(n)
		case *ast.SelectorExpr:
			e = n.X
		case *ast.IndexExpr:
			e = n.X
		case *ast.ParenExpr:
			e = n.X
		case *ast.StarExpr:
			e = n.X
		default:
			return nil
		}
	}
}

func identOf(e ast.Expr) *ast.Ident {
	id, _ := ast.Unparen(e).(*ast.Ident)
	return id
}

var major = regexp.MustCompile(`/v[0-9]+(/|$)`)

// nameOf returns the path, without major versions, and the name of a function, method or type.
func nameOf(obj types.Object) string {
	if obj == nil || obj.Pkg() == nil {
		return ""
	}
	name := obj.Name()
	if fn, ok := obj.(*types.Func); ok && fn.Signature().Recv() != nil {
		recv := namedOf(fn.Signature().Recv().Type())
		if recv == nil {
			return ""
		}
		name = recv.Obj().Name() + "." + name
	}
	return withoutMajor(obj.Pkg().Path()) + "." + name
}

func withoutMajor(path string) string { return major.ReplaceAllString(path, "$1") }

// namedOf returns the named type of t or, if t is a pointer, of its element.
func namedOf(t types.Type) *types.Named {
	if t == nil {
		return nil
	}
	if ptr, ok := types.Unalias(t).(*types.Pointer); ok {
		t = ptr.Elem()
	}
	named, _ := types.Unalias(t).(*types.Named)
	return named
}

func typeName(t types.Type) string {
	if named := namedOf(t); named != nil {
		return nameOf(named.Obj())
	}
	return ""
}

func (x *indexed) callee(call *ast.CallExpr) string {
	fn, ok := typeutil.Callee(x.info, call).(*types.Func)
	if !ok {
		return ""
	}
	return nameOf(fn.Origin())
}

// operation returns the function literal that a call retries.
func (x *indexed) operation(c inspector.Cursor) inspector.Cursor {
	call := c.Node().(*ast.CallExpr)
	fn := typeutil.Callee(x.info, call).(*types.Func)
	at := -1
	for i := range fn.Signature().Params().Len() {
		sig, ok := fn.Signature().Params().At(i).Type().Underlying().(*types.Signature)
		if ok && (sig.Params().Len() == 0 || !isError(sig.Params().At(0).Type())) {
			at = i // its operation, not a predicate for errors
			break
		}
	}
	if at < 0 || at >= len(call.Args) {
		return inspector.Cursor{}
	}
	return x.literal(c.ChildAt(edge.CallExpr_Args, at))
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// value follows parentheses, and variables that are assigned once.
func (x *indexed) value(c inspector.Cursor) inspector.Cursor {
	for {
		switch n := c.Node().(type) {
		case *ast.ParenExpr:
			c = c.ChildAt(edge.ParenExpr_X, -1)
		case *ast.Ident:
			def, ok := x.defs[x.info.ObjectOf(n)]
			if !ok {
				return c
			}
			c = def
		default:
			return c
		}
	}
}

func (x *indexed) literal(c inspector.Cursor) inspector.Cursor {
	c = x.value(c)
	if _, ok := c.Node().(*ast.FuncLit); ok {
		return c
	}
	return inspector.Cursor{}
}

func isContext(t types.Type) bool { return t != nil && typeName(t) == "context.Context" }

// contexts returns the contexts of type context.Context that are mentioned in c.
func (x *indexed) contexts(c inspector.Cursor) iter.Seq[inspector.Cursor] {
	return func(yield func(inspector.Cursor) bool) {
		for e := range c.Preorder((*ast.Ident)(nil)) {
			obj, ok := x.info.Uses[e.Node().(*ast.Ident)].(*types.Var)
			if ok && isContext(obj.Type()) && !yield(e) {
				return
			}
		}
	}
}

// outside reports whether obj is declared outside c.
func outside(obj types.Object, c inspector.Cursor) bool {
	return obj.Pos() < c.Node().Pos() || obj.Pos() >= c.Node().End()
}

var path = regexp.MustCompile(`^.*/`)

func shortName(name string) string { return path.ReplaceAllString(name, "") }

// isBackground reports whether e is a new context that never ends.
func (x *indexed) isBackground(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	name := x.callee(call)
	return name == "context.Background" || name == "context.TODO"
}

// contextAround returns the context parameter of the innermost function around c that has
// one. The context of a function around a literal counts only if the literal is called
// there or passed on: what go and defer start may outlive it on purpose.
func (x *indexed) contextAround(c inspector.Cursor) *types.Var {
	for e := range c.Enclosing((*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
		if ctx := x.contextParam(signatureOf(e)); ctx != nil {
			return ctx
		}
		switch e.ParentEdgeKind() {
		case edge.CallExpr_Args:
		case edge.CallExpr_Fun:
			if kind := e.Parent().ParentEdgeKind(); kind == edge.GoStmt_Call || kind == edge.DeferStmt_Call {
				return nil
			}
		default:
			return nil
		}
	}
	return nil
}

func signatureOf(fn inspector.Cursor) *ast.FuncType {
	switch n := fn.Node().(type) {
	case *ast.FuncLit:
		return n.Type
	case *ast.FuncDecl:
		return n.Type
	}
	return nil
}

func (x *indexed) contextParam(signature *ast.FuncType) *types.Var {
	for _, field := range signature.Params.List {
		for _, name := range field.Names {
			if v, ok := x.info.Defs[name].(*types.Var); ok && name.Name != "_" && isContext(v.Type()) {
				return v
			}
		}
	}
	return nil
}
