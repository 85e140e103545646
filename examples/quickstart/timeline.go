//go:build !js

package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/gobackoff/retry"
)

// timeline prints one line per attempt.
type timeline struct {
	w     io.Writer
	start time.Time
	began time.Duration // when the current attempt began, relative to the field start
	ended retry.Attempt // the last attempt that ended
}

func newTimeline(w io.Writer) *timeline {
	fmt.Fprintf(w, "  %-7s  %6s  %-36s  %-9s  %s\n", "attempt", "at", "outcome", "class", "then")
	return &timeline{w: w, start: time.Now()}
}

// watch returns p with hooks that print the timeline.
func (t *timeline) watch(p retry.Policy) retry.Policy {
	p.OnAttempt = func(ctx context.Context, a retry.Attempt) (context.Context, func(retry.Attempt)) {
		t.began = t.elapsed()
		return ctx, func(a retry.Attempt) {
			if t.ended = a; a.Err == nil {
				t.line("done")
			}
		}
	}
	p.OnRetry = func(_ context.Context, _ retry.Attempt, wait time.Duration) {
		t.line("wait " + wait.Round(time.Millisecond).String())
	}
	p.OnGiveUp = func(_ context.Context, e *retry.Error) { t.line(e.Reason.Error()) }
	return p
}

func (t *timeline) line(then string) {
	class := "-"
	if t.ended.Err != nil {
		class = t.ended.Class.String()
	}
	fmt.Fprintf(t.w, "  %-7d  %6v  %-36s  %-9s  %s\n", t.ended.Number, t.began, outcome(t.ended), class, then)
}

func (t *timeline) elapsed() time.Duration { return time.Since(t.start).Round(time.Millisecond) }
