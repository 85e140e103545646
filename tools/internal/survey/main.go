// Survey runs the analyzers of retrycheck on the modules that modules.txt lists, and prints
// what they find, for people to judge:
//
//	go run ./internal/survey internal/survey/modules.txt
//
// The modules come from the module proxy. Nothing is compiled: of the dependencies, only those
// are read that the analyzers know, and only if they are in the module cache. What is
// missing has no type, so an analyzer may find less than go vet would.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/gobackoff/retry/tools/retrycheck/checks"
)

type module struct{ Path, Version, Dir, Error string }

func main() {
	log.SetFlags(0)
	flag.Parse()
	analyzers := append(checks.Default(), checks.Optional()...)
	std, err := standardLibrary()
	if err != nil {
		log.Fatal(err)
	}
	total := counts{}
	for _, name := range flag.Args() {
		modules, err := download(name)
		if err != nil {
			log.Fatal(err)
		}
		for _, m := range modules {
			total.add(survey(m, std, analyzers))
		}
	}
	log.Printf("%d modules, %d packages, %d files, %d lines", total.modules, total.packages, total.files, total.lines)
}

type counts struct{ modules, packages, files, lines int }

func (c *counts) add(d counts) {
	c.modules += d.modules
	c.packages += d.packages
	c.files += d.files
	c.lines += d.lines
}

// download returns the modules of a list, in the module cache.
func download(list string) ([]module, error) {
	text, err := os.ReadFile(list)
	if err != nil {
		return nil, err
	}
	args := []string{"mod", "download", "-json"}
	for line := range strings.Lines(string(text)) {
		args = append(args, strings.ReplaceAll(strings.TrimSpace(line), " ", "@"))
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = os.TempDir()
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var modules []module
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var m module
		if err := decoder.Decode(&m); err != nil {
			return nil, err
		}
		if m.Error != "" {
			log.Printf("%s@%s: %s", m.Path, m.Version, m.Error)
			continue
		}
		modules = append(modules, m)
	}
	if len(modules) == 0 {
		return nil, fmt.Errorf("%s: no modules: %w", list, err)
	}
	return modules, nil
}

// standardLibrary returns the files with the exported declarations of its packages.
func standardLibrary() (map[string]string, error) {
	out, err := exec.Command("go", "list", "-export", "-f", "{{.ImportPath}} {{.Export}}", "std").Output()
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for scanner := bufio.NewScanner(bytes.NewReader(out)); scanner.Scan(); {
		if path, file, ok := strings.Cut(scanner.Text(), " "); ok {
			files[path] = file
		}
	}
	return files, nil
}

// survey prints the findings in one module.
func survey(m module, std map[string]string, analyzers []*analysis.Analyzer) counts {
	l := newLoader(m, std)
	var findings []string
	for _, pkg := range l.packages() {
		found, err := analyze(pkg, analyzers)
		if err != nil {
			log.Printf("%s: %v", pkg.PkgPath, err)
		}
		for _, f := range found {
			findings = append(findings, strings.ReplaceAll(f, m.Dir+"/", m.Path+"@"+m.Version+"\t"))
		}
	}
	slices.Sort(findings)
	for _, f := range findings {
		fmt.Println(f)
	}
	l.counts.modules = 1
	return l.counts
}
