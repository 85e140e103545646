package apis

import (
	"bytes"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// maxCode is the most bytes of a value that can be in a row.
const maxCode = 256

// eventPath is the path of the name of an event.
const eventPath = "event:"

// An index has rows by their paths.
type index struct {
	root     node    // of paths
	anywhere node    // rows without a path
	own      []*rule // those of a user
}

// A node is a key of a path.
type node struct {
	next   map[string]*node
	exact  map[string][]*rule // by the folded value
	globs  []*rule            // with * or ?
	any    []*rule            // any, !0
	marked bool               // a Has leads here
}

// A rule is a Row that is ready to be compared.
type rule struct {
	Row
	order    int
	own      bool    // of a user
	ofObject bool    // may be about a stored object, instead of the request
	yields   bool    // a result beside it says that the request has worked
	glob     pattern // if Value has * or ?
	has      *node   // nil: none
}

func newIndex(own []Row) *index {
	x := &index{}
	all := slices.Concat(own, rows)
	rules := make([]rule, len(all))
	for i, row := range all {
		r := &rules[i]
		*r = rule{Row: row, order: i, own: i < len(own)}
		r.ofObject = !r.own && isOfObject(row)
		r.yields = !r.own && (row.Means == denied || row.Means == refusedBody || strings.HasPrefix(row.Path, "err"))
		r.Host = strings.ToLower(row.Host)
		if row.Has != "" {
			r.has = x.root.at(row.Has)
			r.has.marked = true
		}
		n := &x.anywhere
		if row.Path != "" {
			n = x.root.at(row.Path)
		}
		n.add(r)
		if r.own {
			x.own = append(x.own, r)
		}
	}
	return x
}

// isOfObject reports whether a row may be about the object that is returned, such as a job that
// failed, instead of the request.
func isOfObject(row Row) bool {
	switch {
	case row.Means >= Failed, strings.HasPrefix(row.Path, "err"):
		return true
	}
	return !strings.Contains(row.Path, ".") && row.Path != "finish_reason"
}

// at returns the node at the end of a path.
func (n *node) at(path string) *node {
	for key := range strings.SplitSeq(strings.ToLower(path), ".") {
		if n.next[key] == nil {
			if n.next == nil {
				n.next = map[string]*node{}
			}
			n.next[key] = &node{}
		}
		n = n.next[key]
	}
	return n
}

func (n *node) add(r *rule) {
	switch {
	case r.Value == anyValue, r.Value == notZero:
		n.any = append(n.any, r)
	case strings.ContainsAny(r.Value, "*?"):
		r.glob = patternOf(r.Value)
		n.globs = append(n.globs, r)
	default:
		if n.exact == nil {
			n.exact = map[string][]*rule{}
		}
		folded := string(fold(nil, []byte(r.Value)))
		n.exact[folded] = append(n.exact[folded], r)
	}
}

// child returns the node of a key, or nil.
func (n *node) child(key []byte) *node {
	var space [64]byte
	if len(key) > len(space) || len(n.next) == 0 {
		return nil
	}
	folded := space[:0]
	for _, c := range key {
		folded = append(folded, lowerOf(c))
	}
	return n.next[string(folded)]
}

// applies reports whether a rule is for a response.
func (r *rule) applies(resp *http.Response) bool {
	return (r.Status == 0 || r.Status == resp.StatusCode) && isHost(resp, r.Host)
}

// isHost reports whether host, in lower case, is that of the request or a domain above it.
func isHost(resp *http.Response, host string) bool {
	if host == "" {
		return true
	}
	if resp.Request == nil || resp.Request.URL == nil {
		return false
	}
	name := strings.ToLower(resp.Request.URL.Hostname())
	below, found := strings.CutSuffix(name, host)
	return found && (below == "" || strings.HasSuffix(below, "."))
}

// inEvent returns the first rule that applies to an event with this name and data, or nil. The
// data need not be JSON.
func (x *index) inEvent(resp *http.Response, name string, data []byte) *rule {
	w := newWalker(resp, data)
	w.event = true
	if name != "" {
		w.find(x.root.next[eventPath], isText, []byte(name))
	}
	w.value(&x.root)
	return w.rule()
}

// inBody returns the first rule that applies to a body, or nil. If the body is not marked as a
// failure, the rules do not apply that tell no class. If it is a stored object, those do not
// that may be about that.
func (x *index) inBody(resp *http.Response, body []byte, marked, stored bool) *rule {
	w := newWalker(resp, body)
	w.unmarked = !marked
	w.stored = stored
	w.value(&x.root)
	return w.rule()
}

// code returns the first rule without a path that applies to a code in a failure, or nil.
func (x *index) code(resp *http.Response, code string) *rule {
	w := newWalker(resp, nil)
	w.find(&x.anywhere, isText, []byte(code))
	return w.rule()
}

// reads reports whether a row of the user may be about the body of a response.
func (x *index) reads(resp *http.Response) bool {
	return slices.ContainsFunc(x.own, func(r *rule) bool {
		return r.Means.isFor(false) && r.Path != eventPath && r.applies(resp)
	})
}

// beginsLikeFailure reports whether a body with status 200 may be a failure, if these are
// its first bytes: its first key leads to a row that its value fits, as far as it is there.
func (x *index) beginsLikeFailure(resp *http.Response, begin []byte) bool {
	w := newWalker(resp, begin)
	n := &x.root
	for {
		w.space()
		if w.at >= len(begin) {
			return true
		}
		switch begin[w.at] {
		case '[':
			w.at++
			continue
		case '{':
			w.at++
			w.space()
		default:
			return w.mayFit(n)
		}
		if n.takesAny() {
			return true
		}
		if w.at >= len(begin) {
			return len(n.next) > 0
		}
		if begin[w.at] != '"' {
			return false
		}
		key := w.string()
		if w.at >= len(begin) && begin[w.at-1] != '"' {
			return n.hasKey(string(bytes.ToLower(key)))
		}
		n = n.child(key)
		if n == nil {
			return false
		}
		w.space()
		if w.at >= len(begin) {
			return true
		}
		w.at++ // the colon
	}
}

// hasKey reports whether a path goes on with a key that begins so.
func (n *node) hasKey(begin string) bool {
	for key := range n.next {
		if strings.HasPrefix(key, begin) {
			return true
		}
	}
	return false
}

// mayFit reports whether the text or number at which w is may be that of a rule of n. It may be
// cut off.
func (w *walker) mayFit(n *node) bool {
	kind, text := w.scalar()
	if w.at < len(w.text) {
		w.find(n, kind, text)
		return w.first != nil || len(w.hits) > 0
	}
	switch {
	case text == nil:
		return false
	case hasBodyRule(n.globs), kind == isText && n.takesAny():
		return true // it is cut off
	}
	folded := string(fold(nil, text))
	return slices.ContainsFunc(slices.Collect(maps.Keys(n.exact)), func(value string) bool {
		return strings.HasPrefix(value, folded) && hasBodyRule(n.exact[value])
	})
}

// takesAny reports whether any text or object is that of a rule.
func (n *node) takesAny() bool {
	return slices.ContainsFunc(n.any, func(r *rule) bool { return r.Value == anyValue && r.Means.isFor(false) })
}

func hasBodyRule(rules []*rule) bool {
	return slices.ContainsFunc(rules, func(r *rule) bool { return r.Means.isFor(false) })
}
