// The parts of a page.

package report

import (
	"bytes"
	"io"

	"github.com/gobackoff/retry/lab/internal/chart"
)

// Section is a part of a report. A page omits empty fields.
type Section struct {
	Heading  string
	Findings []Finding
	Text     string // paragraphs, separated by empty lines
	Table    *Table
	Figures  []Figure
	Files    []File
}

// Finding is a result about one policy, or about all.
type Finding struct {
	Policy   string // "": about all
	Headline string // a page shows one for each policy
	Bad      bool
	Text     string
}

// Figure is a picture with a caption.
type Figure struct {
	Picture chart.Picture
	Caption string
}

// Table is text in columns.
type Table struct {
	Caption string
	Headers []string
	Rows    [][]string // with a cell for each header
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

func file(name string, write func(io.Writer) error) File {
	var data bytes.Buffer
	write(&data) // writing to memory does not fail
	return File{name, data.Bytes()}
}

// figures returns the figures that have a picture.
func figures(list ...Figure) []Figure {
	var out []Figure
	for _, f := range list {
		if f.Picture != nil {
			out = append(out, f)
		}
	}
	return out
}
