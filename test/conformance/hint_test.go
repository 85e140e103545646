package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/test/vectors"
)

type hintCase struct {
	Service string
	Attempt int
	Random  float64
	Status  int
	Code    string
	Headers map[string]string
}

// unhinted are hints that a policy reads otherwise than the SDK. Most of them are also in
// exclusions.
var unhinted = []struct{ source, header, value *regexp.Regexp }{
	{regexp.MustCompile(`^js-v3-.*-2.0$`), regexp.MustCompile(`^x-amz`), regexp.MustCompile(`^(9223372036854775807|99999999999999999999)$`)},
	{regexp.MustCompile(`^js-v3-.*-2.1$`), regexp.MustCompile(`^retry-after$`), regexp.MustCompile(``)},
	{regexp.MustCompile(`^(js-v3|botocore)-.*-2.1$`), regexp.MustCompile(`^x-amz`), regexp.MustCompile(`[^+0-9-]|[0-9]{19}`)},
}

// TestHintVectors: the policies wait as the SDKs do if a response asks for a wait.
func TestHintVectors(t *testing.T) {
	for _, set := range []string{"hint/aws-standard-2.1", "hint/aws-standard-2.0", "hint/aws-legacy"} {
		r := vectors.Check(t, set, func(source string, c hintCase) any {
			mode, header := "aws-"+source, make(http.Header)
			for name, value := range c.Headers {
				header.Set(name, value)
				for _, u := range unhinted {
					if u.source.MatchString(source) && u.header.MatchString(name) && u.value.MatchString(value) {
						return nil
					}
				}
			}
			p, err := policyOf(mode, testCase{Service: c.Service})
			if err != nil {
				return nil
			}
			failed := &serviceError{status: c.Status, code: c.Code, hint: hintOf(mode, c.Status, header)}
			verdict := p.Classify(failed)
			if strings.HasPrefix(c.Code, "Throttling") {
				verdict.Class = retry.ClassThrottled
			}
			delay := p.Backoff.Delay(retry.Attempt{Number: c.Attempt, Verdict: verdict}, c.Random)
			if failed.hint > 0 {
				delay, _ = p.Hint.Wait(delay, failed.hint)
			}
			return map[string]float64{"wait_ms": float64(delay) / float64(time.Millisecond)}
		})
		assert.Equal(t, r.Answers.All, r.Answers.Of, "%s: %v", set, r)
		assert.Greater(t, r.Checked, 2*r.Skipped, "%s: %v", set, r)
	}
}

// TestStrictDigits: the table in ../vectors/README.md lists the cases in which the rule there fails if
// it reads only ASCII digits.
func TestStrictDigits(t *testing.T) {
	data, err := os.ReadFile("../vectors/hint/aws-standard-2.1.json")
	require.NoError(t, err)
	var set struct {
		Cases []struct {
			Given struct {
				hintCase
				Delay float64 `json:"delay_ms"`
			}
			Answers []struct {
				From []string
				Wait float64 `json:"wait_ms"`
			}
		}
	}
	require.NoError(t, json.Unmarshal(data, &set))
	digits, sdk := regexp.MustCompile(`^[0-9]+$`), regexp.MustCompile(`^(.*)-(standard|adaptive)-2.1$`)
	counts, readers := map[string]int{}, map[string][]string{}
	passed := 0
	for _, c := range set.Cases {
		value, wait := "", c.Given.Delay
		for name, v := range c.Given.Headers {
			if strings.EqualFold(name, "x-amz-retry-after") {
				value = v
			}
		}
		if digits.MatchString(value) {
			hint, _ := strconv.ParseFloat(value, 64)
			wait = min(max(wait, hint), wait+5000)
		}
		var others []string
		same := false
		for _, a := range c.Answers {
			same = same || math.Abs(a.Wait-wait) <= 0.001
			others = append(others, a.From...)
		}
		if same {
			passed++
			continue
		}
		counts[value]++
		for _, from := range others {
			readers[value] = append(readers[value], sdk.FindStringSubmatch(from)[1])
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "it passes %d of\nthe %d cases of `hint`. In the other %d, SDKs read these headers as numbers:\n\n| header | cases | SDKs |\n|---|---|---|\n",
		passed, len(set.Cases), len(set.Cases)-passed)
	for _, value := range slices.Sorted(maps.Keys(counts)) {
		slices.Sort(readers[value])
		fmt.Fprintf(&text, "| `\"%s\"` | %d | %s |\n", value, counts[value], strings.Join(slices.Compact(readers[value]), ", "))
	}
	readme, err := os.ReadFile("../vectors/README.md")
	require.NoError(t, err)
	assert.Contains(t, string(readme), text.String()+"\n")
}
