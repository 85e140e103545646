package chart

import (
	"errors"
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Strip is the histogram of one thing, such as a strategy.
type Strip struct {
	Name   string
	Values []float64 // one per bin, 0 or more
}

// Panels shows histograms one below the other, on the same axes.
type Panels struct {
	Title  string
	X, Y   Axis    // Y.Label says what is counted, and in bins of which width
	From   float64 // where the first bin begins
	Width  float64 // of a bin, in units of x
	Strips []Strip // up to 12
}

const (
	mostStrips = 12
	mostBins   = 5000
	stripBody  = vg.Length(58)
	stripName  = vg.Length(24)
	stripAxis  = vg.Length(44)
)

// SVG draws the strips. They share both axes, so that heights compare.
func (p Panels) SVG() ([]byte, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	x, y := p.scales()
	s := newSheet(p.Title, p.Y.Label, vg.Length(len(p.Strips))*(stripBody+stripName)+stripAxis, nil)
	sides := newPlot(x, y).DataCanvas(s.body)
	want := vg.Rectangle{Min: vg.Point{X: sides.Min.X}, Max: vg.Point{X: sides.Max.X, Y: s.body.Max.Y - stripName}}
	sty := style(textSize, ink)
	sty.YAlign = text.YBottom
	for i, strip := range p.Strips {
		want.Min.Y = want.Max.Y - stripBody
		s.page.FillText(sty, vg.Point{X: want.Min.X, Y: want.Max.Y + 4}, cut(sty, plain(strip.Name), want.Max.X-want.Min.X))
		pl := newPlot(x, y)
		if i < len(p.Strips)-1 {
			pl.X.Label.Text = ""
			pl.X.Tick.Marker = plot.ConstantTicks(nil)
		}
		pl.Add(drawing(func(c draw.Canvas, pl *plot.Plot) { p.drawStrip(c, pl, strip.Values, x.ticks, lookOf(i).hue) }))
		pl.Draw(surround(pl, s.body, want))
		want.Max.Y -= stripBody + stripName
	}
	return s.bytes()
}

// surround gives the area that leaves want for the data.
func surround(p *plot.Plot, area draw.Canvas, want vg.Rectangle) draw.Canvas {
	for range 3 { // the room for labels depends on the area, a little
		got := p.DataCanvas(area)
		area.Min = area.Min.Add(want.Min.Sub(got.Min))
		area.Max = area.Max.Add(want.Max.Sub(got.Max))
	}
	return area
}

func (p Panels) check() error {
	errs := []error{p.X.check(), p.Y.check(), p.X.fit("first bin", p.From), finite("bin width", p.Width)}
	if len(p.Strips) == 0 || len(p.Strips) > mostStrips {
		errs = append(errs, fmt.Errorf("chart: panels: %d strips, not 1 to %d", len(p.Strips), mostStrips))
	}
	if p.Width <= 0 {
		errs = append(errs, fmt.Errorf("chart: panels: bins are %v wide", p.Width))
	}
	if p.X.Log {
		errs = append(errs, errors.New("chart: panels: bins of one width on a logarithmic axis"))
	}
	for _, s := range p.Strips {
		what := fmt.Sprintf("strip %q", s.Name)
		if len(s.Values) == 0 || len(s.Values) > mostBins {
			errs = append(errs, fmt.Errorf("chart: %s: %d bins, not 1 to %d", what, len(s.Values), mostBins))
		}
		errs = append(errs, finite(what, s.Values...))
		for i, v := range s.Values {
			if v < 0 {
				errs = append(errs, fmt.Errorf("chart: %s: value %d is %v", what, i, v))
				break
			}
		}
	}
	return errors.Join(errs...)
}

// scales leaves zeros out on a logarithmic axis: an empty bin has no bar.
func (p Panels) scales() (x, y scale) {
	var ys reach
	bins := 0
	for _, s := range p.Strips {
		bins = max(bins, len(s.Values))
		for _, v := range s.Values {
			if v > 1/beyond || !p.Y.Log {
				ys.add(v)
			}
		}
	}
	if !ys.any {
		ys.add(1)
	}
	x = p.X.scale(p.From, p.From+float64(bins)*p.Width, false)
	y = p.Y.scale(ys.lo, ys.hi, true)
	y.ticks = thin(y.ticks)
	return x, y
}

// thin keeps the labels at the ends, and one between them, for a low strip.
func thin(ticks []plot.Tick) []plot.Tick {
	var major []plot.Tick
	for _, t := range ticks {
		if !t.IsMinor() {
			major = append(major, t)
		}
	}
	last := len(major) - 1
	switch {
	case last < 3:
		return major
	case last%2 == 0:
		return []plot.Tick{major[0], major[last/2], major[last]}
	}
	return []plot.Tick{major[0], major[last]}
}

// drawStrip fills the outline of the bars as one: a path for each of some hundred
// bars would make the file large, and gaps between them would flicker.
func (p Panels) drawStrip(c draw.Canvas, pl *plot.Plot, values []float64, ticks []plot.Tick, hue role) {
	x, y := pl.Transforms(&c)
	for _, t := range ticks {
		if !t.IsMinor() {
			c.StrokeLine2(draw.LineStyle{Color: grid, Width: 0.6}, x(t.Value), c.Min.Y, x(t.Value), c.Max.Y)
		}
	}
	var outline []vg.Point
	height := c.Min.Y
	outline = append(outline, vg.Point{X: x(p.From), Y: height})
	for i, v := range values {
		next := c.Min.Y
		if v > pl.Y.Min {
			next = y(v)
		}
		if next != height {
			at := x(p.From + float64(i)*p.Width)
			outline = append(outline, vg.Point{X: at, Y: height}, vg.Point{X: at, Y: next})
			height = next
		}
	}
	end := x(p.From + float64(len(values))*p.Width)
	outline = append(outline, vg.Point{X: end, Y: height}, vg.Point{X: end, Y: c.Min.Y})
	c.FillPolygon(hue, c.ClipPolygonXY(outline))
}
