// Package jsonvalue decodes JSON into maps, slices, texts, numbers and booleans.
// encoding/json would add 12 kB to every program that imports package retry, because its
// variables need it even if nothing is decoded.
package jsonvalue

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Number is a number as it was written.
type Number string

// maxDepth bounds the nesting of values, and thus the recursion.
const maxDepth = 100

// Decode returns the value that data is the JSON of: a map[string]any, []any, string,
// Number, bool or nil.
func Decode(data []byte) (any, error) {
	p := parser{rest: string(data)}
	v := p.value(0)
	if p.token(); p.failed || p.rest != "" {
		return nil, fmt.Errorf("invalid JSON at byte %d", len(data)-len(p.rest))
	}
	return v, nil
}

type parser struct {
	rest   string
	failed bool
}

// token skips space and returns the byte that follows, or 0 at the end.
func (p *parser) token() byte {
	p.rest = strings.TrimLeft(p.rest, " \t\r\n")
	return p.peek()
}

func (p *parser) peek() byte {
	if p.rest == "" {
		return 0
	}
	return p.rest[0]
}

// accept skips text and reports whether it was next.
func (p *parser) accept(text string) (found bool) {
	p.rest, found = strings.CutPrefix(p.rest, text)
	return found
}

func (p *parser) expect(text string) { p.failed = !p.accept(text) || p.failed }

func (p *parser) value(depth int) (v any) {
	p.failed = p.failed || depth > maxDepth
	switch c := p.token(); {
	case p.failed:
	case c == '{':
		m := map[string]any{}
		for range p.items("{", "}") {
			p.token()
			key := p.text()
			p.token()
			p.expect(":")
			m[key] = p.value(depth + 1)
		}
		return m
	case c == '[':
		list := []any{}
		for range p.items("[", "]") {
			list = append(list, p.value(depth+1))
		}
		return list
	case c == '"':
		return p.text()
	case p.accept("true"):
		return true
	case p.accept("false"):
		return false
	case p.accept("null"):
	default:
		return p.number()
	}
	return nil
}

// items yields once for each item between start and end.
func (p *parser) items(start, end string) func(yield func() bool) {
	return func(yield func() bool) {
		p.expect(start)
		if p.token(); p.accept(end) {
			return
		}
		for yield() && !p.failed {
			if p.token(); p.accept(end) {
				return
			}
			p.expect(",")
		}
	}
}

func (p *parser) number() Number {
	start := p.rest
	p.accept("-")
	if !p.accept("0") {
		p.digits()
	}
	if p.accept(".") {
		p.digits()
	}
	if p.accept("e") || p.accept("E") {
		_ = p.accept("+") || p.accept("-")
		p.digits()
	}
	return Number(start[:len(start)-len(p.rest)])
}

func (p *parser) digits() {
	rest := strings.TrimLeft(p.rest, "0123456789")
	p.failed = p.failed || len(rest) == len(p.rest)
	p.rest = rest
}

// text reads a string. Invalid UTF-8 and halves of surrogate pairs become U+FFFD.
func (p *parser) text() string {
	var b strings.Builder
	p.expect(`"`)
	for !p.failed && !p.accept(`"`) {
		r, size := utf8.DecodeRuneInString(p.rest)
		p.failed = size == 0 || r < ' '
		p.rest = p.rest[size:]
		if r == '\\' {
			r = p.escape()
		}
		b.WriteRune(r)
	}
	return b.String()
}

// escape reads the rest of an escape sequence.
func (p *parser) escape() rune {
	const letters, meanings = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if i := strings.IndexByte(letters, p.peek()); i >= 0 {
		p.rest = p.rest[1:]
		return rune(meanings[i])
	}
	r := p.unit()
	if !utf16.IsSurrogate(r) {
		return r
	}
	if before := p.rest; strings.HasPrefix(before, `\u`) {
		p.expect(`\`)
		if pair := utf16.DecodeRune(r, p.unit()); pair != utf8.RuneError {
			return pair
		}
		p.rest = before
	}
	return utf8.RuneError
}

// unit reads u and four hexadecimal digits.
func (p *parser) unit() rune {
	p.expect("u")
	n, err := strconv.ParseUint(p.rest[:min(4, len(p.rest))], 16, 16)
	if p.failed = p.failed || err != nil || len(p.rest) < 4; p.failed {
		return 0
	}
	p.rest = p.rest[4:]
	return rune(n)
}
