package chart

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func labels(s scale) []string {
	var out []string
	for _, t := range s.ticks {
		if !t.IsMinor() {
			out = append(out, t.Label)
		}
	}
	return out
}

func TestTicks(t *testing.T) {
	for _, tt := range []struct {
		name     string
		axis     Axis
		lo, hi   float64
		baseline bool
		want     []string
	}{
		{"from 0 to a tick", Axis{}, 3, 97, true, []string{"0", "10", "20", "30", "40", "50", "60", "70", "80", "90", "100"}},
		{"own limits", Axis{}, 10, 190, false, []string{"20", "40", "60", "80", "100", "120", "140", "160", "180"}},
		{"thousands", Axis{}, 0, 19000, true, []string{"0", "2,000", "4,000", "6,000", "8,000", "10,000", "12,000", "14,000", "16,000", "18,000", "20,000"}},
		{"seconds", Axis{Seconds: true}, 0, 400, false, []string{"0", "60", "120", "180", "240", "300", "360"}},
		{"an hour", Axis{Seconds: true}, 0, 3600, false, []string{"0", "600", "1,200", "1,800", "2,400", "3,000", "3,600"}},
		{"a few seconds", Axis{Seconds: true}, 0, 2, false, []string{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0", "1.2", "1.4", "1.6", "1.8", "2.0"}},
		{"fractions", Axis{}, 0, 0.05, true, []string{"0.000", "0.005", "0.010", "0.015", "0.020", "0.025", "0.030", "0.035", "0.040", "0.045", "0.050"}},
		{"below 0", Axis{}, -3, 2, true, []string{"−3.0", "−2.5", "−2.0", "−1.5", "−1.0", "−0.5", "0.0", "0.5", "1.0", "1.5", "2.0"}},
		{"set", Axis{Min: 0.5, Max: 1}, 0, 9, true, []string{"0.50", "0.55", "0.60", "0.65", "0.70", "0.75", "0.80", "0.85", "0.90", "0.95", "1.00"}},
		{"one decade", Axis{Log: true}, 2, 9, false, []string{"2", "3", "5", "7", "10"}},
		{"two decades", Axis{Log: true}, 1.2, 90, false, []string{"1", "2", "5", "10", "20", "50", "100"}},
		{"many decades", Axis{Log: true}, 0.02, 5e6, false, []string{"0.1", "1", "10", "100", "1,000", "10,000", "100,000", "10⁶"}},
		{"more decades than labels", Axis{Log: true}, 1e-12, 1e9, false, []string{"10⁻¹²", "10⁻⁹", "10⁻⁶", "0.001", "1", "1,000", "10⁶", "10⁹"}},
		{"less than a decade", Axis{Log: true, Min: 100, Max: 120}, 0, 0, false, []string{"100", "102", "104", "106", "108", "110", "112", "114", "116", "118", "120"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.axis.scale(tt.lo, tt.hi, tt.baseline)
			assert.Equal(t, tt.want, labels(got))
			for _, tick := range got.ticks {
				assert.GreaterOrEqual(t, tick.Value, got.min)
				assert.LessOrEqual(t, tick.Value, got.max)
			}
		})
	}
}

func TestNumbers(t *testing.T) {
	for _, tt := range []struct {
		name string
		got  string
		want string
	}{
		{"thousands", decimal(1234567.891, 2), "1,234,567.89"},
		{"minus", decimal(-1234, 0), "−1,234"},
		{"no minus before 0", decimal(-0.001, 1), "0.0"},
		{"brief, small", brief(0.0421), "0.042"},
		{"brief, one digit", brief(8.94), "8.9"},
		{"brief, whole", brief(8), "8"},
		{"brief, near ten", brief(9.97), "10"},
		{"brief, large", brief(12345.6), "12,346"},
		{"brief, huge", brief(1.5e9), "1.5×10⁹"},
		{"brief, tiny", brief(2.04e-7), "2.0×10⁻⁷"},
		{"brief, nothing", brief(0), "0"},
		{"exact", exact(0.55), "0.55"},
		{"exact, whole", exact(1200), "1,200"},
		{"exact, rounded", exact(1.0 / 3), "0.3"},
		{"step", stepNumber(0.30000000000000004, 0.1), "0.3"},
		{"step, tiny", stepNumber(3e-7, 1e-7), "3×10⁻⁷"},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, tt.got) })
	}
}
