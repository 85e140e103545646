// Package chart describes pictures as data. Marshal returns a picture as JSON, and charts.js
// draws it with Apache ECharts: in a page, or in Node.js as an SVG file.
//
// NaN, infinities, lists of different lengths, and values of 0 or less on a logarithmic
// axis are errors.
package chart

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Numbers are marshaled with five digits, more than a picture shows.
type Numbers []float64

// MarshalJSON writes NaN and infinities as null.
func (n Numbers) MarshalJSON() ([]byte, error) {
	text := []byte{'['}
	for i, v := range n {
		if i > 0 {
			text = append(text, ',')
		}
		if math.IsInf(v, 0) || math.IsNaN(v) {
			text = append(text, "null"...)
			continue
		}
		v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 5, 64), 64)
		text = strconv.AppendFloat(text, v, 'g', -1, 64)
	}
	return append(text, ']'), nil
}

// Axis is an axis of a picture.
type Axis struct {
	Label string `json:"label"` // with its unit: "time (s)"
	Log   bool   `json:"log,omitempty"`
}

// Series is a line, with a band around it if Low and High are given.
type Series struct {
	Name  string  `json:"name"`
	X     Numbers `json:"x"`
	Y     Numbers `json:"y"`
	Low   Numbers `json:"low,omitempty"` // ends of the band, such as a 95 % interval
	High  Numbers `json:"high,omitempty"`
	Muted bool    `json:"muted,omitempty"` // gray, for comparison
}

// Interval is a part of the x axis, such as an outage.
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

// Picture is Lines or Strips.
type Picture interface {
	kind() string
	check() error
}

// Lines shows one line per series.
type Lines struct {
	Title  string     `json:"title"`
	X      Axis       `json:"x"`
	Y      Axis       `json:"y"`
	Series []Series   `json:"series"`
	Shade  []Interval `json:"shade,omitempty"`
	Marks  []Mark     `json:"marks,omitempty"`
	First  *Interval  `json:"first,omitempty"` // part of X shown at first; nil: all
}

// Strip is a histogram.
type Strip struct {
	Name   string  `json:"name"`
	Values Numbers `json:"values"` // 0 or more
}

// Strips shows histograms one below the other, on the same axes.
type Strips struct {
	Title  string  `json:"title"`
	X      Axis    `json:"x"`
	Y      Axis    `json:"y"`
	Width  float64 `json:"width"` // of each bin, in units of the x axis; the first bin starts at 0
	Strips []Strip `json:"strips"`
}

func (Lines) kind() string  { return "lines" }
func (Strips) kind() string { return "strips" }

// Marshal returns the JSON that charts.js draws.
func Marshal(p Picture) (json.RawMessage, error) {
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("chart: %s: %w", p.kind(), err)
	}
	data, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	return append([]byte(`{"kind":"`+p.kind()+`",`), data[1:]...), nil
}

// Limits of a picture.
const (
	MostLines  = 7 // six policies and a bound
	MostStrips = 6
	mostBins   = 5000
)

func between(what string, n, most int) error {
	if n < 1 || n > most {
		return fmt.Errorf("%d %s, not 1 to %d", n, what, most)
	}
	return nil
}

// fit returns an error for values that do not fit the axis.
func (a Axis) fit(what string, values ...float64) error {
	for i, v := range values {
		switch {
		case math.IsNaN(v) || math.Abs(v) > 1e100:
			return fmt.Errorf("%s: value %d is %v", what, i, v)
		case a.Log && v <= 0:
			return fmt.Errorf("%s: value %d is %v, and the axis is logarithmic", what, i, v)
		}
	}
	return nil
}

func (s Series) check(x, y Axis) error {
	what := fmt.Sprintf("series %q", s.Name)
	n := len(s.X)
	banded := s.Low != nil || s.High != nil
	if n == 0 || len(s.Y) != n || banded && (len(s.Low) != n || len(s.High) != n) {
		return fmt.Errorf("%s: %d x, %d y, %d low, %d high", what, n, len(s.Y), len(s.Low), len(s.High))
	}
	for i := range s.Low {
		if s.Low[i] > s.High[i] {
			return fmt.Errorf("%s: the band at %d goes from %v to %v", what, i, s.Low[i], s.High[i])
		}
	}
	return errors.Join(x.fit(what+", x", s.X...), y.fit(what+", y", s.Y...), y.fit(what+", low", s.Low...), y.fit(what+", high", s.High...))
}

func (i Interval) check() error {
	what := fmt.Sprintf("interval %q", i.Label)
	if err := (Axis{}).fit(what, i.From, i.To); err != nil || i.From < i.To {
		return err
	}
	return fmt.Errorf("%s: goes from %v to %v", what, i.From, i.To)
}

func (l Lines) check() error {
	errs := []error{between("series", len(l.Series), MostLines)}
	for _, s := range l.Series {
		errs = append(errs, s.check(l.X, l.Y))
	}
	for _, i := range l.Shade {
		errs = append(errs, i.check())
	}
	if l.First != nil {
		errs = append(errs, l.First.check())
	}
	for _, m := range l.Marks {
		errs = append(errs, l.Y.fit(fmt.Sprintf("mark %q", m.Label), m.Y))
	}
	return errors.Join(errs...)
}

func (s Strips) check() error {
	errs := []error{between("strips", len(s.Strips), MostStrips), Axis{Log: true}.fit("width of a bin", s.Width)}
	for _, strip := range s.Strips {
		what := fmt.Sprintf("strip %q", strip.Name)
		errs = append(errs, between("bins of "+what, len(strip.Values), mostBins), s.Y.fit(what, strip.Values...))
		if len(strip.Values) > 0 && slices.Min(strip.Values) < 0 {
			errs = append(errs, fmt.Errorf("%s has a value below 0", what))
		}
	}
	return errors.Join(errs...)
}
