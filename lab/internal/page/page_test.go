package page_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/gobackoff/retry/lab/internal/chart"
	"github.com/gobackoff/retry/lab/internal/page"
	"github.com/gobackoff/retry/lab/internal/report"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lines returns a picture whose names contain markup that could end a script.
func lines() chart.Picture {
	return chart.Lines{Title: "Calls </script><b>", Series: []chart.Series{{Name: "<a> & b", X: chart.Numbers{1, 2}, Y: chart.Numbers{3, 4}}}}
}

func example() page.Page {
	return page.Page{
		Title: "Storms & <calm>", Lead: "And what not.", Own: []string{"<a> & b"},
		Sections: []report.Section{
			{
				Heading: "One", Text: "One.\n\nTwo <b>.",
				Findings: []report.Finding{{Policy: "p", Headline: "Recovers", Text: "First."}, {Text: "Of all."}},
				Table: &report.Table{
					Caption: "In numbers", Headers: []string{"strategy", "calls", "time", "range", "mixed"},
					Rows: [][]string{{"none", "1,234.5", "never", "3.1–4.2", "12"}, {"full", "2", "17 ± 1 s", "5", "twelve"}},
				},
				Figures: []report.Figure{{Picture: lines(), Caption: "A figure & its caption"}},
				Files:   []report.File{{Name: "one.csv", Data: []byte("a,b\n1,2\n")}},
			},
			{Figures: []report.Figure{{Picture: lines()}}, Findings: []report.Finding{{Policy: "p", Headline: "Keeps the server down", Bad: true, Text: "Second."}}},
		},
		Notes: []report.Note{{Name: "Command", Value: "lab -seed 1 <in >out"}},
	}
}

func write(t *testing.T, p page.Page) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, page.Write(&out, p))
	return out.String()
}

func TestWrite(t *testing.T) {
	out := write(t, example())
	assert.Equal(t, out, write(t, example()), "the same page gives the same bytes")
	for _, tt := range []struct{ name, has string }{
		{"title", "<title>Storms &amp; &lt;calm&gt;</title>"},
		{"heading", "<h1>Storms &amp; &lt;calm&gt;</h1>"},
		{"lead", `<p class="lead">And what not.</p>`},
		{"paragraphs", "<p>One.</p>\n<p>Two &lt;b&gt;.</p>"},
		{"verdict, the worst first", "<div class=\"verdict bad\">\n<p class=\"headline\">Keeps the server down</p>\n<p><code>p</code></p>\n<ul>\n<li>First.</li>\n<li>Second.</li>"},
		{"verdict about all", "<div class=\"verdict\">\n<ul>\n<li>Of all.</li>"},
		{"table", `<th scope="col">strategy</th><th scope="col" class="n">calls</th>`},
		{"numbers", `<td>none</td><td class="n">1,234.5</td><td class="n">never</td><td class="n">3.1–4.2</td><td>12</td>`},
		{"table caption", "<caption>In numbers</caption>"},
		{"figure", `data-picture="0" data-group="section0"`},
		{"figure caption", "<figcaption>A figure &amp; its caption</figcaption>"},
		{"file", `<a download="one.csv" href="data:text/csv;base64,` + base64.StdEncoding.EncodeToString([]byte("a,b\n1,2\n")) + `">one.csv</a>`},
		{"notes", "<dd>lab -seed 1 &lt;in &gt;out</dd>"},
		{"dark", "prefers-color-scheme:dark"},
		{"phones", `name="viewport"`},
		{"paper", "@media print"},
		{"the script", "charts.draw("},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.True(t, strings.Contains(out, tt.has), tt.has) })
	}
	assert.Equal(t, 2, strings.Count(out, "data-picture=\""))
	assert.Equal(t, 1, strings.Count(out, "<figcaption>"), "no caption, no line for it")
	assert.Equal(t, 1, strings.Count(out, "<table>"))
	assert.Equal(t, 3, strings.Count(out, "</script>"), "names cannot end a script")
}

func TestData(t *testing.T) {
	found := regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`).FindStringSubmatch(write(t, example()))
	require.NotNil(t, found)
	var data struct {
		Own      []string
		Pictures []struct {
			Kind   string
			Series []struct {
				Name string
				X, Y []float64
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(found[1]), &data))
	assert.Equal(t, []string{"<a> & b"}, data.Own)
	require.Len(t, data.Pictures, 2)
	assert.Equal(t, "lines", data.Pictures[1].Kind)
	assert.Equal(t, "<a> & b", data.Pictures[1].Series[0].Name)
	assert.Equal(t, []float64{3, 4}, data.Pictures[1].Series[0].Y)
}

// The page fetches nothing.
func TestAlone(t *testing.T) {
	out := strings.ReplaceAll(write(t, example()), chart.Script(), "") // the script is tested in a browser
	for _, no := range []string{"http:", "https:", "@import", "url(", "src=", "ZgotmplZ"} {
		assert.False(t, strings.Contains(out, no), no)
	}
}

func TestEmpty(t *testing.T) {
	out := write(t, page.Page{Title: "Nothing", Sections: []report.Section{{}}})
	_, body, _ := strings.Cut(out, "<main>")
	body, _, _ = strings.Cut(body, "</main>")
	for _, no := range []string{"<h2>", "<footer>", "<table>", "<figure>", "<p>", "verdict"} {
		assert.NotContains(t, strings.ReplaceAll(body, "<noscript><p>", ""), no)
	}
}

func TestErrors(t *testing.T) {
	t.Run("a picture of nothing", func(t *testing.T) {
		var out bytes.Buffer
		err := page.Write(&out, page.Page{Sections: []report.Section{{Heading: "s", Figures: []report.Figure{{Picture: chart.Lines{}}}}}})
		assert.ErrorContains(t, err, `page: section "s": chart: lines: 0 series`)
		assert.Zero(t, out.Len(), "half a page is worse than none")
	})
	t.Run("a row too short", func(t *testing.T) {
		table := &report.Table{Headers: []string{"a", "b"}, Rows: [][]string{{"1", "2"}, {"1"}}}
		err := page.Write(&bytes.Buffer{}, page.Page{Sections: []report.Section{{Heading: "s", Table: table}}})
		assert.ErrorContains(t, err, "row 2 of the table has 1 cells, for 2 headers")
	})
	t.Run("a full disk", func(t *testing.T) {
		assert.ErrorIs(t, page.Write(full{}, page.Page{}), errFull)
	})
}

var errFull = errors.New("full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
