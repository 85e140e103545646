package main

import (
	"errors"
	"io"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
)

// A key identifies a cell. Its row is a benchmark's name without the library.
type key struct{ row, column string }

type sample struct {
	seconds []float64
	allocs  []float64
	memory  []float64 // heap and stack per waiting call
	sys     []float64 // from the operating system, per waiting call
}

// figures returns the memory figures if memory was measured, and otherwise the times.
func (s *sample) figures() *benchmath.Sample {
	values := s.seconds
	if len(s.memory) > 0 {
		values = s.memory
	}
	return benchmath.NewSample(values, &benchmath.DefaultThresholds)
}

func median(values []float64) float64 {
	return benchmath.AssumeNothing.Summary(benchmath.NewSample(values, &benchmath.DefaultThresholds), 0.95).Center
}

// results contains all samples, with rows and cols in the order of the benchmarks.
type results struct {
	cpu        string
	rows, cols []string
	cells      map[key]*sample
}

func read(output io.Reader) (*results, error) {
	r := &results{cells: map[key]*sample{}}
	rows, cols := map[string]bool{}, map[string]bool{}
	reader := benchfmt.NewReader(output, "go test")
	for reader.Scan() {
		result, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		r.cpu = result.GetConfig("cpu")
		k := keyOf(result.Name)
		if !rows[k.row] {
			rows[k.row] = true
			r.rows = append(r.rows, k.row)
		}
		if !cols[k.column] {
			cols[k.column] = true
			r.cols = append(r.cols, k.column)
		}
		if r.cells[k] == nil {
			r.cells[k] = &sample{}
		}
		r.cells[k].add(result)
	}
	if err := reader.Err(); err != nil {
		return nil, err
	}
	if len(r.rows) == 0 {
		return nil, errors.New("no benchmark has run")
	}
	return r, nil
}

// keyOf splits a name such as Shared/budget=no/by=loop-2 into row and column. Only the rows
// of BenchmarkShared contain the number of processors.
func keyOf(name benchfmt.Name) key {
	base, parts := name.Parts()
	row, column, cpus := string(base), "", "1"
	for _, part := range parts {
		switch p := string(part); {
		case strings.HasPrefix(p, "/by="):
			column = strings.TrimPrefix(p, "/by=")
		case strings.HasPrefix(p, "-"):
			cpus = strings.TrimPrefix(p, "-")
		default:
			row += p
		}
	}
	if "Benchmark"+string(base) == sharedBenchmark {
		row += "/cpu=" + cpus
	}
	return key{row, column}
}

func (s *sample) add(result *benchfmt.Result) {
	for _, to := range []struct {
		unit   string
		values *[]float64
	}{{"sec/op", &s.seconds}, {"allocs/op", &s.allocs}, {"B/call", &s.memory}, {"sys-B/call", &s.sys}} {
		if v, ok := result.Value(to.unit); ok {
			*to.values = append(*to.values, v)
		}
	}
}
