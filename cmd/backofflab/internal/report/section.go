// The parts of a page.

package report

import (
	"bytes"
	"io"
	"slices"

	"github.com/gobackoff/retry/cmd/backofflab/internal/chart"
)

// Section is a part of a page. Empty fields are omitted.
type Section struct {
	Heading  string
	Lead     string // what was simulated, in a sentence
	Findings []Finding
	Table    *Table
	Figures  []Figure
	Text     []string // paragraphs
	Files    []File
	Own      []string // names of the user's policies in table and pictures
}

// Finding is a result about one policy, or about all.
type Finding struct {
	Policy   string // "": about all
	Headline string
	Bad      bool
	Text     string
}

// Figure is a picture with a caption.
type Figure struct {
	Picture *chart.Picture // nil: a page omits the figure
	Caption string
}

// Table is text in columns. All columns except the first contain numbers.
type Table struct {
	Headers []string
	Rows    [][]Cell // with a cell for each header
}

// Cell is a part of a table.
type Cell struct {
	Text string
	Bad  bool // a page shows it in red
}

func (t *Table) add(texts ...string) {
	row := make([]Cell, len(texts))
	for i, text := range texts {
		row[i].Text = text
	}
	t.Rows = append(t.Rows, row)
}

// mark marks the rows of the user's policies, as pictures do.
func (t *Table) mark(own []string) {
	for _, row := range t.Rows {
		if slices.Contains(own, row[0].Text) {
			row[0].Text = "▶ " + row[0].Text
		}
	}
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
