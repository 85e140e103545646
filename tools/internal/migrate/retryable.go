package migrate

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
)

// retryable is github.com/hashicorp/go-retryablehttp. A client that is made and set up in
// a function, and used as a standard client, becomes one with a retryhttp.Transport.
type retryable struct{ noBackoffs }

const (
	httpPkg      pkg = "net/http"
	retryhttpPkg pkg = "github.com/gobackoff/retry/retryhttp"
)

func (retryable) owns(p *types.Package) bool {
	return p != nil && p.Path() == "github.com/hashicorp/go-retryablehttp"
}

func (l retryable) find(r *rewriter) {
	r.calls(func(call *ast.CallExpr, f *types.Func) {
		if f.Signature().Recv() != nil || !slices.Contains([]string{"NewClient", "Get", "Head", "Post", "PostForm"}, f.Name()) {
			return
		}
		s := &site{call: call, name: "retryablehttp." + f.Name()}
		r.sites[call] = s
		cur, _ := r.root.FindNode(call)
		def, ok := cur.Parent().Node().(*ast.AssignStmt)
		if f.Name() != "NewClient" || !ok || len(def.Lhs) != 1 {
			s.fail("its client is not in a variable of the function")
			return
		}
		v, _ := r.object(def.Lhs[0]).(*types.Var)
		if v == nil || !r.isLocal(v) || r.decls[v] != def.Lhs[0] {
			s.fail("its client is not in a variable of the function")
			return
		}
		l.uses(r, s, v, def)
	})
}

// A retryableClient is a variable that holds a client.
type retryableClient struct {
	sets     map[string]ast.Expr
	stmts    []ast.Node      // that set fields
	standard []*ast.CallExpr // of StandardClient
}

// uses reads the uses of a client.
func (retryable) uses(r *rewriter, s *site, v *types.Var, def *ast.AssignStmt) {
	c := retryableClient{sets: map[string]ast.Expr{}}
	for _, id := range r.uses[v] {
		cur := r.cursors[id].Parent()
		sel, ok := cur.Node().(*ast.SelectorExpr)
		if !ok {
			s.fail("%s is used as a client of that library", v.Name())
			return
		}
		name := sel.Sel.Name
		set, isSet := cur.Parent().Node().(*ast.AssignStmt)
		switch {
		case isSet && cur.ParentEdgeKind() == edge.AssignStmt_Lhs && len(set.Lhs) == 1 && r.block(set) == r.block(def) && len(c.standard) == 0 &&
			slices.Contains([]string{"RetryMax", "RetryWaitMin", "RetryWaitMax", "Logger", "ErrorHandler"}, name):
			handler := r.object(set.Rhs[0])
			if name == "ErrorHandler" && (handler == nil || handler.Name() != "PassthroughErrorHandler") || !r.fixed(v, text{set.Rhs[0]}) {
				s.fail("%s.%s has no counterpart", v.Name(), name)
			}
			c.sets[name], c.stmts = set.Rhs[0], append(c.stmts, set)
		case name == "StandardClient" && cur.ParentEdgeKind() == edge.CallExpr_Fun:
			c.standard = append(c.standard, cur.Parent().Node().(*ast.CallExpr))
		default:
			s.fail("%s.%s is used", v.Name(), name)
			return
		}
	}
	if c.sets["ErrorHandler"] == nil {
		s.note("after the last attempt the client returns the response, not an error")
	}
	s.data = c
}

func (l retryable) rewrite(r *rewriter, s *site) {
	c := s.data.(retryableClient)
	get := func(name string, standard text) text {
		if x := c.sets[name]; x != nil {
			return text{x}
		}
		return standard
	}
	p := policy{backoff: rule("Exponential", "Base", get("RetryWaitMin", text{timePkg, ".Second"}), "Cap", get("RetryWaitMax", text{"30 * ", timePkg, ".Second"})), attempts: text{"5"}}
	if x := c.sets["RetryMax"]; x != nil {
		p.attempts = r.retries(x)
	}
	r.replace(s.call, join(text{"&", httpPkg, ".Client{Transport: &", retryhttpPkg, ".Transport{\nPolicy: "}, p.literal(),
		",\nMayRepeat: func(*", httpPkg, ".Request) bool { return true },\nPerHost: ", retryhttpPkg, ".Unbudgeted(),\nMaxBuffer: 1 << 20,\n}}")...)
	for _, stmt := range c.stmts {
		r.remove(stmt)
	}
	for _, call := range c.standard {
		r.replace(call, call.Fun.(*ast.SelectorExpr).X)
	}
}

func (retryable) renames() map[string]text { return nil }

func (retryable) differs() []string {
	return []string{
		"statuses 408, 421 and 425 are retried, 505 is not",
		"a Retry-After is honored up to a minute, with every status",
		"bodies above 1 MiB that cannot be rewound are sent once",
	}
}
