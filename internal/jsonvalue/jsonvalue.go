// Package jsonvalue reads small JSON documents. encoding/json would add 20 kB to every
// program that imports package retry.
package jsonvalue

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

const maxDepth = 100

// Parse decodes data as encoding/json does when it decodes into an any, but returns
// numbers as text.
func Parse(data []byte) (any, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("JSON is not valid UTF-8")
	}
	r := reader{rest: string(data)}
	v, err := r.value(0)
	if err == nil && r.space() != "" {
		err = r.unexpected()
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

type reader struct{ rest string }

// space skips white space and returns the rest.
func (r *reader) space() string {
	r.rest = strings.TrimLeft(r.rest, " \t\r\n")
	return r.rest
}

func (r *reader) accept(token string) bool {
	rest, ok := strings.CutPrefix(r.space(), token)
	if ok {
		r.rest = rest
	}
	return ok
}

func (r *reader) unexpected() error {
	if r.rest == "" {
		return errors.New("unexpected end of JSON")
	}
	return fmt.Errorf("unexpected %.20q in JSON", r.rest)
}

func (r *reader) value(depth int) (any, error) {
	switch {
	case depth > maxDepth:
		return nil, errors.New("JSON is nested too deeply")
	case r.accept("{"):
		return r.object(depth)
	case r.accept("["):
		return r.array(depth)
	case strings.HasPrefix(r.rest, `"`):
		return r.text()
	case r.accept("true"):
		return true, nil
	case r.accept("false"):
		return false, nil
	case r.accept("null"):
		return nil, nil
	}
	return r.number()
}

func (r *reader) object(depth int) (any, error) {
	object := map[string]any{}
	if r.accept("}") {
		return object, nil
	}
	for {
		if r.space(); !strings.HasPrefix(r.rest, `"`) {
			return nil, r.unexpected()
		}
		key, err := r.text()
		if err != nil {
			return nil, err
		}
		if !r.accept(":") {
			return nil, r.unexpected()
		}
		if object[key], err = r.value(depth + 1); err != nil {
			return nil, err
		}
		if r.accept("}") {
			return object, nil
		}
		if !r.accept(",") {
			return nil, r.unexpected()
		}
	}
}

func (r *reader) array(depth int) (any, error) {
	array := []any{}
	if r.accept("]") {
		return array, nil
	}
	for {
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		array = append(array, v)
		if r.accept("]") {
			return array, nil
		}
		if !r.accept(",") {
			return nil, r.unexpected()
		}
	}
}

func (r *reader) text() (string, error) {
	for end := 1; end < len(r.rest); end++ {
		switch c := r.rest[end]; {
		case c == '\\':
			end++
		case c < ' ':
			return "", r.unexpected()
		case c == '"':
			quoted := r.rest[:end+1]
			// Go quotes strings as JSON does, except for \/ and surrogate pairs.
			s, err := strconv.Unquote(strings.ReplaceAll(quoted, `\/`, "/"))
			if err != nil || strings.ContainsAny(escapes(quoted), "aUvx01234567'") {
				return "", fmt.Errorf("unsupported JSON string %s", quoted)
			}
			r.rest = r.rest[end+1:]
			return s, nil
		}
	}
	r.rest = ""
	return "", r.unexpected()
}

// escapes returns the letters that follow backslashes.
func escapes(quoted string) string {
	var letters []byte
	for i := 0; i < len(quoted)-1; i++ {
		if quoted[i] == '\\' {
			i++
			letters = append(letters, quoted[i])
		}
	}
	return string(letters)
}

func (r *reader) number() (any, error) {
	end := strings.IndexFunc(r.rest, func(c rune) bool { return !strings.ContainsRune("+-.eE0123456789", c) })
	if end < 0 {
		end = len(r.rest)
	}
	text := r.rest[:end]
	digits := strings.TrimPrefix(text, "-")
	_, err := strconv.ParseFloat(text, 64)
	if errors.Is(err, strconv.ErrRange) {
		err = nil
	}
	whole, _, _ := strings.Cut(digits, ".")
	if err != nil || digits == "" || digits[0] < '0' || digits[0] > '9' || len(whole) > 1 && digits[0] == '0' && whole[1] >= '0' && whole[1] <= '9' || strings.Contains(digits+"x", ".x") || strings.Contains(digits, ".e") || strings.Contains(digits, ".E") {
		return nil, r.unexpected()
	}
	r.rest = r.rest[end:]
	return text, nil
}
