// Suggestions for misspelled names.

package main

import (
	"strings"
)

// known suggests the most similar name, and lists all names.
func known(typed string, names []string) string {
	text := "there are " + strings.Join(names, ", ")
	if name := nearest(typed, names); name != "" {
		text = "did you mean " + name + "? T" + text[1:]
	}
	return text
}

// nearest returns the name that differs from typed by one or two letters, or "".
func nearest(typed string, names []string) string {
	best, least := "", 1+min(2, len(typed)/3)
	for _, name := range names {
		if d := distance(typed, name); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance is the Levenshtein distance, by Wagner and Fischer.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
