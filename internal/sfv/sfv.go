// Package sfv parses structured field values of HTTP (RFC 9651): lists and dictionaries
// of items and inner lists, with parameters. It does not serialize them.
package sfv

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A Member is a member of a list or dictionary.
type Member struct {
	Key    string // "" in a list
	Value  any    // a bare item, or []Member for an inner list
	Params Params
}

// A bare item is an int64, a float64 (decimal), a string, a Token, a []byte, a
// bool, a time.Time (date) or a DisplayString.

// Token is an unquoted word.
type Token string

// DisplayString is Unicode text.
type DisplayString string

// Params are the parameters of a member; they have no Params themselves.
type Params []Member

// Get returns the value of a parameter, or nil if there is none.
func (p Params) Get(key string) any {
	for _, m := range p {
		if m.Key == key {
			return m.Value
		}
	}
	return nil
}

// ParseList parses a list. Join the lines of a field with commas first.
func ParseList(text string) ([]Member, error) { return parse(text, (*parser).listMember) }

// ParseDictionary parses a dictionary. If a key is repeated, its last value counts, at
// the position of its first.
func ParseDictionary(text string) ([]Member, error) { return parse(text, (*parser).dictionaryMember) }

// parse and the methods of parser implement section 4.2 of RFC 9651.
func parse(text string, member func(*parser) (Member, error)) ([]Member, error) {
	p := &parser{text: strings.TrimLeft(text, " ")}
	var members []Member
	for p.text != "" {
		m, err := member(p)
		if err != nil {
			return nil, err
		}
		members = put(members, m)
		p.skip(" \t")
		if p.text == "" {
			break
		}
		if !p.take(',') {
			return nil, p.unexpected("a comma")
		}
		if p.skip(" \t"); p.text == "" {
			return nil, errors.New("structured field: trailing comma")
		}
	}
	return members, nil
}

// put appends m, or replaces the member that has the same key.
func put(members []Member, m Member) []Member {
	for i := range members {
		if m.Key != "" && members[i].Key == m.Key {
			members[i] = m
			return members
		}
	}
	return append(members, m)
}

type parser struct{ text string }

func (p *parser) unexpected(want string) error {
	if p.text == "" {
		return fmt.Errorf("structured field: expected %s at the end", want)
	}
	return fmt.Errorf("structured field: expected %s, found %.20q", want, p.text)
}

func (p *parser) skip(chars string) { p.text = strings.TrimLeft(p.text, chars) }

func (p *parser) at(c byte) bool { return p.text != "" && p.text[0] == c }

func (p *parser) take(c byte) bool {
	if !p.at(c) {
		return false
	}
	p.text = p.text[1:]
	return true
}

func (p *parser) while(wanted func(byte) bool) string {
	i := 0
	for i < len(p.text) && wanted(p.text[i]) {
		i++
	}
	taken := p.text[:i]
	p.text = p.text[i:]
	return taken
}

func (p *parser) dictionaryMember() (Member, error) {
	key, err := p.key()
	if err != nil {
		return Member{}, err
	}
	m := Member{Key: key, Value: true}
	if p.take('=') {
		m, err = p.listMember()
		m.Key = key
		return m, err
	}
	m.Params, err = p.params()
	return m, err
}

func (p *parser) listMember() (m Member, err error) {
	if p.take('(') {
		m.Value, err = p.innerList()
	} else {
		m.Value, err = p.bareItem()
	}
	if err == nil {
		m.Params, err = p.params()
	}
	return m, err
}

func (p *parser) innerList() ([]Member, error) {
	items := []Member{}
	for p.text != "" {
		p.skip(" ")
		if p.take(')') {
			return items, nil
		}
		value, err := p.bareItem()
		if err != nil {
			return nil, err
		}
		params, err := p.params()
		if err != nil {
			return nil, err
		}
		items = append(items, Member{Value: value, Params: params})
		if !p.at(' ') && !p.at(')') {
			break
		}
	}
	return nil, p.unexpected("the end of an inner list")
}

func (p *parser) params() (Params, error) {
	var params Params
	for p.take(';') {
		p.skip(" ")
		key, err := p.key()
		if err != nil {
			return nil, err
		}
		m := Member{Key: key, Value: true}
		if p.take('=') {
			if m.Value, err = p.bareItem(); err != nil {
				return nil, err
			}
		}
		params = put(params, m)
	}
	return params, nil
}

func (p *parser) key() (string, error) {
	if !p.at('*') && (p.text == "" || !isLower(p.text[0])) {
		return "", p.unexpected("a key")
	}
	return p.while(func(c byte) bool {
		return isLower(c) || isDigit(c) || strings.IndexByte("_-.*", c) >= 0
	}), nil
}

func (p *parser) bareItem() (any, error) {
	if p.text == "" {
		return nil, p.unexpected("an item")
	}
	switch c := p.text[0]; {
	case c == '-' || isDigit(c):
		return p.number()
	case c == '"':
		return p.quoted()
	case c == '*' || isAlpha(c):
		return Token(p.while(func(c byte) bool {
			return isAlpha(c) || isDigit(c) || strings.IndexByte("!#$%&'*+-.^_`|~:/", c) >= 0
		})), nil
	case c == ':':
		return p.bytes()
	case c == '?':
		return p.boolean()
	case c == '@':
		return p.date()
	case c == '%':
		return p.display()
	}
	return nil, p.unexpected("an item")
}

func (p *parser) number() (any, error) {
	sign := ""
	if p.take('-') {
		sign = "-"
	}
	whole := p.while(isDigit)
	if whole == "" {
		return nil, p.unexpected("a digit")
	}
	if !p.take('.') {
		if len(whole) > 15 {
			return nil, errors.New("structured field: integer with more than 15 digits")
		}
		return strconv.ParseInt(sign+whole, 10, 64)
	}
	fraction := p.while(isDigit)
	if len(whole) > 12 || len(fraction) < 1 || len(fraction) > 3 {
		return nil, errors.New("structured field: decimal with too many or no digits")
	}
	return strconv.ParseFloat(sign+whole+"."+fraction, 64)
}

func (p *parser) quoted() (string, error) {
	p.text = p.text[1:]
	var b strings.Builder
	for i := 0; i < len(p.text); i++ {
		c := p.text[i]
		switch {
		case c == '"':
			p.text = p.text[i+1:]
			return b.String(), nil
		case c < 0x20 || c > 0x7e:
			return "", fmt.Errorf("structured field: byte %#x in a string", c)
		case c == '\\':
			if i++; i == len(p.text) || p.text[i] != '"' && p.text[i] != '\\' {
				return "", errors.New("structured field: invalid escape in a string")
			}
			c = p.text[i]
		}
		b.WriteByte(c)
	}
	return "", errors.New("structured field: unterminated string")
}

// bytes also accepts missing padding.
func (p *parser) bytes() ([]byte, error) {
	encoded, rest, found := strings.Cut(p.text[1:], ":")
	if !found {
		return nil, errors.New("structured field: unterminated byte sequence")
	}
	p.text = rest
	if strings.ContainsAny(encoded, "\r\n") {
		return nil, errors.New("structured field: line break in a byte sequence")
	}
	return base64.RawStdEncoding.DecodeString(strings.TrimRight(encoded, "="))
}

func (p *parser) boolean() (bool, error) {
	p.text = p.text[1:]
	switch {
	case p.take('1'):
		return true, nil
	case p.take('0'):
		return false, nil
	}
	return false, p.unexpected("0 or 1")
}

func (p *parser) date() (time.Time, error) {
	p.text = p.text[1:]
	if !p.at('-') && (p.text == "" || !isDigit(p.text[0])) {
		return time.Time{}, p.unexpected("a date")
	}
	n, err := p.number()
	seconds, ok := n.(int64)
	if err == nil && !ok {
		err = errors.New("structured field: date with a fraction")
	}
	return time.Unix(seconds, 0), err
}

func (p *parser) display() (DisplayString, error) {
	p.text = p.text[1:]
	if !p.take('"') {
		return "", p.unexpected("a quote")
	}
	var b strings.Builder
	for i := 0; i < len(p.text); i++ {
		c := p.text[i]
		switch {
		case c == '"':
			p.text = p.text[i+1:]
			if !utf8.ValidString(b.String()) {
				return "", errors.New("structured field: display string is not valid UTF-8")
			}
			return DisplayString(b.String()), nil
		case c < 0x20 || c > 0x7e:
			return "", fmt.Errorf("structured field: byte %#x in a display string", c)
		case c == '%':
			if i+2 >= len(p.text) || strings.Trim(p.text[i+1:i+3], "0123456789abcdef") != "" {
				return "", errors.New("structured field: percent sign without two lowercase hex digits")
			}
			n, _ := strconv.ParseUint(p.text[i+1:i+3], 16, 8)
			c, i = byte(n), i+2
		}
		b.WriteByte(c)
	}
	return "", errors.New("structured field: unterminated display string")
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isAlpha(c byte) bool { return isLower(c) || 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
