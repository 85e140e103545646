package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// write writes a package with one file, whose tests notice some mutants.
func write(t *testing.T, code string) (dir string) {
	dir = t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module p\n\ngo 1.26\n",
		"f.go":   "package p\n\n" + code,
		"f_test.go": `package p

import "testing"

func TestF(t *testing.T) {
	if !f(1, 2) || f(3, 2) {
		t.Fail()
	}
}

func TestNothing(t *testing.T) {}
`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

func TestMutantsOf(t *testing.T) {
	t.Chdir(write(t, `func f(a, b int) bool {
	const none = 0 + 0
	defer println(a)
	for range 3 {
		a++
	}
	var c string = "c"
	if c == "c" && a+b > none {
		return !(a < b) && true
	}
	panic(c + "d")
}
`))
	s, err := load(".", "")
	require.NoError(t, err)
	var names []string
	for _, m := range s.mutants {
		names = append(names, m.name)
	}
	assert.Equal(t, []string{
		"f.go: f: defer println(a) -> ",
		"f.go: f: for range 3 { -> for range 4 {",
		"f.go: f: a++ -> a--",
		`f.go: f: if c == "c" && a+b > none { -> if c == "c" || a+b > none {`,
		`f.go: f: if c == "c" && a+b > none { -> if c != "c" && a+b > none {`,
		`f.go: f: if c == "c" && a+b > none { -> if c == "c" && a+b >= none {`,
		`f.go: f: if c == "c" && a+b > none { -> if c == "c" && a-b > none {`,
		"f.go: f: return !(a < b) && true -> return !(a < b) || true",
		"f.go: f: return !(a < b) && true -> return (a < b) && true",
		"f.go: f: return !(a < b) && true -> return !(a <= b) && true",
		"f.go: f: return !(a < b) && true -> return !(a < b) && false",
	}, names, "without those that do not compile: no return, and a difference of strings")
}

func TestTry(t *testing.T) {
	t.Chdir(write(t, `import "flag"

func f(a, b int) bool {
	if a == 0 {
		b = a - b
	}
	if x := *new(flag.FlagSet).Duration("d", 1<<2, ""); x == 0 {
		return false
	}
	for range a {
		b -= 0
	}
	return a < b && true
}
`))
	// A survivor that is listed, one that is not, a mutant that no test reaches, a listed one
	// that is killed, and one that is gone.
	r, err := try(".", "f.go: f: b -= 0 -> b += 0\n"+
		"f.go: f: return a < b && true -> return a < b || true\nf.go: g: gone -> gone\n")
	require.NoError(t, err)
	assert.Equal(t, result{mutants: 14, killed: 6, known: 1, unexpected: 8}, r)
	r, err = try(".", "# p: a comment: with colons\nf.go: f: *\nf.go: g: *\n")
	require.NoError(t, err)
	assert.Equal(t, result{mutants: 14, killed: 7, known: 7, unexpected: 1}, r)
}
