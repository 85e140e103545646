package migrate

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/astutil"
)

// nameFor returns the name by which file can refer to the package at path: that of its
// import, or the last element of the path if nothing else in the file has that name. kept
// says that the imports of the old library remain.
func (r *rewriter) nameFor(file *ast.File, path pkg, kept bool) string {
	for _, spec := range file.Imports {
		name := r.pass.TypesInfo.PkgNameOf(spec)
		if name != nil && name.Imported().Path() == string(path) && name.Name() != "_" && name.Name() != "." {
			return name.Name()
		}
	}
	taken := func(name string) bool {
		found := r.pass.Pkg.Scope().Lookup(name) != nil
		for n := range ast.Preorder(file) {
			if id, ok := n.(*ast.Ident); ok && id.Name == name {
				switch obj := r.pass.TypesInfo.ObjectOf(id).(type) {
				case *types.PkgName:
					found = found || kept || !r.lib.owns(obj.Imported())
				case nil:
				default:
					found = found || obj.Parent() != nil // fields and methods have none
				}
			}
		}
		return found
	}
	name := path.base()
	for _, other := range []string{"go" + name, name + "pkg", name + "lib"} {
		if taken(name) {
			name = other
		}
	}
	return name
}

// oldImports returns the imports of the library in a file.
func (r *rewriter) oldImports(file *ast.File) []*ast.ImportSpec {
	return slices.DeleteFunc(slices.Clone(file.Imports), func(spec *ast.ImportSpec) bool {
		name := r.pass.TypesInfo.PkgNameOf(spec)
		return name == nil || !r.lib.owns(name.Imported())
	})
}

// kept reports whether a file still needs the imports of the library after the changes.
func (r *rewriter) kept(file *ast.File) bool {
	kept := slices.ContainsFunc(r.oldImports(file), func(spec *ast.ImportSpec) bool { return spec.Name != nil && spec.Name.Name == "." })
	var old []*ast.Ident
	for obj, ids := range r.uses {
		if name, ok := obj.(*types.PkgName); ok && r.lib.owns(name.Imported()) {
			old = append(old, ids...)
		}
	}
	r.keeps = func(pos, end token.Pos) {
		kept = kept || slices.ContainsFunc(old, func(id *ast.Ident) bool { return pos <= id.Pos() && id.Pos() < end })
	}
	r.render(file.FileStart, file.FileEnd)
	r.keeps = func(_, _ token.Pos) {}
	return kept
}

// changed returns an edit that replaces a file.
func (r *rewriter) changed(file *ast.File) []analysis.TextEdit {
	if !slices.ContainsFunc(r.all, func(x edit) bool { return file.FileStart <= x.pos && x.pos < file.FileEnd }) {
		return nil
	}
	names := map[pkg]string{}
	kept := false
	r.names = func(path pkg) string {
		if names[path] == "" {
			names[path] = r.nameFor(file, path, kept)
		}
		return names[path]
	}
	kept = r.kept(file)
	clear(names)
	content := r.render(file.FileStart, file.FileEnd)
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, "", content, parser.ParseComments)
	if err != nil {
		return nil
	}
	for _, path := range slices.Sorted(maps.Keys(names)) {
		name := names[path]
		if name == path.base() {
			name = ""
		}
		astutil.AddNamedImport(fset, parsed, name, string(path))
	}
	for _, spec := range r.oldImports(file) {
		name := ""
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if path, _ := strconv.Unquote(spec.Path.Value); !kept {
			astutil.DeleteNamedImport(fset, parsed, name, path)
		}
	}
	var out bytes.Buffer
	if err := format.Node(&out, fset, parsed); err != nil {
		return nil
	}
	return []analysis.TextEdit{{Pos: file.FileStart, End: file.FileEnd, NewText: out.Bytes()}}
}

// base returns the last element of the path, which is the name of the package.
func (p pkg) base() string { return string(p[strings.LastIndexByte(string(p), '/')+1:]) }
