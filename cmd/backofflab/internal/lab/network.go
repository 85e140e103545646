package lab

// The random delays of messages.

import (
	"errors"
	"math"
	"time"
)

// A Network delays each message by the absolute value of a normally distributed time.
type Network struct {
	Mean time.Duration // one way
	SD   time.Duration // standard deviation; 0: each message takes Mean
}

func (n Network) check() error {
	switch {
	case n.Mean <= 0:
		return errors.New("network: the mean delay is not above 0")
	case n.Mean > time.Hour:
		return errors.New("network: the mean delay is above an hour")
	case n.SD < 0:
		return errors.New("network: the standard deviation is negative")
	case n.SD > 10*n.Mean:
		return errors.New("network: the standard deviation is above ten times the mean")
	}
	return nil
}

type delays struct {
	mean, sd   float64 // of one delay, in nanoseconds
	mean2, sd2 float64 // of the sum of two
	each       bool    // draw two delays separately, because their sum is not normal
}

func (n Network) delays() delays {
	return delays{
		mean: float64(n.Mean), sd: float64(n.SD),
		mean2: 2 * float64(n.Mean), sd2: math.Sqrt2 * float64(n.SD),
		// With a mean of five deviations, fewer than three in ten million numbers are
		// negative, so one number can stand for the sum of two delays.
		each: n.Mean < 5*n.SD,
	}
}

// one returns the delay of a message, in nanoseconds.
func (d *delays) one(s *stream) int64 {
	return int64(math.Abs(d.mean + float64(s.normal()*d.sd)))
}

// two returns two total delays, each for two consecutive messages.
func (d *delays) two(s *stream) (int64, int64) {
	if d.each {
		return d.one(s) + d.one(s), d.one(s) + d.one(s)
	}
	x, y := s.normals()
	return int64(math.Abs(d.mean2 + float64(x*d.sd2))), int64(math.Abs(d.mean2 + float64(y*d.sd2)))
}
