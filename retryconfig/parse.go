package retryconfig

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/gobackoff/retry"
)

// The text form of a policy:
//
//	policy = [ "none" | preset | rule ] { key "=" value }
//	rule   = name [ "(" rule { "|" rule } ")" ] { key "=" value }
//	value  = word [ "(" { key "=" value } ")" ] | word { word }
//
// Spaces, commas and semicolons separate words, and "key = value" is "key=value". The value of some keys is a list, to which the
// words up to the next key belong; "/" separates its items, too. The rules in parentheses are the Backoff
// fields of a composition, in their order in the Go type; the keys of a rule, a hint rule
// or a budget are its other fields in lower case.

// Parse reads the text form of a policy:
//
//	full base=50ms cap=20s attempts=5 elapsed=1m timeout=2s
//	aws-standard-2.1 service=dynamodb attempts=6
//	spread(exponential base=1s cap=1m) fraction=0.1 attempts=unlimited hint=or-give-up(max=10m)
//
// The text starts with the name of a rule, or of a preset of package awspreset, or with none,
// which means one attempt, as off, never and false do. Keys and values follow in any order,
// separated by spaces, commas or semicolons. Durations need units. The rules are
//
//	standard                          what a nil Backoff means
//	no-delay                          NoDelay
//	constant delay=
//	exponential base= cap= factor=
//	linear base= step= cap=
//	fibonacci base= cap=
//	schedule delays=1s/2s/4s
//	full base= cap= factor=           FullJitter
//	equal base= cap= factor=          EqualJitter
//	decorrelated base= cap= redraw=   DecorrelatedJitter
//	jittered(rule) share=
//	spread(rule) fraction=
//	capped(rule) cap=
//	when-throttled(throttled rule | other rule)
//
// and the keys of a policy are
//
//	attempts=5             or unlimited
//	elapsed=1m timeout=2s  or none
//	hint=at-least(max=10m) or-give-up(max=10m), window(width=5s), ignore
//	budget=shared(reserve=5)  a SharedBudget; none is NoBudget, and default is nil
//	limiter=adaptive       an awspreset.AdaptiveLimiter; adaptive-botocore: with InitialRate 1
//	service=dynamodb       for presets with services
//	capacity=2000          tokens of a preset's budget
//	retry-on=450,5xx       codes that are retried, besides the usual ones: see [retry.Codes]
//	stop-on=429,ABORTED    codes that are not retried
//
// limiter, retry-on and stop-on may be none. An omitted key means a zero field; a 0 that would mean a default is
// refused. Each call of Parse makes a new budget and limiter, so parse a text once for each
// server. An error lists the mistakes and the valid choices and matches [retry.ErrInvalid];
// the policy is then zero. A text of more than 64 KiB is an error.
func Parse(text string) (retry.Policy, error) {
	if long := tooLong(len(text)); long != "" {
		return retry.Policy{}, invalid(text, long)
	}
	b := &builder{}
	return b.build(text, b.parse(text), retry.Policy{})
}

// A node is what a text or a mapping says about a policy, a rule or a value.
type node struct {
	name     string // "" if none is given
	of       []node // the rules in parentheses
	isPart   bool   // a value with parentheses, or a mapping
	settings []setting
}

type setting struct {
	path  string // the keys around it, as in "hint: "
	key   string
	sign  string // between the key and the value: "=", or ": " in a mapping
	value node
}

// String returns the setting as it is written.
func (s setting) String() string {
	text := s.path + clip(s.key, 40) + s.sign + clip(s.value.name, 40)
	switch {
	case s.value.isPart && s.sign == "=":
		text += "(…)"
	case s.value.isPart:
		text = s.path + clip(s.key, 40) + s.sign + "{…}"
	}
	return text
}

// words splits text into words and the signs "(", "|" and ")".
func words(text string) []string {
	for _, sign := range []string{"(", "|", ")"} {
		text = strings.ReplaceAll(text, sign, " "+sign+" ")
	}
	list := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,;\t\r\n", r) })
	var joined []string
	for i := 0; i < len(list); i++ {
		word := list[i]
		if i+2 < len(list) && list[i+1] == "=" && !isSign(word) && !isSign(list[i+2]) {
			word += "=" + list[i+2]
			i += 2
		}
		joined = append(joined, word)
	}
	return joined
}

// parse reads what a text says about a policy.
func (b *builder) parse(text string) node {
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff")) // the byte order mark of some editors
	if len(text) > 1 && strings.ContainsRune("\"'", rune(text[0])) && text[0] == text[len(text)-1] {
		text = text[1 : len(text)-1] // docker run --env-file keeps the quotes
	}
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		b.add("write one line, as in full base=1s attempts=3; a mapping belongs in a file")
		return node{}
	}
	p := &parser{faults: &b.faults, words: words(text)}
	return p.policy()
}

type parser struct {
	*faults
	words []string
	depth int
	name  string // of the rule that was read last
}

// maxDepth bounds the nesting of rules, and thus the recursion.
const maxDepth = 16

// peek returns the next word, or "" at the end.
func (p *parser) peek() string {
	if len(p.words) == 0 {
		return ""
	}
	return p.words[0]
}

// next skips the next word and returns it, or "" at the end.
func (p *parser) next() string {
	word := p.peek()
	p.words = p.words[min(1, len(p.words)):]
	return word
}

// accept skips a sign and reports whether it was next.
func (p *parser) accept(sign string) bool {
	found := p.peek() == sign
	if found {
		p.next()
	}
	return found
}

// stop reports a mistake after which the rest of the text has no clear meaning.
func (p *parser) stop(format string, args ...any) {
	p.add(format, args...)
	p.words = nil
}

func (p *parser) policy() node {
	var n node
	if first := p.peek(); first != "" && !strings.Contains(first, "=") {
		n = p.rule()
	}
	n.settings = p.settings(false)
	return n
}

// rule reads the name of a rule and the rules in its parentheses, but not its keys.
func (p *parser) rule() (n node) {
	n.name = p.next()
	p.name = n.name
	if isSign(n.name) {
		p.stop("a rule is missing before %s; valid: %s", cmp.Or(n.name, "the end"), strings.Join(namesIn(rules), ", "))
		return n
	}
	if !p.accept("(") {
		return n
	}
	if p.depth++; p.depth >= maxDepth {
		p.stop("rules are nested more than %d deep", maxDepth)
		return n
	}
	defer func() { p.depth-- }()
	for {
		child := p.rule()
		child.settings = p.settings(true)
		n.of = append(n.of, child)
		if p.accept("|") {
			continue
		}
		if !p.accept(")") && p.words != nil {
			p.stop(`")" is missing after %s`, quoted(n.name+"("))
		}
		return n
	}
}

// isSign reports whether word is a sign or, at the end, "".
func isSign(word string) bool { return strings.Contains("(|)", word) }

// settings reads keys and values up to the end, or within parentheses up to a sign.
func (p *parser) settings(nested bool) []setting {
	var list []setting
	for p.peek() != "" && !(nested && isSign(p.peek())) {
		word := p.next()
		key, name, _ := strings.Cut(word, "=")
		if key == "" || name == "" {
			p.add("%s", p.noValue(word))
			continue
		}
		if slices.Contains(listKeys, key) {
			name = p.list(name)
		}
		list = append(list, setting{key: key, sign: "=", value: p.value(key, name)})
	}
	return list
}

// firstKeys are the keys of the durations of rules that have no base.
var firstKeys = map[string]string{"constant": "delay", "schedule": "delays"}

// noValue describes a word that is not of the form key=value.
func (p *parser) noValue(word string) string {
	what := quoted(word) + " is not of the form key=value"
	_, err := time.ParseDuration(word)
	if err != nil {
		return what
	}
	return what + "; write its key, as in " + cmp.Or(firstKeys[p.name], "base") + "=" + word
}

// list reads the further items of a list: words that are neither a key with a value nor a sign.
func (p *parser) list(first string) string {
	items := []string{strings.Trim(first, "[]")}
	for p.peek() != "" && !isSign(p.peek()) && !strings.Contains(p.peek(), "=") {
		items = append(items, strings.Trim(p.next(), "[]"))
	}
	return strings.Join(items, listSeparator)
}

// value reads the settings in parentheses that may follow the name of a value.
func (p *parser) value(key, name string) node {
	n := node{name: name}
	if !p.accept("(") {
		return n
	}
	if p.depth++; p.depth >= maxDepth {
		p.stop("values are nested more than %d deep", maxDepth)
		return n
	}
	defer func() { p.depth-- }()
	n.isPart, n.settings = true, p.settings(true)
	for i := range n.settings {
		n.settings[i].path = clip(key, 40) + ": "
	}
	if !p.accept(")") && p.words != nil {
		p.stop(`")" is missing after %s`, quoted(key+"="+name+"("))
	}
	return n
}
