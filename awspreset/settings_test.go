package awspreset_test

import (
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/internal/test/awspage"
)

// The code of docs/aws.md and docs/reference/aws.md is in package awspage. test/conformance executes it and the SDKs.

func TestUses(t *testing.T) {
	named := map[awspreset.Preset]bool{}
	for _, u := range awspage.Uses() {
		p := u.Code()
		require.NoError(t, p.Validate())
		named[p.Classifier.(awspreset.Classifier).Preset] = true
	}
	for preset := range awspreset.All() {
		assert.True(t, named[preset], "%v is in the table", preset)
	}
}

func TestSettings(t *testing.T) {
	for _, s := range awspage.Settings() {
		assert.NotEqual(t, s.Code == nil, s.Text == "", s.Theirs)
		assert.NotEqual(t, s.Run.Modes == nil, s.Run.Not == "", s.Theirs)
		if s.Code != nil {
			p := awspreset.JavaScriptV2.Policy("s3")
			s.Code(&p)
			assert.NoError(t, p.Validate(), s.Theirs)
		}
	}
}

func TestGoneModes(t *testing.T) {
	for _, g := range awspage.GoneModes() {
		for _, service := range []string{"s3", awspreset.DynamoDB} {
			p := g.Code(service)
			assert.NoError(t, p.Validate(), g.Mode)
		}
	}
}

// codesOf returns the source code of the rows of functions of package awspage, in order. A row
// without code has "".
func codesOf(t *testing.T, functions ...string) []string {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "../internal/test/awspage/page.go", nil, parser.ParseComments)
	require.NoError(t, err)
	var codes []string
	for _, function := range functions {
		decl := file.Scope.Lookup(function).Decl.(*ast.FuncDecl)
		ast.Inspect(decl.Body, func(n ast.Node) bool {
			row, ok := n.(*ast.CompositeLit)
			if !ok || row.Type != nil {
				return true
			}
			code := ""
			for _, field := range row.Elts {
				if pair, ok := field.(*ast.KeyValueExpr); ok {
					field = pair.Value
				}
				if lit, ok := field.(*ast.FuncLit); ok {
					var text strings.Builder
					node := &printer.CommentedNode{Node: lit.Body, Comments: file.Comments}
					require.NoError(t, (&printer.Config{Mode: printer.UseSpaces | printer.TabIndent, Tabwidth: 4}).Fprint(&text, fset, node))
					code = body(text.String())
				}
			}
			codes = append(codes, code)
			return false
		})
	}
	return codes
}

// body returns the lines of a block without its braces and indentation.
func body(block string) string {
	text := strings.Trim(strings.TrimSuffix(strings.TrimPrefix(block, "{"), "}"), " \n")
	lines := strings.Split(text, "\n")
	indent := len(lines[0]) - len(strings.TrimLeft(lines[0], "\t"))
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, strings.Repeat("\t", indent))
	}
	return strings.Join(lines, "\n")
}

func inCell(code string) string {
	var lines []string
	for line := range strings.SplitSeq(code, "\n") {
		line = strings.TrimPrefix(line, "return ")
		indent := len(line) - len(strings.TrimLeft(line, "\t"))
		if line != "p" {
			lines = append(lines, strings.Repeat("&emsp;", indent)+"`"+strings.TrimLeft(line, "\t")+"`")
		}
	}
	return strings.Join(lines, "<br>")
}

func usesTable(t *testing.T) string {
	codes := codesOf(t, "Uses")
	var text strings.Builder
	text.WriteString(head("your SDK", "version", "mode (**default**)", "here"))
	for i, u := range awspage.Uses() {
		text.WriteString(row(u.SDK, u.Version, u.Mode, inCell(codes[i])))
	}
	return text.String()
}

func settingsTable(t *testing.T) string {
	codes := codesOf(t, "botocoreSettings", "javaScriptSettings", "javaSettings", "goSettings")
	var text strings.Builder
	text.WriteString(head("SDK", "its setting", "here"))
	for i, s := range awspage.Settings() {
		here := s.Text
		if s.Code != nil {
			here = inCell(codes[i])
		}
		text.WriteString(row(s.SDK, s.Theirs, here))
	}
	return text.String()
}

func goneText(t *testing.T) string {
	codes := codesOf(t, "GoneModes")
	var text strings.Builder
	for i, g := range awspage.GoneModes() {
		code := strings.TrimSpace(strings.TrimSuffix(codes[i], "return p"))
		text.WriteString("\n" + g.Mode + ":\n\n```go\n" + code + "\n```\n")
	}
	return text.String()
}
