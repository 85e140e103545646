package chart

import (
	"errors"
	"fmt"
	"math"
)

// beyond is what no axis reaches: differences of such values would overflow.
const beyond = 1e100

// finite refuses what cannot be drawn, and says where it stands.
func finite(what string, values ...float64) error {
	for i, v := range values {
		if math.IsNaN(v) || math.Abs(v) > beyond {
			return fmt.Errorf("chart: %s: value %d is %v", what, i, v)
		}
	}
	return nil
}

// fit refuses what has no place on the axis.
func (a Axis) fit(what string, values ...float64) error {
	if err := finite(what, values...); err != nil || !a.Log {
		return err
	}
	for i, v := range values {
		if v < 1/beyond {
			return fmt.Errorf("chart: %s: value %d is %v, and the axis is logarithmic", what, i, v)
		}
	}
	return nil
}

// check refuses limits that leave nothing between them.
func (a Axis) check() error {
	what := fmt.Sprintf("axis %q", a.Label)
	if err := finite(what, a.Min, a.Max); err != nil || a.auto() {
		return err
	}
	if a.Max-a.Min <= 1e-9*math.Max(math.Abs(a.Min), math.Abs(a.Max)) {
		return fmt.Errorf("chart: %s: goes from %v to %v", what, a.Min, a.Max)
	}
	return a.fit(what, a.Min, a.Max)
}

func (a Axis) auto() bool { return a.Min == 0 && a.Max == 0 }

// check refuses a series that does not fit the axes.
func (s Series) check(x, y Axis) error {
	what := fmt.Sprintf("series %q", s.Name)
	if len(s.X) == 0 {
		return fmt.Errorf("chart: %s: no values", what)
	}
	banded := s.Low != nil || s.High != nil
	if len(s.Y) != len(s.X) || banded && (len(s.Low) != len(s.X) || len(s.High) != len(s.X)) {
		return fmt.Errorf("chart: %s: %d x, %d y, %d low, %d high", what, len(s.X), len(s.Y), len(s.Low), len(s.High))
	}
	for i := range s.Low {
		if s.Low[i] > s.High[i] {
			return fmt.Errorf("chart: %s: the band at %d goes from %v to %v", what, i, s.Low[i], s.High[i])
		}
	}
	return errors.Join(x.fit(what+", x", s.X...), y.fit(what+", y", s.Y...),
		y.fit(what+", low", s.Low...), y.fit(what+", high", s.High...))
}
