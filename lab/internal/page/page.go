// Package page writes a report as one HTML file that needs no network, for light and dark
// screens, phones and paper.
package page

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"strings"

	"github.com/gobackoff/retry/lab/internal/chart"
	"github.com/gobackoff/retry/lab/internal/report"
)

// Page is a report.
type Page struct {
	Title    string
	Own      []string // the user's policies, which pictures highlight
	Lead     string   // paragraphs under the title
	Sections []report.Section
	Notes    []report.Note // at the end
}

var (
	//go:embed page.html
	source string
	//go:embed page.css
	style string

	layout = template.Must(template.New("page").Parse(source))
)

// Style returns the style sheet of pages, including that of pictures.
func Style() string { return chart.Style() + "\n" + style }

// Write writes the page. It returns an error if a picture cannot be drawn, or if a table
// row and the headers differ in length.
func Write(w io.Writer, p Page) error {
	doc := document{
		Title: p.Title, Lead: paragraphs(p.Lead), Verdicts: verdicts(p.Sections), Notes: p.Notes,
		Style: template.CSS(Style()), Script: template.JS(chart.Script()),
	}
	data := struct {
		Own      []string          `json:"own"`
		Pictures []json.RawMessage `json:"pictures"`
	}{append([]string{}, p.Own...), []json.RawMessage{}}
	for i, s := range p.Sections {
		out := section{Heading: s.Heading, Text: paragraphs(s.Text)}
		if s.Table != nil {
			t, err := arrange(s.Table)
			if err != nil {
				return fmt.Errorf("page: section %q: %w", s.Heading, err)
			}
			out.Table = &t
		}
		for _, f := range s.Figures {
			picture, err := chart.Marshal(f.Picture)
			if err != nil {
				return fmt.Errorf("page: section %q: %w", s.Heading, err)
			}
			fig := figure{Number: len(data.Pictures), Caption: f.Caption}
			if _, ok := f.Picture.(chart.Lines); ok { // they share their x axis
				fig.Group = fmt.Sprintf("section%d", i)
			}
			data.Pictures = append(data.Pictures, picture)
			out.Figures = append(out.Figures, fig)
		}
		for _, f := range s.Files {
			address := "data:text/csv;base64," + base64.StdEncoding.EncodeToString(f.Data)
			out.Files = append(out.Files, file{f.Name, template.URL(address)})
		}
		doc.Sections = append(doc.Sections, out)
	}
	text, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("page: %w", err)
	}
	doc.Data = template.JS(text)
	// Half a page would look like a complete but short one.
	var whole bytes.Buffer
	if err := layout.Execute(&whole, doc); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	if _, err := whole.WriteTo(w); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	return nil
}

type ( // data of the template
	document struct {
		Title    string
		Lead     []string
		Verdicts []verdict
		Sections []section
		Notes    []report.Note
		Style    template.CSS
		Script   template.JS
		Data     template.JS
	}
	verdict struct {
		Policy, Headline string
		Bad              bool
		Texts            []string
	}
	section struct {
		Heading string
		Text    []string
		Table   *table
		Figures []figure
		Files   []file
	}
	figure struct {
		Number         int
		Group, Caption string
	}
	file struct {
		Name    string
		Address template.URL
	}
	table struct {
		Caption string
		Headers []cell
		Rows    [][]cell
	}
	cell struct {
		Text   string
		Number bool
	}
)

// verdicts collects the findings about each policy.
func verdicts(sections []report.Section) []verdict {
	var list []verdict
	index := map[string]int{}
	for _, s := range sections {
		for _, f := range s.Findings {
			i, ok := index[f.Policy]
			if !ok {
				i = len(list)
				index[f.Policy] = i
				list = append(list, verdict{Policy: f.Policy, Headline: f.Headline, Bad: f.Bad})
			}
			if v := &list[i]; f.Bad && !v.Bad { // the worst comes first
				v.Headline, v.Bad = f.Headline, true
			}
			list[i].Texts = append(list[i].Texts, f.Text)
		}
	}
	return list
}

var emptyLine = regexp.MustCompile(`\n\s*\n`)

func paragraphs(text string) []string {
	var out []string
	for _, p := range emptyLine.Split(text, -1) {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}

// arrange marks the columns of numbers, which are aligned to the right.
func arrange(t *report.Table) (table, error) {
	numbers := make([]bool, len(t.Headers))
	out := table{Caption: t.Caption}
	for i, h := range t.Headers {
		numbers[i] = numeric(t.Rows, i)
		out.Headers = append(out.Headers, cell{h, numbers[i]})
	}
	for i, row := range t.Rows {
		if len(row) != len(t.Headers) {
			return table{}, fmt.Errorf("row %d of the table has %d cells, for %d headers", i+1, len(row), len(t.Headers))
		}
		cells := make([]cell, len(row))
		for k, text := range row {
			cells[k] = cell{text, numbers[k]}
		}
		out.Rows = append(out.Rows, cells)
	}
	return out, nil
}

var (
	// number matches a number, which may have a sign, a margin and a short unit.
	number = regexp.MustCompile(`^[-+−±~≈<>≤≥×]*\s?\d[\d., ]*(e[-+]?\d+|×10\S+)?(\s?[-–±]\s?\d[\d., ]*)?\s?\S{0,5}$`)
	// instead matches other texts that are allowed in a column of numbers.
	instead = regexp.MustCompile(`^(|[-–—−∞?]|never|none|bounded|n/a)$`)
)

func numeric(rows [][]string, column int) bool {
	found := false
	for _, row := range rows {
		switch {
		case column >= len(row):
		case number.MatchString(strings.TrimSpace(row[column])):
			found = true
		case !instead.MatchString(strings.TrimSpace(row[column])):
			return false
		}
	}
	return found
}
