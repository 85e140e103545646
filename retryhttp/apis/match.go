package apis

import (
	"bytes"
	"strings"
)

// Values that stand for others.
const (
	anyValue  = "any" // a text or an object that is not empty
	notZero   = "!0"  // a number other than 0
	emptyText = `""`
)

// A valueKind is a kind of value in JSON.
type valueKind int

const (
	isText valueKind = iota
	isNumber
	isWord   // true, false, null
	isObject // that is not empty
)

// find notes the rules of n that a value fits.
func (w *walker) find(n *node, kind valueKind, text []byte) {
	for _, r := range n.any {
		number := kind == isNumber && string(text) != "0"
		if r.Value == notZero && number || r.Value == anyValue && (kind == isObject || kind == isText && len(text) > 0) {
			w.found(r)
		}
	}
	if kind == isObject || len(text) > maxCode || len(n.exact)+len(n.globs) == 0 {
		return
	}
	if kind == isText && len(text) == 0 {
		text = []byte(emptyText)
	}
	var space [64]byte
	folded := fold(space[:0], text)
	for _, r := range n.exact[string(folded)] {
		w.found(r)
	}
	for _, r := range n.globs {
		if r.order < w.best && r.glob.fits(folded) {
			w.found(r)
		}
	}
}

// fold appends text without what does not matter: case, and separators in a text with a letter.
func fold(to, text []byte) []byte {
	letter := bytes.ContainsFunc(text, func(c rune) bool { return c > '9' })
	for i, c := range text {
		if !letter || i == 0 || !isSeparator(c) {
			to = append(to, lowerOf(c))
		}
	}
	return to
}

func isSeparator(c byte) bool { return c == '-' || c == '_' || c == '.' }

func lowerOf(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// A pattern is a Value with * or ?, folded.
type pattern struct {
	text   string
	ending string // what follows the only wildcard, a leading asterisk
}

func patternOf(value string) pattern {
	p := pattern{text: string(fold(nil, []byte(value)))}
	ending, found := strings.CutPrefix(p.text, "*")
	if found && !strings.ContainsAny(ending, "*?") {
		p.ending = ending
	}
	return p
}

// fits reports whether a folded text is one of the pattern.
func (p *pattern) fits(folded []byte) bool {
	if p.ending != "" {
		before, found := bytes.CutSuffix(folded, []byte(p.ending))
		return found && bytes.IndexByte(before, ' ') < 0
	}
	return glob(p.text, folded)
}

// glob reports whether a text is one of a pattern. With two asterisks, it takes time in the
// square of the length, which is at most maxCode.
func glob(pattern string, text []byte) bool {
	for pattern != "" {
		switch {
		case pattern[0] == '*':
			pattern = pattern[1:]
			if pattern == "" {
				return bytes.IndexByte(text, ' ') < 0
			}
			for !glob(pattern, text) {
				if len(text) == 0 || text[0] == ' ' {
					return false
				}
				text = text[1:]
			}
			return true
		case len(text) == 0, text[0] != pattern[0] && (pattern[0] != '?' || text[0] == ' '):
			return false
		}
		pattern = pattern[1:]
		text = text[1:]
	}
	return len(text) == 0
}
