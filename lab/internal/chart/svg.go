package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"math"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg/vgsvg"
)

// role is a colour that the reader's preference for light or dark settles.
// Drawn as a colour that nothing else has, it leaves as a class.
type role uint8

const (
	paper role = iota
	ink
	soft
	grid
	muted
	shade
	never
	firstHue
)

// hues is the number of colours before they repeat.
const hues = 6

// tint is the translucent version of a hue.
func (r role) tint() role { return r + hues + 1 }

// mutedHue stands after the hues, so that it has a tint as they do.
const mutedHue = firstHue + hues

// roles holds what each role looks like. Contrast with the paper is at least 3:1
// for hues and muted lines and 7:1 for ink and soft, in light and in dark. Any two hues
// are at least 10 apart by CIEDE2000, also with protanopia, deuteranopia or tritanopia.
var roles = []struct{ light, dark string }{
	paper:        {"#ffffff", "#15181d"},
	ink:          {"#1f2328", "#e8eaed"},
	soft:         {"#4d545c", "#b4bac2"},
	grid:         {"#dfe2e6", "#343a42"},
	muted:        {"#7d858d", "#8d959e"},
	shade:        {"#e9ebee", "#2a2f37"},
	never:        {"#2a0f2b", "#571f58"},
	firstHue:     {"#2467d3", "#6393ff"},
	firstHue + 1: {"#9c8bb5", "#ff6e00"},
	firstHue + 2: {"#058c5e", "#2fcb9c"},
	firstHue + 3: {"#bb1f8f", "#f29ccb"},
	firstHue + 4: {"#b17a1a", "#dffe41"},
	firstHue + 5: {"#2c5563", "#d2fff9"},
	mutedHue:     {"#7d858d", "#8d959e"},
}

// RGBA gives the colour that stands for the role until the drawing is finished.
// The numbers of roles lie apart, because vgsvg may round one down by 1.
func (r role) RGBA() (red, green, blue, alpha uint32) {
	return color.RGBA{R: 0xFA, G: 0x4D, B: uint8(r)*8 + 4, A: 0xFF}.RGBA()
}

var (
	standIn   = regexp.MustCompile(`^#F[9A]4[CD]([0-9A-F]{2})$`)
	styles    = regexp.MustCompile(`\s*style="([^"]*)"`)
	paths     = regexp.MustCompile(` d="[^"]*"`)
	positions = regexp.MustCompile(` [xy]="[^"]*"`)
	numbers   = regexp.MustCompile(`-?\d+\.\d+(?:e[-+]?\d+)?|-?\d+e[-+]?\d+`)
)

// finish turns a drawing into a document that also stands alone in a file.
func finish(c *vgsvg.Canvas, title string) ([]byte, error) {
	var raw bytes.Buffer
	if _, err := c.WriteTo(&raw); err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	// vgsvg has a head of its own, with sizes in points.
	body := raw.Bytes()[bytes.Index(raw.Bytes(), []byte("<g ")):]
	body = styles.ReplaceAllFunc(body, func(style []byte) []byte {
		return attributes(string(styles.FindSubmatch(style)[1]))
	})
	round := func(text []byte) []byte { return numbers.ReplaceAllFunc(text, tenth) }
	body = paths.ReplaceAllFunc(body, round)
	body = positions.ReplaceAllFunc(body, round)

	w, h := c.Size()
	var out bytes.Buffer
	size := fmt.Sprintf("%.0f", float64(w))
	height := fmt.Sprintf("%.0f", math.Ceil(float64(h)))
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" class="lab-chart" role="img" width="%s" height="%s" viewBox="0 0 %s %s" `+
		`font-family="Arial, Helvetica, 'Liberation Sans', Roboto, sans-serif" stroke-linejoin="round">`+"\n<title>", size, height, size, height)
	if err := xml.EscapeText(&out, []byte(plain(title))); err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	out.WriteString("</title>\n<style>" + stylesheet + "</style>\n")
	fmt.Fprintf(&out, `<rect class="f%d" fill="%s" width="100%%" height="100%%"/>`+"\n", paper, roles[paper].light)
	out.Write(body)
	return out.Bytes(), nil
}

// attributes writes declarations as attributes, which renderers without style
// sheets understand, too. A class beside the colour lets the sheet change it.
func attributes(style string) []byte {
	var out strings.Builder
	for declaration := range strings.SplitSeq(style, ";") {
		property, value, _ := strings.Cut(declaration, ":")
		switch property {
		case "font-family", "font-variant", "font-style":
			continue
		case "font-weight":
			if value == "normal" {
				continue
			}
		case "font-size":
			value = strings.TrimSuffix(value, "px")
		}
		found := standIn.FindStringSubmatch(value)
		if found == nil {
			fmt.Fprintf(&out, ` %s="%s"`, property, strings.ToLower(value))
			continue
		}
		number, _ := strconv.ParseUint(found[1], 16, 8)
		r := role(number / 8)
		if r > mutedHue {
			r -= hues + 1
			fmt.Fprintf(&out, ` %s-opacity=".16"`, property)
		}
		fmt.Fprintf(&out, ` class="%c%d" %s="%s"`, property[0], r, property, roles[r].light)
	}
	return []byte(out.String())
}

// tenth rounds a coordinate: finer than a tenth of a pixel nobody sees.
func tenth(number []byte) []byte {
	v, err := strconv.ParseFloat(string(number), 64)
	if err != nil {
		return number
	}
	v = math.Round(v*10) / 10
	if v == 0 {
		v = 0 // and not -0
	}
	return strconv.AppendFloat(nil, v, 'f', -1, 64)
}

// stylesheet is the same in each picture: inside a page, it applies to all.
var stylesheet = func() string {
	var light, dark, classes strings.Builder
	for r, c := range roles {
		fmt.Fprintf(&light, "--c%d:%s;", r, c.light)
		fmt.Fprintf(&dark, "--c%d:%s;", r, c.dark)
		fmt.Fprintf(&classes, ".lab-chart .f%d{fill:var(--c%d)}.lab-chart .s%d{stroke:var(--c%d)}", r, r, r, r)
	}
	return ".lab-chart{" + light.String() + "}" + classes.String() +
		"@media screen and (prefers-color-scheme:dark){.lab-chart{" + dark.String() + "}}"
}()

// plain leaves out what XML has no place for, and line breaks.
func plain(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0xFFFE || r == 0xFFFF {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return strings.Join(strings.Fields(text), " ")
}
