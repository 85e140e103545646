package chart

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lucasb-eyer/go-colorful"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func parse(t *testing.T, text string) colorful.Color {
	t.Helper()
	c, err := colorful.Hex(text)
	require.NoError(t, err)
	return c
}

// contrast returns the contrast ratio that WCAG 2 defines; 4.5 is enough for text.
func contrast(t *testing.T, a, b string) float64 {
	luminance := func(text string) float64 {
		r, g, b := parse(t, text).LinearRgb()
		return 0.2126*r + 0.7152*g + 0.0722*b
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestContrast(t *testing.T) {
	paper := colors["paper"]
	check := func(name string, c color, want float64) {
		t.Run(name, func(t *testing.T) {
			assert.GreaterOrEqual(t, contrast(t, c.light, paper.light), want, "light")
			assert.GreaterOrEqual(t, contrast(t, c.dark, paper.dark), want, "dark")
		})
	}
	check("ink", colors["ink"], 7)
	check("soft", colors["soft"], 7)
	check("muted", colors["muted"], 3)
	for i, c := range hues {
		check(fmt.Sprint("hue ", i), c, 3)
	}
	// An outage's label is drawn on the color shade.
	assert.GreaterOrEqual(t, contrast(t, colors["soft"].light, colors["shade"].light), 4.5)
	assert.GreaterOrEqual(t, contrast(t, colors["soft"].dark, colors["shade"].dark), 4.5)
}

// visions simulate a missing type of cone in linear RGB: G. M. Machado, M. M. Oliveira,
// L. A. F. Fernandes, "A Physiologically-based Model for Simulation of Color Vision
// Deficiency", 2009, at severity 1.
var visions = map[string][3][3]float64{
	"normal":       {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

func seen(t *testing.T, text string, vision [3][3]float64) colorful.Color {
	r, g, b := parse(t, text).LinearRgb()
	part := func(row [3]float64) float64 { return min(max(0, row[0]*r+row[1]*g+row[2]*b), 1) }
	return colorful.LinearRgb(part(vision[0]), part(vision[1]), part(vision[2]))
}

func TestColorsDiffer(t *testing.T) {
	all := append(hues[:len(hues):len(hues)], colors["muted"])
	for name, vision := range visions {
		least := map[string]float64{"light": 100, "dark": 100}
		for i, a := range all {
			for _, b := range all[:i] {
				for paper, pair := range map[string][2]string{"light": {a.light, b.light}, "dark": {a.dark, b.dark}} {
					d := 100 * seen(t, pair[0], vision).DistanceCIEDE2000(seen(t, pair[1], vision))
					least[paper] = min(least[paper], d)
					assert.GreaterOrEqual(t, d, 10.0, "%s, %s: %v", name, paper, pair)
				}
			}
		}
		t.Logf("%s: least distance %.1f in light, %.1f in dark", name, least["light"], least["dark"])
	}
}

// Light values are unique, because Style selects by them.
func TestStyle(t *testing.T) {
	names := map[string]int{}
	for _, c := range colors {
		names[c.light]++
	}
	for _, c := range hues {
		names[c.light]++
	}
	for value, n := range names {
		assert.Equal(t, 1, n, value)
	}
	assert.Contains(t, Style(), `svg [stroke="#2467d3"]{stroke:#6393ff}`)
	assert.NotContains(t, Style(), "url(")
}

// echarts.min.js is the output of echarts/build.sh. If you run it, write the new checksum
// here.
func TestLibrary(t *testing.T) {
	sum := sha256.Sum256([]byte(library))
	assert.Equal(t, "604d7d1ce3625b568a00fc951b6220132d9e659fc229e8dc49b3e21cbe88dde9", hex.EncodeToString(sum[:]))
	for _, name := range []string{"LICENSE", "NOTICE", "LICENSE.zrender"} {
		text, err := os.ReadFile("echarts/" + name)
		require.NoError(t, err)
		assert.NotEmpty(t, text)
	}
	assert.NotContains(t, strings.ToLower(Script()), "</script", "it is part of a page")
	assert.NotContains(t, Script(), `"PALETTE"`)
}
