package jsonvalue

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
)

// decode is the reference for Parse.
func decode(data []byte) (any, error) {
	if !json.Valid(data) {
		return nil, assert.AnError
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return plain(v), err
}

func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		return v.String()
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = plain(v[key])
		}
	}
	return v
}

// FuzzParse: Parse accepts nothing that encoding/json refuses, and returns the same
// value. It may refuse escapes of unpaired surrogates.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		``, `null`, ` true `, `false`, `0`, `-0.5e+3`, `01`, `1.`, `.5`, `-`, `1e400`, `+1`, `"a\/b\n\u00e9"`, `"\x41"`, `"\ud83d\ude00"`,
		`{}`, `[]`, `{"rule": "full", "base": "100ms", "attempts": 7, "longpoll": false}`, `{"delays": ["1s", "2s"]}`,
		`{"a":1,}`, `[1,]`, `{"a" 1}`, `{"a":1 "b":2}`, `{1:2}`, `"open`, "\"tab\t\"", `[[[[]]]]`, `{"a":1}x`, `"\'"`, `"\101"`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		want, wantErr := decode(data)
		got, err := Parse(data)
		switch {
		case err == nil && wantErr != nil:
			t.Fatalf("%q is not JSON, but was read as %v", data, got)
		case err == nil:
			assert.Equal(t, want, got)
		case wantErr == nil && !bytes.Contains(data, []byte(`\u`)) && bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) < maxDepth && bytes.IndexByte(data, 0xff) < 0:
			assert.False(t, json.Valid(data) && validUTF8(data), "%q: %v", data, err)
		}
	})
}

func validUTF8(data []byte) bool { return bytes.Equal(bytes.ToValidUTF8(data, nil), data) }
