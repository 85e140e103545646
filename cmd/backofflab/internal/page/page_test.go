package page_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/gobackoff/retry/cmd/backofflab/internal/chart"
	"github.com/gobackoff/retry/cmd/backofflab/internal/page"
	"github.com/gobackoff/retry/cmd/backofflab/internal/report"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// figure returns a picture whose names contain markup that could end a script.
func figure() []report.Figure {
	return []report.Figure{{Caption: "c", Picture: &chart.Picture{
		Title: "Calls </script><b>", Series: []chart.Series{{Name: "<a> & b", X: chart.Numbers{1, 2}, Y: chart.Numbers{3, 4}}},
	}}}
}

func example() page.Page {
	return page.Page{
		Title: "Storms & <calm>", Note: "Interrupted.",
		Sections: []report.Section{{Heading: "One", Figures: figure(), Own: []string{"<a> & b"}}, {Heading: "Two", Figures: figure()}},
		Facts:    []page.Fact{{Name: "Command", Value: "lab -seed 1 <in >out"}},
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
	for _, has := range []string{
		"<title>Storms &amp; &lt;calm&gt;</title>", "<h1>Storms &amp; &lt;calm&gt;</h1>", `<p class="error">Interrupted.</p>`,
		"<section id=\"section0\">\n<h2>One</h2>", "<p>Below: <a href=\"#section1\">Two</a></p>", "<section id=\"section1\">\n<h2>Two</h2>", "<dd>lab -seed 1 &lt;in &gt;out</dd>",
		"prefers-color-scheme:dark", `name="viewport"`, "@media print", "charts.draw(",
	} {
		assert.True(t, strings.Contains(out, has), has)
	}
	assert.Equal(t, 3, strings.Count(out, "</script>"), "names cannot end a script")

	found := regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`).FindStringSubmatch(out)
	require.NotNil(t, found)
	var data struct {
		Own      []string
		Pictures []struct{ Title string }
	}
	require.NoError(t, json.Unmarshal([]byte(found[1]), &data))
	assert.Equal(t, []string{"<a> & b"}, data.Own)
	assert.Len(t, data.Pictures, 2)

	// The page fetches nothing. The script is tested in a browser.
	out = strings.ReplaceAll(out, chart.Script(), "")
	for _, no := range []string{"http:", "https:", "@import", "url(", "src=", "ZgotmplZ"} {
		assert.False(t, strings.Contains(out, no), no)
	}
}

func TestEmpty(t *testing.T) {
	out := write(t, page.Page{Title: "Nothing"})
	_, body, _ := strings.Cut(out, "<main>")
	body, _, _ = strings.Cut(body, "</main>")
	for _, no := range []string{"<section", "<footer>", "error"} {
		assert.NotContains(t, body, no)
	}
}

func TestErrors(t *testing.T) {
	var out bytes.Buffer
	err := page.Write(&out, page.Page{Sections: []report.Section{{Heading: "s", Figures: []report.Figure{{Picture: &chart.Picture{}}}}}})
	assert.ErrorContains(t, err, `page: section "s": chart: 0 series`)
	assert.Zero(t, out.Len(), "half a page is worse than none")
	assert.ErrorIs(t, page.Write(full{}, page.Page{}), errFull, "a full disk")
}

var errFull = errors.New("full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
