package main

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

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

// unhinted are hints that a policy reads as another number or handles otherwise. Most of
// them are also in exclusions.
var unhinted = []struct{ source, header, value *regexp.Regexp }{
	{regexp.MustCompile(`^java-v2-.*-2026$`), regexp.MustCompile(`^retry-after$`), regexp.MustCompile(`^60$`)},
	{regexp.MustCompile(`^java-v2-adaptive-2026$`), regexp.MustCompile(`^x-amz`), regexp.MustCompile(`^2147483647$`)},
	{regexp.MustCompile(`^js-v3-(standard|adaptive)`), regexp.MustCompile(`^x-amz`), regexp.MustCompile(`^(9223372036854775807|99999999999999999999)$`)},
	{regexp.MustCompile(`^botocore-.*-2026`), regexp.MustCompile(`^x-amz`), regexp.MustCompile(`[^+_0-9a-zA-Z.-]`)}, // other digits and spaces
}

// TestHintVectors: the policies wait as the SDKs do if a response asks for a wait.
func TestHintVectors(t *testing.T) {
	for _, set := range []string{"hint/aws-standard-2026", "hint/aws-standard", "hint/aws-legacy"} {
		r := vectors.Check(t, set, func(source string, c hintCase) any {
			preset, header := "aws-"+source, make(http.Header)
			for name, value := range c.Headers {
				header.Set(name, value)
				for _, u := range unhinted {
					if u.source.MatchString(source) && u.header.MatchString(name) && u.value.MatchString(value) {
						return nil
					}
				}
			}
			p, err := policyOf(preset, testCase{Service: c.Service})
			if err != nil {
				return nil
			}
			failed := &serviceError{status: c.Status, code: c.Code, hint: hintOf(preset, c.Service)(header)}
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
		assert.Greater(t, r.Checked, 10*r.Skipped, "%s: %v", set, r)
	}
}
