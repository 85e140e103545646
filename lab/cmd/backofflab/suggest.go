// Suggestions for misspelled names.

package main

import (
	"strings"

	"github.com/gobackoff/retry/internal/nearest"
)

// known suggests the most similar name, and lists all names.
func known(typed string, names []string) string {
	text := "there are " + strings.Join(names, ", ")
	if name := nearest.Name(typed, names); name != "" {
		text = "did you mean " + name + "? T" + text[1:]
	}
	return text
}
