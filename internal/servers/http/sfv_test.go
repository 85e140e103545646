package http_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/dunglas/httpsfv"
	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry/internal/sfv"
)

func plain(v any) any {
	switch v := v.(type) {
	case httpsfv.Token:
		return sfv.Token(v)
	case httpsfv.DisplayString:
		return sfv.DisplayString(v)
	case time.Time:
		return time.Unix(v.Unix(), 0)
	}
	return v
}

func plainMember(key string, m httpsfv.Member) sfv.Member {
	switch m := m.(type) {
	case httpsfv.Item:
		return sfv.Member{Key: key, Value: plain(m.Value), Params: plainParams(m.Params)}
	case httpsfv.InnerList:
		items := []sfv.Member{}
		for _, item := range m.Items {
			items = append(items, plainMember("", item))
		}
		return sfv.Member{Key: key, Value: items, Params: plainParams(m.Params)}
	}
	panic("unknown member type")
}

func plainParams(p *httpsfv.Params) (params sfv.Params) {
	for _, name := range p.Names() {
		value, _ := p.Get(name)
		params = append(params, sfv.Member{Key: name, Value: plain(value)})
	}
	return params
}

func base64(err error) bool { return err != nil && strings.Contains(err.Error(), "illegal base64") }

// TestStructuredFields compares the parser with httpsfv on random sequences of
// structured-field pieces. It skips base64 without padding, which RFC 9651 recommends
// accepting and httpsfv rejects.
func TestStructuredFields(t *testing.T) {
	pieces := []string{
		"a", "b*", "*k", "A", "1", "-1", "1.5", "-0.125", "123456789012345", "999999999999.999", `"s"`, `"\""`, `"\\"`,
		"?1", "?0", ":aGk=:", ":aGk:", "::", "@1", "@-1", `%"f%c3%bc"`, `%"x"`, "(", ")", ",", ", ", " ", "\t", ";", "=", ";a=1", ";b", "a=", "1 2",
		".", "-", `"`, "%", ":", "@", "?", "é", "tok/en:x", "RateLimit",
	}
	rng := rand.New(rand.NewPCG(1, 2))
	valid := 0
	for range 300_000 {
		var b strings.Builder
		for range 1 + rng.IntN(7) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		text := b.String()
		ours, err := sfv.ParseList(text)
		theirs, theirErr := httpsfv.UnmarshalList([]string{text})
		var want []sfv.Member
		for _, m := range theirs {
			want = append(want, plainMember("", m))
		}
		if base64(theirErr) {
			continue
		}
		if assert.Equal(t, theirErr == nil, err == nil, "list %q: %v, httpsfv: %v", text, err, theirErr) && err == nil {
			assert.Equal(t, want, ours, "list %q", text)
			valid++
		}
		ours, err = sfv.ParseDictionary(text)
		dictionary, theirErr := httpsfv.UnmarshalDictionary([]string{text})
		if base64(theirErr) {
			continue
		}
		if assert.Equal(t, theirErr == nil, err == nil, "dictionary %q: %v, httpsfv: %v", text, err, theirErr) && err == nil {
			want = nil
			for _, name := range dictionary.Names() {
				m, _ := dictionary.Get(name)
				want = append(want, plainMember(name, m))
			}
			assert.Equal(t, want, ours, "dictionary %q", text)
			valid++
		}
		if t.Failed() {
			return
		}
	}
	assert.Greater(t, valid, 10_000, "texts that both parsers accept")
}
