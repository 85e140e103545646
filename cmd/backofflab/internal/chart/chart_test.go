package chart

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func picture(change func(*Picture)) *Picture {
	p := Picture{
		Kind: Lines, Title: "t", Series: []Series{{Name: "a", X: Numbers{1, 2}, Y: Numbers{3, 4.123456789}}},
		Shade: &Interval{60, 90, "outage"}, Mark: &Mark{1.5, "capacity"}, First: &Interval{From: 55, To: 100},
	}
	change(&p)
	return &p
}

func TestMarshal(t *testing.T) {
	for want, p := range map[string]*Picture{
		`{"kind":"lines","title":"t","x":{"label":""},"y":{"label":""},` +
			`"series":[{"name":"a","x":[1,2],"y":[3,4.1235]}],` +
			`"shade":{"from":60,"to":90,"label":"outage"},"mark":{"y":1.5,"label":"capacity"},"first":{"from":55,"to":100,"label":""}}`: picture(func(*Picture) {}),
		`{"kind":"strips","title":"","x":{"label":"ms","log":true},"y":{"label":""},"series":[{"name":"b","x":[50],"y":[0],"muted":true}]}`: {
			Kind: Strips, X: Axis{"ms", true}, Series: []Series{{Name: "b", X: Numbers{50}, Y: Numbers{0}, Muted: true}}},
	} {
		got, err := p.Marshal()
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
}

func TestMarshalRefuses(t *testing.T) {
	for says, change := range map[string]func(p *Picture){
		"chart: 0 series":                       func(p *Picture) { p.Series = nil },
		"chart: 8 series":                       func(p *Picture) { p.Series = make([]Series, 8) },
		`chart: series "e": 0 x, 0 y`:           func(p *Picture) { p.Series[0] = Series{Name: "e"} },
		"2 x, 1 y":                              func(p *Picture) { p.Series[0].Y = Numbers{1} },
		"unsupported value: NaN":                func(p *Picture) { p.Series[0].Y[1] = math.NaN() },
		"unsupported value: +Inf":               func(p *Picture) { p.Mark.Y = math.Inf(1) },
		"not above 0, and the axis":             func(p *Picture) { p.Y.Log, p.Series[0].Y[0] = true, 0 },
		"a value is not above 0, and the axis ": func(p *Picture) { p.X.Log, p.Series[0].X[1] = true, -1 },
	} {
		t.Run(says, func(t *testing.T) {
			out, err := picture(change).Marshal()
			assert.ErrorContains(t, err, says)
			assert.ErrorContains(t, err, "chart: ")
			assert.Nil(t, out)
		})
	}
}
