package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// output returns go test's output for a benchmark.
func output(name, unit string, values ...float64) string {
	var b strings.Builder
	b.WriteString("goos: linux\ncpu: Some CPU\n")
	for _, v := range values {
		fmt.Fprintf(&b, "Benchmark%s 100 %v %s 2 allocs/op\n", name, v, unit)
	}
	return b.String()
}

func around(median float64) []float64 {
	var values []float64
	for n := range 10 {
		values = append(values, median*(1+float64(n-5)/1000+0.0005))
	}
	return values
}

func table(t *testing.T, short bool, outputs ...string) string {
	t.Helper()
	r, err := read(strings.NewReader(strings.Join(outputs, "")))
	require.NoError(t, err)
	assert.Equal(t, "Some CPU", r.cpu)
	var b bytes.Buffer
	r.print(&b, short)
	text, _, _ := strings.Cut(b.String(), "\n\n")
	return text
}

func TestTable(t *testing.T) {
	t.Run("a slower and a faster peer", func(t *testing.T) {
		assert.Equal(t, "| | this library | avast ² | Kubernetes wait ⁴ |\n"+
			"| --- | --- | --- | --- |\n"+
			"| success at once, with a value | 10.0 ns ±0% · 2 | 12.5 µs ±0% · 2 · 1250× | 5.0 ns ±0% · 2 · **0.50×** |",
			table(t, false, output("Value/by=avast-2", "ns/op", around(12500)...),
				output("Value/by=k8s-2", "ns/op", around(5)...), output("Value/by=retry-2", "ns/op", around(10)...)))
	})
	t.Run("a difference by chance is not bold", func(t *testing.T) {
		text := table(t, false, output("Value/by=retry", "ns/op", 8, 10, 12, 9, 11), output("Value/by=loop", "ns/op", 9.9, 8, 13, 8.5, 11))
		assert.Contains(t, text, "| 9.9 ns · 2 · 0.99× |")
	})
	t.Run("fewer allocations are bold", func(t *testing.T) {
		none := strings.ReplaceAll(output("Value/by=loop", "ns/op", around(20)...), "2 allocs", "0 allocs")
		assert.Contains(t, table(t, false, output("Value/by=retry", "ns/op", around(10)...), none), "| 20.0 ns ±0% · **0** · 2.00× |")
	})
	t.Run("new rows and columns come last", func(t *testing.T) {
		text := table(t, false, output("Start/by=new", "ns/op", 1), output("Value/by=retry", "ns/op", 1))
		assert.Equal(t, []string{"| | this library | new |", "| --- | --- | --- |",
			"| success at once, with a value | 1.0 ns · 2 |  |", "| Start |  | 1.0 ns · 2 |"}, strings.Split(text, "\n"))
	})
	t.Run("the short table", func(t *testing.T) {
		text := table(t, true, output("Success/policy=shared/by=retry", "ns/op", 1), output("Value/by=retry", "ns/op", 1))
		assert.Contains(t, text, "policy built once")
		assert.NotContains(t, text, "value")
	})
	t.Run("no results", func(t *testing.T) {
		_, err := read(strings.NewReader("PASS\n"))
		assert.EqualError(t, err, "no benchmark has run")
	})
}

func TestTableOfProcessors(t *testing.T) {
	name := "Shared/op=retries/budget=no/by=retry"
	text := table(t, false, output(name, "ns/op", 100, 100, 100), output(name+"-2", "ns/op", 40, 50, 60))
	assert.Contains(t, text, "without wait, processors: 1 | 100 ns · 2 |")
	assert.Contains(t, text, "without wait, processors: 2 | 50.0 ns · 2 |")
	assert.Contains(t, text, "| … speed-up | 2.00× |")
}

func TestTableOfMemory(t *testing.T) {
	line := func(name string, bytes int) string {
		return fmt.Sprintf("cpu: Some CPU\nBenchmarkWaiting/by=%s-2 1 %d B/call 2048 stack-B/call %d sys-B/call\n", name, bytes, bytes+100)
	}
	text := table(t, false, line(us, 2000), line(bareColumn, 1000))
	assert.Contains(t, text, "| memory of a call that waits after a wrapped error | 2000 B | 1000 B · 0.50× |")
	assert.Contains(t, text, "| … from the operating system | 2100 B | 1100 B · 0.52× |")
}

func TestParts(t *testing.T) {
	for _, c := range []struct {
		bench, shared string
	}{
		{".", "-test.bench=^BenchmarkShared$/"},
		{"Shared/op=retries", "-test.bench=^BenchmarkShared$/op=retries"},
		{"Delay", ""},
		{shortBench, ""},
	} {
		t.Run(c.bench, func(t *testing.T) {
			parts, err := options{bench: c.bench, cpu: "1,2,8", benchtime: time.Second, calls: 7}.parts()
			require.NoError(t, err)
			assert.Contains(t, parts[0], "-test.cpu=8")
			assert.Contains(t, parts[0], "-test.bench="+c.bench)
			if c.shared == "" {
				assert.Len(t, parts, 1)
				return
			}
			assert.Contains(t, parts[1], "-test.cpu=1,2,8")
			assert.Contains(t, parts[1], c.shared)
		})
	}
	t.Run("not a regexp", func(t *testing.T) {
		_, err := options{bench: "("}.parts()
		assert.Error(t, err)
	})
}

func TestFlags(t *testing.T) {
	for _, args := range [][]string{{"-count", "0"}, {"-calls", "0"}, {"-cpus", "1"}, {"more"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			assert.Error(t, run(t.Context(), args, io.Discard, io.Discard))
		})
	}
}

// TestCommand: every benchmark runs and has a title.
func TestCommand(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the tests again")
	}
	var stdout, stderr bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-count", "1", "-benchtime", "1ns", "-calls", "100"}, &stdout, &stderr), stderr.String())
	text := stdout.String()
	for _, row := range rows {
		assert.Contains(t, text, "| "+row.title)
	}
	for _, c := range columns {
		assert.Contains(t, text, "| "+c.title)
		if c.module != "" {
			assert.Contains(t, text, c.module+" v")
		}
	}
	assert.NotContains(t, text, "=", "a benchmark without a title")
}
