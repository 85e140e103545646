package lab

// The statistics over trials.

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// A Summary contains the statistics of a quantity over trials. The zero value means no trials.
type Summary struct {
	N    int     // trials
	Mean float64 // 0 without trials
	SD   float64 // standard deviation; 0 with fewer than two trials
}

func summarize(values []float64) Summary {
	switch len(values) {
	case 0:
		return Summary{}
	case 1:
		return Summary{N: 1, Mean: values[0]}
	}
	mean, sd := stat.MeanStdDev(values, nil)
	return Summary{N: len(values), Mean: mean, SD: sd}
}

// SE returns the standard error of the mean.
func (s Summary) SE() float64 {
	if s.N == 0 {
		return 0
	}
	return s.SD / math.Sqrt(float64(s.N))
}

// Margin returns half the width of the 95 % confidence interval of the mean, by
// Student's t. It is 0 with fewer than two trials.
func (s Summary) Margin() float64 {
	if s.N < 2 {
		return 0
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(s.N - 1)}
	return t.Quantile(0.975) * s.SE()
}
