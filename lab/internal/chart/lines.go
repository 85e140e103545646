package chart

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Lines shows how something develops along x: one line per series, with bands.
type Lines struct {
	Title  string
	X, Y   Axis
	Series []Series
	Shade  []Interval // parts of the x axis with a shade behind them
	Marks  []HLine    // horizontal marks
}

// SVG draws the lines. The y axis begins at 0 unless it is logarithmic, or set.
func (l Lines) SVG() ([]byte, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	x, y := l.scales()
	looks := looks(l.Series)
	above, keys := l.shadeLabels(x)
	for i, series := range l.Series {
		keys = append(keys, looks[i].key(series.Name))
	}
	s := newSheet(l.Title, l.Y.Label, 370, keys)
	area := draw.Crop(s.body, 0, -l.markRoom(), 0, 0)
	if above {
		area = draw.Crop(area, 0, 0, 0, -shadeRow)
	}
	p := newPlot(x, y)
	p.Add(drawing(l.drawShades), drawing(l.drawMarks))
	for i, series := range l.Series {
		p.Add(drawing(func(c draw.Canvas, p *plot.Plot) { drawBand(c, p, series, looks[i].hue) }))
	}
	for _, grey := range []bool{true, false} { // references lie behind what is compared with them
		for i, series := range l.Series {
			if series.Muted == grey {
				p.Add(drawing(func(c draw.Canvas, p *plot.Plot) {
					drawLine(c, p, series, looks[i], float64(i)/float64(len(l.Series)))
				}))
			}
		}
	}
	p.Draw(area)
	return s.bytes()
}

// shadeRow is what the names of intervals need above the frame.
const shadeRow = vg.Length(16)

func (l Lines) check() error {
	if len(l.Series) == 0 {
		return errors.New("chart: lines: no series")
	}
	if len(l.Series) > most {
		return fmt.Errorf("chart: lines: %d series, and %d can be told apart", len(l.Series), most)
	}
	errs := []error{l.X.check(), l.Y.check()}
	for _, s := range l.Series {
		errs = append(errs, s.check(l.X, l.Y))
	}
	for _, i := range l.Shade {
		errs = append(errs, finite(fmt.Sprintf("interval %q", i.Label), i.From, i.To))
		if i.From > i.To {
			errs = append(errs, fmt.Errorf("chart: interval %q: goes from %v to %v", i.Label, i.From, i.To))
		}
	}
	for _, m := range l.Marks {
		errs = append(errs, l.Y.fit(fmt.Sprintf("mark %q", m.Label), m.Y))
	}
	return errors.Join(errs...)
}

func (l Lines) scales() (x, y scale) {
	var xs, ys reach
	for _, s := range l.Series {
		xs.add(s.X...)
		ys.add(s.Y...)
		ys.add(s.Low...)
		ys.add(s.High...)
	}
	for _, m := range l.Marks {
		ys.add(m.Y)
	}
	if l.X.Log && l.X.auto() && xs.lo < xs.hi {
		l.X.Min, l.X.Max = xs.lo, xs.hi // lines may touch the frame
	}
	return l.X.scale(xs.lo, xs.hi, false), l.Y.scale(ys.lo, ys.hi, true)
}

// shadeLabels tells whether labels stand above the frame. They do unless two of
// them come too close; then an entry of the legend has them.
func (l Lines) shadeLabels(x scale) (above bool, keys []key) {
	sty := style(textSize, soft)
	var names []string
	end, tight := math.Inf(-1), false
	for _, i := range l.Shade {
		name := plain(i.Label)
		if name == "" || i.To < x.min || i.From > x.max {
			continue
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		// In parts of the frame, which is narrower than the picture.
		half := float64(sty.Width(name) / 2 / (width * 0.7))
		middle := (x.part(math.Max(i.From, x.min)) + x.part(math.Min(i.To, x.max))) / 2
		middle = math.Min(math.Max(middle, half), 1-half)
		tight = tight || middle-half < end
		end = middle + half
	}
	if !tight {
		return len(names) > 0, nil
	}
	return false, []key{{name: strings.Join(names, ", "), draw: func(c *draw.Canvas, at vg.Point) {
		c.FillPolygon(shade, rectangle(at.X, at.Y-6, at.X+swatch, at.Y+6))
	}}}
}

func (l Lines) drawShades(c draw.Canvas, p *plot.Plot) {
	above, _ := l.shadeLabels(scale{min: p.X.Min, max: p.X.Max, log: l.X.Log})
	sty := style(textSize, soft)
	sty.XAlign, sty.YAlign = text.XCenter, text.YBottom
	x, _ := p.Transforms(&c)
	for _, i := range l.Shade {
		if i.To < p.X.Min || i.From > p.X.Max {
			continue
		}
		from, to := x(math.Max(i.From, p.X.Min)), x(math.Min(i.To, p.X.Max))
		c.FillPolygon(shade, rectangle(from, c.Min.Y, to, c.Max.Y))
		if above {
			half := sty.Width(plain(i.Label)) / 2
			middle := min(max((from+to)/2, c.Min.X+half), c.Max.X-half)
			c.FillText(sty, vg.Point{X: middle, Y: c.Max.Y + 6}, plain(i.Label))
		}
	}
}

// markRoom is what the labels of the marks need to the right of the frame.
func (l Lines) markRoom() vg.Length {
	var widest vg.Length
	sty := style(tickSize, ink)
	for _, m := range l.Marks {
		widest = max(widest, min(sty.Width(plain(m.Label)), width/4))
	}
	if widest == 0 {
		return 0
	}
	return widest*1.05 + 6
}

func (l Lines) drawMarks(c draw.Canvas, p *plot.Plot) {
	sty := style(tickSize, ink)
	sty.YAlign = text.YCenter
	_, y := p.Transforms(&c)
	places := make([]float64, 0, len(l.Marks))
	for _, m := range l.Marks {
		at := y(m.Y)
		if !c.ContainsY(at) {
			continue
		}
		c.StrokeLine2(draw.LineStyle{Color: ink, Width: 1.2, Dashes: []vg.Length{4, 3}}, c.Min.X, at, c.Max.X, at)
		place := apart(places, float64(at), 14)
		places = append(places, place)
		c.FillText(sty, vg.Point{X: c.Max.X + 6, Y: vg.Length(place) + centre}, cut(sty, plain(m.Label), width/4))
	}
}

// apart gives the place nearest to at that keeps a distance from the others.
func apart(others []float64, at, distance float64) float64 {
	free := func(place float64) bool {
		for _, o := range others {
			if math.Abs(o-place) < distance {
				return false
			}
		}
		return true
	}
	for d := 0.0; ; d++ {
		for _, place := range []float64{at + d, at - d} {
			if free(place) {
				return place
			}
		}
	}
}

func drawBand(c draw.Canvas, p *plot.Plot, s Series, hue role) {
	if s.Low == nil {
		return
	}
	lower, upper := points(c, p, s.X, s.Low), points(c, p, s.X, s.High)
	outline := simplify(upper)
	lower = simplify(lower)
	for i := len(lower) - 1; i >= 0; i-- {
		outline = append(outline, lower[i])
	}
	c.FillPolygon(hue.tint(), c.ClipPolygonXY(outline))
}

// drawLine draws a line and its markers: at each point, or, where those are many,
// at a distance and not where the other lines have theirs.
func drawLine(c draw.Canvas, p *plot.Plot, s Series, l look, shift float64) {
	const distance = vg.Length(84)
	all := points(c, p, s.X, s.Y)
	for _, part := range c.ClipLinesXY(all) {
		c.StrokeLines(l.line(), simplify(part))
	}
	next := c.Min.X + vg.Length(shift)*distance + 6
	for _, at := range all {
		if len(all) > fewPoints {
			if at.X < next {
				continue
			}
			next += distance * vg.Length(math.Ceil(float64((at.X-next)/distance)+1e-9))
		}
		if c.Contains(at) {
			mark(&c, l.marker, l.hue, at, 3.4)
		}
	}
}

// points turns values into places. What a logarithmic axis cannot reach has been
// refused before.
func points(c draw.Canvas, p *plot.Plot, xs, ys []float64) []vg.Point {
	x, y := p.Transforms(&c)
	out := make([]vg.Point, len(xs))
	for i := range xs {
		out[i] = vg.Point{X: x(xs[i]), Y: y(ys[i])}
	}
	return out
}

// simplify leaves out points that a line passes at less than a tenth of a pixel.
func simplify(line []vg.Point) []vg.Point {
	if len(line) < 3 {
		return line
	}
	first, last := line[0], line[len(line)-1]
	farthest, at := vg.Length(0), 0
	for i, p := range line[1 : len(line)-1] {
		if d := distance(p, first, last); d > farthest {
			farthest, at = d, i+1
		}
	}
	if farthest < 0.1 {
		return []vg.Point{first, last}
	}
	before := simplify(line[:at+1])
	return append(before[:len(before)-1:len(before)-1], simplify(line[at:])...)
}

// distance is that of p from the segment between a and b.
func distance(p, a, b vg.Point) vg.Length {
	along := b.Sub(a)
	square := along.Dot(along)
	if square == 0 {
		return vg.Length(math.Hypot(float64(p.X-a.X), float64(p.Y-a.Y)))
	}
	t := min(max(p.Sub(a).Dot(along)/square, 0), 1)
	foot := a.Add(along.Scale(t))
	return vg.Length(math.Hypot(float64(p.X-foot.X), float64(p.Y-foot.Y)))
}

func rectangle(x0, y0, x1, y1 vg.Length) []vg.Point {
	return []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}}
}
