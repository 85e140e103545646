package retry_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/exp/apidiff"
)

var recordAPI = flag.Bool("record-api", false, "rewrite what TestAPI and TestRooms compare with: testdata/api.txt and the table of imports in docs/maintainers/design.md")

// TestAPI: a program that compiled with the recorded API still compiles, as CHANGELOG.md
// promises. Each change needs a new record, and one that breaks programs an entry there.
func TestAPI(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("Unlimited has another value")
	}
	const record = "testdata/api.txt"
	fset := token.NewFileSet()
	config := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
	check := func(files []*ast.File) *types.Package {
		pkg, err := config.Check("github.com/gobackoff/retry", fset, files, nil)
		require.NoError(t, err)
		return pkg
	}
	source, err := build.ImportDir(".", 0)
	require.NoError(t, err)
	var files []*ast.File
	for _, name := range source.GoFiles {
		file, err := parser.ParseFile(fset, name, nil, 0)
		require.NoError(t, err)
		files = append(files, file)
	}
	text := declarations(check(files))
	if *recordAPI {
		require.NoError(t, os.WriteFile(record, []byte(text), 0o644))
	}
	recorded, err := os.ReadFile(record)
	require.NoError(t, err)
	parsed := func(text string) *types.Package {
		file, err := parser.ParseFile(fset, record, text, 0)
		require.NoError(t, err)
		return check([]*ast.File{file})
	}
	then := parsed(string(recorded))
	for _, change := range apidiff.Changes(then, parsed(text)).Changes {
		advice := "run go test -run TestAPI -record-api"
		if !change.Compatible {
			advice = "restore it, or list it in CHANGELOG.md and " + advice
		}
		t.Errorf("%s: %s", change.Message, advice)
	}
	withoutDo := regexp.MustCompile(`(?m)^func Do\(.*`).ReplaceAllString(text, "")
	assert.Contains(t, apidiff.Changes(then, parsed(withoutDo)).String(), "Do: removed", "the comparison notices a change")
}

// declarations returns Go source code that declares what pkg does, without bodies.
func declarations(pkg *types.Package) string {
	imports := map[string]bool{}
	qualifier := func(p *types.Package) string {
		if p == pkg {
			return ""
		}
		imports[p.Path()] = true
		return p.Name()
	}
	var lines []string
	for _, name := range pkg.Scope().Names() {
		object := pkg.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		line := types.ObjectString(object, qualifier)
		switch o := object.(type) {
		case *types.Const:
			line = strings.TrimSuffix(line, " untyped int") + " = " + o.Val().ExactString()
		case *types.Func:
			if o.Signature().TypeParams() != nil {
				line += " { panic(0) }" // go/types requires a body
			}
		}
		lines = append(lines, line)
		if s, ok := object.Type().Underlying().(*types.Struct); ok {
			for field := range s.Fields() {
				if named, ok := field.Type().(*types.Named); ok && named.Obj().Pkg() == pkg && !named.Obj().Exported() {
					lines = append(lines, types.ObjectString(named.Obj(), qualifier))
				}
			}
		}
		if named, ok := object.Type().(*types.Named); ok && strings.HasPrefix(line, "type ") {
			for method := range named.Methods() {
				if method.Exported() {
					receiver := types.TypeString(method.Signature().Recv().Type(), qualifier)
					signature := strings.TrimPrefix(types.TypeString(method.Signature(), qualifier), "func")
					lines = append(lines, fmt.Sprintf("func (%s) %s%s", receiver, method.Name(), signature))
				}
			}
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "// The API of the package, written by go test -run TestAPI -record-api.\npackage %s\n\n", pkg.Name())
	for _, path := range slices.Sorted(maps.Keys(imports)) {
		fmt.Fprintf(&text, "import %q\n", path)
	}
	text.WriteString("\n" + strings.Join(lines, "\n") + "\n")
	return regexp.MustCompile(`\bany\b`).ReplaceAllString(text.String(), "interface{}") // apidiff knows no alias
}
