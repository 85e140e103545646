package retry_test

import (
	"debug/elf"
	"go/ast"
	"go/build"
	"go/doc"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// libraryPackages are the folders of this module's public packages.
var libraryPackages = []string{".", "adapt", "admit", "awspreset", "known", "pause", "retryconfig", "retryconfig/aws", "retryhedge", "retryhttp", "retryslog", "retrysql", "retrytest", "retrytest/faults"}

// TestImports: the public packages import only the standard library.
func TestImports(t *testing.T) {
	const module = "github.com/gobackoff/retry"
	for _, dir := range libraryPackages {
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

// TestLight: a program that calls Do links neither package net, which adds 107 kB and,
// with cgo, makes the binary dynamic, nor log/slog, which adds 53 kB, nor encoding/json,
// which adds 12 kB.
func TestLight(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	deps := strings.Fields(string(out))
	require.Contains(t, deps, "time")
	for _, heavy := range []string{"net", "net/http", "log", "log/slog", "regexp", "text/template", "crypto/tls", "encoding/json"} {
		assert.NotContains(t, deps, heavy)
	}
}

// TestSize: what a program grows by if it calls Do, in kB, and if its policy is a preset's.
// The text form of a policy adds nothing to a program that does not use it.
func TestSize(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" || runtime.GOARCH != "amd64" || !strings.HasPrefix(runtime.Version(), "go1.26") {
		t.Skip("links three programs for linux/amd64, whose sizes with Go 1.26 are known")
	}
	dir := t.TempDir()
	out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", dir+"/",
		"./testdata/size/hello", "./testdata/size/do", "./testdata/size/preset").CombinedOutput()
	require.NoError(t, err, string(out))
	size := func(program string) int64 {
		info, err := os.Stat(filepath.Join(dir, program))
		require.NoError(t, err)
		file, err := elf.Open(filepath.Join(dir, program))
		require.NoError(t, err)
		defer file.Close()
		assert.False(t, slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }), "%s is dynamic", program)
		return info.Size() / 1000
	}
	do, preset := size("do")-size("hello"), size("preset")-size("hello")
	t.Logf("Do adds %d kB, a preset %d kB", do, preset)
	assert.LessOrEqual(t, do, int64(270))
	assert.LessOrEqual(t, preset, int64(400))
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

// TestBudget keeps the root small enough to be learned as a whole.
func TestBudget(t *testing.T) {
	pkg, err := build.ImportDir(".", 0)
	require.NoError(t, err)
	assert.LessOrEqual(t, len(pkg.GoFiles), 18, "source files")
	names := 0
	docs := parsePackage(t, ".")
	count := func(values []*doc.Value) {
		for _, v := range values {
			for _, name := range v.Names {
				if ast.IsExported(name) {
					names++
				}
			}
		}
	}
	count(docs.Consts)
	count(docs.Vars)
	names += len(docs.Funcs)
	for _, typ := range docs.Types {
		names += 1 + len(typ.Funcs)
		count(typ.Consts)
		count(typ.Vars)
	}
	assert.LessOrEqual(t, names, 70, "exported names")
	out, err := exec.Command("go", "doc", "-all", ".").Output()
	require.NoError(t, err)
	words := len(strings.Fields(string(out)))
	assert.LessOrEqual(t, words, 5300, "words of go doc -all")
	own, linked := linkedLines(t)
	assert.LessOrEqual(t, own, 2400, "lines of the root without tests")
	assert.LessOrEqual(t, linked, 4300, "lines of the module that a call of Do links")
	t.Logf("%d source files, %d exported names, %d words, %d lines, %d linked", len(pkg.GoFiles), names, words, own, linked)
}

// linkedLines counts the lines of the root, and of all packages of this module that a
// program links if it calls Do.
func linkedLines(t *testing.T) (own, all int) {
	t.Helper()
	const module = "github.com/gobackoff/retry"
	out, err := exec.Command("go", "list", "-deps", "-f", `{{if not .Standard}}{{.ImportPath}} {{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}} {{end}}{{end}}`, ".").Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		files := strings.Fields(line)
		for _, name := range files[1:] {
			source, err := os.ReadFile(name)
			require.NoError(t, err)
			n := strings.Count(string(source), "\n")
			if all += n; files[0] == module {
				own += n
			}
		}
	}
	return own, all
}

// TestModules: each module is built, tested and kept up to date separately, so there are few.
func TestModules(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "go.mod", "*/go.mod", ":!*/testdata/*").Output()
	if err != nil {
		t.Skip("not in a git repository: ", err)
	}
	modules := strings.Fields(string(out))
	assert.LessOrEqual(t, len(modules), 14, "%s", modules)
	updates, err := os.ReadFile(".github/dependabot.yml")
	require.NoError(t, err)
	for _, module := range modules {
		dir := "/" + strings.TrimSuffix(strings.TrimSuffix(module, "go.mod"), "/")
		assert.Contains(t, string(updates), "\n      - "+dir+"\n", "dependabot updates every module")
	}
}

// TestDocumented: every exported name has a comment, which begins with the name if it is
// a type, function or method.
func TestDocumented(t *testing.T) {
	for _, dir := range libraryPackages {
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

// TestOneLoop: the loop is short enough to be checked by eye.
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

// testedPackages are the folders whose source files each have a test file.
var testedPackages = []string{".", "awspreset", "known", "pause", "retryconfig", "retryhttp", "retrysql"}

// otherTests are the test files for several source files.
var otherTests = map[string][]string{
	".": {
		"bench",   // benchmarks and allocations
		"context", // how calls end when their context ends
		"api",     // the exported names compared with their record
		"model",   // random calls compared with a model
		"house",   // the module's own rules
		"readme",  // the code of README.md
		"vectors", // published rules in the folder vectors
	},
	"awspreset": {
		"table",   // the tables of the documentation
		"vectors", // the SDKs' answers in the folder vectors
	},
	"retryhttp": {
		"bench",
		"fault",   // faults on real sockets
		"soak",    // many requests with faults
		"suite",   // cases of other clients' test suites
		"servers", // responses of well-known servers
		"vectors", // headers in the folder vectors
	},
}

func TestTestFiles(t *testing.T) {
	for _, dir := range testedPackages {
		pkg, err := build.ImportDir(dir, 0)
		require.NoError(t, err)
		tests := append(slices.Clone(pkg.TestGoFiles), pkg.XTestGoFiles...)
		allowed := []string{"helper_test.go", "example_test.go", "export_test.go"}
		for _, name := range otherTests[dir] {
			allowed = append(allowed, name+"_test.go")
			assert.True(t, slices.Contains(tests, name+"_test.go"), "%s has no %s_test.go", dir, name)
		}
		for _, file := range pkg.GoFiles {
			test := strings.TrimSuffix(file, ".go") + "_test.go"
			if allowed = append(allowed, test); file != "doc.go" {
				assert.True(t, slices.Contains(tests, test), "%s of %s has no test file", file, dir)
			}
		}
		for _, test := range tests {
			assert.True(t, slices.Contains(allowed, test), "%s of %s is not named for a source file", test, dir)
		}
	}
}

func TestLengthOfTests(t *testing.T) {
	for _, dir := range testedPackages {
		names, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		require.NoError(t, err)
		for _, name := range names {
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, name, nil, 0)
			require.NoError(t, err)
			for _, decl := range file.Decls {
				if f, ok := decl.(*ast.FuncDecl); ok {
					lines := fset.Position(f.End()).Line - fset.Position(f.Pos()).Line + 1
					assert.LessOrEqual(t, lines, 80, "%s: func %s", name, f.Name.Name)
				}
			}
		}
	}
}

// visitor makes one call whose first attempt fails, and writes its coverage profile.
const visitor = `package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/coverage"

	"github.com/gobackoff/retry"
)

func main() {
	failure := errors.New("no route")
	if os.Args[1] == "wrapped" {
		failure = fmt.Errorf("get: %w", failure)
	}
	policy := retry.Policy{Rand: func() float64 { return 1e-3 }}
	attempts := 0
	_ = coverage.ClearCounters()
	err := retry.Do(context.Background(), policy, func(context.Context) error {
		if attempts++; attempts == 2 {
			return nil
		}
		return failure
	})
	err = errors.Join(err, coverage.WriteMetaDir(os.Args[2]), coverage.WriteCountersDir(os.Args[2]))
	if err != nil {
		panic(err)
	}
}
`

// TestVisits: a reader who follows one retry through the source visits few functions.
func TestVisits(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program with coverage")
	}
	dir := t.TempDir()
	root, err := os.Getwd()
	require.NoError(t, err)
	module := "module visits\n\ngo 1.26\n\nrequire github.com/gobackoff/retry v0.0.0\n\nreplace github.com/gobackoff/retry => " + strconv.Quote(root) + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(module), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(visitor), 0o600))
	output(t, dir, "go", "build", "-mod=mod", "-cover", "-covermode=atomic", "-coverpkg=visits,github.com/gobackoff/retry/...", "-o", "visits.exe")
	for failure, most := range map[string]struct{ functions, files int }{"plain": {30, 9}, "wrapped": {43, 14}} {
		profile := t.TempDir()
		output(t, dir, filepath.Join(dir, "visits.exe"), failure, profile)
		files := map[string][]string{}
		functions := 0
		for line := range strings.Lines(output(t, dir, "go", "tool", "covdata", "func", "-i="+profile)) {
			cells := strings.Fields(line) // file:line: function share
			if path, inside := strings.CutPrefix(cells[0], "github.com/gobackoff/retry/"); inside && cells[2] != "0.0%" {
				file, _, _ := strings.Cut(path, ":")
				files[file] = append(files[file], cells[1])
				functions++
			}
		}
		for _, file := range slices.Sorted(maps.Keys(files)) {
			t.Logf("%s: %s", file, strings.Join(files[file], " "))
		}
		t.Logf("one retry of a %s error visits %d functions in %d files", failure, functions, len(files))
		assert.NotZero(t, functions)
		assert.LessOrEqual(t, functions, most.functions, failure)
		assert.LessOrEqual(t, len(files), most.files, failure)
	}
}

func output(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	command := exec.Command(name, args...)
	command.Dir = dir
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}
