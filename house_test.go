package retry_test

import (
	"go/ast"
	"go/build"
	"go/doc"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestImports: users get no dependency. The packages import only the standard library and
// each other.
func TestImports(t *testing.T) {
	for _, path := range goList(t, "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./...") {
		assert.True(t, path == module || strings.HasPrefix(path, module+"/"), path)
	}
}

// TestRooms: the table of docs/maintainers/design.md says what each package imports of this module, and a
// package imports only what stands above it.
func TestRooms(t *testing.T) {
	const path = "docs/maintainers/design.md"
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.Split(string(page), "\n")
	rows := map[string]int{} // the line of each package
	for i, line := range lines {
		if cells := strings.Split(line, " | "); len(cells) == 3 {
			rows[strings.Trim(cells[0], "| `")] = i
		}
	}
	for _, entry := range goList(t, "-f", `{{.ImportPath}},{{join .Imports ","}}`, "./...") {
		imports := strings.Split(entry, ",")
		name := room(imports[0])
		if strings.HasPrefix(name, "internal/test") || strings.HasPrefix(name, "examples/") || strings.HasSuffix(name, "fake") { // only tests and people use them
			continue
		}
		at, ok := rows[name]
		if !assert.True(t, ok, "%s has no row for %s: add one with what it has", path, name) {
			continue
		}
		var names []string
		for _, imported := range imports[1:] {
			if imported == module || strings.HasPrefix(imported, module+"/") {
				names = append(names, "`"+room(imported)+"`")
				assert.Less(t, rows[room(imported)], at, "%s imports %s, which has to stand above it in %s", name, imported, path)
			}
		}
		if names == nil {
			names = []string{"the standard library"}
		}
		cells := strings.Split(lines[at], " | ")
		want := cells[0] + " | " + cells[1] + " | " + strings.Join(names, ", ") + " |"
		if !*recordAPI {
			assert.Equal(t, want, lines[at], "run go test -run TestRooms . -record-api")
		}
		lines[at] = want
	}
	if *recordAPI {
		require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o644))
	}
}

// room returns the name of a package in the table of docs/maintainers/design.md.
func room(importPath string) string {
	if importPath == module {
		return "retry"
	}
	return strings.TrimPrefix(importPath, module+"/")
}

// TestLight: a program that calls Do links neither package net, which adds 107 kB and,
// with cgo, makes the binary dynamic, nor log/slog, which adds 53 kB, nor encoding/json,
// which adds 12 kB.
func TestLight(t *testing.T) {
	deps := goList(t, "-deps", ".")
	require.Contains(t, deps, "time")
	for _, heavy := range []string{"net", "net/http", "log", "log/slog", "regexp", "text/template", "crypto/tls", "encoding/json"} {
		assert.NotContains(t, deps, heavy)
	}
}

// TestLayers: the files of the root do not depend on each other in cycles, so they can
// be read one after the other.
func TestLayers(t *testing.T) {
	uses := fileUses(t)
	var path []string
	finished := map[string]bool{}
	var visit func(file string)
	visit = func(file string) {
		if i := slices.Index(path, file); i >= 0 {
			circle := append(slices.Clone(path[i:]), file)
			for j, from := range circle[:len(circle)-1] {
				t.Errorf("%s uses %s of %s", from, uses[from][circle[j+1]], circle[j+1])
			}
			return
		}
		if finished[file] {
			return
		}
		path = append(path, file)
		for _, used := range slices.Sorted(maps.Keys(uses[file])) {
			visit(used)
		}
		path = path[:len(path)-1]
		finished[file] = true
	}
	for _, file := range slices.Sorted(maps.Keys(uses)) {
		visit(file)
	}
	assert.Greater(t, len(uses), 10)
}

// fileUses returns, for each file, the files whose declarations it uses, each with the
// name of one such declaration.
func fileUses(t *testing.T) map[string]map[string]string {
	t.Helper()
	pkg, err := build.ImportDir(".", 0)
	require.NoError(t, err)
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range pkg.GoFiles {
		file, err := parser.ParseFile(fset, name, nil, 0)
		require.NoError(t, err)
		files = append(files, file)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
	checked, err := config.Check(pkg.ImportPath, fset, files, info)
	require.NoError(t, err)
	uses := map[string]map[string]string{}
	for id, object := range info.Uses {
		from, to := fset.Position(id.Pos()).Filename, fset.Position(object.Pos()).Filename
		if object.Pkg() == checked && from != to {
			if uses[from] == nil {
				uses[from] = map[string]string{}
			}
			uses[from][to] = max(uses[from][to], object.Name())
		}
	}
	return uses
}

// TestDocumented: every exported name has a comment, which begins with the name if it is
// a type, function or method.
func TestDocumented(t *testing.T) {
	for _, dir := range goList(t, "-f", `{{if ne .Name "main"}}{{.Dir}}{{end}}`, "./...") {
		if strings.Contains(dir, "/internal/") || strings.Contains(dir, "/examples/") { // nobody imports them
			continue
		}
		pkg := parsePackage(t, dir)
		for _, group := range append(pkg.Consts, pkg.Vars...) {
			for _, spec := range group.Decl.Specs {
				v := spec.(*ast.ValueSpec)
				for _, name := range v.Names {
					if name.IsExported() {
						assert.True(t, v.Doc != nil || v.Comment != nil || group.Doc != "" && len(group.Decl.Specs) == 1,
							"%s has no comment", name.Name)
					}
				}
			}
		}
		documented(t, pkg.Funcs)
		for _, typ := range pkg.Types {
			begins(t, typ.Name, typ.Doc)
			documented(t, typ.Funcs)
			documented(t, typ.Methods)
			for _, group := range typ.Consts {
				for _, spec := range group.Decl.Specs {
					v := spec.(*ast.ValueSpec)
					assert.True(t, v.Doc != nil || v.Comment != nil || group.Doc != "", "%s has no comment", v.Names[0].Name)
				}
			}
			for _, spec := range typ.Decl.Specs {
				fields(t, typ.Name, spec.(*ast.TypeSpec).Type)
			}
		}
	}
}

func parsePackage(t *testing.T, dir string) *doc.Package {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		require.NoError(t, err)
		files = append(files, file)
	}
	pkg, err := doc.NewFromFiles(fset, files, module)
	require.NoError(t, err)
	return pkg
}

func documented(t *testing.T, funcs []*doc.Func) {
	t.Helper()
	for _, f := range funcs {
		if !ast.IsExported(strings.TrimLeft(f.Recv, "*")) && f.Recv != "" {
			continue
		}
		begins(t, f.Name, f.Doc)
	}
}

func begins(t *testing.T, name, comment string) {
	t.Helper()
	words := strings.FieldsFunc(comment, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
	if len(words) > 1 && (words[0] == "A" || words[0] == "An") {
		words = words[1:]
	}
	if assert.NotEmpty(t, words, "%s has no comment", name) {
		assert.Equal(t, name, words[0], "the comment of %s", name)
	}
}

// fields checks the fields of a struct and the methods of an interface. If there is only
// one field or method, the comment of the type describes it.
func fields(t *testing.T, name string, typ ast.Expr) {
	t.Helper()
	var list []*ast.Field
	switch typ := typ.(type) {
	case *ast.StructType:
		list = typ.Fields.List
	case *ast.InterfaceType:
		list = typ.Methods.List
	}
	for _, f := range list {
		for _, n := range f.Names {
			if n.IsExported() && len(list) > 1 {
				assert.True(t, f.Doc != nil || f.Comment != nil, "%s.%s has no comment", name, n.Name)
			}
		}
	}
}

// TestBoundedWalks: an error may wrap itself. In the root module, only package errfacts walks over
// errors, up to a bound. The nested modules, which cannot import it, ask adapt.Finite.
func TestBoundedWalks(t *testing.T) {
	walks := regexp.MustCompile(`\b(errors\.(Unwrap|Is|As|AsType)|status\.(FromError|Convert|Code))[(\[]`)
	for path, source := range productFiles(t) {
		for line := range strings.Lines(source) {
			code, _, _ := strings.Cut(line, "//")
			for range len(walks.FindAllString(code, -1)) - strings.Count(code, "adapt.Finite(") {
				t.Errorf("%s: use package errfacts, or adapt.Finite: %s", path, code)
			}
		}
	}
}

// productFiles returns the sources of the packages of all modules that programs import.
func productFiles(t *testing.T) map[string]string {
	t.Helper()
	ours := []string{"cmd", "examples", filepath.Join("internal", "test"), filepath.Join("retryaws", "example"), "retrytest", "test"}
	files := map[string]string{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		require.NoError(t, err)
		switch {
		case slices.Contains(ours, path):
			return fs.SkipDir
		case entry.IsDir(), !strings.HasSuffix(path, ".go"), strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		files[path] = string(source)
		return nil
	})
	require.NoError(t, err)
	return files
}

// TestWayOfAnError: each function in the picture of an error's way is in the file beside it, and no
// other function has its name, so that a reader who searches for it finds it.
func TestWayOfAnError(t *testing.T) {
	page, err := os.ReadFile("docs/maintainers/design.md")
	require.NoError(t, err)
	_, picture, _ := strings.Cut(string(page), "```text\njudgeError")
	picture, _, _ = strings.Cut("judgeError"+picture, "```")
	declared := map[string][]string{} // the files of each name
	function := regexp.MustCompile(`(?m)^func (?:\([^)]*\) )?(\w+)`)
	for path, source := range productFiles(t) {
		for _, found := range function.FindAllStringSubmatch(source, -1) {
			declared[found[1]] = append(declared[found[1]], filepath.Base(path))
		}
	}
	row := regexp.MustCompile(`(?m)^[│├└─ ]*(\w.*?)(?: …)? {2,}(\w+\.go)(?: {2,}.*)?$`)
	rows := row.FindAllStringSubmatch(picture, -1)
	assert.Len(t, rows, strings.Count(picture, "\n"))
	for _, found := range rows {
		for name := range strings.SplitSeq(found[1], ", ") {
			assert.Equal(t, []string{found[2]}, declared[name], name)
		}
	}
}

// TestOneLoop: there is one loop.
func TestOneLoop(t *testing.T) {
	source, err := os.ReadFile("retry.go")
	require.NoError(t, err)
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "retry.go", source, 0)
	require.NoError(t, err)
	loops := 0
	ast.Inspect(file, func(n ast.Node) bool {
		if _, ok := n.(*ast.ForStmt); ok {
			loops++
		}
		return true
	})
	assert.Equal(t, 1, loops)
}

const module = "github.com/gobackoff/retry"

func goList(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
	require.NoError(t, err)
	return strings.Fields(string(out))
}
