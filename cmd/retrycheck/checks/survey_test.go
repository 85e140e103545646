package checks_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
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
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	xmodule "golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/gobackoff/retry/cmd/retrycheck/checks"
)

var list = flag.String("survey", "", "look for mistakes in the modules of a `file`, such as testdata/survey/modules.txt")

type module struct{ Path, Version, Dir, Error string }

// TestSurvey: the analyzers find in the modules of a list what testdata/survey/findings.tsv
// says, where a reader of the code has judged each finding. modules.txt and
// repositories.txt beside it list the modules; those of the second are read from folders,
// which a third column names, because their versions are commits.
//
// Nothing is compiled: of the packages that one imports, only those are read that the
// analyzers know, and only if they are in the module cache. What is missing has no type,
// so an analyzer may find less than with go vet.
func TestSurvey(t *testing.T) {
	if *list == "" {
		t.Skip("downloads modules: use -survey=testdata/survey/modules.txt")
	}
	std := standardLibrary(t)
	var found []string
	var total counts
	read := map[string]bool{}
	for _, m := range download(t) {
		l := newLoader(m, std)
		for _, pkg := range l.packages() {
			for _, finding := range findings(t, pkg) {
				found = append(found, strings.ReplaceAll(finding, m.Dir+"/", m.Path+"@"+m.Version+"\t"))
			}
		}
		total.add(l.counts)
		read[m.Path+"@"+m.Version] = true
	}
	t.Logf("%+v", total)
	recorded := judged(t)
	for _, finding := range found {
		fields := strings.Split(finding, "\t")
		key := strings.Join(fields[:3], "\t")
		if _, ok := recorded[key]; !ok {
			t.Errorf("not judged yet: %s", finding)
		}
		delete(recorded, key)
	}
	for key := range recorded {
		if module, _, _ := strings.Cut(key, "\t"); !read[module] {
			continue
		}
		t.Errorf("not found: %s", key)
	}
}

// judged returns the findings of the survey, each with "yes" if it is a mistake.
func judged(t *testing.T) map[string]string {
	text, err := os.ReadFile("testdata/survey/findings.tsv")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSpace(line), "\t", 5)
		all[strings.Join(fields[:3], "\t")] = fields[3]
	}
	return all
}

type counts struct{ Modules, Packages, Files, Lines int }

func (c *counts) add(d counts) {
	c.Modules++
	c.Packages += d.Packages
	c.Files += d.Files
	c.Lines += d.Lines
}

// download returns the modules of the survey, in the module cache.
func download(t *testing.T) (modules []module) {
	text, err := os.ReadFile(*list)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"mod", "download", "-json"}
	for line := range strings.Lines(string(text)) {
		switch fields := strings.Fields(line); len(fields) {
		case 2:
			args = append(args, fields[0]+"@"+fields[1])
		case 3: // a folder that has the module
			modules = append(modules, module{Path: fields[0], Version: fields[1], Dir: fields[2]})
		}
	}
	if len(args) == 3 {
		return modules
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = t.TempDir()
	out, _ := cmd.Output() // the errors of modules are in its output
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var m module
		if err := decoder.Decode(&m); errors.Is(err, io.EOF) {
			return modules
		} else if err != nil {
			t.Fatal(err)
		}
		if m.Error != "" {
			t.Errorf("%s@%s: %s", m.Path, m.Version, m.Error)
			continue
		}
		modules = append(modules, m)
	}
}

// standardLibrary returns the files with the exported declarations of its packages.
func standardLibrary(t *testing.T) map[string]string {
	out, err := exec.Command("go", "list", "-export", "-f", "{{.ImportPath}} {{.Export}}", "std").Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[name] = file
	}
	return files
}

// A loader type-checks the packages of one module as far as what they import is known.
type loader struct {
	module
	counts
	fset     *token.FileSet
	std      types.Importer
	isStd    map[string]string
	versions map[string]string // by the path of a required module
	checked  map[string]*types.Package
}

func newLoader(m module, std map[string]string) *loader {
	l := &loader{module: m, fset: token.NewFileSet(), isStd: std, versions: map[string]string{}, checked: map[string]*types.Package{}}
	l.std = importer.ForCompiler(l.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(std[path]) })
	text, err := os.ReadFile(filepath.Join(m.Dir, "go.mod"))
	if err != nil {
		return l // it is older than modules
	}
	if file, err := modfile.ParseLax("go.mod", text, nil); err == nil {
		for _, r := range file.Require {
			l.versions[r.Mod.Path] = r.Mod.Version
		}
	}
	return l
}

// packages returns the packages of the module in which there may be findings.
func (l *loader) packages() (all []*packages.Package) {
	_ = filepath.WalkDir(l.Dir, func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); dir != l.Dir && (name == "testdata" || name == "vendor" || name[0] == '_' || name[0] == '.') {
			return filepath.SkipDir
		}
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil && dir != l.Dir {
			return filepath.SkipDir // another module
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
	matched := false
	for _, text := range texts {
		l.Lines += bytes.Count(text, []byte("\n"))
		matched = matched || relevant.Match(text)
	}
	l.Files += len(texts)
	l.Packages += min(1, len(texts))
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
	twice := false // as in a folder with several programs, which go vet does not accept either
	redeclared := func(err error) { twice = twice || strings.Contains(err.Error(), "redeclared in this block") }
	config := types.Config{Importer: l, Error: redeclared, FakeImportC: true, Sizes: pkg.TypesSizes}
	pkg.Types, _ = config.Check(importPath, l.fset, files, pkg.TypesInfo)
	if twice {
		return nil
	}
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

// needed matches the packages whose types the analyzers know.
var needed = regexp.MustCompile(`retry|backoff|util/wait$|jackc/pgx|jmoiron/sqlx|uptrace/bun$|bbolt|aws-sdk-go|vault/api|go-tfe|client-go$|cloud.google.com/go|openai-go|anthropic|go-redis|godo$|x/(time/rate|sync)`)

// Import returns the declarations of a package, or an empty package if it is not needed or
// not at hand.
func (l *loader) Import(importPath string) (*types.Package, error) {
	if importPath == "unsafe" {
		return types.Unsafe, nil
	}
	if _, ok := l.isStd[importPath]; ok {
		return l.std.Import(importPath)
	}
	if pkg, ok := l.checked[importPath]; ok {
		return pkg, nil
	}
	pkg := types.NewPackage(importPath, path.Base(major.ReplaceAllString(importPath, "")))
	l.checked[importPath] = pkg // for an import cycle, too
	if needed.MatchString(importPath) {
		if files := l.parse(read(l.dir(importPath))); len(files) > 0 {
			config := types.Config{Importer: l, Error: func(error) {}, FakeImportC: true, IgnoreFuncBodies: true}
			pkg, _ = config.Check(importPath, l.fset, files, nil)
		}
	}
	pkg.MarkComplete()
	l.checked[importPath] = pkg
	return pkg, nil
}

var major = regexp.MustCompile(`/v[0-9]+$`)

// dir returns the folder of a package: in the module, or in another in the module cache.
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
		best := slices.MaxFunc(found, func(a, b string) int {
			return l.preferred(prefix, a) - l.preferred(prefix, b) + semver.Compare(versionOf(a), versionOf(b))
		})
		return best + rest
	}
	return ""
}

// preferred returns 2 for the version that the module requires.
func (l *loader) preferred(prefix, dir string) int {
	if versionOf(dir) == l.versions[prefix] {
		return 2
	}
	return 0
}

func versionOf(dir string) string { return dir[strings.LastIndex(dir, "@")+1:] }

// findings returns the findings in a package as lines of position, analyzer and message.
func findings(t *testing.T, pkg *packages.Package) (found []string) {
	all := checks.All()
	graph, err := checker.Analyze(all, []*packages.Package{pkg}, &checker.Options{Sequential: true})
	if err != nil {
		t.Fatal(err)
	}
	for action := range graph.All() {
		if action.Err != nil {
			t.Errorf("%s: %v", pkg.PkgPath, action.Err)
		}
		for _, d := range action.Diagnostics {
			at := pkg.Fset.Position(d.Pos)
			found = append(found, fmt.Sprintf("%s:%d\t%s\t%s", at.Filename, at.Line, action.Analyzer.Name, d.Message))
		}
	}
	return found
}
