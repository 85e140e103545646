// Command benchmarks compares this library with its peers. README.md explains how to
// read its table.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type options struct {
	count     int
	bench     string
	cpu       string
	benchtime time.Duration
	calls     int
	short     bool
	size      bool
	raw       string
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("benchmarks", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&o.count, "count", 10, "number of runs of each benchmark")
	flags.StringVar(&o.bench, "bench", "", "`regexp` of the benchmarks to run, as for go test, such as Delay/of=full-jitter (default all, or those of -short)")
	flags.StringVar(&o.cpu, "cpu", "1,2", "`numbers` of processors for the shared policy; everything else runs with the last")
	flags.DurationVar(&o.benchtime, "benchtime", 100*time.Millisecond, "duration of each benchmark in each run")
	flags.IntVar(&o.calls, "calls", 100_000, "number of waiting calls for measuring memory")
	flags.BoolVar(&o.short, "short", false, "only the rows in README.md")
	flags.BoolVar(&o.size, "size", false, "measure instead how much each library adds to the size of a program")
	flags.StringVar(&o.raw, "raw", "", "write the output of go test to this `file`, for benchstat")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.count < 1 || o.calls < 1 {
		return o, fmt.Errorf("unexpected arguments %q", args)
	}
	if o.bench == "" {
		o.bench = "."
		if o.short {
			o.bench = shortBench
		}
	}
	return o, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	how := ""
	if o.size {
		err = printSizes(ctx, stdout, stderr)
	} else {
		how, err = o.printTimes(ctx, stdout, stderr)
	}
	if err != nil {
		return err
	}
	versions, err := peerVersions(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "\n%s; %s%s\n\n%s\n\n`%s`\n", goVersion(ctx), time.Now().UTC().Format(time.DateOnly), how,
		versions, strings.Join(append([]string{"go run ."}, args...), " "))
	return nil
}

func (o options) printTimes(ctx context.Context, stdout, stderr io.Writer) (how string, err error) {
	output, err := measure(ctx, o, stderr)
	if err != nil {
		return "", err
	}
	if o.raw != "" {
		if err := os.WriteFile(o.raw, output, 0o644); err != nil {
			return "", err
		}
	}
	results, err := read(bytes.NewReader(output))
	if err != nil {
		return "", err
	}
	results.print(stdout, o.short)
	return fmt.Sprintf("; %s; medians of %d runs", results.cpu, o.count), nil
}

// measure runs all benchmarks in each round, whereas -test.count would repeat each
// benchmark in turn. So other load on the machine affects all libraries alike.
func measure(ctx context.Context, o options, stderr io.Writer) ([]byte, error) {
	dir, err := os.MkdirTemp("", "benchmarks")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "benchmarks.test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-o", program, ".")
	build.Stderr = stderr
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("go test -c: %w", err)
	}
	parts, err := o.parts()
	if err != nil {
		return nil, err
	}
	var output bytes.Buffer
	for n := range o.count {
		fmt.Fprintf(stderr, "run %d of %d\n", n+1, o.count)
		for _, part := range parts {
			c := exec.CommandContext(ctx, program, part...)
			c.Stdout, c.Stderr = &output, stderr
			if err := c.Run(); err != nil {
				return nil, fmt.Errorf("%w\n%s", err, output.Bytes())
			}
		}
	}
	return output.Bytes(), nil
}

const sharedBenchmark = "BenchmarkShared"

// parts returns the test arguments of one round: BenchmarkShared runs with each number
// of processors, and the other benchmarks run with the last number.
func (o options) parts() ([][]string, error) {
	common := []string{
		"-test.run=^$", "-test.timeout=30m",
		"-test.benchtime=" + o.benchtime.String(), fmt.Sprint("-calls=", o.calls),
	}
	list := strings.Split(o.cpu, ",")
	parts := [][]string{append(common[:len(common):len(common)],
		"-test.bench="+o.bench, "-test.skip=^"+sharedBenchmark+"$", "-test.cpu="+list[len(list)-1])}
	first, rest, _ := strings.Cut(o.bench, "/")
	wanted, err := regexp.Compile(first)
	if err != nil {
		return nil, err
	}
	if wanted.MatchString(sharedBenchmark) {
		parts = append(parts, append(common[:len(common):len(common)],
			"-test.bench=^"+sharedBenchmark+"$/"+rest, "-test.cpu="+o.cpu))
	}
	return parts, nil
}

func goVersion(ctx context.Context) string {
	out, _ := exec.CommandContext(ctx, "go", "version").Output()
	return strings.TrimPrefix(strings.TrimSpace(string(out)), "go version ")
}

func peerVersions(ctx context.Context) (string, error) {
	args := []string{"list", "-m", "-f", "{{.Path}} {{.Version}}"}
	for _, c := range columns {
		if c.module != "" {
			args = append(args, c.module)
		}
	}
	out, err := exec.CommandContext(ctx, "go", args...).Output()
	if err != nil {
		return "", fmt.Errorf("go list -m: %w", err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if commit, err := exec.CommandContext(ctx, "git", "describe", "--tags", "--always", "--dirty").Output(); err == nil {
		lines = append([]string{"this library at " + strings.TrimSpace(string(commit))}, lines...)
	}
	return strings.Join(lines, ", "), nil
}
