// A section as HTML. Package html/template would double the size of the playground's
// program.

package report

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"strings"
)

// HTML returns a section as HTML, and its pictures for charts.js, one for each element of
// the class chart.
func (s Section) HTML() (text string, pictures []json.RawMessage, err error) {
	var b strings.Builder
	// put writes a format whose arguments are strings, which it escapes. A line does not
	// break before a percent sign.
	put := func(format string, args ...string) {
		escaped := make([]any, len(args))
		for i, arg := range args {
			escaped[i] = strings.ReplaceAll(html.EscapeString(arg), " %", "\u00a0%")
		}
		fmt.Fprintf(&b, format, escaped...)
	}
	if s.Heading != "" {
		put("<h2>%s</h2>\n", s.Heading)
	}
	if s.Lead != "" {
		put("<p class=\"lead\">%s</p>\n", s.Lead)
	}
	for _, f := range s.Findings {
		kind := "good"
		if f.Bad {
			kind = "bad"
		}
		put("<div class=\"verdict %s\">\n<p class=\"headline\">%s</p>\n", kind, f.Headline)
		if f.Policy != "" {
			put("<p><code>%s</code></p>\n", f.Policy)
		}
		put("<p>%s</p>\n</div>\n", f.Text)
	}
	if s.Table != nil {
		s.Table.html(put)
	}
	for _, f := range s.Figures {
		if f.Picture == nil {
			continue
		}
		picture, err := f.Picture.Marshal()
		if err != nil {
			return "", nil, fmt.Errorf("section %q: %w", s.Heading, err)
		}
		pictures = append(pictures, picture)
		put("<figure>\n<div class=\"chart\" role=\"img\" aria-label=\"%s\"></div>\n<figcaption>%[1]s</figcaption>\n</figure>\n", f.Caption)
	}
	for _, paragraph := range s.Text {
		put("<p>%s</p>\n", paragraph)
	}
	if len(s.Files) > 0 {
		put("<p class=\"files\">Data in full precision:")
		for _, f := range s.Files {
			put(" <a download=\"%s\" href=\"data:text/csv;base64,%s\">%[1]s</a>", f.Name, base64.StdEncoding.EncodeToString(f.Data))
		}
		put("</p>\n")
	}
	return b.String(), pictures, nil
}

func (t *Table) html(put func(format string, args ...string)) {
	put("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"table\">\n<table>\n<thead><tr>")
	for _, header := range t.Headers {
		put("<th scope=\"col\">%s</th>", header)
	}
	put("</tr></thead>\n<tbody>\n")
	for _, row := range t.Rows {
		put("<tr>")
		for i, cell := range row {
			switch {
			case i == 0:
				put("<th scope=\"row\">%s</th>", cell.Text)
			case cell.Bad:
				put("<td class=\"bad\">%s</td>", cell.Text)
			default:
				put("<td>%s</td>", cell.Text)
			}
		}
		put("</tr>\n")
	}
	put("</tbody>\n</table>\n</div>\n")
}
