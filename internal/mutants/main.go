// Command mutants changes one operator or statement of the source code at a time, and
// reports the changes that the tests of the package do not notice. Those that are known
// are in survivors.txt, with the reason; others make the command fail.
//
// Usage, in the root of the repository: go run ./internal/mutants [-sample N] [PACKAGE|FILE...]
package main

import (
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed survivors.txt
var survivors string

// A mutant is a source file with one change.
type mutant struct {
	file string // from the root of the repository
	name string // the file, the function, and the changed line before and after
	text []byte
}

// opposites maps operators to those that replace them.
var opposites = map[token.Token]string{
	token.EQL: "!=", token.NEQ: "==", token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">",
	token.LAND: "||", token.LOR: "&&", token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*",
	token.INC: "--", token.DEC: "++", token.ADD_ASSIGN: "-=", token.SUB_ASSIGN: "+=",
}

// mutantsOf returns all mutants of a file.
func mutantsOf(file string, source []byte) (all []mutant, err error) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, source, 0)
	if err != nil {
		return nil, err
	}
	offset := func(p token.Pos) int { return set.Position(p).Offset }
	function := ""
	add := func(from, to int, with string) {
		text := slices.Concat(source[:from], []byte(with), source[to:])
		name := fmt.Sprintf("%s: %s: %s -> %s", file, function, line(source, from), line(text, from))
		all = append(all, mutant{file, name, text})
	}
	replace := func(at token.Pos, op token.Token) {
		if with, ok := opposites[op]; ok {
			add(offset(at), offset(at)+len(op.String()), with)
		}
	}
	for _, decl := range parsed.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		function = f.Name.Name
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				replace(n.OpPos, n.Op)
			case *ast.IncDecStmt:
				replace(n.TokPos, n.Tok)
			case *ast.AssignStmt:
				replace(n.TokPos, n.Tok)
			case *ast.ExprStmt: // a call
				add(offset(n.Pos()), offset(n.End()), "")
			case *ast.Ident:
				if with := map[string]string{"true": "false", "false": "true"}[n.Name]; with != "" {
					add(offset(n.Pos()), offset(n.End()), with)
				}
			case *ast.UnaryExpr:
				if n.Op == token.NOT {
					add(offset(n.Pos()), offset(n.Pos())+1, "")
				}
			}
			return true
		})
	}
	return all, nil
}

// line returns the line of text that contains an offset.
func line(text []byte, offset int) string {
	before, after := string(text[:offset]), string(text[offset:])
	after, _, _ = strings.Cut(after, "\n")
	return strings.TrimSpace(before[strings.LastIndex(before, "\n")+1:] + after)
}

// survives reports whether the tests of the mutant's package pass. viable is false if it
// does not compile.
func (m mutant) survives(folder string) (survives, viable bool, err error) {
	here, err := filepath.Abs(m.file)
	if err != nil {
		return false, false, err
	}
	changed, overlay := filepath.Join(folder, "changed.go"), filepath.Join(folder, "overlay.json")
	replacements, err := json.Marshal(map[string]map[string]string{"Replace": {here: changed}})
	if err != nil {
		return false, false, err
	}
	if err := os.WriteFile(changed, m.text, 0o600); err != nil {
		return false, false, err
	}
	if err := os.WriteFile(overlay, replacements, 0o600); err != nil {
		return false, false, err
	}
	cmd := exec.Command("go", "test", "-overlay", overlay, "-vet=off", "-short", "-failfast", "-timeout", "10m", "./"+filepath.Dir(m.file))
	out, err := cmd.CombinedOutput()
	return err == nil, !strings.Contains(string(out), "[build failed]"), nil
}

// load returns the mutants of files, and of the source files of packages.
func load(places []string) (all []mutant, err error) {
	for _, place := range places {
		files := []string{place}
		if !strings.HasSuffix(place, ".go") {
			if files, err = filepath.Glob(filepath.Join(place, "*.go")); err != nil {
				return nil, err
			}
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			source, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			found, err := mutantsOf(file, source)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	return all, nil
}

func run(places []string, sample int, seed uint64) error {
	all, err := load(places)
	if err != nil {
		return err
	}
	found := len(all)
	if sample > 0 {
		rand.New(rand.NewPCG(seed, seed)).Shuffle(found, func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:min(sample, found)]
	}
	folder, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	killed, known, unknown, invalid := 0, 0, 0, 0
	for _, m := range all {
		survives, viable, err := m.survives(folder)
		switch {
		case err != nil:
			return err
		case !viable:
			invalid++
		case !survives:
			killed++
		case strings.Contains("\n"+survivors, "\n"+m.name+"\n"):
			known++
		default:
			unknown++
			fmt.Println("survives:", m.name)
		}
	}
	fmt.Printf("%d of %d mutants: %d do not compile, %d killed, %d known survivors, %d others\n", len(all), found, invalid, killed, known, unknown)
	if unknown > 0 {
		return fmt.Errorf("write a test, or list the survivor in internal/mutants/survivors.txt with the reason")
	}
	return nil
}

func main() {
	sample := flag.Int("sample", 0, "`number` of random mutants to try; 0: all")
	seed := flag.Uint64("seed", 1, "of the sample")
	flag.Parse()
	places := flag.Args()
	if len(places) == 0 {
		places = []string{".", "retryhttp", "retrysql"}
	}
	if err := run(places, *sample, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}
