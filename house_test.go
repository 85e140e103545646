package retry_test

import (
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestImports: what importers compile comes from the standard library alone.
func TestImports(t *testing.T) {
	const module = "github.com/gobackoff/retry"
	for _, dir := range []string{".", "retryhttp", "retrytest"} {
		pkg, err := build.ImportDir(dir, 0)
		require.NoError(t, err)
		for _, path := range pkg.Imports {
			first, _, _ := strings.Cut(path, "/")
			if !strings.HasPrefix(path+"/", module+"/") {
				assert.NotContains(t, first, ".", "package %s imports %s", pkg.Name, path)
			}
		}
	}
}

// TestDocumented: every exported name has a comment, and those of types,
// functions and methods begin with it.
func TestDocumented(t *testing.T) {
	for _, dir := range []string{".", "retryhttp", "retrytest"} {
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
	pkg, err := doc.NewFromFiles(fset, files, "github.com/gobackoff/retry")
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

// fields checks the exported fields of a struct and the methods of an
// interface. A type with a single one may say all in its own comment.
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

// TestOneLoop: the loop can be checked by eye.
func TestOneLoop(t *testing.T) {
	source, err := os.ReadFile("retry.go")
	require.NoError(t, err)
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "retry.go", source, 0)
	require.NoError(t, err)
	loops := 0
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt:
			loops++
		case *ast.FuncDecl:
			lines := fset.Position(n.End()).Line - fset.Position(n.Pos()).Line + 1
			assert.LessOrEqual(t, lines, 45, "func %s", n.Name.Name)
		}
		return true
	})
	assert.Equal(t, 1, loops)
}
