package chart

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestPlace: up to 12 names of usual length find places that touch nothing, within
// the frame, however the points lie.
func TestPlace(t *testing.T) {
	for _, tt := range []struct {
		name string
		n    int
		wide float64
		at   func(i int) spot
	}{
		{"apart", 12, 130, func(i int) spot { return spot{40 + float64(i%4)*180, 40 + float64(i/4)*140} }},
		{"in the corners", 4, 130, func(i int) spot { return spot{4 + float64(i%2)*632, 4 + float64(i/2)*372} }},
		{"in a row", 12, 120, func(i int) spot { return spot{60 + float64(i)*45, 190} }},
		{"in a column", 12, 150, func(i int) spot { return spot{320, 60 + float64(i)*20} }},
		{"in one spot", 12, 120, func(int) spot { return spot{320, 190} }},
		{"in a corner all of them", 8, 120, func(i int) spot { return spot{600 + float64(i)*4, 360 + float64(i)} }},
		{"along a curve", 12, 150, func(i int) spot { return spot{40 + float64(i)*50, 30 + 330/float64(i+1)} }},
		{"numbers, 40", 40, 18, func(i int) spot {
			return spot{320 + 200*math.Sin(float64(i*i)), 190 + 120*math.Cos(float64(i*7))}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := labelling{frame: box{0, 0, 640, 380}, radius: 6}
			for i := range tt.n {
				l.at = append(l.at, tt.at(i))
				l.size = append(l.size, spot{tt.wide, 15})
			}
			assert.True(t, l.place())
			for i, b := range l.chosen {
				assert.True(t, b.within(l.frame), "label %d", i)
				for j, o := range l.chosen[:i] {
					assert.Zero(t, b.overlap(o), "labels %d and %d", i, j)
				}
			}
		})
	}
}

// TestNoPlace: a name wider than the frame has none, which place reports.
func TestNoPlace(t *testing.T) {
	l := labelling{frame: box{0, 0, 100, 100}, radius: 6, at: []spot{{50, 50}}, size: []spot{{200, 15}}}
	assert.False(t, l.place())
}
