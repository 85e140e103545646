package chart

import (
	"fmt"
	"image/color"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/lucasb-eyer/go-colorful"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

func hex(t *testing.T, text string) color.RGBA {
	t.Helper()
	c := color.RGBA{A: 0xFF}
	_, err := fmt.Sscanf(text, "#%02x%02x%02x", &c.R, &c.G, &c.B)
	require.NoError(t, err)
	return c
}

// TestContrast holds the colours to what roles promises, in light and in dark.
func TestContrast(t *testing.T) {
	for r := range roles {
		want := 3.0
		switch role(r) {
		case paper, grid, shade, never:
			continue
		case ink, soft:
			want = 7
		}
		t.Run(fmt.Sprintf("role %d", r), func(t *testing.T) {
			assert.GreaterOrEqual(t, contrast(hex(t, roles[r].light), hex(t, roles[paper].light)), want, "light")
			assert.GreaterOrEqual(t, contrast(hex(t, roles[r].dark), hex(t, roles[paper].dark)), want, "dark")
		})
	}
}

// TestGradient: lightness falls all the way, and figures are legible on all of it.
func TestGradient(t *testing.T) {
	s := scale{min: 0, max: 1}
	before := 1.0
	for i := range 101 {
		v := float64(i) / 100
		light := luminance(gradient(v))
		assert.Less(t, light, before, "at %v", v)
		before = light
		fill, on := s.cell(v)
		assert.GreaterOrEqual(t, contrast(fill.(color.RGBA), color.RGBAModel.Convert(on).(color.RGBA)), 4.5, "at %v", v)
	}
	fill, on := s.cell(math.Inf(1))
	assert.Equal(t, never, fill)
	for _, text := range []string{roles[never].light, roles[never].dark} {
		assert.GreaterOrEqual(t, contrast(hex(t, text), color.RGBAModel.Convert(on).(color.RGBA)), 7.0)
		assert.GreaterOrEqual(t, contrast(hex(t, text), gradient(1)), 1.3, "never differs from the slowest")
	}
}

// TestRoles: each role, and each tint, comes through the drawing as its class.
func TestRoles(t *testing.T) {
	for r := range mutedHue.tint() + 1 {
		t.Run(fmt.Sprintf("role %d", r), func(t *testing.T) {
			c := vgsvg.New(100, 100)
			c.SetColor(r)
			c.Fill(vg.Path{{Type: vg.MoveComp}, {Type: vg.LineComp, Pos: vg.Point{X: 33.3333, Y: -0.01}}, {Type: vg.CloseComp}})
			out, err := finish(c, "")
			require.NoError(t, err)
			want, tint := r, ""
			if r > mutedHue {
				want, tint = r-hues-1, ` fill-opacity=".16"`
			}
			assert.Contains(t, string(out), fmt.Sprintf(`<path d="M0,0L33.3,0Z"%s class="f%d" fill="%s"`, tint, want, roles[want].light))
		})
	}
}

// TestLooks: without colours, lines differ in dashes or markers; with more lines
// than colours, so do those of one colour.
func TestLooks(t *testing.T) {
	series := make([]Series, most)
	seen := make([]string, 0, most)
	for i, l := range looks(series) {
		look := fmt.Sprint(l.dash, l.marker)
		assert.NotContains(t, seen, look, "line %d", i)
		seen = append(seen, look)
	}
	grey := looks([]Series{{Muted: true}, {}})
	assert.Equal(t, mutedHue, grey[0].hue)
	assert.Equal(t, firstHue, grey[1].hue)
	assert.Empty(t, grey[1].dash)
	seen = nil
	for i := range hues * markers { // as points, which have no dashes
		look := fmt.Sprint(lookOf(i).hue, lookOf(i).marker)
		assert.NotContains(t, seen, look, "point %d", i)
		seen = append(seen, look)
	}
}

// visions are what is left of linear RGB with a cone missing: G. M. Machado, M. M.
// Oliveira, L. A. F. Fernandes, "A Physiologically-based Model for Simulation of Color
// Vision Deficiency", 2009, at severity 1.
var visions = map[string][3][3]float64{
	"normal":       {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// seen returns a color as it looks to a reader.
func seen(t *testing.T, text string, vision [3][3]float64) colorful.Color {
	c, err := colorful.Hex(text)
	require.NoError(t, err)
	r, g, b := c.LinearRgb()
	part := func(row [3]float64) float64 { return min(max(0, row[0]*r+row[1]*g+row[2]*b), 1) }
	return colorful.LinearRgb(part(vision[0]), part(vision[1]), part(vision[2]))
}

// TestColorsDiffer holds the hues, and the gray of references, to what roles promises.
func TestColorsDiffer(t *testing.T) {
	for name, vision := range visions {
		least := map[string]float64{"light": 100, "dark": 100}
		for a := firstHue; a <= mutedHue; a++ {
			for b := firstHue; b < a; b++ {
				for paper, pair := range map[string][2]string{
					"light": {roles[a].light, roles[b].light}, "dark": {roles[a].dark, roles[b].dark},
				} {
					d := 100 * seen(t, pair[0], vision).DistanceCIEDE2000(seen(t, pair[1], vision))
					least[paper] = min(least[paper], d)
					assert.GreaterOrEqual(t, d, 10.0, "%s, %s: %v", name, paper, pair)
				}
			}
		}
		t.Logf("%s: least distance %.1f in light, %.1f in dark", name, least["light"], least["dark"])
	}
}

// TestStylesheet: pictures in one page share their rules, so these cannot differ.
func TestStylesheet(t *testing.T) {
	assert.NotContains(t, stylesheet, "url(")
	rule := regexp.MustCompile(`[^{}]+\{`)
	for _, selector := range rule.FindAllString(stylesheet, -1) {
		assert.True(t, strings.HasPrefix(selector, ".lab-chart") || strings.HasPrefix(selector, "@media"), selector)
	}
}

func TestSimplify(t *testing.T) {
	at := func(xy ...float64) (out []vg.Point) {
		for i := 0; i < len(xy); i += 2 {
			out = append(out, vg.Point{X: vg.Length(xy[i]), Y: vg.Length(xy[i+1])})
		}
		return out
	}
	for _, tt := range []struct {
		name       string
		line, want []vg.Point
	}{
		{"straight", at(0, 0, 1, 1, 2, 2, 9, 9), at(0, 0, 9, 9)},
		{"a corner stays", at(0, 0, 5, 0, 5, 5), at(0, 0, 5, 0, 5, 5)},
		{"a spike stays", at(0, 0, 1, 0, 2, 9, 3, 0, 4, 0), at(0, 0, 1, 0, 2, 9, 3, 0, 4, 0)},
		{"back to the start", at(0, 0, 3, 4, 0, 0), at(0, 0, 3, 4, 0, 0)},
		{"one point", at(1, 1), at(1, 1)},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, simplify(tt.line)) })
	}
}
