package chart

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// scale is an axis whose limits and ticks are settled.
type scale struct {
	label    string
	log      bool
	min, max float64
	ticks    []plot.Tick
}

// scale settles the axis for values from lo to hi. What grows from a baseline
// begins at 0 and ends at a tick; what does not keeps its own limits.
func (a Axis) scale(lo, hi float64, baseline bool) scale {
	s := scale{label: a.Label, log: a.Log, min: a.Min, max: a.Max}
	switch {
	case !a.auto():
	case a.Log:
		s.min, s.max = logLimits(lo, hi)
	case baseline:
		s.min, s.max = linearLimits(math.Min(lo, 0), math.Max(hi, 0))
		step := a.step(s.max - s.min)
		s.min, s.max = math.Floor(s.min/step+1e-9)*step, math.Ceil(s.max/step-1e-9)*step
	default:
		s.min, s.max = linearLimits(lo, hi)
	}
	if s.log && math.Log10(s.max/s.min) > 0.5 {
		s.ticks = logTicks(s.min, s.max)
	} else {
		s.ticks = linearTicks(s.min, s.max, a.step(s.max-s.min))
	}
	return s
}

// linearLimits widens limits that leave nothing between them, or less than a
// float can divide.
func linearLimits(lo, hi float64) (minimum, maximum float64) {
	if size := math.Max(math.Abs(lo), math.Abs(hi)); hi-lo <= 1e-9*size || size < 1/beyond {
		room := math.Max(size/10, 0.5)
		if lo == 0 && hi == 0 {
			return 0, 1
		}
		return lo - room, hi + room
	}
	return lo, hi
}

// logLimits goes out to a round number on both sides, so that no point sits on
// the frame.
func logLimits(lo, hi float64) (minimum, maximum float64) {
	return roundLog(lo/1.1, false), roundLog(hi*1.1, true)
}

func roundLog(v float64, up bool) float64 {
	decade := math.Pow(10, math.Floor(math.Log10(v)))
	round := []float64{1, 1.5, 2, 3, 5, 7, 10}
	for i, m := range round {
		if v <= m*decade*(1+1e-9) {
			if !up && i > 0 && v < m*decade*(1-1e-9) {
				return round[i-1] * decade
			}
			return m * decade
		}
	}
	return 10 * decade
}

// step is the distance between ticks that gives some four to eleven of them.
func (a Axis) step(span float64) float64 {
	if a.Seconds && span > 20 {
		for _, s := range []float64{5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 86400} {
			if span/s <= 9 {
				return s
			}
		}
	}
	decade := math.Pow(10, math.Floor(math.Log10(span/10)))
	for _, m := range []float64{1, 2, 5} {
		if span/(m*decade) <= 10+1e-9 {
			return m * decade
		}
	}
	return 10 * decade
}

func linearTicks(lo, hi, step float64) []plot.Tick {
	var ticks []plot.Tick
	// Counted from the first tick: a sum of steps would drift.
	first := math.Ceil(lo/step - 1e-9)
	for i := 0; (first+float64(i))*step <= hi+step*1e-9; i++ {
		v := (first + float64(i)) * step
		ticks = append(ticks, plot.Tick{Value: math.Min(math.Max(v, lo), hi), Label: stepNumber(v, step)})
	}
	return ticks
}

func logTicks(lo, hi float64) []plot.Tick {
	decades := math.Log10(hi / lo)
	labelled := "1"
	switch {
	case decades <= 1.4:
		labelled = "12357"
	case decades <= 2.6:
		labelled = "125"
	}
	every := int(math.Ceil(decades / 9))
	var ticks []plot.Tick
	for k := int(math.Floor(math.Log10(lo))); k <= int(math.Ceil(math.Log10(hi))); k++ {
		for m := 1; m <= 9; m++ {
			v := float64(m) * math.Pow(10, float64(k))
			if v < lo*(1-1e-9) || v > hi*(1+1e-9) {
				continue
			}
			t := plot.Tick{Value: math.Min(math.Max(v, lo), hi)}
			if strings.Contains(labelled, strconv.Itoa(m)) && k%every == 0 {
				t.Label = logNumber(m, k)
			} else if every > 1 {
				continue
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// logNumber writes m times ten to the k-th.
func logNumber(m, k int) string {
	if k >= -3 && k <= 5 {
		return decimal(float64(m)*math.Pow(10, float64(k)), max(0, -k))
	}
	power := "10" + superscript(k)
	if m == 1 {
		return power
	}
	return strconv.Itoa(m) + "×" + power
}

var superscripts = strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴",
	"5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")

func superscript(k int) string { return superscripts.Replace(strconv.Itoa(k)) }

// stepNumber writes a tick with the digits that its step needs.
func stepNumber(v, step float64) string {
	k := int(math.Floor(math.Log10(step) + 1e-9))
	if k < -4 || math.Abs(v) >= 1e12 {
		unit := math.Pow(10, float64(k))
		if v == 0 {
			return "0"
		}
		return decimal(v/unit, 0) + "×10" + superscript(k)
	}
	return decimal(v, max(0, -k))
}

// brief writes a value with some two or three digits that matter.
func brief(v float64) string {
	switch size := math.Abs(v); {
	case size >= 1e6 || v != 0 && size < 0.001:
		k := int(math.Floor(math.Log10(size)))
		return decimal(v/math.Pow(10, float64(k)), 1) + "×10" + superscript(k)
	case size >= 9.95 || v == math.Trunc(v):
		return decimal(v, 0)
	case size >= 0.1:
		return decimal(v, 1)
	}
	return decimal(v, 3)
}

// exact writes a value with the digits that it was given.
func exact(v float64) string {
	text := strconv.FormatFloat(v, 'f', -1, 64)
	_, digits, _ := strings.Cut(text, ".")
	if len(text) > 9 {
		return brief(v)
	}
	return decimal(v, len(digits))
}

// decimal writes v with a comma at the thousands and a true minus sign.
func decimal(v float64, digits int) string {
	text := strconv.FormatFloat(math.Abs(v), 'f', digits, 64)
	whole, rest, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if digits > 0 {
		whole += "." + rest
	}
	if v < 0 && strings.Trim(text, "0.") != "" {
		return "−" + whole
	}
	return whole
}

// reach is the range of the values seen so far.
type reach struct {
	lo, hi float64
	any    bool
}

func (r *reach) add(values ...float64) {
	for _, v := range values {
		if !r.any {
			r.lo, r.hi, r.any = v, v, true
		}
		r.lo, r.hi = math.Min(r.lo, v), math.Max(r.hi, v)
	}
}
