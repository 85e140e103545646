package retryconfig

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
)

// listSeparator separates the items of a list in the text of one setting.
const listSeparator = "/"

// splitCodes returns the lists of codes of a policy, and the policy without them.
func splitCodes(p retry.Policy) (retry.Codes, retry.Policy) {
	codes, ok := p.Classifier.(retry.Codes)
	if !ok {
		return retry.Codes{}, p
	}
	p.Classifier = codes.Else
	codes.Else = nil
	return codes, p
}

// joinCodes returns c, and in front of it the lists of codes unless they are empty.
func joinCodes(codes retry.Codes, c retry.Classifier) retry.Classifier {
	if len(codes.Retry) == 0 && len(codes.Stop) == 0 {
		return c
	}
	codes.Else = c
	return codes
}

// listOfCodes reads codes, each of them in its usual form and once.
func (b *builder) listOfCodes(s setting) []string {
	text, ok := b.scalar(s)
	if !ok || isNone(text) {
		return nil
	}
	var list []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("/, ", r) }) {
		code, ok := errfacts.NormalCode(word)
		switch {
		case !ok:
			b.add("%s%s: %s", s.path, s.key, unknownCode(word))
		case !slices.Contains(list, code):
			list = append(list, code)
		}
	}
	return list
}

// knownStates are the SQLSTATEs that are listed most often, to suggest one of them.
var knownStates = []string{"40001", "40P01", "55P03", "57014", "57P01", "53300", "25006", "23505", "08006", "08001", "08007"}

// unknownCode describes a word that is not a code.
func unknownCode(word string) string {
	quotedWord := quoted(word)
	number, err := strconv.Atoi(word)
	switch {
	case err == nil && number > 0 && number < len(errfacts.RPCNames):
		return quotedWord + " is not a code; write gRPC's by name: " + errfacts.RPCNames[number]
	case err == nil && len(word) == 3 && number >= 600:
		return quotedWord + " is not a status of HTTP; they end at 599"
	case err == nil && len(word) == 3:
		return quotedWord + " is a status of success; failures begin at 400"
	case err == nil && len(word) == 4:
		return quotedWord + " is not a code; a SQLSTATE has five characters, and needs quotes in YAML: " + strconv.Quote(closestState(word))
	}
	meant := closest(word, append(lower(errfacts.RPCNames[1:]), knownStates...))
	if meant != "" {
		return quotedWord + " is not a code; did you mean " + strings.ToUpper(meant) + "?"
	}
	return quotedWord + " is not a code; codes are HTTP statuses (503, 5xx, 502-504), names of gRPC (UNAVAILABLE) and SQLSTATEs (40001)"
}

// closestState returns the SQLSTATE that a decoder may have made a number of, or one that is
// written like it.
func closestState(number string) string {
	if slices.Contains(knownStates, "0"+number) {
		return "0" + number
	}
	meant := closest(number, knownStates)
	if meant == "" {
		return knownStates[0]
	}
	return meant
}

func lower(names []string) []string {
	var list []string
	for _, name := range names {
		list = append(list, strings.ToLower(name))
	}
	return list
}
