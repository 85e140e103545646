package chart

import (
	"errors"
	"fmt"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Range is a distribution in seven figures, in ascending order.
type Range struct {
	Name string // below the box: "1", or "retry 1"
	Min  float64
	P5   float64 // 5 % are below it
	P25  float64
	P50  float64 // the median
	P75  float64
	P95  float64
	Max  float64
}

func (r Range) values() []float64 { return []float64{r.Min, r.P5, r.P25, r.P50, r.P75, r.P95, r.Max} }

// Ranges shows distributions side by side, such as that of the delay before each
// retry.
type Ranges struct {
	Title  string
	X, Y   Axis // of X, the label only
	Ranges []Range
}

const mostRanges = 30

// SVG draws a box with whiskers for each range.
func (r Ranges) SVG() ([]byte, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	var ys reach
	x := scale{label: r.X.Label, min: -0.5, max: float64(len(r.Ranges)) - 0.5}
	names := r.names()
	for i, one := range r.Ranges {
		ys.add(one.values()...)
		x.ticks = append(x.ticks, plot.Tick{Value: float64(i), Label: names[i]})
	}
	s := newSheet(r.Title, r.Y.Label, 370, []key{
		{name: "median", draw: keyMedian}, {name: "25 to 75 %", draw: keyBox},
		{name: "5 to 95 %", draw: keyWhisker}, {name: "least and most", draw: keyEnds},
	})
	p := newPlot(x, r.Y.scale(ys.lo, ys.hi, true))
	p.Add(drawing(func(c draw.Canvas, p *plot.Plot) {
		for i, one := range r.Ranges {
			one.draw(c, p, float64(i))
		}
	}))
	p.Draw(s.body)
	return s.bytes()
}

func (r Ranges) check() error {
	errs := []error{r.Y.check()}
	if len(r.Ranges) == 0 || len(r.Ranges) > mostRanges {
		errs = append(errs, fmt.Errorf("chart: ranges: %d of them, not 1 to %d", len(r.Ranges), mostRanges))
	}
	for _, one := range r.Ranges {
		what := fmt.Sprintf("range %q", one.Name)
		values := one.values()
		errs = append(errs, r.Y.fit(what, values...))
		for i := 1; i < len(values); i++ {
			if values[i] < values[i-1] {
				errs = append(errs, fmt.Errorf("chart: %s: %v does not ascend", what, values))
				break
			}
		}
	}
	return errors.Join(errs...)
}

// names breaks names at spaces where they would touch, and leaves some out where
// they still would.
func (r Ranges) names() []string {
	sty := style(tickSize, ink)
	room := (width - 6*margin) / vg.Length(len(r.Ranges))
	widest := func(names []string) (w vg.Length) {
		for _, n := range names {
			w = max(w, sty.Width(n)+6)
		}
		return w
	}
	names := make([]string, len(r.Ranges))
	for i, one := range r.Ranges {
		names[i] = plain(one.Name)
	}
	if widest(names) > room {
		for i := range names {
			names[i] = strings.ReplaceAll(cut(sty, names[i], width/4), " ", "\n")
		}
	}
	every := 1 + int(widest(names)/room-1e-9)
	for i := range names {
		if i%every != 0 {
			names[i] = ""
		}
	}
	return names
}

func (r Range) draw(c draw.Canvas, p *plot.Plot, at float64) {
	x, y := p.Transforms(&c)
	half := min((x(1)-x(0))*0.31, 22)
	middle := x(at)
	line := draw.LineStyle{Color: firstHue, Width: 1.3}
	stroke := func(sty draw.LineStyle, x0 vg.Length, v0 float64, x1 vg.Length, v1 float64) {
		c.StrokeLines(sty, c.ClipLinesXY([]vg.Point{{X: x0, Y: y(v0)}, {X: x1, Y: y(v1)}})...)
	}
	stroke(line, middle, r.P5, middle, r.P25)
	stroke(line, middle, r.P75, middle, r.P95)
	stroke(line, middle-half/2, r.P5, middle+half/2, r.P5)
	stroke(line, middle-half/2, r.P95, middle+half/2, r.P95)
	if box := c.ClipPolygonXY(rectangle(middle-half, y(r.P25), middle+half, y(r.P75))); len(box) > 0 {
		c.FillPolygon(paper, box)
		c.FillPolygon(firstHue.tint(), box)
		c.StrokeLines(line, append(box, box[0]))
	}
	stroke(draw.LineStyle{Color: firstHue + 1, Width: 2.6}, middle-half, r.P50, middle+half, r.P50)
	for _, v := range []float64{r.Min, r.Max} {
		if end := (vg.Point{X: middle, Y: y(v)}); c.Contains(end) {
			dot(&c, end)
		}
	}
}

func keyMedian(c *draw.Canvas, at vg.Point) {
	c.StrokeLine2(draw.LineStyle{Color: firstHue + 1, Width: 2.6}, at.X, at.Y, at.X+swatch, at.Y)
}

func keyBox(c *draw.Canvas, at vg.Point) {
	box := rectangle(at.X, at.Y-6, at.X+swatch, at.Y+6)
	c.FillPolygon(firstHue.tint(), box)
	c.StrokeLines(draw.LineStyle{Color: firstHue, Width: 1.3}, append(box, box[0]))
}

func keyWhisker(c *draw.Canvas, at vg.Point) {
	sty := draw.LineStyle{Color: firstHue, Width: 1.3}
	c.StrokeLine2(sty, at.X, at.Y, at.X+swatch, at.Y)
	c.StrokeLine2(sty, at.X, at.Y-5, at.X, at.Y+5)
	c.StrokeLine2(sty, at.X+swatch, at.Y-5, at.X+swatch, at.Y+5)
}

func keyEnds(c *draw.Canvas, at vg.Point) {
	dot(c, vg.Point{X: at.X + 4, Y: at.Y})
	dot(c, vg.Point{X: at.X + swatch - 4, Y: at.Y})
}

// dot has no rim, which would cut into a whisker that ends close by.
func dot(c *draw.Canvas, at vg.Point) {
	c.SetColor(firstHue)
	c.Fill(markerPath(0, at, 2.2))
}
