// Package page writes a report as one HTML file that needs no network, for light and dark
// screens, phones and paper.
package page

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"

	"github.com/gobackoff/retry/cmd/backofflab/internal/chart"
	"github.com/gobackoff/retry/cmd/backofflab/internal/report"
)

// Page is a report.
type Page struct {
	Title    string
	Note     string // under the title
	Sections []report.Section
	Facts    []Fact // at the end
}

// Fact is how a page was made, such as its command.
type Fact struct{ Name, Value string }

var (
	//go:embed page.html
	source string
	//go:embed page.css
	style string

	layout = template.Must(template.New("page").Parse(source))
)

// Style returns the style sheet of pages, including that of pictures.
func Style() string { return chart.Style() + "\n" + style }

// Write writes the page. It returns an error if a picture cannot be drawn.
func Write(w io.Writer, p Page) error {
	var sections []template.HTML
	data := struct {
		Own      []string          `json:"own"`
		Pictures []json.RawMessage `json:"pictures"`
	}{[]string{}, []json.RawMessage{}}
	for _, s := range p.Sections {
		text, pictures, err := s.HTML()
		if err != nil {
			return fmt.Errorf("page: %w", err)
		}
		sections = append(sections, template.HTML(text))
		data.Own = append(data.Own, s.Own...)
		data.Pictures = append(data.Pictures, pictures...)
	}
	text, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("page: %w", err)
	}
	// Half a page would look like a complete but short one.
	var whole bytes.Buffer
	err = layout.Execute(&whole, map[string]any{
		"Page": p, "Sections": sections, "Data": template.JS(text), "Style": template.CSS(Style()), "Script": template.JS(chart.Script()),
	})
	if err == nil {
		_, err = whole.WriteTo(w)
	}
	if err != nil {
		return fmt.Errorf("page: %w", err)
	}
	return nil
}
