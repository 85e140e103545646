package retryconfig

import (
	"fmt"
	"strings"

	"github.com/gobackoff/retry"
)

// faults are the mistakes in a text or a mapping.
type faults []string

func (f *faults) add(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }

// mostFaults bounds the length of an error, whatever the length of the input.
const mostFaults = 10

// invalid returns an error about a text, or about a mapping if there is none.
func invalid(text string, mistakes ...string) error {
	if more := len(mistakes) - mostFaults; more > 0 {
		mistakes = append(mistakes[:mostFaults:mostFaults], fmt.Sprintf("and %d more mistakes", more))
	}
	what := "retry policy"
	if text != "" {
		what = fmt.Sprintf("retry policy %q", clip(text, 60))
	}
	return fmt.Errorf("%w %s: %s", retry.ErrInvalid, what, strings.Join(mistakes, "; "))
}

// clip shortens a text for a message.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

func quoted(word string) string { return fmt.Sprintf("%q", clip(word, 40)) }

func twice(key string) string { return "key " + quoted(key) + " is given twice" }

// closest returns the known name that a misspelled one stands for, or "". All known names
// are in lower case, except perhaps those of presets.
func closest(name string, known []string) string {
	return nearest(strings.ToLower(name), known)
}
