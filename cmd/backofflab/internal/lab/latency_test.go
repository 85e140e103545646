package lab

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadLatency(t *testing.T) {
	ms := time.Millisecond
	want := Latency{{5 * ms, 10}, {10 * ms, 30}, {100 * ms, 40}}
	got, err := ReadLatency(strings.NewReader(`# HELP latency of requests
# TYPE http_seconds histogram
http_seconds_bucket{path="/a",le="0.005"} 4
http_seconds_bucket{path="/a",le="0.01"} 20
http_seconds_bucket{path="/a",le="0.1"} 25
http_seconds_bucket{path="/a",le="+Inf"} 26
http_seconds_bucket{le="0.005",path="/b"} 6
http_seconds_bucket{le="0.01",path="/b"} 10
http_seconds_bucket{le="0.1",path="/b"} 13
http_seconds_bucket{le="+Inf",path="/b"} 14
http_seconds_sum{path="/a"} 3.5
http_seconds_count{path="/a"} 26
`))
	require.NoError(t, err)
	assert.Equal(t, want, got)
	for text, message := range map[string]string{
		"":                      "no attempts that take time",
		`a_bucket{le="-1"} 5`:   `"-1" is not a number`,
		"0.1,5":                 "no attempts",
		`a_bucket{x="1"} 5`:     "is not a bucket",
		`a_bucket{le="1"} many`: "is not a bucket",
		`a_bucket{le="soon"} 5`: `"soon" is not a number of seconds`,
		`a_bucket{le="1"} NaN`:  "the counts descend",
		`a_bucket{le="1"} +Inf`: "is infinite",
		`a_bucket{le="1"} 5` + "\n" + `b_bucket{le="1"} 5`: "two histograms, a and b",
		`a_bucket{le="1"} 5` + "\n" + `a_bucket{le="2"} 4`: "the counts descend at 2s",
	} {
		_, err := ReadLatency(strings.NewReader(text))
		assert.ErrorContains(t, err, message, text)
	}
}

func TestLatencyQuantiles(t *testing.T) {
	l := Latency{{0, 10}, {10, 30}, {100, 40}}
	for u, want := range map[float64]float64{0: 0, 0.2: 0, 0.5: 5, 0.75: 10, 0.875: 55, 1: 100} {
		assert.InDelta(t, want, l.quantile(u), 1e-9, "%v", u)
	}
	// A quarter of the attempts take no time, half take 5 ns on average, and a quarter take
	// 55 ns on average.
	assert.Equal(t, time.Duration(16), l.Mean())
	assert.Zero(t, Latency(nil).Mean())
}
