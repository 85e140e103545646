// Package nearest finds the name that a misspelled one stands for.
package nearest

// Name returns the known name that takes the fewest insertions, deletions and
// replacements of bytes to make from typed, or "" if each takes more than one and a third
// of the bytes of typed.
func Name(typed string, known []string) string {
	best, least := "", len(typed)/3+2
	for _, name := range known {
		if len(typed)-len(name) >= least { // a distance is at least that; typed may be very long
			continue
		}
		if d := distance(typed, name); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance returns the Levenshtein distance, by the algorithm of Wagner and Fischer.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
