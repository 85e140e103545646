package chart

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// look tells one line or point from the others. While colors repeat, markers and
// dashes together do not, so that a reader may do without colors. In all pictures the
// n-th of what is compared has the n-th look.
type look struct {
	hue    role
	dash   []vg.Length
	width  vg.Length
	marker int // -1: none
}

const (
	markers = 6
	// fewPoints is up to how many points of a line each get a marker.
	fewPoints = 40
	// most is how many lines can be told apart.
	most = hues * 4
)

// A dash for each round of the colors, so that color and dash together do not repeat.
var dashes = [][]vg.Length{nil, {7, 3}, {2, 2.5}, {9, 3, 2, 3}}

// lookOf returns the n-th look.
func lookOf(n int) look {
	round := n / hues
	return look{hue: firstHue + role(n%hues), dash: dashes[round%len(dashes)], width: 1.9, marker: (n + round) % markers}
}

// looks gives each series its look. Gray ones do not use up a color.
func looks(series []Series) []look {
	out := make([]look, len(series))
	next := 0
	for i, s := range series {
		out[i] = look{hue: mutedHue, width: 1.6, marker: -1}
		if !s.Muted {
			out[i] = lookOf(next)
			next++
		}
	}
	return out
}

func (l look) line() draw.LineStyle {
	return draw.LineStyle{Color: l.hue, Width: l.width, Dashes: l.dash}
}

// key draws the sample of a line for the legend.
func (l look) key(name string) key {
	return key{name: name, draw: func(c *draw.Canvas, at vg.Point) {
		c.StrokeLine2(l.line(), at.X, at.Y, at.X+swatch, at.Y)
		mark(c, l.marker, l.hue, vg.Point{X: at.X + swatch/2, Y: at.Y}, 3.6)
	}}
}

// mark draws a marker of about the radius r. A rim of paper keeps markers that
// touch apart.
func mark(c *draw.Canvas, marker int, colour role, at vg.Point, r vg.Length) {
	if marker < 0 {
		return
	}
	outline := markerPath(marker, at, r)
	c.SetLineStyle(draw.LineStyle{Color: paper, Width: 1.6})
	c.Stroke(outline)
	c.SetColor(colour)
	c.Fill(outline)
}

// markerPath outlines one of the markers: circle, square, triangle, diamond,
// triangle on its tip, cross. They are of about the same area.
func markerPath(marker int, at vg.Point, r vg.Length) vg.Path {
	switch marker % markers {
	case 0:
		var p vg.Path
		p.Move(vg.Point{X: at.X + r, Y: at.Y})
		p.Arc(at, r, 0, 2*math.Pi)
		p.Close()
		return p
	case 1:
		return polygon(at, r*1.22, 4, math.Pi/4)
	case 2:
		return polygon(at, r*1.35, 3, math.Pi/2)
	case 3:
		return polygon(at, r*1.3, 4, math.Pi/2)
	case 4:
		return polygon(at, r*1.35, 3, -math.Pi/2)
	}
	return cross(at, r*1.25)
}

func polygon(at vg.Point, r vg.Length, corners int, start float64) vg.Path {
	var p vg.Path
	for i := range corners {
		sin, cos := math.Sincos(start + 2*math.Pi*float64(i)/float64(corners))
		corner := at.Add(vg.Point{X: r * vg.Length(cos), Y: r * vg.Length(sin)})
		if i == 0 {
			p.Move(corner)
		} else {
			p.Line(corner)
		}
	}
	p.Close()
	return p
}

// cross is a plus sign with arms a third as thick as they are long.
func cross(at vg.Point, r vg.Length) vg.Path {
	a := r / 3
	var p vg.Path
	for i, d := range []vg.Point{
		{X: -a, Y: r}, {X: a, Y: r}, {X: a, Y: a}, {X: r, Y: a}, {X: r, Y: -a}, {X: a, Y: -a},
		{X: a, Y: -r}, {X: -a, Y: -r}, {X: -a, Y: -a}, {X: -r, Y: -a}, {X: -r, Y: a}, {X: -a, Y: a},
	} {
		if i == 0 {
			p.Move(at.Add(d))
		} else {
			p.Line(at.Add(d))
		}
	}
	p.Close()
	return p
}
