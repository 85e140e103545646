package chart

import (
	"image/color"
	"math"
)

var darkText = color.RGBA{R: 0x03, G: 0x04, B: 0x05, A: 0xFF}

// stops go from quick to slow, as in viridis from its light end: their lightness
// falls all the way, which is what colour-blind readers go by. The darkest stop
// is left out, for it would come near to the colour of never.
var stops = []color.RGBA{
	{R: 0xFD, G: 0xE7, B: 0x25, A: 0xFF}, {R: 0xB5, G: 0xDE, B: 0x2B, A: 0xFF},
	{R: 0x6E, G: 0xCE, B: 0x58, A: 0xFF}, {R: 0x35, G: 0xB7, B: 0x79, A: 0xFF},
	{R: 0x1F, G: 0x9E, B: 0x89, A: 0xFF}, {R: 0x26, G: 0x82, B: 0x8E, A: 0xFF},
	{R: 0x31, G: 0x68, B: 0x8E, A: 0xFF}, {R: 0x3E, G: 0x49, B: 0x89, A: 0xFF},
}

// gradient is the colour at a part between 0 and 1 of the way.
func gradient(part float64) color.RGBA {
	at := math.Min(math.Max(part, 0), 1) * float64(len(stops)-1)
	i := min(int(at), len(stops)-2)
	t := at - float64(i)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + t*(float64(b)-float64(a)))) }
	a, b := stops[i], stops[i+1]
	return color.RGBA{R: mix(a.R, b.R), G: mix(a.G, b.G), B: mix(a.B, b.B), A: 0xFF}
}

// part says how far along the scale v is, from 0 to 1.
func (s scale) part(v float64) float64 {
	if s.log {
		return math.Log(v/s.min) / math.Log(s.max/s.min)
	}
	return (v - s.min) / (s.max - s.min)
}

// cell gives the colour for a value and that of the text on it.
func (s scale) cell(v float64) (fill, on color.Color) {
	if math.IsInf(v, 1) {
		return never, color.White
	}
	c := gradient(s.part(v))
	if contrast(c, darkText) >= contrast(c, color.RGBA{R: 0xFF, G: 0xFF, B: 0xFF, A: 0xFF}) {
		return c, darkText
	}
	return c, color.White
}

// contrast is the ratio that WCAG 2 defines: 4.5 is enough for text.
func contrast(a, b color.RGBA) float64 {
	x, y := luminance(a), luminance(b)
	return (math.Max(x, y) + 0.05) / (math.Min(x, y) + 0.05)
}

func luminance(c color.RGBA) float64 {
	linear := func(v uint8) float64 {
		if f := float64(v) / 255; f > 0.04045 {
			return math.Pow((f+0.055)/1.055, 2.4)
		}
		return float64(v) / 255 / 12.92
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}
