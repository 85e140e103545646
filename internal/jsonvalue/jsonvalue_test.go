package jsonvalue

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var samples = []string{
	`{"rule": "full", "base": "1s", "attempts": 7, "budget": {"rule": "token", "cost": 10}}`,
	`[1, -0.5e+3, 0, true, false, null, [], {}, "", [[]]]`, " \t\r\n\"a\" ", `"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00 é"`,
	`"\ud83d"`, `"\ud83d\u0041"`, `"\ud83dx"`, `"\udead\ud83d\ude00"`, "\"\xff\"", `{"a": 1, "a": 2}`, "1e999", "-0",
	"", " ", "{", "[", `{"a"}`, `{"a":}`, `{"a":1,}`, "[1,]", "[1 2]", "[,1]", "{1:2}", `"a`, `"\x"`, `"\u12"`, `"\u12g4"`, `"\`, "\"\n\"",
	"01", "1.", ".5", "-", "+1", "1e", "tru", "nul", "true false", "1x", "]", `"\u+123"`, "\x00", "1\x00", "{}\x00{}", "nullnull", `"a"b`,
}

func FuzzDecode(f *testing.F) {
	for _, sample := range samples {
		f.Add([]byte(sample))
	}
	f.Fuzz(likeEncodingJSON)
}

// likeEncodingJSON: Decode returns the same as encoding/json, except for deep nesting.
func likeEncodingJSON(t *testing.T, data []byte) {
	got, err := Decode(data)
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var want any
	wantErr := decoder.Decode(&want)
	if _, more := decoder.Token(); wantErr == nil && more != io.EOF {
		wantErr = more
		if wantErr == nil {
			wantErr = io.ErrNoProgress // a second value
		}
	}
	if wantErr != nil || bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) > maxDepth {
		if wantErr != nil {
			require.Error(t, err, "%q", data)
		}
		return
	}
	require.NoError(t, err, "%q", data)
	assert.Equal(t, want, withJSONNumbers(got), "%q", data)
}

// withJSONNumbers replaces each Number by encoding/json's.
func withJSONNumbers(v any) any {
	switch v := v.(type) {
	case Number:
		return json.Number(v)
	case []any:
		for i := range v {
			v[i] = withJSONNumbers(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = withJSONNumbers(v[key])
		}
	}
	return v
}

func TestDepth(t *testing.T) {
	nested := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	_, err := Decode(nested(maxDepth))
	require.NoError(t, err)
	_, err = Decode(nested(1e6))
	assert.ErrorContains(t, err, "invalid JSON at byte ")
}
