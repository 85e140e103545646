package chart_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/lab/internal/chart"
)

type picture interface{ SVG() ([]byte, error) }

// every is one picture of each kind, with labels that need escaping.
func every() []struct {
	name    string
	picture picture
	texts   []string
} {
	return []struct {
		name    string
		picture picture
		texts   []string
	}{
		{"lines", lines(5), []string{"clients <n>", "calls & more", "line 0", "line 4", "outage", "capacity"}},
		{"lines, logarithmic", logLines(), []string{"clients <n>", "line 0", "100"}},
		{"many lines", lines(12), []string{"line 0", "line 11"}},
		{"points", points(12), []string{"calls per client", "ms per client", "point 0", "point 11", "best"}},
		{"many points", points(40), []string{"point 0", "point 39", "40"}},
		{"panels", panels(6), []string{"time (ms)", "calls per 50 ms", "strip 0", "strip 5"}},
		{"map", grid(11, 5), []string{"utilisation", "retries", "recovery (s)", "never", "threshold", "0.75"}},
		{"ranges", ranges(10), []string{"retry", "delay (ms)", "median", "10"}},
	}
}

func lines(n int) chart.Lines {
	l := chart.Lines{
		Title: `Calls <of> "all" & sundry`,
		X:     chart.Axis{Label: "clients <n>"},
		Y:     chart.Axis{Label: "calls & more"},
		Shade: []chart.Interval{{From: 60, To: 90, Label: "outage"}},
		Marks: []chart.HLine{{Y: 500, Label: "capacity"}, {Y: 505, Label: "demand"}},
	}
	for i := range n {
		s := chart.Series{Name: fmt.Sprintf("line %d", i)}
		for x := 10.0; x <= 190; x += 10 {
			y := x * float64(i+1)
			s.X, s.Y = append(s.X, x), append(s.Y, y)
			s.Low, s.High = append(s.Low, y*0.9), append(s.High, y*1.1)
		}
		l.Series = append(l.Series, s)
	}
	return l
}

func logLines() chart.Lines {
	l := lines(5)
	l.X.Log, l.Y.Log = true, true
	l.Series = append(l.Series, chart.Series{Name: "2N − 1", X: []float64{10, 190}, Y: []float64{19, 379}, Muted: true})
	return l
}

func points(n int) chart.Points {
	p := chart.Points{
		Title: "Points",
		X:     chart.Axis{Label: "calls per client", Log: true},
		Y:     chart.Axis{Label: "ms per client"},
		Curve: &chart.Series{Name: "best", X: []float64{1, 5, 20}, Y: []float64{900, 300, 100}, Muted: true},
	}
	for i := range n {
		p.Points = append(p.Points, chart.Point{
			Name: fmt.Sprintf("point %d", i), X: 1 + math.Mod(float64(i)*7.3, 19), Y: 100 + math.Mod(float64(i)*311, 900),
		})
	}
	return p
}

func panels(n int) chart.Panels {
	p := chart.Panels{Title: "Panels", X: chart.Axis{Label: "time (ms)"}, Y: chart.Axis{Label: "calls per 50 ms"}, Width: 50}
	for i := range n {
		s := chart.Strip{Name: fmt.Sprintf("strip %d", i)}
		for b := range 200 {
			s.Values = append(s.Values, float64((b*37+i)%90))
		}
		p.Strips = append(p.Strips, s)
	}
	return p
}

func grid(columns, rows int) chart.Map {
	m := chart.Map{
		Title: "Map", X: chart.Axis{Label: "utilisation"}, Y: chart.Axis{Label: "retries"},
		Scale: chart.Axis{Label: "recovery (s)", Log: true},
		Curve: &chart.Series{Name: "threshold", X: []float64{0.5, 1}, Y: []float64{4, 0}},
	}
	for k := range columns {
		m.Xs = append(m.Xs, 0.5+float64(k)*0.05)
	}
	m.Xs[0] = 0.5
	for i := range rows {
		m.Rows = append(m.Rows, fmt.Sprint(i))
		var row []float64
		for k := range columns {
			v := float64(1 + i*k*20)
			if i+k > 9 {
				v = math.Inf(1)
			}
			row = append(row, v)
		}
		m.Cells = append(m.Cells, row)
	}
	return m
}

func ranges(n int) chart.Ranges {
	r := chart.Ranges{Title: "Ranges", X: chart.Axis{Label: "retry"}, Y: chart.Axis{Label: "delay (ms)", Log: true}}
	for i := range n {
		top := 100 * math.Pow(2, float64(i))
		r.Ranges = append(r.Ranges, chart.Range{
			Name: fmt.Sprint(i + 1), Min: top / 100, P5: top / 20, P25: top / 4, P50: top / 2, P75: top * 0.75, P95: top * 0.95, Max: top,
		})
	}
	return r
}

// text collects what a reader sees, and fails where the XML is not well-formed.
func text(t *testing.T, svg []byte) []string {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	var out []string
	inside := ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			inside = token.Name.Local
		case xml.CharData:
			if inside == "text" {
				out = append(out, string(token))
			}
		case xml.EndElement:
			inside = ""
		}
	}
}

func svg(t *testing.T, p picture) []byte {
	t.Helper()
	out, err := p.SVG()
	require.NoError(t, err)
	return out
}

func TestPictures(t *testing.T) {
	standIn := regexp.MustCompile(`(?i)#f[9a]4[cd]`)
	for _, tt := range every() {
		t.Run(tt.name, func(t *testing.T) {
			out := svg(t, tt.picture)
			assert.Equal(t, string(out), string(svg(t, tt.picture)), "the same input gives the same bytes")
			assert.Subset(t, text(t, out), tt.texts)
			assert.Less(t, len(out), 100_000)

			assert.False(t, standIn.Match(out), "a colour that stands for a role is left")
			assert.NotContains(t, string(out), "NaN")
			assert.NotContains(t, string(out), "Inf")
			assert.NotContains(t, string(out), " id=", "ids of several pictures in a page would collide")
			assert.Equal(t, 1, strings.Count(string(out), "://"), "only the name space is an address")
			assert.NotContains(t, string(out), "url(")

			assert.Contains(t, string(out), `role="img"`)
			assert.Contains(t, string(out), "<title>")
			assert.Contains(t, string(out), "prefers-color-scheme:dark")
			assert.Contains(t, string(out), "sans-serif")
		})
	}
}

// TestEscaped: a title is text, and what XML cannot hold does not break it.
func TestEscaped(t *testing.T) {
	l := lines(1)
	l.Title = "a <b> & \"c\" ' \x00\x1b\xff style=\"fill:#FA4D04\""
	l.Series[0].Name = "x\x01y"
	l.X.Label = "\xffμs"
	out := svg(t, l)
	assert.Contains(t, text(t, out), "x y")
	assert.Contains(t, string(out), "<title>a &lt;b&gt; &amp; ")
}

// TestLinesDrawn counts lines and bands: none is lost, and none is drawn twice.
func TestLinesDrawn(t *testing.T) {
	for _, tt := range []struct {
		name          string
		picture       chart.Lines
		strokes, band int
	}{
		{"one", lines(1), 1, 1},
		{"five", lines(5), 5, 5},
		{"twelve", lines(12), 12, 12},
		{"with a grey one, not counted", logLines(), 5, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := string(svg(t, tt.picture))
			assert.Equal(t, tt.band, strings.Count(out, `fill-opacity=".16"`))
			// Each line is drawn once in the frame and once in the legend.
			strokes := strings.Count(out, `stroke-width="1.9"`)
			assert.Equal(t, 2*tt.strokes, strokes)
		})
	}
}

// TestShadeLabels: each name of an interval is somewhere, once.
func TestShadeLabels(t *testing.T) {
	for _, tt := range []struct {
		name  string
		shade []chart.Interval
		want  []string
	}{
		{"apart", []chart.Interval{{From: 20, To: 40, Label: "first"}, {From: 120, To: 140, Label: "second"}}, []string{"first", "second"}},
		{"close", []chart.Interval{{From: 60, To: 61, Label: "first"}, {From: 62, To: 63, Label: "second"}, {From: 64, To: 65, Label: "first"}}, []string{"first, second"}},
		{"at the edges", []chart.Interval{{From: -5, To: 11, Label: "first"}, {From: 189, To: 300, Label: "second"}}, []string{"first", "second"}},
		{"out of sight", []chart.Interval{{From: 300, To: 400, Label: "first"}}, nil},
		{"without a name", []chart.Interval{{From: 20, To: 40}}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := lines(1)
			l.Shade = tt.shade
			var got []string
			for _, label := range text(t, svg(t, l)) {
				if strings.Contains(label, "first") || strings.Contains(label, "second") {
					got = append(got, label)
				}
			}
			assert.Equal(t, tt.want, got)
			l.X.Log = true
			inFrame(t, svg(t, l))
		})
	}
}

// TestCut: what lies beyond set limits is not drawn outside of the frame.
func TestCut(t *testing.T) {
	l := lines(3)
	l.X.Min, l.X.Max, l.Y.Min, l.Y.Max = 50, 100, 100, 200
	p := points(12)
	p.Y.Min, p.Y.Max = 100, 300
	r := ranges(10)
	r.Y.Min, r.Y.Max = 100, 1000
	for _, tt := range []struct {
		name    string
		picture picture
	}{{"lines", l}, {"points", p}, {"ranges", r}} {
		t.Run(tt.name, func(t *testing.T) {
			inFrame(t, svg(t, tt.picture))
		})
	}
}

// inFrame checks that no coordinate of a path leaves the picture.
func inFrame(t *testing.T, out []byte) {
	t.Helper()
	var width, height float64
	_, err := fmt.Sscanf(string(regexp.MustCompile(`viewBox="[^"]*"`).Find(out)), `viewBox="0 0 %g %g"`, &width, &height)
	require.NoError(t, err)
	corner := regexp.MustCompile(`[ML](-?[\d.]+),(-?[\d.]+)`)
	for _, match := range corner.FindAllSubmatch(out, -1) {
		var x, y float64
		_, err := fmt.Sscan(string(match[1])+" "+string(match[2]), &x, &y)
		require.NoError(t, err)
		require.True(t, x >= 0 && x <= width && y >= 0 && y <= height, "%s of %v × %v", match[0], width, height)
	}
}

// TestExtremes: what is odd but finite is drawn.
func TestExtremes(t *testing.T) {
	one := func(x, y []float64) picture { return chart.Lines{Series: []chart.Series{{X: x, Y: y}}} }
	same := chart.Points{}
	for range 40 {
		same.Points = append(same.Points, chart.Point{Name: "the same", X: 1, Y: 1})
	}
	long := points(12)
	for i := range long.Points {
		long.Points[i].Name = strings.Repeat("a long name ", 20)
	}
	nowhere := points(5)
	nowhere.Y.Min, nowhere.Y.Max = 1e6, 2e6
	all := grid(3, 2)
	for _, row := range all.Cells {
		for k := range row {
			row[k] = math.Inf(1)
		}
	}
	titled := lines(2)
	titled.Title = strings.Repeat("word ", 60) + strings.Repeat("x", 400)
	titled.Y.Label = strings.Repeat("label ", 60)
	for _, tt := range []struct {
		name    string
		picture picture
	}{
		{"one point", one([]float64{5}, []float64{7})},
		{"all zero", one([]float64{0, 0}, []float64{0, 0})},
		{"negative", one([]float64{-2, -1}, []float64{-5, -3})},
		{"huge", one([]float64{0, 1e99}, []float64{-1e99, 1e99})},
		{"tiny", one([]float64{0, 1e-90}, []float64{0, 1e-95})},
		{"no difference to speak of", one([]float64{1e16, 1e16 + 2}, []float64{1, 1})},
		{"every decade", chart.Lines{Y: chart.Axis{Log: true}, Series: []chart.Series{{X: []float64{1, 2}, Y: []float64{1e-90, 1e90}}}}},
		{"one spot for 40 points", same},
		{"names longer than the frame", long},
		{"no point within the frame", nowhere},
		{"never anywhere", all},
		{"one cell", chart.Map{Xs: []float64{1}, Rows: []string{"a"}, Cells: [][]float64{{3}}, Curve: &chart.Series{X: []float64{1}, Y: []float64{0}}}},
		{"the largest map", grid(30, 30)},
		{"empty bins", chart.Panels{Width: 1, Strips: []chart.Strip{{Values: make([]float64, 10)}}}},
		{"empty bins, logarithmic", chart.Panels{Width: 1, Y: chart.Axis{Log: true}, Strips: []chart.Strip{{Values: make([]float64, 10)}}}},
		{"one value for a range", chart.Ranges{Ranges: []chart.Range{{}}}},
		{"30 ranges", ranges(30)},
		{"24 lines", lines(24)},
		{"12 strips", panels(12)},
		{"60 points", points(60)},
		{"a long title", titled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := svg(t, tt.picture)
			text(t, out)
			assert.NotContains(t, string(out), "NaN")
			assert.NotContains(t, string(out), "Inf")
			inFrame(t, out)
		})
	}
}

// TestConcurrent: a report may draw its pictures at the same time.
func TestConcurrent(t *testing.T) {
	for _, tt := range every() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, svg(t, tt.picture), svg(t, tt.picture))
		})
	}
}
