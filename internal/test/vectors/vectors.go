// Package vectors checks this module against the files in the folder test/vectors of
// the repository, which test/vectors/README.md describes.
package vectors

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A Case is one case of a set. Given and the answers depend on the kind of the set.
type Case struct {
	ID      string
	Given   json.RawMessage
	Answers []map[string]any
}

// Read returns the cases of a set such as "delay/blog". It skips the test if the folder is
// missing, as in the copy of this module that importers download.
func Read(t *testing.T, set string) []Case {
	t.Helper()
	root := filepath.Join("test", "vectors")
	for range 3 {
		if _, err := os.Stat(filepath.Join(root, "schema.json")); err == nil {
			break
		}
		root = filepath.Join("..", root)
	}
	data, err := os.ReadFile(filepath.Join(root, set+".json"))
	if os.IsNotExist(err) {
		t.Skip("not in a checkout of the repository: ", err)
	}
	var file struct{ Cases []Case }
	if err == nil {
		err = json.Unmarshal(data, &file)
	}
	if err != nil || len(file.Cases) == 0 {
		t.Fatalf("%s: %d cases: %v", set, len(file.Cases), err)
	}
	return file.Cases
}

// Sources returns who gave the answer.
func Sources(answer map[string]any) []string {
	var names []string
	for _, name := range answer["from"].([]any) {
		names = append(names, name.(string))
	}
	return names
}

// Check compares answers with those of ask, which returns nil if the source or the case has
// no equivalent here. It then changes every value of the answer and every number of the
// input, one after the other, and reports how often that was noticed.
func Check[G any](t *testing.T, set string, ask func(source string, given G) any) Report {
	t.Helper()
	var r Report
	for _, c := range Read(t, set) {
		given := decode[G](t, c.Given)
		for _, want := range c.Answers {
			for _, source := range Sources(want) {
				got := ask(source, given)
				if got == nil {
					r.Skipped++
					continue
				}
				r.Checked++
				plain := plainOf(t, got)
				if difference := differ("", plain, without(want, "from")); difference != "" {
					t.Errorf("%s: %s: %s: %s", set, c.ID, source, difference)
					continue
				}
				mutate(without(want, "from"), true, func(mutant any) {
					r.Answers.add(differ("", plain, mutant) != "")
				})
				mutate(plainOf(t, c.Given), false, func(mutant any) {
					other := ask(source, decode[G](t, plainText(t, mutant)))
					r.Given.add(other == nil || differ("", plainOf(t, other), plain) != "")
				})
			}
		}
	}
	t.Logf("%s: %v", set, r)
	return r
}

// Difference compares the answer got with an answer of a case, and returns "" if they agree.
func Difference(t *testing.T, got any, want map[string]any) string {
	t.Helper()
	return differ("", plainOf(t, got), without(want, "from"))
}

// A Report counts comparisons and mutants.
type Report struct {
	Checked, Skipped int
	Answers, Given   Noticed // mutants of the answers and of the input
}

func (r Report) String() string {
	return fmt.Sprintf("%d answers checked, %d skipped; noticed mutants: %v of the answers, %v of the input", r.Checked, r.Skipped, r.Answers, r.Given)
}

// Noticed counts mutants.
type Noticed struct{ Of, All int }

func (n *Noticed) add(noticed bool) {
	n.All++
	if noticed {
		n.Of++
	}
}

func (n Noticed) String() string { return fmt.Sprintf("%d/%d", n.Of, n.All) }

func decode[G any](t *testing.T, text []byte) (given G) {
	t.Helper()
	if err := json.Unmarshal(text, &given); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return given
}

func plainText(t *testing.T, x any) []byte {
	t.Helper()
	text, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// plainOf returns x as encoding/json represents it without types.
func plainOf(t *testing.T, x any) any {
	t.Helper()
	return decode[any](t, plainText(t, x))
}

func without(answer map[string]any, key string) map[string]any {
	rest := maps.Clone(answer)
	delete(rest, key)
	return rest
}

// differ returns the first difference, or "". Numbers may differ by 0.001, a microsecond
// in most places, the waits of a limiter by 0.01, and large numbers in their last digits.
func differ(path string, got, want any) string {
	switch want := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(g) != len(want) {
			break
		}
		for k, v := range want {
			if d := differ(path+"."+k, g[k], v); d != "" {
				return d
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(want) {
			break
		}
		for i, v := range want {
			if d := differ(fmt.Sprintf("%s[%d]", path, i), g[i], v); d != "" {
				return d
			}
		}
		return ""
	case float64:
		slack := 1e-3
		if strings.HasPrefix(path, ".waits_ms") { // of a limiter: sums of waits
			slack = 1e-2
		}
		if g, ok := got.(float64); ok && math.Abs(g-want) <= slack+1e-12*math.Abs(want) {
			return ""
		}
	default:
		if got == want {
			return ""
		}
	}
	return fmt.Sprintf("%s is %v, want %v", path, got, want)
}

// mutate calls yield with a copy of x for each number in it, in which this number is 1
// greater; a random number, a rate or a number of seconds is changed by a hundredth. If
// words is set, other values are changed, too.
func mutate(x any, words bool, yield func(any)) { mutateValue("", x, words, yield) }

func mutateValue(key string, x any, words bool, yield func(any)) {
	switch x := x.(type) {
	case map[string]any:
		for k, v := range x {
			mutateValue(k, v, words, func(m any) {
				y := maps.Clone(x)
				y[k] = m
				yield(y)
			})
		}
	case []any:
		for i, v := range x {
			mutateValue(key, v, words, func(m any) {
				y := slices.Clone(x)
				y[i] = m
				yield(y)
			})
		}
	case float64:
		yield(x + stepOf(key, x))
	default:
		if words {
			yield(fmt.Sprint("not ", x))
		}
	}
}

func stepOf(key string, x float64) float64 {
	switch key {
	case "random":
		if x >= 0.99 {
			return -0.01 // stay below 1
		}
		return 0.01
	case "after_s", "start_s", "rates":
		return 0.01
	}
	return 1
}
