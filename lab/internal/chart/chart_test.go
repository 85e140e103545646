package chart

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var nan, inf = math.NaN(), math.Inf(1)

func lines(change func(*Lines)) Lines {
	l := Lines{
		Title: "t", Series: []Series{{Name: "a", X: Numbers{1, 2}, Y: Numbers{3, 4}, Low: Numbers{2, 3}, High: Numbers{4, 5}}},
		Shade: []Interval{{60, 90, "outage"}}, Marks: []Mark{{1.5, "capacity"}}, First: &Interval{From: 55, To: 100},
	}
	change(&l)
	return l
}

func points(change func(*Points)) Points {
	p := Points{Points: []Point{{"a", 1, 2}, {"b", 3, 4}}, Curve: &Series{Name: "best", X: Numbers{1}, Y: Numbers{1}}}
	change(&p)
	return p
}

func strips(change func(*Strips)) Strips {
	s := Strips{Width: 50, Strips: []Strip{{"a", Numbers{1, 2}}, {"b", Numbers{0, 0}}}}
	change(&s)
	return s
}

func cells(change func(*Map)) Map {
	m := Map{Xs: Numbers{0.1, 0.2}, Rows: []Row{{"a", "full a", Numbers{1, inf}}, {"b", "full b", Numbers{0, 7}}}}
	change(&m)
	return m
}

func ranges(change func(*Ranges)) Ranges {
	r := Ranges{Ranges: []Range{{"1", 0, 1, 2, 3, 4, 5, 6}}}
	change(&r)
	return r
}

func TestMarshal(t *testing.T) {
	for want, p := range map[string]Picture{
		`{"kind":"lines","title":"t","x":{"label":""},"y":{"label":""},` +
			`"series":[{"name":"a","x":[1,2],"y":[3,4],"low":[2,3],"high":[4,5]}],` +
			`"shade":[{"from":60,"to":90,"label":"outage"}],"marks":[{"y":1.5,"label":"capacity"}],"first":{"from":55,"to":100,"label":""}}`: lines(func(*Lines) {}),
		`{"kind":"points","title":"","x":{"label":"","log":true},"y":{"label":""},"points":[{"name":"a","x":1,"y":2},{"name":"b","x":3,"y":4}],` +
			`"curve":{"name":"best","x":[1],"y":[1]}}`: points(func(p *Points) { p.X.Log = true }),
		`{"kind":"strips","title":"","x":{"label":""},"y":{"label":""},"width":50,"strips":[{"name":"a","values":[1.2346,2]},{"name":"b","values":[0,0]}]}`:                                strips(func(s *Strips) { s.Strips[0].Values[0] = 1.23456789 }),
		`{"kind":"map","title":"","x":{"label":""},"y":{"label":""},"xs":[0.1,0.2],"rows":[{"name":"a","policy":"full a","cells":[1,null]},{"name":"b","policy":"full b","cells":[0,7]}]}`: cells(func(*Map) {}),
		`{"kind":"ranges","title":"","x":{"label":""},"y":{"label":""},"ranges":[{"name":"1","values":[0,1,2,3,4,5,6]}]}`:                                                                  ranges(func(*Ranges) {}),
	} {
		got, err := Marshal(p)
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
}

func TestMarshalRefuses(t *testing.T) {
	for _, tt := range []struct {
		name    string
		picture Picture
		says    string
	}{
		{"no lines", Lines{}, "lines: 0 series, not 1 to 24"},
		{"too many lines", lines(func(l *Lines) { l.Series = make([]Series, 25) }), "25 series"},
		{"an empty line", lines(func(l *Lines) { l.Series[0] = Series{Name: "e"} }), `series "e": 0 x, 0 y`},
		{"lengths", lines(func(l *Lines) { l.Series[0].Y = nil }), "2 x, 0 y"},
		{"half a band", lines(func(l *Lines) { l.Series[0].Low = nil }), "2 x, 2 y, 0 low, 2 high"},
		{"a band upside down", lines(func(l *Lines) { l.Series[0].Low[1] = 9 }), "the band at 1 goes from 9 to 5"},
		{"NaN", lines(func(l *Lines) { l.Series[0].Y[1] = nan }), "y: value 1 is NaN"},
		{"infinity", lines(func(l *Lines) { l.Series[0].X[0] = inf }), "x: value 0 is +Inf"},
		{"beyond every axis", lines(func(l *Lines) { l.Series[0].Y[0] = 1e308 }), "1e+308"},
		{"logarithm of 0", lines(func(l *Lines) { l.Y.Log, l.Series[0].Low[0] = true, 0 }), "low: value 0 is 0, and the axis is logarithmic"},
		{"negative mark", lines(func(l *Lines) { l.Y.Log, l.Marks[0].Y = true, -1 }), `mark "capacity": value 0 is -1`},
		{"interval", lines(func(l *Lines) { l.Shade[0].To = 0 }), `interval "outage": goes from 60 to 0`},
		{"endless interval", lines(func(l *Lines) { l.Shade[0].To = inf }), "+Inf"},
		{"first part", lines(func(l *Lines) { l.First.To = 0 }), "goes from 55 to 0"},
		{"no points", Points{}, "points: 0 points"},
		{"a point of NaN", points(func(p *Points) { p.Points[1].Y = nan }), `point "b", y: value 0 is NaN`},
		{"a point at 0", points(func(p *Points) { p.X.Log, p.Points[0].X = true, 0 }), `point "a", x`},
		{"a curve of nothing", points(func(p *Points) { p.Curve.X = nil }), `series "best"`},
		{"no strips", Strips{Width: 1}, "0 strips, not 1 to 12"},
		{"no width", strips(func(s *Strips) { s.Width = 0 }), "width of a bin"},
		{"no bins", strips(func(s *Strips) { s.Strips[1].Values = nil }), `0 bins of strip "b"`},
		{"fewer than none", strips(func(s *Strips) { s.Strips[1].Values[0] = -1 }), "below 0"},
		{"a bin of NaN", strips(func(s *Strips) { s.Strips[0].Values[1] = nan }), "value 1 is NaN"},
		{"no cells", Map{}, "0 columns"},
		{"too many columns", cells(func(m *Map) { m.Xs = make(Numbers, 31) }), "31 columns"},
		{"columns", cells(func(m *Map) { m.Rows[1].Cells = nil }), `row "b" has 0 cells, for 2 columns`},
		{"a cell of NaN", cells(func(m *Map) { m.Rows[0].Cells[0] = nan }), `row "a": cell 0 is NaN`},
		{"a cell before the outage", cells(func(m *Map) { m.Rows[0].Cells[1] = -inf }), "-Inf"},
		{"order", cells(func(m *Map) { m.Xs[0] = 9 }), "do not ascend"},
		{"no ranges", Ranges{}, "0 ranges"},
		{"a range of NaN", ranges(func(r *Ranges) { r.Ranges[0].Median = nan }), `range "1": value 3 is NaN`},
		{"order of a range", ranges(func(r *Ranges) { r.Ranges[0].P25 = 1e9 }), "does not ascend"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := Marshal(tt.picture)
			assert.ErrorContains(t, err, tt.says)
			assert.ErrorContains(t, err, "chart: ")
			assert.Nil(t, out)
		})
	}
}
