package chart_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry/lab/internal/chart"
)

// change applies f to a picture before it is drawn.
func change[T picture](p T, f func(*T)) picture {
	f(&p)
	return p
}

// TestErrors: what cannot be drawn is an error that says where it stands.
func TestErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, tt := range []struct {
		name    string
		picture picture
		says    string
	}{
		{"no series", chart.Lines{}, "no series"},
		{"no values", chart.Lines{Series: []chart.Series{{Name: "a"}}}, `"a": no values`},
		{"lengths", change(lines(2), func(l *chart.Lines) { l.Series[1].Y = l.Series[1].Y[1:] }), `"line 1": 19 x, 18 y`},
		{"half a band", change(lines(2), func(l *chart.Lines) { l.Series[0].High = nil }), "0 high"},
		{"a band upside down", change(lines(1), func(l *chart.Lines) { l.Series[0].Low[3] = 1e6 }), "the band at 3"},
		{"NaN", change(lines(1), func(l *chart.Lines) { l.Series[0].Y[4] = nan }), "y: value 4 is NaN"},
		{"infinity", change(lines(1), func(l *chart.Lines) { l.Series[0].X[0] = inf }), "x: value 0 is +Inf"},
		{"infinite band", change(lines(1), func(l *chart.Lines) { l.Series[0].High[2] = inf }), "high: value 2 is +Inf"},
		{"beyond every axis", change(lines(1), func(l *chart.Lines) { l.Series[0].Y[0] = 1e308 }), "1e+308"},
		{"logarithm of 0", change(logLines(), func(l *chart.Lines) { l.Series[0].Low[0] = 0 }), "the axis is logarithmic"},
		{"negative mark", change(logLines(), func(l *chart.Lines) { l.Marks[0].Y = -1 }), `"capacity": value 0 is -1`},
		{"limits", change(lines(1), func(l *chart.Lines) { l.X.Min, l.X.Max = 3, 2 }), "goes from 3 to 2"},
		{"limits of a logarithm", change(logLines(), func(l *chart.Lines) { l.Y.Max = 10 }), "the axis is logarithmic"},
		{"limits that are equal", change(lines(1), func(l *chart.Lines) { l.X.Min, l.X.Max = 3, 3 }), "goes from 3 to 3"},
		{"interval", change(lines(1), func(l *chart.Lines) { l.Shade[0].To = 0 }), `"outage": goes from 60 to 0`},
		{"endless interval", change(lines(1), func(l *chart.Lines) { l.Shade[0].To = inf }), "+Inf"},
		{"too many lines", lines(25), "25 series, and 24 can be told apart"},

		{"no points", chart.Points{}, "no points"},
		{"too many points", points(61), "61 points"},
		{"a point of NaN", change(points(3), func(p *chart.Points) { p.Points[1].Y = nan }), `"point 1", y: value 0 is NaN`},
		{"a point at 0", change(points(3), func(p *chart.Points) { p.Points[2].X = 0 }), `"point 2", x`},
		{"a curve of nothing", change(points(3), func(p *chart.Points) { p.Curve.X = nil }), `"best": no values`},

		{"no strips", panels(0), "0 strips"},
		{"too many strips", panels(13), "13 strips"},
		{"no width", change(panels(1), func(p *chart.Panels) { p.Width = 0 }), "bins are 0 wide"},
		{"no bins", change(panels(2), func(p *chart.Panels) { p.Strips[1].Values = nil }), `"strip 1": 0 bins`},
		{"fewer than none", change(panels(2), func(p *chart.Panels) { p.Strips[1].Values[7] = -1 }), `"strip 1": value 7 is -1`},
		{"a bin of NaN", change(panels(1), func(p *chart.Panels) { p.Strips[0].Values[9] = nan }), "value 9 is NaN"},
		{"bins on a logarithm", change(panels(1), func(p *chart.Panels) { p.X.Log, p.From = true, 1 }), "logarithmic"},

		{"no cells", chart.Map{}, "0 columns and 0 rows"},
		{"too many columns", grid(31, 2), "31 columns"},
		{"rows", change(grid(3, 2), func(m *chart.Map) { m.Cells = m.Cells[:1] }), "cells of 1 rows, for 2"},
		{"columns", change(grid(3, 2), func(m *chart.Map) { m.Cells[1] = nil }), "row 1 has 0 cells"},
		{"a cell of NaN", change(grid(3, 2), func(m *chart.Map) { m.Cells[1][2] = nan }), "row 1, column 2: value 0 is NaN"},
		{"a cell before any time", change(grid(3, 2), func(m *chart.Map) { m.Cells[0][0] = math.Inf(-1) }), "-Inf"},
		{"a cell of 0", change(grid(3, 2), func(m *chart.Map) { m.Cells[0][1] = 0 }), "logarithmic"},
		{"order", change(grid(3, 2), func(m *chart.Map) { m.Xs[0] = 9 }), "do not ascend"},
		{"a column of NaN", change(grid(3, 2), func(m *chart.Map) { m.Xs[2] = nan }), "columns: value 2 is NaN"},

		{"no ranges", ranges(0), "0 of them"},
		{"too many ranges", ranges(31), "31 of them"},
		{"a range of NaN", change(ranges(2), func(r *chart.Ranges) { r.Ranges[1].P50 = nan }), `"2": value 3 is NaN`},
		{"a range at 0", change(ranges(2), func(r *chart.Ranges) { r.Ranges[0].Min = 0 }), "logarithmic"},
		{"order of a range", change(ranges(2), func(r *chart.Ranges) { r.Ranges[0].P25 = 1e9 }), "does not ascend"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := tt.picture.SVG()
			assert.ErrorContains(t, err, tt.says)
			assert.ErrorContains(t, err, "chart: ")
			assert.Nil(t, out)
		})
	}
}
