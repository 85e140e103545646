package retryhttp

import "iter"

// Messages yields the texts of errors, each with its meaning, a prefix and a suffix.
func Messages(yield func(meaning, [2]string) bool) {
	for _, m := range messages {
		if !yield(m.meaning, [2]string{m.prefix, m.suffix}) {
			return
		}
	}
}

var _ iter.Seq2[meaning, [2]string] = Messages

// MeaningOf returns what the text of an error says about a request.
func MeaningOf(err error) meaning { return meaningOf(err) }
