package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A mutant is a source file with one change.
type mutant struct {
	id       int               // from 1
	file     string            // from the root of the repository
	name     string            // the file, the function, and the changed line before and after
	text     string            // of the file
	from, to int               // of the changed expression or statement in the original
	form     string            // of the source code that switches it: id, mutant, original
	mutated  string            // the expression or statement
	imports  map[string]string // of the types in form
}

// opposites maps operators to those that replace them.
var opposites = map[token.Token]string{
	token.EQL: "!=", token.NEQ: "==", token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">",
	token.LAND: "||", token.LOR: "&&", token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*",
	token.SHL: ">>", token.SHR: "<<", token.AND: "|", token.OR: "&", token.XOR: "&",
	token.INC: "--", token.DEC: "++", token.ADD_ASSIGN: "-=", token.SUB_ASSIGN: "+=",
}

// The forms of source code that switches a mutant.
const (
	expression = "func() %[4]s { if mutantOn(%[1]d) { return %[2]s }; return %[3]s }()"
	simple     = "func() { if mutantOn(%[1]d) { %[2]s } else { %[3]s } }()"
	statement  = "if mutantOn(%[1]d) { %[2]s } else { %[3]s }"
)

// A source is a package with its mutants.
type source struct {
	name     string
	set      *token.FileSet
	importer types.Importer
	paths    []string
	texts    map[string]string
	files    []*ast.File
	outlines []*ast.File // without the bodies of functions
	mutants  []*mutant
}

// load reads the source files of a package, and the mutants of all or of one of them.
func load(dir, only string) (*source, error) {
	pkg, err := build.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	s := &source{name: pkg.Name, set: token.NewFileSet(), texts: map[string]string{}}
	out, err := exec.Command("go", "list", "-deps", "-export", "-f", "{{.ImportPath}}={{.Export}}", "./"+dir).Output()
	if err != nil {
		return nil, err
	}
	s.importer = importer.ForCompiler(s.set, "gc", func(path string) (io.ReadCloser, error) {
		_, after, _ := strings.Cut("\n"+string(out), "\n"+path+"=")
		file, _, _ := strings.Cut(after, "\n")
		return os.Open(file)
	})
	for _, name := range pkg.GoFiles {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(s.set, path, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		outline := *file
		outline.Decls = slices.Clone(file.Decls)
		for i, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				outline.Decls[i] = &ast.FuncDecl{Recv: f.Recv, Name: f.Name, Type: f.Type}
			}
		}
		s.files, s.outlines = append(s.files, file), append(s.outlines, &outline)
		s.paths, s.texts[path] = append(s.paths, path), string(text)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	if _, err := (&types.Config{Importer: s.importer}).Check(s.name, s.set, s.files, info); err != nil {
		return nil, err
	}
	for i, path := range s.paths {
		if only != "" && only != path {
			continue
		}
		for _, m := range s.mutantsOf(i, info) {
			if s.compiles(i, m) {
				m.id = len(s.mutants) + 1
				s.mutants = append(s.mutants, m)
			}
		}
	}
	return s, nil
}

// compiles type-checks the file of a mutant, and only the declarations of the others.
func (s *source) compiles(i int, m *mutant) bool {
	file, err := parser.ParseFile(s.set, m.file, m.text, parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	files := slices.Clone(s.outlines)
	files[i] = file
	valid := true
	config := types.Config{Importer: s.importer, Error: func(err error) {
		if e, ok := err.(types.Error); ok && s.set.File(e.Pos) == s.set.File(file.FileStart) {
			valid = false
		}
	}}
	_, _ = config.Check(s.name, s.set, files, nil)
	return valid
}

// mutantsOf returns all mutants of a file, the outer ones of nested ones first.
func (s *source) mutantsOf(i int, info *types.Info) (all []*mutant) {
	path, text := s.paths[i], s.texts[s.paths[i]]
	var imports map[string]string
	offset := func(p token.Pos) int { return s.set.Position(p).Offset }
	qualifier := func(p *types.Package) string {
		if p.Path() == s.name {
			return ""
		}
		imports[p.Path()] = "mutants_" + p.Name()
		return imports[p.Path()]
	}
	function, names := "", map[string]int{}
	var constant ast.Expr // the outermost constant expression; those within it have no type yet
	// add adds the mutant of n that has other text between two positions.
	add := func(n ast.Node, from, to token.Pos, with string) {
		if constant != nil && n.End() <= constant.End() {
			n = constant
		}
		imports = map[string]string{}
		form := simple
		switch n := n.(type) {
		case ast.Expr:
			form = strings.ReplaceAll(expression, "%[4]s", types.TypeString(types.Default(info.TypeOf(n)), qualifier))
		case *ast.DeferStmt:
			form = statement
		}
		changed := text[:offset(from)] + with + text[offset(to):]
		name := fmt.Sprintf("%s: %s: %s -> %s", path, function, line(text, offset(from)), line(changed, offset(from)))
		if names[name]++; names[name] > 1 {
			name += fmt.Sprintf(" (%d)", names[name])
		}
		all = append(all, &mutant{file: path, name: name, text: changed, form: form, imports: imports, from: offset(n.Pos()), to: offset(n.End()),
			mutated: text[offset(n.Pos()):offset(from)] + with + text[offset(to):offset(n.End())]})
	}
	replace := func(n ast.Node, at token.Pos, op token.Token) {
		if with, ok := opposites[op]; ok {
			add(n, at, at+token.Pos(len(op.String())), with)
		}
	}
	for _, decl := range s.files[i].Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		function = f.Name.Name
		constant = nil
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok && info.Types[e].Value != nil && (constant == nil || e.End() > constant.End()) {
				constant = e
			}
			switch n := n.(type) {
			case *ast.GenDecl:
				return n.Tok != token.CONST // constants cannot be switched
			case *ast.BinaryExpr:
				replace(n, n.OpPos, n.Op)
			case *ast.IncDecStmt:
				replace(n, n.TokPos, n.Tok)
			case *ast.AssignStmt:
				replace(n, n.TokPos, n.Tok)
			case *ast.ExprStmt, *ast.DeferStmt: // a call
				add(n, n.Pos(), n.End(), "")
			case *ast.Ident:
				if with := map[string]string{"true": "false", "false": "true"}[n.Name]; with != "" {
					add(n, n.Pos(), n.End(), with)
				}
			case *ast.BasicLit:
				if number, err := strconv.ParseUint(n.Value, 0, 64); err == nil {
					add(n, n.Pos(), n.End(), strconv.FormatUint(number+1, 10))
				}
			case *ast.UnaryExpr:
				if n.Op == token.NOT {
					add(n, n.Pos(), n.Pos()+1, "")
				}
			}
			return true
		})
	}
	return all
}

// switched returns the files with all mutants.
func (s *source) switched() map[string]string {
	files := map[string]string{}
	for i, path := range s.paths {
		var mutants []*mutant
		imports := map[string]string{}
		for _, m := range s.mutants {
			if m.file == path {
				mutants = append(mutants, m)
				maps.Copy(imports, m.imports)
			}
		}
		end := s.set.Position(s.files[i].Name.End()).Offset
		files[path] = s.texts[path][:end]
		for of, name := range imports {
			files[path] += fmt.Sprintf("; import %s %q", name, of)
		}
		files[path] += render(s.texts[path], end, len(s.texts[path]), mutants)
	}
	return files
}

// render returns the text between two offsets with the mutants in it.
func render(text string, from, to int, mutants []*mutant) string {
	var out strings.Builder
	for len(mutants) > 0 {
		m := mutants[0]
		n := 1
		for n < len(mutants) && mutants[n].from < m.to {
			n++
		}
		out.WriteString(text[from:m.from] + fmt.Sprintf(m.form, m.id, m.mutated, render(text, m.from, m.to, mutants[1:n])))
		from, mutants = m.to, mutants[n:]
	}
	return out.String() + text[from:to]
}

// line returns the line of text that contains an offset.
func line(text string, offset int) string {
	after, _, _ := strings.Cut(text[offset:], "\n")
	return strings.TrimSpace(text[strings.LastIndex(text[:offset], "\n")+1:offset] + after)
}
