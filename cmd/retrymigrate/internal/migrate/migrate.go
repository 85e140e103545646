// Package migrate rewrites the uses of other retry libraries for this one.
package migrate

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
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
	URL:      "https://pkg.go.dev/github.com/gobackoff/retry/cmd/retrymigrate",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      run,
}

// A library says how the uses of another retry library are rewritten. The functions may be
// nil.
type library struct {
	path *regexp.Regexp
	// site returns what is known of a call of a function of the library, or nil if that
	// does not retry.
	site func(r *rewriter, call *ast.CallExpr, f *types.Func) *site
	// constructed and literal return what a call of the library, or a composite literal
	// of one of its types, means as a backoff.
	constructed func(r *rewriter, f *types.Func, args []ast.Expr) value
	literal     func(r *rewriter, name string, fields map[string]text) value
	fields      []string          // of its backoff, that may be set
	classifier  string            // of all calls; "" if operations mark their errors
	marked      string            // of calls that may get marks of the old library, %; "" if none can tell them
	marks       []string          // functions that mark errors for the library's calls
	waits       string            // function whose errors ask for a wait, which rewritten calls would ignore
	errors      []string          // names that recognize errors of the library
	renames     map[string]string // what replaces names in a package whose calls are all rewritten
	differs     []string          // what behaves differently after the rewriting
	advice      string            // for calls that are left alone
}

func path(pattern string) *regexp.Regexp { return regexp.MustCompile("^(.*/vendor/)?" + pattern + "$") }

// owns reports whether p, which may be nil, is of the library, or a vendored copy.
func (l *library) owns(p *types.Package) bool { return p != nil && l.path.MatchString(p.Path()) }

// A rewriter rewrites the uses of one library in a package.
type rewriter struct {
	*edits  // of all libraries
	pass    *analysis.Pass
	root    inspector.Cursor
	lib     *library
	libs    []*library // that the package uses
	cursors map[*ast.Ident]inspector.Cursor
	uses    map[types.Object][]*ast.Ident
	decls   map[types.Object]*ast.Ident
	sites   []*site // in the order of the source

	bound     map[*types.Var]value // what a variable means while its next value is read
	marked    bool                 // rewritten calls know the marks of the old library
	sequences map[*types.Var]bool  // whether those that are asked for delays are sequences
	followed  []*types.Var         // variables whose values calls used
}

func run(pass *analysis.Pass) (any, error) {
	index := newRewriter(pass)
	for _, lib := range []*library{cenkalti(), avast(), sethvargo(), wait(), retryable()} {
		if slices.ContainsFunc(pass.Pkg.Imports(), lib.owns) {
			index.libs = append(index.libs, lib)
		}
	}
	var done []*rewriter
	for _, lib := range index.libs {
		r := *index
		r.lib, r.bound, r.sequences = lib, map[*types.Var]value{}, map[*types.Var]bool{}
		r.run()
		done = append(done, &r)
	}
	fixes, err := index.fixes()
	for _, r := range done {
		fixes = r.report(fixes)
	}
	return nil, err
}

// owns reports whether p is of a library that the package uses.
func (r *rewriter) owns(p *types.Package) bool {
	return slices.ContainsFunc(r.libs, func(lib *library) bool { return lib.owns(p) })
}

func newRewriter(pass *analysis.Pass) *rewriter {
	r := &rewriter{
		pass:    pass,
		root:    pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root(),
		edits:   &edits{fset: pass.Fset, read: pass.ReadFile, open: map[token.Pos]token.Pos{}},
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
	for cur := range r.root.Preorder((*ast.CallExpr)(nil)) {
		call, f := r.own(cur.Node())
		if f == nil || len(call.Args) == 1 && f.Signature().Params().Len() > 1 && !f.Signature().Variadic() { // the results of another call
			continue
		}
		if s := r.lib.site(r, call, f); s != nil {
			s.call = call
			r.sites = append(r.sites, s)
			if ast.IsGenerated(r.file(call)) {
				s.fail("the file is generated")
			}
		}
	}
	left := false
	for _, s := range r.sites {
		if !s.asks {
			r.check(s)
			left = left || s.why != ""
		}
	}
	r.keepMarks(left)
	for _, s := range r.sites {
		if s.asks {
			v, ok := r.object(ast.Unparen(s.call.Fun).(*ast.SelectorExpr).X).(*types.Var)
			if !ok || !r.sequence(v) {
				s.fail("its backoff comes from elsewhere")
			}
		}
		if s.why == "" {
			r.rewrite(s)
		}
	}
	r.removeFollowed()
	if !slices.ContainsFunc(r.sites, func(s *site) bool { return s.why != "" }) {
		r.rename()
	}
}

// keepMarks decides whether rewritten calls must know the marks of the old library: if the
// package marks errors for calls that are left alone or looks at marks, or if a package of the
// module that it imports uses the library.
func (r *rewriter) keepMarks(left bool) {
	marks, looks := false, false
	for obj := range r.uses {
		if r.lib.owns(obj.Pkg()) && isGlobal(obj) {
			marks = marks || slices.Contains(r.lib.marks, obj.Name())
			looks = looks || slices.Contains([]string{"PermanentError", "IsRecoverable"}, obj.Name())
		}
	}
	for obj := range r.uses {
		if r.lib.owns(obj.Pkg()) && isGlobal(obj) && obj.Name() == r.lib.waits {
			for _, s := range r.sites {
				s.fail("the package uses %s.%s: make it retry.After", obj.Pkg().Name(), obj.Name())
			}
		}
	}
	if left || looks {
		for _, name := range r.lib.marks {
			delete(r.lib.renames, name)
		}
	}
	r.marked = marks && (left || looks) || r.lib.marked != "" && r.imported(r.pass.Pkg, map[*types.Package]bool{})
	for _, s := range r.sites {
		if !s.asks && r.marked && r.lib.marked == "" {
			s.fail("the package marks errors for other calls, which are left alone")
		}
	}
}

// imported reports whether a package of the module that p imports uses the library.
func (r *rewriter) imported(p *types.Package, seen map[*types.Package]bool) bool {
	return slices.ContainsFunc(p.Imports(), func(q *types.Package) bool {
		if seen[q] || r.pass.Module == nil || !strings.HasPrefix(q.Path()+"/", r.pass.Module.Path+"/") {
			return false
		}
		seen[q] = true
		return slices.ContainsFunc(q.Imports(), r.lib.owns) || r.imported(q, seen)
	})
}

// isGlobal reports whether an object is declared at the level of its package.
func isGlobal(obj types.Object) bool { return obj.Pkg() != nil && obj.Parent() == obj.Pkg().Scope() }

// rename replaces the names of the library that remain.
func (r *rewriter) rename() {
	for id, cur := range r.cursors {
		obj := r.pass.TypesInfo.Uses[id]
		if obj == nil || !r.lib.owns(obj.Pkg()) || !isGlobal(obj) || cur.ParentEdgeKind() != edge.SelectorExpr_Sel || r.lib.renames[obj.Name()] == "" {
			continue
		}
		if t, ok := obj.Type().(*types.Named); !ok || t.TypeParams().Len() == 0 {
			out := code(r.lib.renames[obj.Name()])
			if _, compared := cur.Parent().Parent().Node().(*ast.BinaryExpr); !compared && out[0] == "-1" { // may give a variable its type
				out = code("time.Duration(-1)")
			}
			r.replace(cur.Parent().Node(), out...)
		}
	}
}

// callee returns x as a call, and the function that it names; nil if it is none.
func (r *rewriter) callee(x ast.Node) (*ast.CallExpr, *types.Func) {
	if call, ok := x.(*ast.CallExpr); ok {
		if f, ok := typeutil.Callee(r.pass.TypesInfo, call).(*types.Func); ok {
			return call, f
		}
	}
	return nil, nil
}

// calls reports whether x is a call of the function with this full name.
func (r *rewriter) calls(x ast.Node, name string) bool {
	_, f := r.callee(x)
	return f != nil && f.FullName() == name
}

// own is callee for a function of the library.
func (r *rewriter) own(x ast.Node) (*ast.CallExpr, *types.Func) {
	call, f := r.callee(x)
	if f == nil || !r.lib.owns(f.Pkg()) {
		return nil, nil
	}
	return call, f
}

func (r *rewriter) file(n ast.Node) *ast.File {
	for _, file := range r.pass.Files {
		if file.FileStart <= n.Pos() && n.Pos() < file.FileEnd {
			return file
		}
	}
	return nil
}

// fixes returns the fix of the whole package, whose changes depend on each other.
func (r *rewriter) fixes() ([]analysis.SuggestedFix, error) {
	var all []analysis.TextEdit
	for _, file := range r.pass.Files {
		edits, err := r.changed(file)
		if err != nil {
			return nil, err
		}
		all = append(all, edits...)
	}
	if all == nil {
		return nil, nil
	}
	return []analysis.SuggestedFix{{Message: "Use github.com/gobackoff/retry", TextEdits: all}}, nil
}

// report reports each site. The first one that is rewritten has the fixes. report returns those
// that none has.
func (r *rewriter) report(fixes []analysis.SuggestedFix) []analysis.SuggestedFix {
	files := map[*ast.File][2]int{}
	for _, s := range r.sites {
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
				message += "; what differs: " + strings.Join(r.lib.differs, "; ")
			}
			if count[1] > 0 && r.lib.advice != "" {
				message += "; " + r.lib.advice
			}
			pos := file.Name.Pos()
			for _, spec := range r.oldImports(file) {
				if r.lib.owns(r.pass.TypesInfo.PkgNameOf(spec).Imported()) {
					pos = spec.Pos()
					break
				}
			}
			r.pass.Report(analysis.Diagnostic{Pos: pos, Category: "file", Message: message})
			if count[0] > 0 {
				r.reportErrors(file)
			}
		}
	}
	return fixes
}

// reportErrors reports what looks for errors of the library in a file with rewritten calls.
func (r *rewriter) reportErrors(file *ast.File) {
	for obj, ids := range r.uses {
		if !r.lib.owns(obj.Pkg()) || !isGlobal(obj) || !slices.Contains(r.lib.errors, obj.Name()) {
			continue
		}
		for _, id := range ids {
			if r.file(id) == file {
				r.pass.Report(analysis.Diagnostic{Pos: id.Pos(), End: id.End(), Category: "left", Message: fmt.Sprintf(
					"%s.%s: left alone: rewritten calls never return it: their error after the last attempt is a *retry.Error of github.com/gobackoff/retry", obj.Pkg().Name(), obj.Name())})
			}
		}
	}
}
