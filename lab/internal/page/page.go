// Package page writes a report as one HTML file: text, tables and pictures, with
// nothing to fetch and nothing to run. It is read on a screen in light or dark,
// on a phone and on paper.
package page

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"strings"
)

// Page is a report.
type Page struct {
	Title    string
	Lead     string // what was found, in a paragraph or two below the title
	Sections []Section
	Notes    []Note // how this was made, at the end
}

// Section is a part of a report. What is empty leaves no trace.
type Section struct {
	Heading string
	Text    string // paragraphs, with an empty line between them
	Table   *Table
	Figures []Figure
}

// Figure is a picture with a line about it.
type Figure struct {
	SVG     []byte // without scripts and without anything to fetch
	Caption string
}

// Table is headed columns of text. Columns of numbers are set to the right.
type Table struct {
	Caption string
	Headers []string
	Rows    [][]string // as many cells each as there are headers
}

// Note is one fact about how a report was made, such as its seed.
type Note struct {
	Name  string
	Value string
}

var (
	//go:embed page.html
	source string

	layout = template.Must(template.New("page").Parse(source))
)

// Write writes the page. Text is escaped. A figure that is not SVG, or that would
// run or fetch something, is an error, and so is a row of a table that does not
// match the headers.
func Write(w io.Writer, p Page) error {
	doc := document{Title: p.Title, Lead: paragraphs(p.Lead), Notes: p.Notes}
	figures := 0
	for _, s := range p.Sections {
		out := section{Heading: s.Heading, Text: paragraphs(s.Text)}
		if s.Table != nil {
			t, err := s.Table.arrange()
			if err != nil {
				return fmt.Errorf("page: section %q: %w", s.Heading, err)
			}
			out.Table = &t
		}
		for i, f := range s.Figures {
			figures++
			svg, err := inline(f.SVG, fmt.Sprintf("f%d-", figures))
			if err != nil {
				return fmt.Errorf("page: section %q, figure %d: %w", s.Heading, i+1, err)
			}
			out.Figures = append(out.Figures, figure{SVG: svg, Caption: f.Caption})
		}
		doc.Sections = append(doc.Sections, out)
	}
	// A page that fails halfway would look like a short one.
	var whole bytes.Buffer
	if err := layout.Execute(&whole, doc); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	if _, err := whole.WriteTo(w); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	return nil
}

// What the template sees.
type (
	document struct {
		Title    string
		Lead     []string
		Sections []section
		Notes    []Note
	}
	section struct {
		Heading string
		Text    []string
		Table   *table
		Figures []figure
	}
	figure struct {
		SVG     template.HTML
		Caption string
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

// arrange finds out which columns hold numbers.
func (t Table) arrange() (table, error) {
	numbers := make([]bool, len(t.Headers))
	for i := range numbers {
		numbers[i] = t.numeric(i)
	}
	out := table{Caption: t.Caption}
	for i, h := range t.Headers {
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
	// number is a figure, perhaps with a sign, a margin, and a short unit.
	number = regexp.MustCompile(`^[-+−±~≈<>≤≥×]*\s?\d[\d., ]*(e[-+]?\d+|×10\S+)?(\s?[-–±]\s?\d[\d., ]*)?\s?\S{0,5}$`)
	// instead is what stands where there is no figure.
	instead = regexp.MustCompile(`^(|[-–—−∞?]|never|none|n/a)$`)
)

func (t Table) numeric(column int) bool {
	found := false
	for _, row := range t.Rows {
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
