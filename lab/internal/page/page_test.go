package page_test

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/lab/internal/chart"
	"github.com/gobackoff/retry/lab/internal/page"
)

func report(t *testing.T) page.Page {
	t.Helper()
	svg, err := chart.Lines{
		Title:  "A line",
		Series: []chart.Series{{Name: "one", X: []float64{1, 2}, Y: []float64{3, 4}}},
	}.SVG()
	require.NoError(t, err)
	return page.Page{
		Title: "Storms & <calm>",
		Lead:  "What was found.\n\nAnd what not.",
		Sections: []page.Section{
			{
				Heading: "First",
				Text:    "One.\n \nTwo <b>.",
				Table: &page.Table{
					Caption: "In numbers",
					Headers: []string{"strategy", "calls", "recovery (s)", "interval", "mixed"},
					Rows: [][]string{
						{"none", "1,234.5", "never", "3.1–4.2", "12"},
						{"full jitter", "−3", "12.4", "2 ± 0.1", "twelve"},
					},
				},
				Figures: []page.Figure{{SVG: svg, Caption: "A figure & its caption"}, {SVG: svg}},
			},
			{Heading: "Second"},
		},
		Notes: []page.Note{{Name: "command", Value: "lab -seed 1 <in >out"}, {Name: "seed", Value: "1"}},
	}
}

func write(t *testing.T, p page.Page) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, page.Write(&out, p))
	return out.String()
}

func TestWrite(t *testing.T) {
	p := report(t)
	out := write(t, p)
	assert.Equal(t, out, write(t, p), "the same page gives the same bytes")
	for _, tt := range []struct{ name, has string }{
		{"title", "<title>Storms &amp; &lt;calm&gt;</title>"},
		{"heading", "<h1>Storms &amp; &lt;calm&gt;</h1>"},
		{"lead", `<p class="lead">And what not.</p>`},
		{"paragraphs", "<p>One.</p>\n<p>Two &lt;b&gt;.</p>"},
		{"table", `<th scope="col">strategy</th><th scope="col" class="n">calls</th>`},
		{"numbers", `<td>none</td><td class="n">1,234.5</td><td class="n">never</td><td class="n">3.1–4.2</td><td>12</td>`},
		{"table caption", "<caption>In numbers</caption>"},
		{"figure caption", "<figcaption>A figure &amp; its caption</figcaption>"},
		{"notes", "<dd>lab -seed 1 &lt;in &gt;out</dd>"},
		{"dark", "prefers-color-scheme: dark"},
		{"phones", `name="viewport"`},
		{"paper", "@media print"},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Contains(t, out, tt.has) })
	}
	assert.Equal(t, 2, strings.Count(out, "<svg "))
	assert.Equal(t, 1, strings.Count(out, "<figcaption>"), "no caption, no line for it")
	assert.Equal(t, 1, strings.Count(out, "<table>"))
}

// TestAlone: a page fetches nothing and runs nothing.
func TestAlone(t *testing.T) {
	out := write(t, report(t))
	addresses := regexp.MustCompile(`[a-z]+://[^"\s<]*`).FindAllString(out, -1)
	for _, a := range addresses {
		assert.Equal(t, "http://www.w3.org/2000/svg", a)
	}
	for _, no := range []string{"<script", "<link", "url(", "@import", "src=", "ZgotmplZ"} {
		assert.NotContains(t, out, no)
	}
}

func TestEmpty(t *testing.T) {
	out := write(t, page.Page{Title: "Nothing", Sections: []page.Section{{}}})
	for _, no := range []string{"<h2>", "<footer>", "<table>", "<figure>", "<p"} {
		assert.NotContains(t, out, no)
	}
}

// TestIDs: ids of one figure and references to them do not meet those of another.
func TestIDs(t *testing.T) {
	svg := []byte(`<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" aria-labelledby="a b"><title id="a">x id="a" y</title><desc id='b'/>
<clipPath id="c"/><path clip-path="url(#c)"/><use href="#c"/><style>.p{fill:url(#c)}</style></svg>`)
	out := write(t, page.Page{Sections: []page.Section{{Figures: []page.Figure{{SVG: svg}, {SVG: svg}}}}})
	for _, want := range []string{
		`<svg xmlns="http://www.w3.org/2000/svg" aria-labelledby="f2-a f2-b"><title id="f2-a">x id="a" y</title><desc id='f2-b'/>`,
		`<clipPath id="f2-c"/><path clip-path="url(#f2-c)"/><use href="#f2-c"/>`,
		`.p{fill:url(#f2-c)}`,
	} {
		assert.Contains(t, out, want)
		assert.Contains(t, out, strings.ReplaceAll(want, "f2-", "f1-"))
	}
	assert.NotContains(t, out, "<?xml")
}

func TestErrors(t *testing.T) {
	const open = `<svg xmlns="http://www.w3.org/2000/svg">`
	for _, tt := range []struct {
		name, svg, says string
	}{
		{"nothing", "", "0 pictures"},
		{"not SVG", "<p>text</p>", "begins with <p>"},
		{"not well-formed", open + "<g></svg>", "not well-formed"},
		{"cut off", open, "not well-formed"},
		{"two", open + "</svg>" + open + "</svg>", "2 pictures"},
		{"text behind it", open + "</svg>text", "text outside"},
		{"script", open + "<script>1</script></svg>", "element <script>"},
		{"handler", `<svg onload="x()"></svg>`, "attribute onload"},
		{"foreign", open + "<foreignObject/></svg>", "element <foreignObject>"},
		{"image", open + `<image href="x.png"/></svg>`, "element <image>"},
		{"link", open + `<a href="javascript:x()"/></svg>`, "href of <a>"},
		{"paint", open + `<path fill="url(https://example.com/x)"/></svg>`, "fill of <path>"},
		{"escaped paint", open + `<path style="fill:\75rl(x)"/></svg>`, "style of <path>"},
		{"style sheet", open + `<style>@import "x"</style></svg>`, "style sheet"},
		{"declaration", open + "<!DOCTYPE x></svg>", "declaration"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			err := page.Write(&out, page.Page{Sections: []page.Section{{Heading: "s", Figures: []page.Figure{{SVG: []byte(tt.svg)}}}}})
			assert.ErrorContains(t, err, `page: section "s", figure 1: `)
			assert.ErrorContains(t, err, tt.says)
			assert.Zero(t, out.Len(), "half a page is worse than none")
		})
	}
	t.Run("a row too short", func(t *testing.T) {
		table := &page.Table{Headers: []string{"a", "b"}, Rows: [][]string{{"1", "2"}, {"1"}}}
		err := page.Write(&bytes.Buffer{}, page.Page{Sections: []page.Section{{Heading: "s", Table: table}}})
		assert.ErrorContains(t, err, "row 2 of the table has 1 cells, for 2 headers")
	})
	t.Run("a full disk", func(t *testing.T) {
		assert.ErrorIs(t, page.Write(full{}, page.Page{}), errFull)
	})
}

var errFull = errors.New("full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
