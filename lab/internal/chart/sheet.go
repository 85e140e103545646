package chart

import (
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	width     = vg.Length(720)
	margin    = vg.Length(14)
	titleSize = vg.Length(16)
	textSize  = vg.Length(12.5)
	tickSize  = vg.Length(12)
	titleRow  = vg.Length(22)
	labelRow  = vg.Length(20)
	keyRow    = vg.Length(19)
	swatch    = vg.Length(28)
	centre    = vg.Length(1.5) // text set to the middle stands lower than it looks

	bold = 3 // as golang.org/x/image/font has it
)

// sheet is one picture in the making: a title, the body, and a legend below it.
type sheet struct {
	out   *vgsvg.Canvas
	page  draw.Canvas
	body  draw.Canvas // what the title and the legend leave
	title string
}

// key is an entry of the legend.
type key struct {
	name string
	draw func(c *draw.Canvas, left vg.Point) // within a swatch right of left
}

// newSheet begins a picture with a body of the given height. The label of the y
// axis stands above the body, where it is read without turning the head.
func newSheet(title, above string, height vg.Length, keys []key) *sheet {
	heading := style(titleSize, ink)
	heading.Font.Weight = bold
	lines := wrap(heading, plain(title), width-2*margin)
	legend, rows := legendSize(keys)
	top := margin + vg.Length(len(lines))*titleRow
	if above != "" {
		top += labelRow
	}
	total := vg.Length(math.Ceil(float64(top + height + legend + margin)))
	out := vgsvg.New(width, total)
	s := &sheet{out: out, page: draw.New(out), title: title}
	s.body = draw.Crop(s.page, margin, -margin-4, legend+margin, -top)

	y := total - margin
	for _, line := range lines {
		s.page.FillText(heading, vg.Point{X: margin, Y: y}, line)
		y -= titleRow
	}
	label := style(textSize, soft)
	if above != "" {
		s.page.FillText(label, vg.Point{X: margin, Y: y}, cut(label, plain(above), width-2*margin))
	}
	s.legend(keys, rows)
	return s
}

func (s *sheet) bytes() ([]byte, error) { return finish(s.out, s.title) }

const keyGap = vg.Length(22)

// legendSize lays the entries out in columns as wide as the widest.
func legendSize(keys []key) (height vg.Length, rows int) {
	if len(keys) == 0 {
		return 0, 0
	}
	columns := max(1, int((width-2*margin+keyGap)/keyWidth(keys)))
	rows = (len(keys) + columns - 1) / columns
	return vg.Length(rows)*keyRow + 8, rows
}

func keyWidth(keys []key) vg.Length {
	var widest vg.Length
	sty := style(textSize, ink)
	for _, k := range keys {
		widest = max(widest, sty.Width(plain(k.name)))
	}
	// Fonts of readers may run wider than the one that is measured.
	return min(widest*1.04+swatch+8+keyGap, width-2*margin)
}

func (s *sheet) legend(keys []key, rows int) {
	sty := style(textSize, ink)
	sty.YAlign = text.YCenter
	step := keyWidth(keys)
	for i, k := range keys {
		at := vg.Point{
			X: margin + vg.Length(i/rows)*step,
			Y: s.body.Min.Y - 8 - (vg.Length(i%rows)+0.5)*keyRow,
		}
		k.draw(&s.page, at)
		at = at.Add(vg.Point{X: swatch + 8, Y: centre})
		s.page.FillText(sty, at, cut(sty, plain(k.name), step-swatch-8))
	}
}

// style is the look of text that stands below and to the right of its place.
func style(size vg.Length, colour role) text.Style {
	return text.Style{
		Color:   colour,
		Font:    font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size),
		XAlign:  text.XLeft,
		YAlign:  text.YTop,
		Handler: plot.DefaultTextHandler,
	}
}

// wrap breaks a title into lines, at spaces.
func wrap(sty text.Style, title string, room vg.Length) []string {
	var lines []string
	for word := range strings.FieldsSeq(title) {
		if n := len(lines); n > 0 && sty.Width(lines[n-1]+" "+word)*1.03 <= room {
			lines[n-1] += " " + word
		} else {
			lines = append(lines, cut(sty, word, room))
		}
	}
	return lines
}

// cut shortens what is too long for its room.
func cut(sty text.Style, name string, room vg.Length) string {
	if sty.Width(name) <= room {
		return name
	}
	runes := []rune(name)
	for len(runes) > 1 && sty.Width(string(runes)+"…") > room {
		runes = runes[:len(runes)-1]
	}
	return strings.TrimSpace(string(runes)) + "…"
}

// drawing is a plotter made of a function.
type drawing func(c draw.Canvas, p *plot.Plot)

// Plot draws on the part of the canvas that the axes leave.
func (d drawing) Plot(c draw.Canvas, p *plot.Plot) { d(c, p) }

// newPlot prepares axes and grid.
func newPlot(x, y scale) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	setAxis(&p.X, x)
	setAxis(&p.Y, y)
	p.X.Label.Text = plain(x.label)
	lines := plotter.NewGrid()
	lines.Vertical = draw.LineStyle{Color: grid, Width: 0.6}
	lines.Horizontal = lines.Vertical
	p.Add(lines)
	return p
}

func setAxis(a *plot.Axis, s scale) {
	a.Min, a.Max = s.min, s.max
	a.Scale = plot.LinearScale{}
	if s.log {
		a.Scale = plot.LogScale{}
	}
	a.Padding = 0
	a.LineStyle = draw.LineStyle{Color: muted, Width: 0.8}
	a.Tick.Marker = plot.ConstantTicks(s.ticks)
	a.Tick.LineStyle = a.LineStyle
	a.Tick.Length = 5
	a.Tick.Label.Font = style(tickSize, soft).Font
	a.Tick.Label.Color = soft
	a.Label.TextStyle.Font = style(textSize, soft).Font
	a.Label.TextStyle.Color = soft
	a.Label.Padding = 5
}
