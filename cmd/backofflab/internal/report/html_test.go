package report_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/gobackoff/retry/cmd/backofflab/internal/chart"
	"github.com/gobackoff/retry/cmd/backofflab/internal/report"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHTML(t *testing.T) {
	section := report.Section{
		Heading: "One & <b>", Lead: "<lead>", Text: []string{"One.", "Two <b>."},
		Findings: []report.Finding{{Policy: "<p>", Headline: "Recovers", Text: "First."}, {Headline: "Down", Bad: true, Text: "100%d"}},
		Table: &report.Table{Headers: []string{"policy", "time"}, Rows: [][]report.Cell{
			{{Text: "<none>"}, {Text: "never", Bad: true}}, {{Text: "full"}, {Text: "17 ± 1"}},
		}},
		Figures: []report.Figure{{Caption: "A figure & its caption", Picture: &chart.Picture{
			Title: "</script>", Series: []chart.Series{{Name: "<a> & b", X: chart.Numbers{1}, Y: chart.Numbers{3}}},
		}}},
		Files: []report.File{{Name: "one.csv", Data: []byte("a,b\n1,2\n")}},
	}
	text, pictures, err := section.HTML()
	require.NoError(t, err)
	rest := text
	for _, next := range []string{ // in this order
		"<h2>One &amp; &lt;b&gt;</h2>",
		`<p class="lead">&lt;lead&gt;</p>`,
		"<div class=\"verdict good\">\n<p class=\"headline\">Recovers</p>\n<p><code>&lt;p&gt;</code></p>\n<p>First.</p>\n</div>",
		"<div class=\"verdict bad\">\n<p class=\"headline\">Down</p>\n<p>100%d</p>\n</div>",
		`<th scope="col">policy</th><th scope="col">time</th>`,
		`<th scope="row">&lt;none&gt;</th><td class="bad">never</td>`,
		`<th scope="row">full</th><td>17 ± 1</td>`,
		`<div class="chart" role="img" aria-label="A figure &amp; its caption"></div>`,
		"<figcaption>A figure &amp; its caption</figcaption>",
		"<p>One.</p>\n<p>Two &lt;b&gt;.</p>",
		`<a download="one.csv" href="data:text/csv;base64,` + base64.StdEncoding.EncodeToString([]byte("a,b\n1,2\n")) + `">one.csv</a>`,
	} {
		_, after, ok := strings.Cut(rest, next)
		require.True(t, ok, "%s\nin %s", next, rest)
		rest = after
	}
	require.Len(t, pictures, 1)
	var picture struct {
		Series []struct{ Name string }
	}
	require.NoError(t, json.Unmarshal(pictures[0], &picture))
	assert.Equal(t, "<a> & b", picture.Series[0].Name)
	assert.NotContains(t, string(pictures[0]), "</script", "it may be part of a script")

	text, pictures, err = report.Section{}.HTML()
	require.NoError(t, err)
	assert.Empty(t, text)
	assert.Empty(t, pictures)
	_, _, err = report.Section{Heading: "s", Figures: []report.Figure{{Picture: &chart.Picture{}}}}.HTML()
	assert.ErrorContains(t, err, `section "s": chart: 0 series`)
}
