package migrate

import (
	"bytes"
	"go/ast"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// imported returns the name by which file imports path, or "".
func (r *rewriter) imported(file *ast.File, path pkg) string {
	for _, spec := range file.Imports {
		name := r.pass.TypesInfo.PkgNameOf(spec)
		if name != nil && name.Imported().Path() == string(path) && name.Name() != "_" && name.Name() != "." {
			return name.Name()
		}
	}
	return ""
}

// nameFor returns the name by which file can refer to the package at path: that of its
// import, or the last element of the path if nothing else in the file has that name. kept
// says that the imports of the old library remain.
func (r *rewriter) nameFor(file *ast.File, path pkg, kept bool) string {
	if name := r.imported(file, path); name != "" {
		return name
	}
	base := path.base()
	taken := func(name string) bool {
		if r.pass.Pkg.Scope().Lookup(name) != nil {
			return true
		}
		found := false
		ast.Inspect(file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && id.Name == name {
				switch obj := r.pass.TypesInfo.ObjectOf(id).(type) {
				case *types.PkgName:
					found = found || kept || !r.lib.owns(obj.Imported())
				case nil:
				default:
					found = found || obj.Parent() != nil // fields and methods have none
				}
			}
			return !found
		})
		return found
	}
	for _, name := range []string{base, "go" + base, base + "pkg"} {
		if !taken(name) {
			return name
		}
	}
	return base + "lib"
}

// remaining returns the imports of the library in a file, and whether the file still needs
// them after the changes.
func (r *rewriter) remaining(file *ast.File) (old []*ast.ImportSpec, kept bool) {
	for _, spec := range file.Imports {
		if name := r.pass.TypesInfo.PkgNameOf(spec); name != nil && r.lib.owns(name.Imported()) {
			old = append(old, spec)
			kept = kept || name.Name() == "."
		}
	}
	content, base := r.edits.source(file.FileStart)
	r.masked = slices.Clone(content)
	for id := range r.cursors {
		name, ok := r.pass.TypesInfo.Uses[id].(*types.PkgName)
		if ok && r.lib.owns(name.Imported()) && file.FileStart <= id.Pos() && id.Pos() < file.FileEnd {
			copy(r.masked[int(id.Pos())-base:], strings.Repeat(mask, len(id.Name)))
		}
	}
	within := slices.DeleteFunc(slices.Clone(r.sorted()), func(x edit) bool { return x.pos < file.FileStart || x.pos >= file.FileEnd })
	kept = kept || bytes.Contains(r.render(file.FileStart, file.FileEnd, within), []byte(mask))
	r.masked = nil
	return old, kept
}

// importEdits returns the edits that import specs, in place of the old imports unless
// they are kept.
func (r *rewriter) importEdits(file *ast.File, old []*ast.ImportSpec, kept bool, specs []string) []analysis.TextEdit {
	list := strings.Join(specs, "\n")
	var out []analysis.TextEdit
	for _, spec := range old {
		decl := r.importDecl(file, spec)
		switch {
		case kept && decl.Lparen.IsValid():
			out = append(out, analysis.TextEdit{Pos: spec.End(), End: spec.End(), NewText: []byte("\n" + list)})
		case kept:
			out = append(out, analysis.TextEdit{Pos: decl.Pos(), End: decl.Pos(), NewText: []byte("import (\n" + list + "\n)\n")})
		case decl.Lparen.IsValid():
			out = append(out, analysis.TextEdit{Pos: spec.Pos(), End: spec.End(), NewText: []byte(list)})
		default:
			out = append(out, analysis.TextEdit{Pos: decl.Pos(), End: decl.End(), NewText: []byte("import (\n" + list + "\n)")})
		}
		list = ""
	}
	if list != "" && len(old) == 0 { // a file that uses only values of the package's own
		pos := file.Name.End()
		out = append(out, analysis.TextEdit{Pos: pos, End: pos, NewText: []byte("\nimport (\n" + list + "\n)")})
	}
	return out
}

func (r *rewriter) importDecl(file *ast.File, spec *ast.ImportSpec) *ast.GenDecl {
	for _, decl := range file.Decls {
		if gen, ok := decl.(*ast.GenDecl); ok && gen.Pos() <= spec.Pos() && spec.End() <= gen.End() {
			return gen
		}
	}
	return nil
}

// importOf returns the first import of the library, or the name of the package in a file
// that has none.
func (r *rewriter) importOf(file *ast.File) ast.Node {
	for _, spec := range file.Imports {
		if name := r.pass.TypesInfo.PkgNameOf(spec); name != nil && r.lib.owns(name.Imported()) {
			return spec
		}
	}
	return file.Name
}

// changes returns the edits of a file, with those of its imports.
func (r *rewriter) changes(file *ast.File) []analysis.TextEdit {
	names := map[pkg]string{}
	var old []*ast.ImportSpec
	var kept bool
	r.names = func(path pkg) string {
		if names[path] == "" {
			names[path] = r.nameFor(file, path, kept)
		}
		return names[path]
	}
	old, kept = r.remaining(file)
	clear(names)
	changes := r.in(r.fset.File(file.FileStart))
	if len(changes) == 0 {
		return nil
	}
	var specs []string
	for path, name := range names {
		if r.imported(file, path) != "" {
			continue
		}
		spec := strconv.Quote(string(path))
		if path.base() != name {
			spec = name + " " + spec
		}
		specs = append(specs, spec)
	}
	slices.Sort(specs)
	return append(changes, r.importEdits(file, old, kept, specs)...)
}

// base returns the last element of the path, which is the name of the package.
func (p pkg) base() string { return string(p[strings.LastIndexByte(string(p), '/')+1:]) }
