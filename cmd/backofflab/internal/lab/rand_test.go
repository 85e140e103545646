package lab

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// distance returns the Kolmogorov-Smirnov statistic times the square root of the sample
// size. It is above 1.95 for one in a thousand samples.
func distance(values []float64, cdf func(float64) float64) float64 {
	slices.Sort(values)
	n, d := float64(len(values)), 0.0
	for i, v := range values {
		p := cdf(v)
		d = max(d, math.Abs(p-float64(i)/n), math.Abs(p-float64(i+1)/n))
	}
	return d * math.Sqrt(n)
}

func TestDistributions(t *testing.T) {
	const n = 1 << 20
	tests := map[string]struct {
		draw func(s *stream) float64
		cdf  func(float64) float64
	}{
		"uniform":     {(*stream).uniform, distuv.Uniform{Max: 1}.CDF},
		"normal":      {(*stream).normal, distuv.UnitNormal.CDF},
		"second":      {func(s *stream) float64 { _, y := s.normals(); return y }, distuv.UnitNormal.CDF},
		"exponential": {(*stream).exponential, distuv.Exponential{Rate: 1}.CDF},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			one, keyed := newStream(1, 2, 3), make([]float64, n)
			inARow := make([]float64, n)
			for i := range n {
				inARow[i] = test.draw(&one)
				s := newStream(derive(5, 6), uint32(i/1000), uint32(i%1000))
				keyed[i] = test.draw(&s)
			}
			assert.Less(t, math.Abs(stat.Correlation(keyed[1:], keyed[:n-1], nil)), 0.005)
			assert.Less(t, math.Abs(stat.Correlation(keyed, inARow, nil)), 0.005)
			assert.Less(t, distance(inARow, test.cdf), 1.95)
			assert.Less(t, distance(keyed, test.cdf), 1.95)
		})
	}
}

// Of a million normal numbers, 258 are in the tail beyond the ziggurat.
func TestTailOfTheNormal(t *testing.T) {
	s := newStream(9, 9, 9)
	const n = 4_000_000
	var left, right []float64
	for range n {
		switch x := s.normal(); {
		case x > tail:
			right = append(right, x)
		case x < -tail:
			left = append(left, -x)
		}
	}
	each := n * distuv.UnitNormal.Survival(tail)
	beyond := func(x float64) float64 {
		return 1 - distuv.UnitNormal.Survival(x)/distuv.UnitNormal.Survival(tail)
	}
	for _, side := range [][]float64{left, right} {
		assert.InDelta(t, each, len(side), 4*math.Sqrt(each))
		assert.Less(t, distance(side, beyond), 1.95)
	}
}

// A seed gives the same numbers in all releases.
func TestNumbersAreFixed(t *testing.T) {
	s := newStream(derive(derive(1, 2), 3), 4, 5)
	assert.Equal(t, uint64(0x23d43d1a931bb016), s.next())
	assert.InDelta(t, 0.620146168300275, s.uniform(), 1e-15)
	assert.InDelta(t, -2.1712955462355996, s.normal(), 1e-12)
	assert.InDelta(t, 0.6673380373253543, s.exponential(), 1e-12)
}

func TestSumOfDelays(t *testing.T) {
	for name, network := range map[string]Network{
		"sum":  {Mean: 10e6, SD: 2e6},
		"each": {Mean: 10e6, SD: 2e6 + 1},
	} {
		d := network.delays()
		assert.Equal(t, name == "each", d.each)
		s := newStream(1, 1, 1)
		var one, two, three []float64
		for range 200_000 {
			x, y := d.two(&s)
			one, two, three = append(one, float64(d.one(&s))), append(two, float64(x)), append(three, float64(y))
		}
		assert.Less(t, distance(one, distuv.Normal{Mu: 10e6, Sigma: 2e6}.CDF), 1.95, name)
		assert.Less(t, distance(two, distuv.Normal{Mu: 20e6, Sigma: 2e6 * math.Sqrt2}.CDF), 1.95, name)
		assert.Less(t, distance(three, distuv.Normal{Mu: 20e6, Sigma: 2e6 * math.Sqrt2}.CDF), 1.95, name)
	}
}
