package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"sort"
	"strings"

	"golang.org/x/mod/modfile"
	xmodule "golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

// A loader type-checks the packages of one module as far as its dependencies are known.
type loader struct {
	module
	fset     *token.FileSet
	std      types.Importer
	isStd    map[string]string
	versions map[string]string // by the path of a required module
	checked  map[string]*types.Package
	counts   counts
}

func newLoader(m module, std map[string]string) *loader {
	l := &loader{module: m, fset: token.NewFileSet(), isStd: std, versions: map[string]string{}, checked: map[string]*types.Package{}}
	l.std = importer.ForCompiler(l.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(std[path]) })
	text, err := os.ReadFile(filepath.Join(m.Dir, "go.mod"))
	if err != nil {
		return l // a module from before modules
	}
	if file, err := modfile.ParseLax("go.mod", text, nil); err == nil {
		for _, r := range file.Require {
			l.versions[r.Mod.Path] = r.Mod.Version
		}
	}
	return l
}

// packages returns the packages of the module, without their tests.
func (l *loader) packages() []*packages.Package {
	var all []*packages.Package
	_ = filepath.WalkDir(l.Dir, func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); dir != l.Dir && (name == "testdata" || name == "vendor" || strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".")) {
			return filepath.SkipDir
		}
		rel, _ := filepath.Rel(l.Dir, dir)
		if pkg := l.load(path.Join(l.Path, filepath.ToSlash(rel)), dir); pkg != nil {
			all = append(all, pkg)
		}
		return nil
	})
	return all
}

// relevant matches what a package must contain for any finding: a wait, a request, or the
// import of a package that retries.
var relevant = regexp.MustCompile(`time\.(Sleep|After)\(|NewRequest|RoundTrip\(|"[^"]*(retry|backoff|util/wait)[^"]*"`)

// load checks the types of one package of the module, if it is relevant.
func (l *loader) load(importPath, dir string) *packages.Package {
	texts := read(dir)
	if len(texts) == 0 {
		return nil
	}
	l.counts.packages++
	l.counts.files += len(texts)
	matched := false
	for _, text := range texts {
		l.counts.lines += bytes.Count(text, []byte("\n"))
		matched = matched || relevant.Match(text)
	}
	if !matched {
		return nil
	}
	files := l.parse(texts)
	if len(files) == 0 {
		return nil
	}
	pkg := &packages.Package{
		ID: importPath, PkgPath: importPath, Fset: l.fset, Syntax: files, Name: files[0].Name.Name,
		TypesSizes: types.SizesFor("gc", runtime.GOARCH), Module: &packages.Module{Path: l.Path, Version: l.Version},
		TypesInfo: &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
			Implicits: map[ast.Node]types.Object{}, Instances: map[*ast.Ident]types.Instance{}, Scopes: map[ast.Node]*types.Scope{},
			Selections: map[*ast.SelectorExpr]*types.Selection{}, FileVersions: map[*ast.File]string{},
		},
	}
	config := types.Config{Importer: l, Error: func(error) {}, FakeImportC: true, Sizes: pkg.TypesSizes}
	pkg.Types, _ = config.Check(importPath, l.fset, files, pkg.TypesInfo)
	return pkg
}

// read returns the files of a package on this platform, without its tests.
func read(dir string) map[string][]byte {
	entries, _ := os.ReadDir(dir)
	texts := map[string][]byte{}
	for _, entry := range entries {
		name := entry.Name()
		if ok, _ := build.Default.MatchFile(dir, name); !ok || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			texts[filepath.Join(dir, name)] = text
		}
	}
	return texts
}

func (l *loader) parse(texts map[string][]byte) (files []*ast.File) {
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		file, err := parser.ParseFile(l.fset, name, texts[name], parser.ParseComments|parser.SkipObjectResolution)
		if err == nil && (len(files) == 0 || file.Name.Name == files[0].Name.Name) {
			files = append(files, file)
		}
	}
	return files
}

// needed matches the dependencies whose types the analyzers know.
var needed = regexp.MustCompile(`retry|backoff|util/wait$|jackc/pgx|jmoiron/sqlx|uptrace/bun$|bbolt|aws-sdk-go|vault/api|go-tfe|client-go$|cloud.google.com/go|openai-go|anthropic|go-redis|godo$|x/(time/rate|sync)`)

// Import returns the declarations of a package, or an empty package if it is not at hand.
func (l *loader) Import(importPath string) (*types.Package, error) {
	if importPath == "unsafe" {
		return types.Unsafe, nil
	}
	if _, ok := l.isStd[importPath]; ok {
		return l.std.Import(importPath)
	}
	if pkg, ok := l.checked[importPath]; ok {
		if pkg == nil {
			return nil, fmt.Errorf("import cycle")
		}
		return pkg, nil
	}
	pkg := l.empty(importPath)
	inModule := importPath == l.Path || strings.HasPrefix(importPath, l.Path+"/")
	if !inModule && !needed.MatchString(importPath) {
		return pkg, nil
	}
	l.checked[importPath] = nil
	if files := l.parse(read(l.dir(importPath))); len(files) > 0 {
		config := types.Config{Importer: l, Error: func(error) {}, FakeImportC: true, IgnoreFuncBodies: true}
		pkg, _ = config.Check(importPath, l.fset, files, nil)
	}
	l.checked[importPath] = pkg
	return pkg, nil
}

func (l *loader) empty(importPath string) *types.Package {
	pkg := types.NewPackage(importPath, path.Base(major.ReplaceAllString(importPath, "")))
	pkg.MarkComplete()
	l.checked[importPath] = pkg
	return pkg
}

var major = regexp.MustCompile(`/v[0-9]+$`)

// dir returns the folder of a package: in the module, or in a dependency in the module cache.
func (l *loader) dir(importPath string) string {
	for prefix := importPath; prefix != "."; prefix = path.Dir(prefix) {
		rest := strings.TrimPrefix(importPath, prefix)
		if prefix == l.Path {
			return l.Dir + rest
		}
		escaped, err := xmodule.EscapePath(prefix)
		if err != nil {
			continue
		}
		found, _ := filepath.Glob(filepath.Join(build.Default.GOPATH, "pkg/mod", escaped) + "@*")
		if len(found) == 0 {
			continue
		}
		sort.Slice(found, func(i, j int) bool { return semver.Compare(versionOf(found[i]), versionOf(found[j])) < 0 })
		for _, dir := range found {
			if versionOf(dir) == l.versions[prefix] {
				return dir + rest
			}
		}
		return found[len(found)-1] + rest
	}
	return ""
}

func versionOf(dir string) string { return dir[strings.LastIndex(dir, "@")+1:] }

// analyze returns the findings in a package as lines of file:line, analyzer and message.
func analyze(pkg *packages.Package, analyzers []*analysis.Analyzer) ([]string, error) {
	graph, err := checker.Analyze(analyzers, []*packages.Package{pkg}, &checker.Options{Sequential: true})
	if err != nil {
		return nil, err
	}
	var found []string
	for _, action := range graph.Roots {
		if action.Err != nil {
			return found, action.Err
		}
		for _, d := range action.Diagnostics {
			at := pkg.Fset.Position(d.Pos)
			found = append(found, fmt.Sprintf("%s:%d\t%s\t%s", at.Filename, at.Line, action.Analyzer.Name, d.Message))
		}
	}
	return found, nil
}
