package chart

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Point is one thing with two figures, such as a strategy.
type Point struct {
	Name string
	X, Y float64
}

// Points shows what is gained against what it costs: one named point for each.
type Points struct {
	Title  string
	X, Y   Axis
	Points []Point
	Curve  *Series // a line behind the points, such as the best of them, or nil
}

const (
	// named is up to how many points have their names beside them.
	named = 12
	// mostPoints is how many points can be told apart.
	mostPoints = 60
	pointSize  = 5
)

// SVG draws the points. Names stand beside them while there is room for that;
// numbers do where not, and the legend says whose they are.
func (p Points) SVG() ([]byte, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	x, y := p.scales()
	p.Points = slices.DeleteFunc(slices.Clone(p.Points), func(point Point) bool {
		return point.X < x.min || point.X > x.max || point.Y < y.min || point.Y > y.max
	})
	var keys []key
	if p.Curve != nil {
		keys = append(keys, looks([]Series{*p.Curve})[0].key(p.Curve.Name))
	}
	names := make([]string, len(p.Points))
	for i, point := range p.Points {
		names[i] = plain(point.Name)
	}
	if len(names) <= named {
		if s, room := p.draw(x, y, names, keys); room {
			return s.bytes()
		}
	}
	for i := range names {
		names[i] = strconv.Itoa(i + 1)
		keys = append(keys, numberKey(i, p.Points[i].Name))
	}
	s, _ := p.draw(x, y, names, keys)
	return s.bytes()
}

func (p Points) check() error {
	if len(p.Points) == 0 {
		return errors.New("chart: points: no points")
	}
	if len(p.Points) > mostPoints {
		return fmt.Errorf("chart: points: %d points, and %d can be told apart", len(p.Points), mostPoints)
	}
	errs := []error{p.X.check(), p.Y.check()}
	for _, point := range p.Points {
		what := fmt.Sprintf("point %q", point.Name)
		errs = append(errs, p.X.fit(what+", x", point.X), p.Y.fit(what+", y", point.Y))
	}
	if p.Curve != nil {
		errs = append(errs, p.Curve.check(p.X, p.Y))
	}
	return errors.Join(errs...)
}

func (p Points) scales() (x, y scale) {
	var xs, ys reach
	for _, point := range p.Points {
		xs.add(point.X)
		ys.add(point.Y)
	}
	if p.Curve != nil {
		xs.add(p.Curve.X...)
		ys.add(p.Curve.Y...)
	}
	if !p.X.Log { // a point on the frame would be half cut off
		room := (xs.hi - xs.lo) / 20
		xs.lo, xs.hi = xs.lo-room, xs.hi+room
	}
	return p.X.scale(xs.lo, xs.hi, false), p.Y.scale(ys.lo, ys.hi, true)
}

// draw reports whether each label found room.
func (p Points) draw(x, y scale, labels []string, keys []key) (s *sheet, room bool) {
	s = newSheet(p.Title, p.Y.Label, 420, keys)
	pl := newPlot(x, y)
	pl.Add(drawing(func(c draw.Canvas, pl *plot.Plot) {
		l := p.labelling(c, pl, labels)
		room = l.place()
		p.drawAll(c, pl, l, labels)
	}))
	pl.Draw(s.body)
	return s, room
}

// labelling measures the labels.
func (p Points) labelling(c draw.Canvas, pl *plot.Plot, labels []string) *labelling {
	l := &labelling{
		frame:  box{float64(c.Min.X) + 3, float64(c.Min.Y) + 3, float64(c.Max.X) - 3, float64(c.Max.Y) - 3},
		radius: pointSize + 1,
	}
	sty := style(tickSize, ink)
	for i, at := range p.places(c, pl) {
		l.at = append(l.at, spot{float64(at.X), float64(at.Y)})
		l.size = append(l.size, spot{float64(sty.Width(labels[i]))*1.06 + 4, float64(tickSize) + 3})
	}
	if p.Curve != nil {
		curve := points(c, pl, p.Curve.X, p.Curve.Y)
		for i, to := range curve[min(1, len(curve)):] {
			l.avoid = append(l.avoid, between(curve[i], to)...)
		}
	}
	return l
}

func (p Points) places(c draw.Canvas, pl *plot.Plot) []vg.Point {
	x, y := pl.Transforms(&c)
	out := make([]vg.Point, len(p.Points))
	for i, point := range p.Points {
		out[i] = vg.Point{X: x(point.X), Y: y(point.Y)}
	}
	return out
}

func (p Points) drawAll(c draw.Canvas, pl *plot.Plot, l *labelling, labels []string) {
	if p.Curve != nil {
		drawBand(c, pl, *p.Curve, mutedHue)
		drawLine(c, pl, *p.Curve, looks([]Series{*p.Curve})[0], 0)
	}
	sty := style(tickSize, ink)
	sty.XAlign, sty.YAlign = text.XCenter, text.YCenter
	for i, b := range l.chosen {
		from, to := l.at[i], b.nearest(l.at[i])
		if distance(vertex(from), vertex(to), vertex(to)) > pointSize+7 {
			c.StrokeLine2(draw.LineStyle{Color: muted, Width: 0.8}, vg.Length(from.x), vg.Length(from.y), vg.Length(to.x), vg.Length(to.y))
		}
	}
	for i, b := range l.chosen {
		mark(&c, lookOf(i).marker, lookOf(i).hue, vertex(l.at[i]), pointSize)
		// Neither the grid nor the curve strikes a name through.
		c.FillPolygon(paper, rectangle(vg.Length(b.x0)+1, vg.Length(b.y0)+1, vg.Length(b.x1)-1, vg.Length(b.y1)-1))
		c.FillText(sty, vertex(spot{(b.x0 + b.x1) / 2, (b.y0+b.y1)/2 + float64(centre)}), labels[i])
	}
}

// between gives spots along a line, close enough that no label fits in.
func between(a, b vg.Point) []spot {
	n := min(int(distance(a, b, b)/6)+1, 200)
	out := make([]spot, n)
	for i := range out {
		at := a.Add(b.Sub(a).Scale(vg.Length(i) / vg.Length(n)))
		out[i] = spot{float64(at.X), float64(at.Y)}
	}
	return out
}

func vertex(s spot) vg.Point { return vg.Point{X: vg.Length(s.x), Y: vg.Length(s.y)} }

func numberKey(i int, name string) key {
	return key{name: name, draw: func(c *draw.Canvas, at vg.Point) {
		sty := style(tickSize, ink)
		sty.XAlign, sty.YAlign = text.XRight, text.YCenter
		c.FillText(sty, vg.Point{X: at.X + 14, Y: at.Y + centre}, strconv.Itoa(i+1))
		mark(c, lookOf(i).marker, lookOf(i).hue, vg.Point{X: at.X + 24, Y: at.Y}, 4.2)
	}}
}
