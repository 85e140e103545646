package chart

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Map shows one figure for each pair of two others as the colour of a cell, with
// the figure in it.
type Map struct {
	Title string
	X, Y  Axis        // labels only: a cell stands for a value, not for a distance
	Xs    []float64   // what the columns stand for, ascending
	Rows  []string    // the names of the rows, from below
	Cells [][]float64 // a row for each of Rows, a value for each of Xs; +Inf: never
	Scale Axis        // the colours: label, limits, and whether they are logarithmic
	Never string      // what +Inf means, in the cells and in the legend; "": never
	Curve *Series     // a threshold over the cells, in units of Xs and in numbers of rows from 0, or nil
}

const (
	mostColumns = 30
	mostRows    = 30
	cellHeight  = vg.Length(34)
	barHeight   = vg.Length(70)
)

// SVG draws the map.
func (m Map) SVG() ([]byte, error) {
	if m.Never == "" {
		m.Never = "never"
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	colours, nevers := m.scale()
	var keys []key
	if nevers {
		keys = append(keys, key{name: m.Never, draw: func(c *draw.Canvas, at vg.Point) {
			c.FillPolygon(never, rectangle(at.X, at.Y-6, at.X+swatch, at.Y+6))
		}})
	}
	if m.Curve != nil {
		keys = append(keys, key{name: m.Curve.Name, draw: func(c *draw.Canvas, at vg.Point) {
			threshold(c, []vg.Point{at, {X: at.X + swatch, Y: at.Y}})
		}})
	}
	body := max(vg.Length(len(m.Rows))*cellHeight, 120) + 46
	s := newSheet(m.Title, m.Y.Label, body+barHeight, keys)
	p := newPlot(nominal(m.X.Label, texts(m.Xs)), nominal(m.Y.Label, m.rowNames()))
	p.Add(drawing(func(c draw.Canvas, p *plot.Plot) { m.drawCells(c, p, colours) }))
	p.Draw(draw.Crop(s.body, 0, 0, barHeight, -5))
	drawBar(s, colours)
	return s.bytes()
}

func (m Map) check() error {
	errs := []error{m.Scale.check(), finite("columns", m.Xs...)}
	if len(m.Xs) == 0 || len(m.Xs) > mostColumns || len(m.Rows) == 0 || len(m.Rows) > mostRows {
		errs = append(errs, fmt.Errorf("chart: map: %d columns and %d rows, not 1 to %d and 1 to %d",
			len(m.Xs), len(m.Rows), mostColumns, mostRows))
	}
	if !ascending(m.Xs) {
		errs = append(errs, errors.New("chart: map: columns do not ascend"))
	}
	if len(m.Cells) != len(m.Rows) {
		errs = append(errs, fmt.Errorf("chart: map: cells of %d rows, for %d", len(m.Cells), len(m.Rows)))
	}
	for i, row := range m.Cells {
		if len(row) != len(m.Xs) {
			errs = append(errs, fmt.Errorf("chart: map: row %d has %d cells, for %d columns", i, len(row), len(m.Xs)))
		}
		for k, v := range row {
			if !math.IsInf(v, 1) {
				errs = append(errs, m.Scale.fit(fmt.Sprintf("map: row %d, column %d", i, k), v))
			}
		}
	}
	if m.Curve != nil {
		errs = append(errs, m.Curve.check(Axis{}, Axis{}))
	}
	return errors.Join(errs...)
}

func ascending(values []float64) bool {
	for i := 1; i < len(values); i++ {
		if !(values[i] > values[i-1]) {
			return false
		}
	}
	return true
}

func (m Map) scale() (colours scale, nevers bool) {
	var values reach
	for _, row := range m.Cells {
		for _, v := range row {
			if math.IsInf(v, 1) {
				nevers = true
			} else {
				values.add(v)
			}
		}
	}
	if !values.any {
		values.add(1)
	}
	return m.Scale.scale(values.lo, values.hi, true), nevers
}

// nominal is an axis of equal cells, each with its name.
func nominal(label string, names []string) scale {
	s := scale{label: label, min: -0.5, max: float64(len(names)) - 0.5}
	for i, name := range names {
		s.ticks = append(s.ticks, plot.Tick{Value: float64(i), Label: name})
	}
	return s
}

func texts(values []float64) []string {
	var names []string
	for _, v := range values {
		names = append(names, exact(v))
	}
	return names
}

// rowNames are the names of the rows as far as there is room for them. They end before
// the frame, and the spaces behind them are for readers whose font is wider.
func (m Map) rowNames() []string {
	sty := style(tickSize, ink)
	names := make([]string, len(m.Rows))
	for i, name := range m.Rows {
		name = cut(sty, plain(name), width/3)
		names[i] = name + strings.Repeat("\u2002", 1+len(name)/8)
	}
	return names
}

func (m Map) drawCells(c draw.Canvas, p *plot.Plot, colours scale) {
	x, y := p.Transforms(&c)
	each := func(do func(v float64, i, k int)) {
		for i, row := range m.Cells {
			for k, v := range row {
				do(v, i, k)
			}
		}
	}
	each(func(v float64, i, k int) {
		cell := rectangle(x(float64(k)-0.5), y(float64(i)-0.5), x(float64(k)+0.5), y(float64(i)+0.5))
		fill, _ := colours.cell(v)
		c.FillPolygon(fill, cell)
		c.StrokeLines(draw.LineStyle{Color: paper, Width: 1.5}, append(cell, cell[0]))
	})
	if m.Curve != nil {
		line := make([]vg.Point, len(m.Curve.X))
		for i := range line {
			line[i] = vg.Point{X: x(index(m.Xs, m.Curve.X[i])), Y: y(m.Curve.Y[i])}
		}
		for _, part := range c.ClipLinesXY(line) {
			threshold(&c, simplify(part))
		}
	}
	size := m.cellText(x(1) - x(0))
	each(func(v float64, i, k int) {
		fill, on := colours.cell(v)
		sty := style(size, ink)
		sty.Color, sty.XAlign, sty.YAlign = on, text.XCenter, text.YCenter
		at, label := vg.Point{X: x(float64(k)), Y: y(float64(i)) + centre}, m.text(v)
		// The curve gives way to the figures.
		half, up := sty.Width(label)/2+2, size/2+1.5
		if m.Curve != nil {
			c.FillPolygon(fill, rectangle(at.X-half, at.Y-centre-up, at.X+half, at.Y-centre+up))
		}
		c.FillText(sty, at, label)
	})
}

func (m Map) text(v float64) string {
	if math.IsInf(v, 1) {
		return plain(m.Never)
	}
	return brief(v)
}

// cellText is the size at which the widest figure fits into a cell.
func (m Map) cellText(room vg.Length) vg.Length {
	sty := style(tickSize, ink)
	var widest vg.Length
	for _, row := range m.Cells {
		for _, v := range row {
			widest = max(widest, sty.Width(m.text(v))*1.04+6)
		}
	}
	return tickSize * min(1, room/widest)
}

// index finds where v stands among the values, as a number of cells. Beyond the
// ends it goes on at the pace of the last two.
func index(values []float64, v float64) float64 {
	if len(values) == 1 {
		return v - values[0]
	}
	i := 1
	for i < len(values)-1 && v > values[i] {
		i++
	}
	return float64(i) - (values[i]-v)/(values[i]-values[i-1])
}

// threshold draws a line that is seen on every colour.
func threshold(c *draw.Canvas, line []vg.Point) {
	c.StrokeLines(draw.LineStyle{Color: color.White, Width: 4.4}, line)
	c.StrokeLines(draw.LineStyle{Color: darkText, Width: 2, Dashes: []vg.Length{7, 3}}, line)
}

// drawBar draws the colours with their values below the map.
func drawBar(s *sheet, colours scale) {
	const steps, bar, length = 96, vg.Length(13), vg.Length(420)
	left, bottom := s.body.Min.X, s.body.Min.Y+20
	for i := range steps {
		// Each strip reaches under the next: no seams.
		from, to := left+length*vg.Length(i)/steps, left+length*vg.Length(min(i+2, steps))/steps
		s.page.FillPolygon(gradient((float64(i)+0.5)/steps), rectangle(from, bottom, to, bottom+bar))
	}
	sty := style(textSize, soft)
	sty.YAlign = text.YBottom
	s.page.FillText(sty, vg.Point{X: left, Y: bottom + bar + 5}, plain(colours.label))
	ticks := style(tickSize, soft)
	for _, t := range colours.ticks {
		at := left + length*vg.Length(colours.part(t.Value))
		s.page.StrokeLine2(draw.LineStyle{Color: muted, Width: 0.8}, at, bottom-4, at, bottom)
		half := ticks.Width(t.Label) / 2
		s.page.FillText(ticks, vg.Point{X: max(at-half, left), Y: bottom - 5}, t.Label)
	}
}
