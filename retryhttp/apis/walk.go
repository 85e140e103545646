package apis

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"slices"
)

// A walker goes once over a JSON text, along the paths of an index, and notes the rules whose
// values it meets. What no path leads to is skipped. Of a text that is no JSON, it reads what
// looks so.
type walker struct {
	resp     *http.Response
	event    bool // the text is an event, not the body of a response
	unmarked bool // the body may be a failure only because a vendor says so
	stored   bool // the body is a stored object
	text     []byte
	at       int

	first  *rule   // the first that was met, of those without a Has
	best   int     // its order: rules behind it are not needed
	hits   []*rule // those with a Has, each once
	marked []*node // those of a Has that have a value
}

func newWalker(resp *http.Response, text []byte) walker {
	return walker{resp: resp, text: text, best: math.MaxInt}
}

// found notes a rule whose value was met.
func (w *walker) found(r *rule) {
	switch {
	case r.order >= w.best, !r.Means.isFor(w.event), w.stored && r.ofObject, !r.applies(w.resp):
	case w.unmarked && r.Means >= Failed && !r.own:
	case r.has == nil:
		w.first = r
		w.best = r.order
	case !slices.Contains(w.hits, r):
		w.hits = append(w.hits, r)
	}
}

// rule returns the first rule that applies, or nil.
func (w *walker) rule() *rule {
	first := w.first
	for _, r := range w.hits {
		if (first == nil || r.order < first.order) && slices.Contains(w.marked, r.has) {
			first = r
		}
	}
	return first
}

// value reads a value at a node, which is nil if no path leads to it.
func (w *walker) value(n *node) {
	w.space()
	if w.at >= len(w.text) {
		return
	}
	if n == nil {
		w.skip()
		return
	}
	if n.marked && w.text[w.at] != 'n' && !slices.Contains(w.marked, n) {
		w.marked = append(w.marked, n)
	}
	switch w.text[w.at] {
	case '{':
		w.object(n)
	case '[':
		w.at++
		for w.more(']') {
			w.value(n)
		}
	default:
		kind, text := w.scalar()
		w.meets(n, kind, text)
	}
}

// scalar reads a text, with its escapes, or a number or a word.
func (w *walker) scalar() (valueKind, []byte) {
	if w.text[w.at] == '"' {
		return isText, w.string()
	}
	begin := w.at
	w.skip()
	if w.at == begin {
		w.at = len(w.text) // no JSON
		return isWord, nil
	}
	text := w.text[begin:w.at]
	if text[0] > '9' {
		return isWord, text
	}
	return isNumber, text
}

func (w *walker) object(n *node) {
	w.at++
	keys := 0
	for w.more('}') {
		keys++
		key := w.string()
		w.space()
		w.at++ // the colon
		w.value(n.child(key))
	}
	if keys > 0 {
		w.meets(n, isObject, []byte("{}"))
	}
}

// meets notes the rules of n that a value fits.
func (w *walker) meets(n *node, kind valueKind, text []byte) {
	if len(n.any)+len(n.exact)+len(n.globs) == 0 {
		return
	}
	if kind == isText && bytes.IndexByte(text, '\\') >= 0 && len(text) <= 6*maxCode {
		var unquoted string
		if json.Unmarshal(slices.Concat([]byte{'"'}, text, []byte{'"'}), &unquoted) == nil {
			text = []byte(unquoted)
		}
	}
	w.find(n, kind, text)
}

// more goes to the next element of a list or object, and reports whether there is one.
func (w *walker) more(end byte) bool {
	w.space()
	if w.at < len(w.text) && w.text[w.at] == ',' {
		w.at++
		w.space()
	}
	if w.at >= len(w.text) {
		return false
	}
	if w.text[w.at] == end {
		w.at++
		return false
	}
	return true
}

func (w *walker) space() {
	for w.at < len(w.text) && w.text[w.at] <= ' ' {
		w.at++
	}
}

// string reads a text, and returns it with its escapes.
func (w *walker) string() []byte {
	w.at++
	begin := w.at
	for w.at < len(w.text) {
		next := bytes.IndexByte(w.text[w.at:], '"')
		if next < 0 {
			w.at = len(w.text)
			break
		}
		w.at += next
		escapes := 0
		for i := w.at - 1; i >= begin && w.text[i] == '\\'; i-- {
			escapes++
		}
		w.at++
		if escapes%2 == 0 {
			return w.text[begin : w.at-1]
		}
	}
	return w.text[begin:w.at]
}

// skip goes over a value.
func (w *walker) skip() {
	depth := 0
	for w.at < len(w.text) {
		switch c := w.text[w.at]; {
		case c == '"':
			w.string()
			if depth == 0 {
				return
			}
			continue
		case c == '{', c == '[':
			depth++
		case c == '}', c == ']':
			if depth == 0 {
				return // the end of a number
			}
			depth--
			if depth == 0 {
				w.at++
				return
			}
		case depth == 0 && (c == ',' || c <= ' '):
			return
		}
		w.at++
	}
}
