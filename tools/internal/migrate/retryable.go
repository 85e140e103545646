package migrate

import (
	"go/ast"
	"go/types"
	"slices"
)

// retryable returns the library github.com/hashicorp/go-retryablehttp. Its clients stay, and
// package legacyhttp reads their settings.
func retryable() *library {
	return &library{
		path: path(`github\.com/hashicorp/go-retryablehttp`),
		site: func(r *rewriter, call *ast.CallExpr, f *types.Func) *site {
			sel, _ := ast.Unparen(call.Fun).(*ast.SelectorExpr)
			if sel == nil || !slices.Contains([]string{"StandardClient", "Do", "Get", "Head", "Post", "PostForm"}, f.Name()) {
				return nil
			}
			s := &site{name: "retryablehttp." + f.Name()}
			client := code("legacyhttp.Client(%)", sel.X)
			if f.Signature().Recv() == nil {
				client = code("legacyhttp.Client(%.NewClient())", sel.X)
			}
			switch f.Name() {
			case "StandardClient":
				s.change = func() { r.replace(call, client...) }
			case "Do":
				x := call.Args[0]
				if r.object(x) == nil || r.uses[r.method(x, "SetResponseHandler")] != nil || r.method(x, "BodyBytes") == nil {
					s.fail("its request is not in a variable, or has a response handler")
				}
				s.change = func() { r.replace(call, code("legacyhttp.Do(%, %.Request, %.BodyBytes)", sel.X, x, x)...) }
			default:
				if f.Name() == "Post" && !r.isNil(call.Args[2]) && r.method(call.Args[2], "Read") == nil {
					s.fail("its body is no io.Reader")
				}
				s.note("errors are wrapped in a *url.Error")
				s.change = func() { r.replace(sel, code("%.%", client, f.Name())...) }
			}
			return s
		},
		differs: []string{"a client keeps its settings, and the program its dependency"},
	}
}

// method returns the method of an expression's type, or nil.
func (r *rewriter) method(x ast.Expr, name string) types.Object {
	obj, _, _ := types.LookupFieldOrMethod(r.pass.TypesInfo.TypeOf(x), true, r.pass.Pkg, name)
	return obj
}
