package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"testing"
	"time"
)

var (
	waitingCalls = flag.Int("calls", 100_000, "number of calls that wait at once in BenchmarkWaiting")
	waitingChild = flag.String("waiting", "", "only measure the memory of the `library`'s waiting calls")
)

// TestMain measures memory once if -waiting is set. Goroutines reuse the descriptors of
// earlier goroutines, so a second measurement in the same process would show less memory.
func TestMain(m *testing.M) {
	flag.Parse()
	if *waitingChild == "" {
		os.Exit(m.Run())
	}
	used, err := measureWaiting(*waitingChild, *waitingCalls)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(used)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// memory contains numbers of bytes per waiting call.
type memory struct {
	Heap, Stack float64 // in use after a garbage collection
	Sys         float64 // obtained from the operating system, including garbage from the start
}

// BenchmarkWaiting measures the memory of calls that all wait an hour after their first
// failure. Its time is meaningless and not reported.
func BenchmarkWaiting(b *testing.B) {
	names := []string{bareColumn}
	for _, l := range libraries {
		names = append(names, l.name)
	}
	for _, name := range names {
		b.Run("by="+name, func(b *testing.B) {
			var sum memory
			runs := 0.0
			for b.Loop() {
				used, err := inChild(name, *waitingCalls)
				if err != nil {
					b.Fatal(err)
				}
				sum.Heap, sum.Stack, sum.Sys = sum.Heap+used.Heap, sum.Stack+used.Stack, sum.Sys+used.Sys
				runs++
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric((sum.Heap+sum.Stack)/runs, "B/call")
			b.ReportMetric(sum.Stack/runs, "stack-B/call")
			b.ReportMetric(sum.Sys/runs, "sys-B/call")
		})
	}
}

func inChild(name string, calls int) (memory, error) {
	var used memory
	program, err := os.Executable()
	if err != nil {
		return used, err
	}
	child := exec.Command(program, "-waiting", name, "-calls", fmt.Sprint(calls))
	child.Stderr = os.Stderr
	out, err := child.Output()
	if err != nil {
		return used, fmt.Errorf("%s: %w", name, err)
	}
	return used, json.Unmarshal(out, &used)
}

func measureWaiting(name string, calls int) (memory, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	begin, waiting, err := waiter(ctx, name)
	if err != nil {
		return memory{}, err
	}
	var ended, wrong atomic.Int64
	done := func(err error) {
		if err == nil {
			wrong.Add(1)
		}
		ended.Add(1)
	}
	before, early := readMemory(), waiting()
	for range calls {
		begin(done)
	}
	allWait := func() bool { return waiting() >= early+uint64(calls) }
	if err := await(allWait); err != nil || ended.Load() > 0 {
		return memory{}, fmt.Errorf("%s: %d of %d calls did not wait", name, ended.Load(), calls)
	}
	after := readMemory()
	cancel()
	if err := await(func() bool { return ended.Load() == int64(calls) }); err != nil || wrong.Load() > 0 {
		return memory{}, fmt.Errorf("%s: canceled, %d of %d calls ended, %d without an error", name, ended.Load(), calls, wrong.Load())
	}
	per := func(after, before uint64) float64 { return (float64(after) - float64(before)) / float64(calls) }
	return memory{
		Heap:  per(after.HeapAlloc, before.HeapAlloc),
		Stack: per(after.StackInuse, before.StackInuse),
		Sys:   per(after.Sys, before.Sys),
	}, nil
}

// waiter returns a function that begins a call and a function that counts the waiting
// calls. A call waits an hour or until ctx is done. The calls share everything that they
// can, so only their own memory is measured.
func waiter(ctx context.Context, name string) (begin func(done func(error)), waiting func() uint64, err error) {
	inGoroutine := func(wait call) func(func(error)) {
		return func(done func(error)) { go func() { done(wait()) }() }
	}
	hour := plan{attempts: 2, wait: time.Hour}
	if name == bareColumn {
		return inGoroutine(func() error { return sleep(ctx, hour.wait) }), parkedGoroutines, nil
	}
	for _, l := range libraries {
		if l.name == name {
			return inGoroutine(l.build(ctx, hour)(hopeless(wrapped))), parkedGoroutines, nil
		}
	}
	return nil, nil, fmt.Errorf("no such library: %q", name)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		timer.Stop()
		return ctx.Err()
	}
}

// readMemory collects garbage twice first: cleanups and pools keep memory until the
// second collection.
func readMemory() runtime.MemStats {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats
}

func parkedGoroutines() uint64 {
	sample := []metrics.Sample{{Name: "/sched/goroutines/waiting:goroutines"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

var errTooLong = errors.New("timed out waiting for the calls")

func await(done func() bool) error {
	for start := time.Now(); !done(); time.Sleep(time.Millisecond) {
		if time.Since(start) > time.Minute {
			return errTooLong
		}
	}
	return nil
}
