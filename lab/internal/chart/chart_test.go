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

func strips(change func(*Strips)) Strips {
	s := Strips{Width: 50, Strips: []Strip{{"a", Numbers{1, 2}}, {"b", Numbers{0, 0}}}}
	change(&s)
	return s
}

func TestMarshal(t *testing.T) {
	for want, p := range map[string]Picture{
		`{"kind":"lines","title":"t","x":{"label":""},"y":{"label":""},` +
			`"series":[{"name":"a","x":[1,2],"y":[3,4],"low":[2,3],"high":[4,5]}],` +
			`"shade":[{"from":60,"to":90,"label":"outage"}],"marks":[{"y":1.5,"label":"capacity"}],"first":{"from":55,"to":100,"label":""}}`: lines(func(*Lines) {}),
		`{"kind":"strips","title":"","x":{"label":""},"y":{"label":""},"width":50,"strips":[{"name":"a","values":[1.2346,2]},{"name":"b","values":[0,0]}]}`: strips(func(s *Strips) { s.Strips[0].Values[0] = 1.23456789 }),
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
		{"no lines", Lines{}, "lines: 0 series, not 1 to 7"},
		{"too many lines", lines(func(l *Lines) { l.Series = make([]Series, 8) }), "8 series"},
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
		{"no strips", Strips{Width: 1}, "0 strips, not 1 to 6"},
		{"no width", strips(func(s *Strips) { s.Width = 0 }), "width of a bin"},
		{"no bins", strips(func(s *Strips) { s.Strips[1].Values = nil }), `0 bins of strip "b"`},
		{"fewer than none", strips(func(s *Strips) { s.Strips[1].Values[0] = -1 }), "below 0"},
		{"a bin of NaN", strips(func(s *Strips) { s.Strips[0].Values[1] = nan }), "value 1 is NaN"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := Marshal(tt.picture)
			assert.ErrorContains(t, err, tt.says)
			assert.ErrorContains(t, err, "chart: ")
			assert.Nil(t, out)
		})
	}
}
