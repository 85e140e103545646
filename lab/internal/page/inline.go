package page

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"strings"
)

// inline makes an SVG document a part of a page: its ids get a prefix, because
// those of another figure may be the same.
func inline(svg []byte, prefix string) (template.HTML, error) {
	svg = svg[max(0, bytes.Index(svg, []byte("<svg"))):] // without <?xml ...?>
	if err := harmless(svg); err != nil {
		return "", err
	}
	return template.HTML(rename(string(svg), prefix)), nil
}

// harmless refuses what is not SVG, runs something, or fetches something. The
// escaping of the template ends where the figure begins.
func harmless(svg []byte) error {
	d := xml.NewDecoder(bytes.NewReader(svg))
	depth, roots := 0, 0
	sheet := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("not well-formed: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth == 0 {
				roots++
			}
			depth++
			sheet = t.Name.Local == "style"
			if err := allowed(t, depth); err != nil {
				return err
			}
		case xml.EndElement:
			depth--
			sheet = false
		case xml.CharData:
			if sheet && fetches(string(t)) {
				return errors.New("a style sheet that fetches something")
			}
			if depth == 0 && len(bytes.TrimSpace(t)) > 0 {
				return errors.New("text outside of the picture")
			}
		case xml.Directive:
			return errors.New("a declaration")
		}
	}
	if roots != 1 {
		return fmt.Errorf("%d pictures, not 1", roots)
	}
	return nil
}

func allowed(e xml.StartElement, depth int) error {
	if depth == 1 && e.Name.Local != "svg" {
		return fmt.Errorf("begins with <%s>, not with <svg>", e.Name.Local)
	}
	switch strings.ToLower(e.Name.Local) {
	case "script", "foreignobject", "iframe", "image", "feimage":
		return fmt.Errorf("has an element <%s>", e.Name.Local)
	}
	for _, a := range e.Attr {
		name := strings.ToLower(a.Name.Local)
		switch {
		case a.Name.Space == "xmlns" || name == "xmlns":
		case strings.HasPrefix(name, "on"):
			return fmt.Errorf("has an attribute %s", a.Name.Local)
		case name == "href" && !strings.HasPrefix(a.Value, "#"), fetches(a.Value):
			return fmt.Errorf("the attribute %s of <%s> fetches something", a.Name.Local, e.Name.Local)
		}
	}
	return nil
}

// fetches reports whether a value of CSS names anything outside of the page.
func fetches(css string) bool {
	css = strings.ToLower(css)
	rest := strings.ReplaceAll(strings.ReplaceAll(css, "url(#", ""), "url('#", "")
	return strings.Contains(rest, "url(") || strings.Contains(css, "@import") || strings.Contains(css, `\`)
}

var (
	anID      = regexp.MustCompile(`(\sid=["'])([^"']+)`)
	reference = regexp.MustCompile(`(url\(['"]?#|href=["']#)([^"')]+)`)
	labels    = regexp.MustCompile(`(\saria-(?:labelledby|describedby)=["'])([^"']+)`)
	tag       = regexp.MustCompile(`<style[^>]*>[^<]*|<[^!?/][^>]*>`)
)

// rename puts a prefix before the ids of a figure in tags and style sheets: text
// that speaks of an id stays as it is. Selectors stay, too, since nothing tells
// them from colours; style sheets should select by class.
func rename(svg, prefix string) string {
	return tag.ReplaceAllStringFunc(svg, func(t string) string {
		t = anID.ReplaceAllString(t, "${1}"+prefix+"${2}")
		t = reference.ReplaceAllString(t, "${1}"+prefix+"${2}")
		return labels.ReplaceAllStringFunc(t, func(l string) string {
			parts := labels.FindStringSubmatch(l)
			return parts[1] + prefix + strings.Join(strings.Fields(parts[2]), " "+prefix)
		})
	})
}
