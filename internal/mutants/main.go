// Command mutants changes one operator, literal or statement of the source code at a time,
// and reports the changes that the tests of the package do not notice. Those that are known
// are in survivors.txt, with the reason; others make the command fail.
//
// One test binary per package contains all changes, and an environment variable selects
// one, so nothing is compiled per change. Only the tests that reach a change run with it.
//
// Usage, in the root of the repository: go run ./internal/mutants [PACKAGE|FILE...]
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

//go:embed survivors.txt
var survivors string

// switches is the source code that is added to the package. mutantOn reports whether a
// mutant is selected, and lists the mutants that are reached in a file.
const switches = `
import (
	"os"
	"strconv"
	"sync/atomic"
)

var (
	mutantSelected, _ = strconv.Atoi(os.Getenv("MUTANT"))
	mutantsReached    [%d]atomic.Bool
	mutantsFile, _    = os.OpenFile(os.Getenv("MUTANTS_REACHED"), os.O_APPEND|os.O_WRONLY, 0)
)

func mutantOn(id int) bool {
	if mutantsFile != nil && !mutantsReached[id].Load() && !mutantsReached[id].Swap(true) {
		mutantsFile.WriteString(strconv.Itoa(id) + "\n")
	}
	return id == mutantSelected
}
`

// A binary is the test binary of a package with all of its mutants.
type binary struct {
	dir, temp string // folders of the package, and of temporary files
	mutants   []*mutant
	tests     map[*mutant][]string // those that reach it
	took      map[string]time.Duration
}

func (b *binary) build(s *source) error {
	files := s.switched()
	files[filepath.Join(b.dir, "mutants_switches.go")] = "package " + s.name + "\n" + fmt.Sprintf(switches, len(b.mutants)+1)
	replace := map[string]string{}
	for name, text := range files {
		path, err := filepath.Abs(name)
		if err != nil {
			return err
		}
		replace[path] = filepath.Join(b.temp, filepath.Base(name))
		if err := os.WriteFile(replace[path], []byte(text), 0o600); err != nil {
			return err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	overlay := filepath.Join(b.temp, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return err
	}
	out, err := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", filepath.Join(b.temp, "binary"), "./"+b.dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// run runs the tests that match a pattern. Mutants may loop forever, wait forever, and
// allocate while they do: the tests may use limit of CPU time, three times that to wait, and
// 4 GB of addresses.
func (b *binary) run(pattern string, limit time.Duration, env string) (late bool, err error) {
	limits := fmt.Sprintf(`ulimit -t %.0f -v 4000000 && exec "$0" "$@"`, limit.Seconds())
	cmd := exec.Command("bash", "-c", limits, filepath.Join(b.temp, "binary"),
		"-test.run", pattern, "-test.short", "-test.failfast", "-test.timeout", (3 * limit).String())
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), env)
	out, err := cmd.CombinedOutput()
	late = err != nil && (err.Error() == "signal: killed" || bytes.Contains(out, []byte("panic: test timed out")))
	return late, err
}

// findTests runs each test by itself to learn which mutants it reaches.
func (b *binary) findTests() error {
	cmd := exec.Command(filepath.Join(b.temp, "binary"), "-test.list", "^(Test|Example|Fuzz)")
	cmd.Dir = b.dir
	list, err := cmd.Output()
	if err != nil {
		return err
	}
	reached := filepath.Join(b.temp, "reached")
	for test := range strings.FieldsSeq(string(list)) {
		if err := os.WriteFile(reached, nil, 0o600); err != nil {
			return err
		}
		began := time.Now()
		if _, err := b.run("^"+test+"$", time.Minute, "MUTANTS_REACHED="+reached); err != nil {
			return fmt.Errorf("%s without a mutant: %w", test, err)
		}
		b.took[test] = time.Since(began)
		ids, err := os.ReadFile(reached)
		if err != nil {
			return err
		}
		for id := range strings.FieldsSeq(string(ids)) {
			n, err := strconv.Atoi(id)
			if err != nil {
				return err
			}
			b.tests[b.mutants[n-1]] = append(b.tests[b.mutants[n-1]], test)
		}
	}
	return nil
}

// killed reports whether a test fails with the mutant, the fastest tests first, or takes ten
// times as long as without.
func (b *binary) killed(m *mutant) (killed, late bool) {
	tests := b.tests[m]
	slices.SortStableFunc(tests, func(x, y string) int { return int(b.took[x] - b.took[y]) })
	for len(tests) > 0 {
		n, limit := 0, 2*time.Second
		for ; n < len(tests) && (n == 0 || b.took[tests[n]] < 2*b.took[tests[0]]); n++ {
			limit += 10 * b.took[tests[n]]
		}
		if late, err := b.run("^("+strings.Join(tests[:n], "|")+")$", limit, "MUTANT="+strconv.Itoa(m.id)); err != nil {
			return true, late
		}
		tests = tests[n:]
	}
	return false, false
}

// A result counts what became of the mutants of a package.
type result struct {
	mutants, killed, late int // late: of those killed, by a time limit
	known, unexpected     int
}

// try tries all mutants of a package or file. known lists the expected survivors, one per
// line.
func try(place, known string) (r result, err error) {
	dir, only := place, ""
	if strings.HasSuffix(place, ".go") {
		dir, only = filepath.Dir(place), place
	}
	temp, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(temp)
	s, err := load(dir, only)
	if err != nil {
		return r, err
	}
	b := &binary{dir: dir, temp: temp, mutants: s.mutants, tests: map[*mutant][]string{}, took: map[string]time.Duration{}}
	if err := b.build(s); err != nil {
		return r, err
	}
	if err := b.findTests(); err != nil {
		return r, err
	}
	expected := map[string]bool{}
	for name := range strings.Lines(known) {
		name = strings.TrimRight(name, "\n") // a removed statement ends with a space
		if file, _, ok := strings.Cut(name, ": "); ok && !strings.HasPrefix(name, "#") && (file == only || only == "" && filepath.Dir(file) == dir) {
			expected[name] = true
		}
	}
	listed := maps.Clone(expected)
	unexpected := func(format string, args ...any) {
		r.unexpected++
		fmt.Printf(format+"\n", args...)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	slots := make(chan bool, 4*runtime.NumCPU()) // many mutants wait
	for _, m := range b.mutants {
		slots <- true
		wg.Go(func() {
			killed, late := b.killed(m)
			<-slots
			mu.Lock()
			defer mu.Unlock()
			r.mutants++
			switch {
			case killed && expected[m.name]:
				unexpected("killed, but listed: %s", m.name)
			case killed:
				r.killed++
			case expected[m.name]:
				r.known++
			case listed[function(m.name)]:
				r.known++
				delete(expected, function(m.name))
			default:
				unexpected("survives %d tests: %s", len(b.tests[m]), m.name)
			}
			if late {
				r.late++
				fmt.Println("killed by a time limit:", m.name)
			}
			delete(expected, m.name)
		})
	}
	wg.Wait()
	for name := range expected {
		unexpected("listed, but there is none: %s", name)
	}
	return r, nil
}

// function returns the line that lists all survivors of a mutant's function.
func function(name string) string {
	parts := strings.SplitN(name, ": ", 3)
	return parts[0] + ": " + parts[1] + ": *"
}

func main() {
	flag.Parse()
	places := flag.Args()
	if len(places) == 0 {
		places = []string{".", "retryhttp", "retrysql"}
	}
	unexpected := 0
	for _, place := range places {
		began := time.Now()
		r, err := try(filepath.Clean(place), survivors)
		if err != nil {
			fmt.Fprintln(os.Stderr, "mutants:", err)
			os.Exit(2)
		}
		fmt.Printf("%s: %d mutants, %d killed (%d by a time limit), %d survivors listed, %d unexpected; %.0f s\n",
			place, r.mutants, r.killed, r.late, r.known, r.unexpected, time.Since(began).Seconds())
		unexpected += r.unexpected
	}
	if unexpected > 0 {
		fmt.Fprintln(os.Stderr, "mutants: write a test, or list the survivor in internal/mutants/survivors.txt with the reason")
		os.Exit(1)
	}
}
