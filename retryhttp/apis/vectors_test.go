package apis_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the sets of the corpus to the folder test/vectors")

// TestVectors: the sets apis in the folder test/vectors are the corpus, for other languages.
func TestVectors(t *testing.T) {
	for kind, about := range map[string]string{
		"classify": "what a response of an API means; success: it is not a failure",
		"hint":     "how long a response of an API asks to wait",
	} {
		file := "../../test/vectors/" + kind + "/apis.json"
		want := vectorSet(t, kind, about)
		if *update {
			require.NoError(t, os.WriteFile(file, want, 0o644))
		}
		got, err := os.ReadFile(file)
		if os.IsNotExist(err) {
			t.Skip("not in a checkout of the repository: ", err)
		}
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got), "go test ./retryhttp/apis -run TestVectors -update writes it")
	}
}

type vectorCase struct {
	ID    string `json:"id"`
	Given struct {
		Status  int               `json:"status"`
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body,omitempty"`
		Now     string            `json:"now,omitempty"`
		Delay   *int              `json:"delay_ms,omitempty"`
	} `json:"given"`
	Answers []map[string]any `json:"answers"`
}

func vectorSet(t *testing.T, kind, about string) []byte {
	t.Helper()
	sources, cases := map[string]map[string]string{}, []string{}
	for _, s := range corpus {
		api, _, _ := strings.Cut(s.api, ", ")
		title, url, _ := strings.Cut(strings.Trim(s.source, "[)"), "](")
		source := map[string]string{"of": url, "how": "documented or reported responses"}
		from := api + ": " + title
		if known, ok := sources[from]; ok {
			require.Equal(t, known, source)
		}
		c, answer := vectorCase{ID: s.api}, map[string]any{"from": []string{from}}
		c.Given.Status, c.Given.Body, c.Given.Headers = s.status, s.body, map[string]string{}
		for name, values := range s.response().Header {
			c.Given.Headers[name] = values[0]
		}
		delete(c.Given.Headers, "Date")
		switch {
		case kind == "classify" && s.class == unknown:
			answer["class"] = "success"
		case kind == "classify":
			answer["class"] = s.class.String()
		case s.class == unknown:
			continue // no wait
		default:
			c.Given.Now, c.Given.Delay = "2026-11-02T12:00:00Z", new(int)
			answer["wait_ms"] = float64(s.wait) / float64(time.Millisecond)
		}
		sources[from], c.Answers = source, []map[string]any{answer}
		cases = append(cases, string(encoded(t, c, "")))
	}
	head := encoded(t, map[string]any{"kind": kind, "set": "apis", "version": 1, "about": about, "sources": sources}, " ")
	return append(bytes.TrimSuffix(head, []byte("\n}")), ",\n \"cases\": [\n"+strings.Join(cases, ",\n")+"\n]}\n"...)
}

func encoded(t *testing.T, x any, indent string) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	require.NoError(t, e.Encode(x))
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
