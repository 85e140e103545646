// Package chart draws numbers as SVG pictures: lines over time, points with their
// names, histograms one below the other, maps of cells and ranges of quantiles.
//
// The same input gives the same bytes. A picture follows the reader's preference
// for light or dark, alone in a file as well as inside a page, and asks nothing of
// the network. Colors are at least 10 apart by CIEDE2000, also for color-blind readers, and lines and points have markers; what shares a
// colour differs in its dashes or its marker. Legends stand below the data, never
// on it. Units are part of the labels, which are the caller's.
//
// NaN, infinities, mismatched lengths and values that a logarithmic axis has no
// place for are errors.
package chart

// Axis describes one axis of a picture.
type Axis struct {
	Label   string  // with its unit: "time (s)"
	Log     bool    // logarithmic: every value must be above 0
	Seconds bool    // steps of a clock (15, 30, 60, 300, ...) where 1, 2, 5 would be odd
	Min     float64 // where the axis begins; Min and Max both 0: taken from the data
	Max     float64 // where the axis ends; data beyond Min and Max is cut off
}

// Series is one line, with a band around it if Low and High are given.
type Series struct {
	Name  string    // for the legend
	X, Y  []float64 // of one length
	Low   []float64 // lower edge of the band, such as a 95 % interval, or nil
	High  []float64 // upper edge of the band, or nil
	Muted bool      // grey: a reference to compare with
}

// Interval is a part of the x axis with a shade behind it, such as an outage.
type Interval struct {
	From, To float64 // in units of the x axis
	Label    string  // written above the frame, or in the legend for lack of room
}

// HLine is a horizontal mark across the picture, such as a capacity.
type HLine struct {
	Y     float64 // in units of the y axis, which grows to show it
	Label string  // written to the right of the frame
}
