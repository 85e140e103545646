// The parts of a page.

package report

import (
	"bytes"
	"io"

	"github.com/gobackoff/retry/lab/internal/chart"
)

// Section is a part of a report. A page omits fields that are empty.
type Section struct {
	Heading  string
	Findings []Finding
	Text     string // paragraphs, with an empty line between them
	Table    *Table
	Figures  []Figure
	Files    []File
}

// Finding is a result about one policy, or about all.
type Finding struct {
	Policy   string // "": about all
	Headline string // a few words; a page shows one headline for each policy
	Bad      bool
	Text     string // a sentence or two
}

// Figure is a picture with a line about it.
type Figure struct {
	Picture chart.Picture
	Caption string
}

// Table is headed columns of text.
type Table struct {
	Caption string
	Headers []string
	Rows    [][]string // as many cells each as there are headers
}

// Note is one fact, such as the seed of a report.
type Note struct {
	Name  string
	Value string
}

// File is data in full precision, to download from a page.
type File struct {
	Name string
	Data []byte
}

// file returns what write writes.
func file(name string, write func(io.Writer) error) File {
	var data bytes.Buffer
	write(&data) // to memory, which does not fail
	return File{name, data.Bytes()}
}

// figures leaves out the figures without a picture.
func figures(list ...Figure) []Figure {
	var out []Figure
	for _, f := range list {
		if f.Picture != nil {
			out = append(out, f)
		}
	}
	return out
}
