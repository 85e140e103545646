package migrate

import (
	"bytes"
	"fmt"
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
// has the imports of old libraries that remain.
func (r *rewriter) nameFor(file *ast.File, path pkg, kept map[*types.PkgName]bool) string {
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
					found = found || kept[obj] || !r.owns(obj.Imported())
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

// old stands for the package of the library that the file with a call imports.
func (l *library) old() pkg { return pkg(l.path.String()) }

// oldImports returns the imports of old libraries in a file.
func (r *rewriter) oldImports(file *ast.File) []*ast.ImportSpec {
	return slices.DeleteFunc(slices.Clone(file.Imports), func(spec *ast.ImportSpec) bool {
		name := r.pass.TypesInfo.PkgNameOf(spec)
		return name == nil || !r.owns(name.Imported())
	})
}

// kept returns the imports of old libraries that a file still needs after the changes.
func (r *rewriter) kept(file *ast.File) map[*types.PkgName]bool {
	kept := map[*types.PkgName]bool{}
	r.keeps = func(pos, end token.Pos) {
		for obj, ids := range r.uses {
			if name, ok := obj.(*types.PkgName); ok && r.owns(name.Imported()) && !kept[name] {
				kept[name] = slices.ContainsFunc(ids, func(id *ast.Ident) bool { return pos <= id.Pos() && id.Pos() < end })
			}
		}
	}
	for _, spec := range r.oldImports(file) {
		if spec.Name != nil && spec.Name.Name == "." {
			kept[r.pass.TypesInfo.PkgNameOf(spec)] = true
		}
	}
	names := r.names
	r.names = func(path pkg) string {
		if name := r.oldName(file, path); name != nil {
			kept[name] = true
		}
		return names(path)
	}
	r.render(file.FileStart, file.FileEnd)
	r.names, r.keeps = names, func(_, _ token.Pos) {}
	return kept
}

// oldName returns the import in a file that path stands for, or nil.
func (r *rewriter) oldName(file *ast.File, path pkg) *types.PkgName {
	for _, lib := range r.libs {
		for _, spec := range r.oldImports(file) {
			if name := r.pass.TypesInfo.PkgNameOf(spec); path == lib.old() && lib.owns(name.Imported()) {
				return name
			}
		}
	}
	return nil
}

// changed returns an edit that replaces a file. It fails if the result is no Go.
func (r *rewriter) changed(file *ast.File) ([]analysis.TextEdit, error) {
	if !slices.ContainsFunc(r.all, func(x edit) bool { return file.FileStart <= x.pos && x.pos < file.FileEnd }) {
		return nil, nil
	}
	names := map[pkg]string{}
	kept := map[*types.PkgName]bool{}
	r.names = func(path pkg) string {
		if old := r.oldName(file, path); old != nil {
			return old.Name()
		}
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
		return nil, fmt.Errorf("%s cannot be rewritten; please report it: %w", r.pass.Fset.Position(file.Pos()).Filename, err)
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
		if path, _ := strconv.Unquote(spec.Path.Value); !kept[r.pass.TypesInfo.PkgNameOf(spec)] {
			astutil.DeleteNamedImport(fset, parsed, name, path)
		}
	}
	var out bytes.Buffer
	err = format.Node(&out, fset, parsed)
	return []analysis.TextEdit{{Pos: file.FileStart, End: file.FileEnd, NewText: out.Bytes()}}, err
}

// base returns the last element of the path, which is the name of the package.
func (p pkg) base() string { return string(p[strings.LastIndexByte(string(p), '/')+1:]) }
