package troubleshooting

import (
	"fmt"
	"log"
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
)

const page = "../../../docs/troubleshooting.md"

// A program fails as the heading of the page says, unless it is mended with the line of the page.
type program func(t *testing.T, mended bool) error

var codeSpan = regexp.MustCompile("`([^`]+)`")

// sections returns the headings of the third level with what is written below them.
func sections(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	found := map[string]string{}
	for _, part := range strings.Split(string(text), "\n### ")[1:] {
		heading, below, _ := strings.Cut(part, "\n")
		below, _, _ = strings.Cut(below, "\n## ")
		found[heading] = below
	}
	return found
}

// TestTexts: the error of each program has the texts in the heading, and the lines below the heading
// mend it.
func TestTexts(t *testing.T) {
	programs := map[string]program{}
	for _, some := range []map[string]program{calls, requests, remote, transactions, symptoms} {
		maps.Copy(programs, some)
	}
	source := goSource(t)
	for heading, text := range sections(t) {
		run, known := programs[heading]
		if !known {
			t.Errorf("there is no program for the heading %q", heading)
			continue
		}
		delete(programs, heading)
		t.Run(heading, func(t *testing.T) {
			err := run(t, false)
			require.Error(t, err)
			for _, span := range codeSpan.FindAllStringSubmatch(heading, -1) {
				for part := range strings.SplitSeq(span[1], "…") {
					assert.ErrorContains(t, err, strings.TrimSpace(part))
				}
			}
			assert.NoError(t, run(t, true))
			_, lines, found := strings.Cut(text, "```go\n")
			lines, _, _ = strings.Cut(lines, "```")
			require.True(t, found, "the section has no line to write")
			for line := range strings.Lines(lines) {
				assert.Contains(t, source, strings.TrimSpace(line), "no program has the line")
			}
		})
	}
	assert.Empty(t, programs, "the page has no such headings")
}

// goSource returns the lines of the programs.
func goSource(t *testing.T) []string {
	t.Helper()
	var lines []string
	for _, name := range []string{"calls_test.go", "requests_test.go", "remote_test.go", "transactions_test.go", "symptoms_test.go"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// StatusError is the error of a client.
type StatusError struct{ StatusCode int }

func (e *StatusError) Error() string { return fmt.Sprint("status ", e.StatusCode) }

// TestExplained: the page shows what Explain prints.
func TestExplained(t *testing.T) {
	var printed strings.Builder
	log := log.New(&printed, "", 0)
	explain := func(policy retry.Policy, err error) {
		log.Print(retry.Explain(policy, err))
	}
	explain(retry.Policy{}, fmt.Errorf("load the page: %w", &StatusError{404}))
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(text), "```text\n"+strings.ReplaceAll(printed.String(), "*troubleshooting.", "*api.")+"```\n")
}
