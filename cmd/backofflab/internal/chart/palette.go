// The colors, and the scripts and styles that use them.

package chart

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

// color is a color as it appears on a light and on a dark page.
type color struct{ light, dark string }

// The contrast with the paper is at least 7:1 for the colors ink and soft, and at least
// 3:1 for muted. Light values are unique, because Style selects by them.
var colors = map[string]color{
	"paper": {"#ffffff", "#15181d"},
	"ink":   {"#1f2328", "#e8eaed"},
	"soft":  {"#4d545c", "#b4bac2"},
	"grid":  {"#dfe2e6", "#343a42"},
	"muted": {"#7d858d", "#8d959e"},
	"shade": {"#e9ebee", "#2a2f37"},
}

// hues distinguish policies, as do dashes and markers. Their contrast with the paper is
// at least 3:1. These colors and the color muted are at least 10 apart by CIEDE2000, even
// with protanopia, deuteranopia or tritanopia.
var hues = []color{
	{"#2467d3", "#6393ff"}, {"#9c8bb5", "#ff6e00"}, {"#058c5e", "#2fcb9c"},
	{"#bb1f8f", "#f29ccb"}, {"#b17a1a", "#dffe41"}, {"#2c5563", "#d2fff9"},
}

var (
	//go:embed echarts/echarts.min.js
	library string
	//go:embed charts.js
	script string
)

// Script returns ECharts and charts.js.
func Script() string {
	palette := map[string]any{}
	for name, c := range colors {
		palette[name] = c.light
	}
	var list []string
	for _, c := range hues {
		list = append(list, c.light)
	}
	palette["hues"] = list
	text, _ := json.Marshal(palette) // strings only
	return library + "\n" + strings.Replace(script, `"PALETTE"`, string(text), 1)
}

// Style returns a style sheet with the colors as variables, such as --ink and --hue0. On
// dark screens it replaces the light colors of a picture.
func Style() string {
	var light, dark, replaced strings.Builder
	add := func(name string, c color) {
		fmt.Fprintf(&light, "--%s:%s;", name, c.light)
		fmt.Fprintf(&dark, "--%s:%s;", name, c.dark)
		for _, property := range []string{"fill", "stroke"} {
			fmt.Fprintf(&replaced, `svg [%[1]s="%[2]s"]{%[1]s:%[3]s}`, property, c.light, c.dark)
		}
	}
	for _, name := range []string{"paper", "ink", "soft", "grid", "muted", "shade"} {
		add(name, colors[name])
	}
	for i, c := range hues {
		add(fmt.Sprintf("hue%d", i), c)
	}
	return ":root{" + light.String() + "}@media screen and (prefers-color-scheme:dark){:root{" + dark.String() + "}" + replaced.String() + "}"
}
