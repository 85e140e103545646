package sfv_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/internal/sfv"
)

func TestParseList(t *testing.T) {
	item := func(value any, params ...sfv.Member) sfv.Member {
		return sfv.Member{Value: value, Params: params}
	}
	param := func(key string, value any) sfv.Member { return sfv.Member{Key: key, Value: value} }
	for _, tt := range []struct {
		text string
		want []sfv.Member
	}{
		{"", nil},
		{`"default";r=50;t=30`, []sfv.Member{item("default", param("r", int64(50)), param("t", int64(30)))}},
		{`  a , b`, []sfv.Member{item(sfv.Token("a")), item(sfv.Token("b"))}},
		{"1,\t-2.5", []sfv.Member{item(int64(1)), item(-2.5)}},
		{`"a\"b\\"`, []sfv.Member{item(`a"b\`)}},
		{`?1;x, ?0`, []sfv.Member{item(true, param("x", true)), item(false)}},
		{`:aGVsbG8=:, :aGVsbG8:`, []sfv.Member{item([]byte("hello")), item([]byte("hello"))}},
		{`@1659578233`, []sfv.Member{item(time.Unix(1659578233, 0))}},
		{`%"f%c3%bc"`, []sfv.Member{item(sfv.DisplayString("fü"))}},
		{`(1 a;p);q=2, ()`, []sfv.Member{
			item([]sfv.Member{item(int64(1)), item(sfv.Token("a"), param("p", true))}, param("q", int64(2))), item([]sfv.Member{}),
		}},
		{`a;p=1;p=2`, []sfv.Member{item(sfv.Token("a"), param("p", int64(2)))}},
		{`*t/x:y`, []sfv.Member{item(sfv.Token("*t/x:y"))}},
	} {
		got, err := sfv.ParseList(tt.text)
		require.NoError(t, err, tt.text)
		assert.Equal(t, tt.want, got, tt.text)
	}
}

func TestParseDictionary(t *testing.T) {
	got, err := sfv.ParseDictionary(`limit=100, remaining=0;a, on, limit=(1 2)`)
	require.NoError(t, err)
	require.Len(t, got, 3)
	members := sfv.Params(got)
	assert.Len(t, members.Get("limit"), 2, "the last one counts")
	assert.Equal(t, "limit", got[0].Key, "in the place of the first")
	assert.Equal(t, int64(0), members.Get("remaining"))
	assert.Equal(t, true, got[1].Params.Get("a"))
	assert.Equal(t, true, members.Get("on"))
	assert.Nil(t, members.Get("off"))
}

func TestErrors(t *testing.T) {
	for _, text := range []string{
		",", "a,", "a b", "=", "-", "1.", "1.2345", "1234567890123456", "1234567890123.1", `"a`, `"a\b"`, "\"\x01\"", `"a\`,
		"?", "?2", ":a", ":!:", ":\n:", "@", "@1.5", "@x", "%", `%"`, `%"%C3"`, `%"%c"`, `%"%ff"`, "%\"\x7f\"", "(", "(1", "(1,2)", "(1;=)",
		"a;", "a;B", "a;b=", "\x80", "(=)", "(a;p=)",
	} {
		_, err := sfv.ParseList(text)
		assert.Error(t, err, "%q", text)
		assert.NotContains(t, err.Error(), "\n")
	}
	for _, text := range []string{"1", "a=", "a=1 b=2", "a=1,", "A=1", "a;="} {
		_, err := sfv.ParseDictionary(text)
		assert.Error(t, err, "%q", text)
	}
}

// FuzzParse: no text makes the parser panic or run forever.
func FuzzParse(f *testing.F) {
	for _, text := range []string{`"default";r=50;t=30`, `a=(1 2;x), b=@1, c=%"f%c3"`, strings.Repeat("(", 9)} {
		f.Add(text)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = sfv.ParseList(text)
		_, _ = sfv.ParseDictionary(text)
	})
}
