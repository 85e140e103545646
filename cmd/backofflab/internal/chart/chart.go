// Package chart describes pictures as data. charts.js draws the JSON of a picture with Apache
// ECharts: in a page, or in Node.js as an SVG file.
package chart

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// Picture is a picture of one or more series.
type Picture struct {
	Kind   Kind      `json:"kind"`
	Title  string    `json:"title"`
	X      Axis      `json:"x"`
	Y      Axis      `json:"y"`
	Series []Series  `json:"series"`          // at most MostSeries, and one that is muted
	Shade  *Interval `json:"shade,omitempty"` // such as an outage
	Mark   *Mark     `json:"mark,omitempty"`
	First  *Interval `json:"first,omitempty"` // part of X shown at first; nil: all
}

// Kind is how a picture shows its series.
type Kind string

const (
	Lines  Kind = "lines"
	Strips Kind = "strips" // histograms one below the other; X is where the bins start, all equally wide
)

// MostSeries is how many series a reader can tell apart.
const MostSeries = 6

// Axis is an axis of a picture.
type Axis struct {
	Label string `json:"label"`         // with its unit: "time (s)"
	Log   bool   `json:"log,omitempty"` // all values are above 0
}

// Series is a line or a histogram.
type Series struct {
	Name  string  `json:"name"`
	X     Numbers `json:"x"`
	Y     Numbers `json:"y"`
	Muted bool    `json:"muted,omitempty"` // gray, for comparison
}

// Interval is a part of the x axis.
type Interval struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Label string  `json:"label"`
}

// Mark is a horizontal line, such as a capacity.
type Mark struct {
	Y     float64 `json:"y"`
	Label string  `json:"label"`
}

// Numbers are marshaled with five digits, more than a picture shows.
type Numbers []float64

// MarshalJSON returns an error for NaN and infinities.
func (n Numbers) MarshalJSON() ([]byte, error) {
	rounded := make([]float64, len(n))
	for i, v := range n {
		rounded[i], _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 5, 64), 64)
	}
	return json.Marshal(rounded)
}

// Marshal returns the JSON that charts.js draws, or an error that names the series that cannot
// be drawn.
func (p *Picture) Marshal() (json.RawMessage, error) {
	if n := len(p.Series); n == 0 || n > MostSeries+1 {
		return nil, fmt.Errorf("chart: %d series", n)
	}
	for _, s := range p.Series {
		if len(s.X) == 0 || len(s.Y) != len(s.X) {
			return nil, fmt.Errorf("chart: series %q: %d x, %d y", s.Name, len(s.X), len(s.Y))
		}
		if p.X.Log && slices.Min(s.X) <= 0 || p.Y.Log && slices.Min(s.Y) <= 0 {
			return nil, fmt.Errorf("chart: series %q: a value is not above 0, and the axis is logarithmic", s.Name)
		}
	}
	data, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	return data, nil
}
