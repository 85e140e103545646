package lab

// The random number generators.

import (
	"math"
	"math/bits"
)

// Random numbers are keyed by seed, trial, client and attempt, not drawn in the order of
// events: results depend neither on the queue nor on the workers, and all policies see
// the same network delays. math/rand/v2 is not used, because its NormFloat64 may change
// in future releases of Go. Results on different processor architectures may differ in
// the last digit.

// stream is the wyrand generator of Wang Yi, github.com/wangyi-fudan/wyhash.
type stream uint64

func newStream(key uint64, a, b uint32) stream {
	hi, lo := bits.Mul64(key^(uint64(a)<<32|uint64(b)), 0x9e3779b97f4a7c15)
	return stream(hi ^ lo ^ key)
}

// derive returns the n-th subkey of key.
func derive(key, n uint64) uint64 {
	s := stream(key)
	s = stream(s.next() ^ n)
	s.next()
	return s.next()
}

func (s *stream) next() uint64 {
	*s += 0xa0761d6478bd642f
	hi, lo := bits.Mul64(uint64(*s), uint64(*s)^0xe7037ed1a0b428db)
	return hi ^ lo
}

// uniform returns a number in [0, 1).
func (s *stream) uniform() float64 { return float64(s.next()>>11) * 0x1p-53 }

// exponential draws from the exponential distribution of mean 1.
func (s *stream) exponential() float64 { return -math.Log1p(-s.uniform()) }

// The ziggurat of Marsaglia and Tsang (2000) gives normally distributed numbers. Layer and
// position come from different bits, as Doornik (2005) recommends.
const (
	layers = 256
	tail   = 3.6541528853610088 // start of the tail
	area   = 0.00492867323399   // of each layer
)

var (
	edge   [layers + 1]float64 // right ends of the layers; edge[0]: of the base layer, drawn as a rectangle
	inside [layers]float64     // edge[i+1]/edge[i]: points below are under the curve
	height [layers + 1]float64 // of the curve at the edges
)

func init() {
	density := func(x float64) float64 { return math.Exp(-0.5 * x * x) }
	edge[0], edge[1] = area/density(tail), tail
	for i := 2; i < layers; i++ {
		edge[i] = math.Sqrt(-2 * math.Log(area/edge[i-1]+density(edge[i-1])))
	}
	for i := range layers {
		inside[i] = edge[i+1] / edge[i]
	}
	for i := range edge {
		height[i] = density(edge[i])
	}
}

// normal draws from the standard normal distribution.
func (s *stream) normal() float64 {
	x, _ := s.normals()
	return x
}

// normals draws two standard normal numbers, with a resolution better than 10⁻⁶.
func (s *stream) normals() (x, y float64) {
	bits := s.next()
	layer, u := point(uint32(bits))
	if x = u * edge[layer]; math.Abs(u) >= inside[layer] {
		x = s.outside(layer, u)
	}
	layer, u = point(uint32(bits >> 32))
	if y = u * edge[layer]; math.Abs(u) >= inside[layer] {
		y = s.outside(layer, u)
	}
	return x, y
}

// point returns a layer and a position in it, in [-1, 1).
func point(bits uint32) (layer uint8, u float64) {
	return uint8(bits), float64(int32(bits)>>8) * 0x1p-23
}

// outside handles the rare points that may be above the curve.
func (s *stream) outside(layer uint8, u float64) float64 {
	if layer == 0 {
		return s.beyond(u)
	}
	x := u * edge[layer]
	y := height[layer] + s.uniform()*(height[int(layer)+1]-height[layer])
	if y < math.Exp(-0.5*x*x) {
		return x
	}
	return s.normal()
}

// beyond draws from the left or the right tail, depending on sign.
func (s *stream) beyond(sign float64) float64 {
	for {
		x, y := s.exponential()/tail, s.exponential()
		if y+y > x*x {
			return math.Copysign(tail+x, sign)
		}
	}
}
