package main

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var location = regexp.MustCompile(`(?m)^(?:vet: )?(?:\./)?([a-z]+/[a-z_]+\.go:[0-9]+)`)

// TestMistakes: each line of two modules that is marked as a mistake is reported by the
// compiler, go vet or retrycheck, and no other line is. The mistakes in testdata/mistakes were
// written together with the analyzers, those in testdata/sample without looking at them. Some
// of the latter have no mark, because nothing finds them.
func TestMistakes(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs")
	}
	tool := filepath.Join(t.TempDir(), "retrycheck")
	run(t, ".", "build", "-o", tool, ".")
	for _, module := range []string{"testdata/mistakes", "testdata/sample"} {
		t.Run(module, func(t *testing.T) { checkMistakes(t, tool, module) })
	}
}

func checkMistakes(t *testing.T, tool, module string) {
	found := map[string]string{}
	for _, by := range []struct {
		name string
		args []string
	}{
		{"compiler", []string{"build", "./..."}},
		{"vet", []string{"vet", "./..."}},
		{"retrycheck", []string{"vet", "-vettool=" + tool, "./..."}},
	} {
		for _, match := range location.FindAllStringSubmatch(run(t, module, by.args...), -1) {
			if found[match[1]] == "" {
				found[match[1]] = by.name
			}
		}
	}
	mistakes := marked(t, module)
	for _, line := range mistakes {
		t.Logf("%-28s %s", line, found[line])
		if found[line] == "" {
			t.Errorf("%s: a mistake that nothing finds", line)
		}
	}
	for line, by := range found {
		if !slices.Contains(mistakes, line) {
			t.Errorf("%s: %s reports what is no mistake", line, by)
		}
	}
}

// run returns the output of the go command, which fails if it finds something.
func run(t *testing.T, dir string, args ...string) string {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil && len(out) == 0 {
		t.Fatal(err)
	}
	return string(out)
}

// marked returns the lines of a module that end in the comment "mistake".
func marked(t *testing.T, module string) (lines []string) {
	files, err := filepath.Glob(filepath.Join(module, "*", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = file.Close() }()
		scanner := bufio.NewScanner(file)
		for n := 1; scanner.Scan(); n++ {
			if strings.HasSuffix(scanner.Text(), "// mistake") {
				rel, _ := filepath.Rel(module, name)
				lines = append(lines, fmt.Sprintf("%s:%d", filepath.ToSlash(rel), n))
			}
		}
	}
	if len(lines) == 0 {
		t.Fatal("no mistakes")
	}
	return lines
}

// TestExplain: -explain prints what is said about an analyzer, and without a name lists them.
func TestExplain(t *testing.T) {
	for _, tt := range []struct {
		args      []string
		want, err string
	}{
		{[]string{"-explain"}, "\nsleep        report loops that call time.Sleep", ""},
		{[]string{"--explain", "sleep"}, "sleep: report loops that call time.Sleep and ignore the context that they have\n\nAfter the context is done", ""},
		{[]string{"-explain=unit"}, "unit: report durations", ""},
		{[]string{"-explain", "unit", "fake"}, "\n\nfake: report clocks", ""},
		{[]string{"-explain", "slep"}, "", `unknown analyzer "slep"; did you mean sleep?`},
		{[]string{"-explain", "unit", "./..."}, "", `unknown analyzer "./..."; retrycheck -explain lists them`},
	} {
		names, asked := explained(tt.args)
		if !asked {
			t.Errorf("%q: not asked", tt.args)
		}
		var out strings.Builder
		err := explain(&out, names)
		if fmt.Sprint(err) != cmp.Or(tt.err, "<nil>") || !strings.Contains(out.String(), tt.want) {
			t.Errorf("%q: %v\n%s", tt.args, err, out.String())
		}
	}
	for _, args := range [][]string{nil, {"./..."}, {"explain"}, {"-sleep", "-explain"}, {"help", "explain"}} {
		if _, asked := explained(args); asked {
			t.Errorf("%q: asked", args)
		}
	}
}
