package faults

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"
)

// outcome is what happens in one run.
type outcome struct {
	request *send // that the fault is for; nil for none
	fault   string
	kinds   []string
	known   map[string]*outcome // of the same request, by fault

	mu          sync.Mutex
	over        bool // and not changed any more
	sends       []*send
	failures    []string // what the test said
	skipped     bool
	usedContext bool   // t.Context was called
	deadlock    string // of the bubble
	unbounded   string // why attempts were stopped
	start, end  time.Time
}

// record calls f if the run is not over.
func (o *outcome) record(f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.over {
		f()
	}
}

func (o *outcome) fail(text string) { o.record(func() { o.failures = append(o.failures, text) }) }

// recorder is the testing.TB of a run. All that it does not define is done by that of the
// subtest, such as Log, Setenv and TempDir.
type recorder struct {
	testing.TB
	*outcome
	name     string
	ctx      context.Context
	cleanups []func()
}

// run runs the test in a goroutine of its own, which FailNow ends.
func (rt *Transport) run(t *testing.T) {
	r := &recorder{TB: t, outcome: rt.outcome, name: rt.name}
	r.ctx, rt.cancel = context.WithCancel(t.Context())
	rt.own.DialContext, rt.pipes = rt.dial, map[string]*pipe{}
	rt.start = time.Now()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				at, _ := caller(func(f runtime.Frame) bool { return !strings.HasPrefix(f.Function, "runtime.") })
				where := fmt.Sprintf("at %s:%d", filepath.Base(at.File), at.Line)
				if at.Function == runtime.FuncForPC(reflect.ValueOf(rt.test).Pointer()).Name() {
					where = "of the test itself" // which is one way to fail
				}
				r.fail(fmt.Sprintf("panic %s: %v\n%s", where, v, debug.Stack()))
			}
		}()
		defer r.cleanUp()
		defer rt.cancel()
		rt.test(r, rt)
	}()
	<-done
	rt.record(func() { rt.end, rt.over = time.Now(), true })
	for _, p := range rt.pipes {
		p.server.Close()
	}
	rt.CloseIdleConnections()
	if rt.virtual {
		time.Sleep(rt.quiet) // what waits for a timer ends
	}
}

// cleanUp calls the last function first, and the others even if one of them ends the goroutine.
func (r *recorder) cleanUp() {
	var f func()
	r.record(func() {
		if last := len(r.cleanups) - 1; last >= 0 {
			f, r.cleanups = r.cleanups[last], r.cleanups[:last]
		}
	})
	if f != nil {
		defer r.cleanUp()
		f()
	}
}

func (r *recorder) Name() string     { return r.name }
func (r *recorder) Cleanup(f func()) { r.record(func() { r.cleanups = append(r.cleanups, f) }) }

func (r *recorder) Context() context.Context {
	r.record(func() { r.usedContext = true })
	return r.ctx
}

func (r *recorder) Error(args ...any) {
	r.TB.Helper()
	r.TB.Log(args...)
	r.fail(strings.TrimSpace(fmt.Sprintln(args...)))
}

func (r *recorder) Errorf(format string, args ...any) {
	r.TB.Helper()
	r.Error(fmt.Sprintf(format, args...))
}
func (r *recorder) Fail()             { r.fail("") }
func (r *recorder) FailNow()          { r.fail(""); runtime.Goexit() }
func (r *recorder) Fatal(args ...any) { r.TB.Helper(); r.Error(args...); runtime.Goexit() }
func (r *recorder) Fatalf(format string, args ...any) {
	r.TB.Helper()
	r.Errorf(format, args...)
	runtime.Goexit()
}
func (r *recorder) Failed() (failed bool) { r.record(func() { failed = len(r.failures) > 0 }); return }
func (r *recorder) SkipNow()              { r.record(func() { r.skipped = true }); runtime.Goexit() }
func (r *recorder) Skip(args ...any)      { r.TB.Helper(); r.Log(args...); r.SkipNow() }
func (r *recorder) Skipf(format string, args ...any) {
	r.TB.Helper()
	r.Logf(format, args...)
	r.SkipNow()
}
func (r *recorder) Skipped() (skipped bool) { r.record(func() { skipped = r.skipped }); return }
