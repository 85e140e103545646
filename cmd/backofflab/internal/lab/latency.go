package lab

// Measured service times.

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// Latency is a measured distribution of the time that a server takes for an attempt, as
// ascending buckets like those of a Prometheus histogram. Times are spread evenly within
// a bucket. The zero value means no distribution.
type Latency []LatencyBucket

// LatencyBucket is the number of attempts that took at most a time.
type LatencyBucket struct {
	UpTo  time.Duration
	Count float64 // cumulative, including earlier buckets
}

// ReadLatency reads a Latency in the text format of Prometheus, in which a histogram has
// lines such as name_bucket{le="0.25"} 240, where le is in seconds. The counts of lines with
// the same le are added. There must be only one histogram. Attempts beyond the last finite
// bound count as if they took exactly that long.
func ReadLatency(r io.Reader) (Latency, error) {
	data, err := io.ReadAll(io.LimitReader(r, mostLatencyText))
	if err != nil {
		return nil, err
	}
	l, err := readPrometheus(string(data))
	if err != nil {
		return nil, fmt.Errorf("latency: %w", err)
	}
	return l, l.check()
}

const mostLatencyText = 1 << 24

var (
	bucketLine = regexp.MustCompile(`(?m)^\s*([a-zA-Z_:][\w:]*)_bucket\{([^}]*)\}\s+(\S+)`)
	bucketEdge = regexp.MustCompile(`(?:^|,)\s*le="([^"]*)"`)
)

func readPrometheus(text string) (Latency, error) {
	counts := map[time.Duration]float64{}
	beyond, name := 0.0, ""
	for _, line := range bucketLine.FindAllStringSubmatch(text, -1) {
		edge := bucketEdge.FindStringSubmatch(line[2])
		count, err := strconv.ParseFloat(line[3], 64)
		switch {
		case edge == nil || err != nil:
			return nil, fmt.Errorf("%q is not a bucket", strings.TrimSpace(line[0]))
		case name != "" && name != line[1]:
			return nil, fmt.Errorf("there are two histograms, %s and %s", name, line[1])
		}
		if name = line[1]; edge[1] == "+Inf" {
			beyond += count
			continue
		}
		at, err := latencyBound(edge[1])
		if err != nil {
			return nil, err
		}
		counts[at] += count
	}
	var l Latency
	for _, at := range slices.Sorted(maps.Keys(counts)) {
		l = append(l, LatencyBucket{at, counts[at]})
	}
	if n := len(l); n > 0 {
		l[n-1].Count = max(l[n-1].Count, beyond)
	}
	return l, nil
}

func latencyBound(text string) (time.Duration, error) {
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds >= 0 && seconds < maxHorizon.Seconds()) {
		return 0, fmt.Errorf("%q is not a number of seconds", text)
	}
	return time.Duration(math.Round(seconds * 1e9)), nil
}

func (l Latency) check() error {
	for i, b := range l {
		switch {
		case b.UpTo < 0 || i > 0 && b.UpTo <= l[i-1].UpTo:
			return fmt.Errorf("latency: the bounds do not ascend at %v", b.UpTo)
		case !(b.Count >= 0) || i > 0 && b.Count < l[i-1].Count:
			return fmt.Errorf("latency: the counts descend at %v", b.UpTo)
		case math.IsInf(b.Count, 1):
			return fmt.Errorf("latency: the count at %v is infinite", b.UpTo)
		}
	}
	if n := len(l); n == 0 || l[n-1].Count == 0 || l[n-1].UpTo == 0 {
		return errors.New("latency: no attempts that take time")
	}
	return nil
}

// Mean returns the mean time.
func (l Latency) Mean() time.Duration {
	sum, low, before := 0.0, 0.0, 0.0
	for _, b := range l {
		sum += (b.Count - before) * (low + float64(b.UpTo)) / 2
		low, before = float64(b.UpTo), b.Count
	}
	if before == 0 {
		return 0
	}
	return time.Duration(math.Round(sum / before))
}

// quantile returns the time in nanoseconds that a share u of the attempts does not exceed.
func (l Latency) quantile(u float64) float64 {
	rank := u * l[len(l)-1].Count
	i := min(sort.Search(len(l), func(i int) bool { return l[i].Count > rank }), len(l)-1)
	low, before := 0.0, 0.0
	if i > 0 {
		low, before = float64(l[i-1].UpTo), l[i-1].Count
	}
	return low + (float64(l[i].UpTo)-low)*ratio(rank-before, l[i].Count-before)
}
