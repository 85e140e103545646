package retryconfig_test

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/retryconfig"
)

// TestDocumentedNames: the comment of Parse lists the rules and their keys.
func TestDocumentedNames(t *testing.T) {
	source, err := os.ReadFile("parse.go")
	require.NoError(t, err)
	list, _, found := strings.Cut(string(source), "// and the keys of a policy are")
	require.True(t, found)
	_, list, found = strings.Cut(list, "The rules are\n")
	require.True(t, found)
	documented := map[string]bool{}
	for line := range strings.Lines(list) {
		words := strings.Fields(strings.TrimPrefix(line, "//"))
		if len(words) == 0 {
			continue
		}
		text := words[0]
		if before, after, inner := strings.Cut(line, "("); inner { // with rules in parentheses
			rules, _, _ := strings.Cut(after, ")")
			text = strings.TrimSpace(strings.TrimPrefix(before, "//")) + "(" + strings.Repeat("no-delay|", strings.Count(rules, "|")) + "no-delay)"
		}
		var keys []string
		for _, key := range regexp.MustCompile(`\b([a-z]+)=`).FindAllStringSubmatch(line, -1) {
			keys = append(keys, key[1])
		}
		name, _, _ := strings.Cut(text, "(")
		documented[name] = true
		_, err := retryconfig.Parse(text + " xyz=1")
		assert.ErrorContains(t, err, "valid: "+strings.Join(append(keys, "attempts, elapsed"), ", "), name)
	}
	for _, name := range retryconfig.Rules() {
		assert.True(t, documented[name], "%s is not documented", name)
		delete(documented, name)
	}
	assert.Empty(t, documented)
}

// TestEveryRuleHasAName: there are as many names of rules as there are rules, apart from
// functions.
func TestEveryRuleHasAName(t *testing.T) {
	rules := []string{"standard"}
	pkg, err := build.ImportDir("..", 0)
	require.NoError(t, err)
	for _, name := range pkg.GoFiles {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", name), nil, 0)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv == nil || f.Name.Name != "Delay" {
				continue
			}
			if id, ok := f.Recv.List[0].Type.(*ast.Ident); ok && id.IsExported() && id.Name != "BackoffFunc" {
				rules = append(rules, id.Name)
			}
		}
	}
	assert.Len(t, retryconfig.Rules(), len(rules), "%v", rules)
}
