// Package migrate rewrites the uses of other retry libraries for this one.
package migrate

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// Analyzer rewrites the uses of other retry libraries, and reports for each what differs
// or why it is left alone.
var Analyzer = &analysis.Analyzer{
	Name:     "retrymigrate",
	Doc:      "rewrite the uses of other retry libraries for github.com/gobackoff/retry",
	URL:      "https://pkg.go.dev/github.com/gobackoff/retry/tools/retrymigrate",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      run,
}

// A library knows how calls of another retry library are rewritten.
type library interface {
	// owns reports whether pkg is of the library.
	owns(pkg *types.Package) bool
	// find adds the calls that retry to r.sites.
	find(r *rewriter)
	// wraps reports whether the expression at cur is a backoff that a function of the
	// library turns into another.
	wraps(r *rewriter, cur inspector.Cursor) bool
	// value and literal return what a call of the library, or a composite literal of one
	// of its types, means as a backoff.
	value(r *rewriter, call *ast.CallExpr, name string) (value, string)
	literal(r *rewriter, lit *ast.CompositeLit) (value, string)
	// finish turns the fields of a value into a policy.
	finish(r *rewriter, v *value)
	// fields lists the fields of the library's backoff that have a counterpart.
	fields() []string
	// rewrite changes a call that retries.
	rewrite(r *rewriter, s *site)
	// renames has the names that take the place of others in a package whose calls are
	// all rewritten.
	renames() map[string]text
	// differs lists what behaves differently after the rewriting.
	differs() []string
}

// A site is a call of another library that retries.
type site struct {
	call  *ast.CallExpr
	name  string   // the function, as in the report
	takes ast.Expr // the backoff, if any
	arg   ast.Expr // the argument that it is part of
	op    ast.Expr // the operation
	value value    // of takes
	why   string   // why it is left alone; "" if it is rewritten
	notes []string // what differs
	data  any      // the library's own
}

func (s *site) fail(format string, args ...any) {
	if s.why == "" {
		s.why = fmt.Sprintf(format, args...)
	}
}

func (s *site) note(text string) { s.notes = append(s.notes, text) }

// A rewriter rewrites the uses of one library in a package.
type rewriter struct {
	edits
	pass    *analysis.Pass
	root    inspector.Cursor
	lib     library
	cursors map[*ast.Ident]inspector.Cursor
	uses    map[types.Object][]*ast.Ident
	decls   map[types.Object]*ast.Ident
	sites   map[*ast.CallExpr]*site
	cells   map[types.Object]*cell
	order   []*cell

	followed []*types.Var // variables whose values calls used
}

func run(pass *analysis.Pass) (any, error) {
	index := newRewriter(pass)
	fixed := false
	for _, lib := range []library{cenkalti{}, avast{}, sethvargo{}, wait{}, retryable{}} {
		if !slices.ContainsFunc(pass.Pkg.Imports(), lib.owns) {
			continue
		}
		r := *index
		r.lib, r.sites, r.cells = lib, map[*ast.CallExpr]*site{}, map[types.Object]*cell{}
		r.run()
		if fixed { // whose imports another fix would repeat
			r.all = nil
		}
		fixed = fixed || len(r.all) > 0
		r.report()
	}
	return nil, nil
}

func newRewriter(pass *analysis.Pass) *rewriter {
	r := &rewriter{
		pass:    pass,
		root:    pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root(),
		edits:   edits{fset: pass.Fset, read: pass.ReadFile},
		cursors: map[*ast.Ident]inspector.Cursor{},
		uses:    map[types.Object][]*ast.Ident{},
		decls:   map[types.Object]*ast.Ident{},
	}
	for cur := range r.root.Preorder((*ast.Ident)(nil)) {
		id := cur.Node().(*ast.Ident)
		r.cursors[id] = cur
		if obj := pass.TypesInfo.Defs[id]; obj != nil {
			r.decls[obj] = id
		} else if obj := pass.TypesInfo.Uses[id]; obj != nil {
			r.uses[obj] = append(r.uses[obj], id)
		}
	}
	return r
}

func (r *rewriter) run() {
	r.lib.find(r)
	sites := r.ordered()
	for _, s := range sites {
		if r.generated(s.call) {
			s.fail("the file is generated")
		} else if s.takes != nil {
			s.use(r, s.takes)
		}
	}
	for _, c := range r.order {
		r.check(c)
		for i := range c.sources {
			r.fold(&c.sources[i].value)
		}
	}
	for _, s := range sites {
		r.fold(&s.value)
	}
	r.settle()
	left := 0
	for _, s := range r.ordered() { // with the calls that the cells added
		if s.why != "" {
			left++
		} else {
			r.lib.rewrite(r, s)
		}
	}
	for _, c := range r.order {
		if c.why == "" {
			r.emit(c)
		}
	}
	r.removeFollowed()
	if left == 0 {
		r.rename(r.lib.renames())
	}
}

// rename replaces the names of the library that remain.
func (r *rewriter) rename(names map[string]text) {
	for obj := range r.uses {
		if r.lib.owns(obj.Pkg()) && (obj.Name() == "PermanentError" || obj.Name() == "IsRecoverable") { // asks for the old marks
			delete(names, "Permanent")
			delete(names, "Unrecoverable")
		}
	}
	for id, cur := range r.cursors {
		obj := r.pass.TypesInfo.Uses[id]
		if obj == nil || !r.lib.owns(obj.Pkg()) || cur.ParentEdgeKind() != edge.SelectorExpr_Sel || names[obj.Name()] == nil {
			continue
		}
		if t, ok := obj.Type().(*types.Named); !ok || t.TypeParams().Len() == 0 {
			r.replace(cur.Parent().Node(), names[obj.Name()]...)
		}
	}
}

// use reads the backoff of a site.
func (s *site) use(r *rewriter, x ast.Expr) {
	v, why := r.value(x)
	if why != "" {
		s.fail("%s", why)
	}
	v.policy = v.policy.over(s.value.policy)
	s.value = v
	if c := v.cell; c != nil {
		c.consumers++
		if !slices.Contains(c.sites, s) {
			c.sites = append(c.sites, s)
		}
	}
}

// loop adds a call that asks a backoff for a delay.
func (r *rewriter) loop(call *ast.CallExpr) {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	s := &site{call: call, name: sel.Sel.Name}
	r.sites[call] = s
	if v, why := r.value(sel.X); v.cell != nil {
		v.cell.sites = append(v.cell.sites, s)
	} else {
		s.fail("%s", cmp.Or(why, "its backoff is not in a variable"))
	}
}

func (r *rewriter) ordered() []*site {
	var all []*site
	for _, s := range r.sites {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *site) int { return int(a.call.Pos() - b.call.Pos()) })
	return all
}

// isPackage reports whether p, which may be nil, has a path, or is a vendored copy.
func isPackage(p *types.Package, path string) bool {
	return p != nil && (p.Path() == path || strings.HasSuffix(p.Path(), "/vendor/"+path))
}

// callee returns the function that a call names, or nil.
func callee(info *types.Info, call *ast.CallExpr) *types.Func {
	return typeutil.StaticCallee(info, call)
}

// calls yields the calls of the functions of the library.
func (r *rewriter) calls(yield func(call *ast.CallExpr, f *types.Func)) {
	for cur := range r.root.Preorder((*ast.CallExpr)(nil)) {
		call := cur.Node().(*ast.CallExpr)
		f := callee(r.pass.TypesInfo, call)
		if f == nil || !r.lib.owns(f.Pkg()) {
			continue
		}
		if len(call.Args) == 1 && f.Signature().Params().Len() > 1 && !f.Signature().Variadic() {
			r.sites[call] = &site{call: call, name: f.Name(), why: "its arguments are the results of another call"}
			continue
		}
		yield(call, f)
	}
}

func (r *rewriter) file(n ast.Node) *ast.File {
	for _, file := range r.pass.Files {
		if file.FileStart <= n.Pos() && n.Pos() < file.FileEnd {
			return file
		}
	}
	return nil
}

func (r *rewriter) generated(n ast.Node) bool { return ast.IsGenerated(r.file(n)) }

// source returns the source of an expression in one line.
func (r *rewriter) shown(x ast.Expr) string {
	content, base := r.edits.source(x.Pos())
	s := string(content[int(x.Pos())-base : int(x.End())-base])
	if line, _, more := strings.Cut(s, "\n"); more {
		return line + " …"
	}
	return s
}

// report reports each site. The fix of the first one is that of the whole package, because
// the changes depend on each other.
func (r *rewriter) report() {
	var fixes []analysis.SuggestedFix
	if len(r.all) > 0 {
		fixes = []analysis.SuggestedFix{{Message: "Use github.com/gobackoff/retry", TextEdits: r.changesOfAll()}}
	}
	files := map[*ast.File][2]int{}
	for _, s := range r.ordered() {
		count := files[r.file(s.call)]
		d := analysis.Diagnostic{Pos: s.call.Pos(), End: s.call.End()}
		if s.why != "" {
			d.Category, d.Message = "left", fmt.Sprintf("%s: left alone: %s", s.name, s.why)
			count[1]++
		} else {
			d.Category, d.Message = "rewrite", strings.Join(append([]string{s.name + ": can be rewritten"}, s.notes...), "; ")
			d.SuggestedFixes, fixes = fixes, nil
			count[0]++
		}
		files[r.file(s.call)] = count
		r.pass.Report(d)
	}
	for _, file := range r.pass.Files {
		if count, ok := files[file]; ok {
			message := fmt.Sprintf("%d of %d calls can be rewritten", count[0], count[0]+count[1])
			if count[0] > 0 {
				message += "; what differs: " + strings.Join(r.lib.differs(), "; ")
			}
			r.pass.Report(analysis.Diagnostic{Pos: r.importOf(file).Pos(), Category: "file", Message: message})
		}
	}
}

func (r *rewriter) changesOfAll() []analysis.TextEdit {
	var out []analysis.TextEdit
	for _, file := range r.pass.Files {
		out = append(out, r.changes(file)...)
	}
	return out
}
