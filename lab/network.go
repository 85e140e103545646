package lab

// This file has the random delays of messages.

import (
	"errors"
	"math"
	"math/bits"
	"time"
)

// A Network delays every message by the absolute value of a normally
// distributed time.
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

// delays draws the delays of a Network.
type delays struct {
	mean, sd   float64 // of one, in nanoseconds
	mean2, sd2 float64 // of the sum of two
	each       bool    // the sum of two is not normal
}

func (n Network) delays() delays {
	return delays{
		mean: float64(n.Mean), sd: float64(n.SD),
		mean2: 2 * float64(n.Mean), sd2: math.Sqrt2 * float64(n.SD),
		// If the mean is five deviations, a normal number is negative less than
		// three times in ten million. Then the absolute value of the sum is as
		// good as the sum of absolute values, and one number suffices.
		each: n.Mean < 5*n.SD,
	}
}

// one returns the delay of a message in nanoseconds.
func (d *delays) one(s *stream) int64 {
	return int64(math.Abs(d.mean + float64(s.normal()*d.sd)))
}

// two returns two delays, each of two consecutive messages.
func (d *delays) two(s *stream) (int64, int64) {
	if d.each {
		return d.one(s) + d.one(s), d.one(s) + d.one(s)
	}
	x, y := s.normals()
	return int64(math.Abs(d.mean2 + float64(x*d.sd2))), int64(math.Abs(d.mean2 + float64(y*d.sd2)))
}

// bucketBits returns log2 of the bucket width in nanoseconds for this network, or 0
// if the network is too irregular for buckets. A bucket should almost never contain
// a client's read and write, or two of its writes: that is 5.5 standard deviations
// from the mean of two delays.
func (n Network) bucketBits() int {
	width := 2*float64(n.Mean) - 5.5*math.Sqrt2*float64(n.SD)
	if width < 1<<10 {
		return 0
	}
	return bits.Len64(uint64(width)) - 1
}
