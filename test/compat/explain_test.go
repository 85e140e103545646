package compat

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
)

var (
	codesLine  = regexp.MustCompile(`^Policy\.Classifier = retry\.Codes\{(Retry|Stop): \[\]string\{"(\w+)"\}\}\n`)
	markerLine = regexp.MustCompile(`retry\.(Transient|Permanent)\(err\)`)
)

// TestExplain: for each error of the libraries, Explain says whether it is retried, and the line
// that it gives turns that round.
func TestExplain(t *testing.T) {
	for _, library := range libraries {
		for _, f := range library.faults(t) {
			t.Run(library.name+"/"+f.name, func(t *testing.T) {
				var policy retry.Policy
				err := fmt.Errorf("outer: %w", f.err)
				text := retry.Explain(policy, err)
				retried := isRetried(t, policy, err)
				assert.Equal(t, retried, strings.Contains(text, "\nretried: yes, "), text)
				_, line, found := strings.Cut(text, "\nchange:  ")
				require.True(t, found, text)
				codes, marker := codesLine.FindStringSubmatch(line), markerLine.FindStringSubmatch(line)
				switch {
				case codes != nil && codes[1] == "Retry":
					policy.Classifier = retry.Codes{Retry: codes[2:]}
				case codes != nil:
					policy.Classifier = retry.Codes{Stop: codes[2:]}
				case marker == nil:
					t.Fatalf("no line to obey:\n%s", text)
				case marker[1] == "Transient":
					err = retry.Transient(err)
				default:
					err = retry.Permanent(err)
				}
				assert.NotEqual(t, retried, isRetried(t, policy, err), text)
			})
		}
	}
}

func isRetried(t *testing.T, p retry.Policy, err error) bool {
	t.Helper()
	_, reason := p.Start().Failed(t.Context(), err)
	return reason == nil
}
