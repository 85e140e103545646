// Package linear checks that reading a peer's words takes time linear in their length.
package linear

import (
	"runtime/debug"
	"slices"
	"testing"
	"time"
)

const (
	parts     = 10              // a large input is so many times as long as a small one
	tolerated = 4               // one large input may take so many times as long as that many small ones
	patience  = 2 * time.Second // of the processor, for all rounds but the last
)

// Check fails the test if what prepare returns takes much longer for input of size bytes than ten
// times for a tenth of them. A reader that takes quadratic time needs ten times as long. Check
// compares the time of the processor that the process uses, side by side, so it does not matter
// how long the machine takes. It passes if one of several rounds does, because a round may be
// disturbed, for example by the garbage collector. The race detector, which takes ten times as
// long for some code and not for other, ends the test.
func Check(t *testing.T, size int, prepare func(size int) (run func())) {
	t.Helper()
	if info, _ := debug.ReadBuildInfo(); info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("the race detector changes the times")
	}
	small, large := prepare(size/parts), prepare(size)
	small() // allocates what is made once
	var short, long time.Duration
	for start := used(); used()-start < patience; {
		short = processorTime(func() {
			for range parts {
				small()
			}
		})
		long = processorTime(large)
		// If the small inputs need less than the clock of the processor shows, the ratio says nothing.
		if long <= tolerated*max(short, resolution) {
			return
		}
	}
	t.Errorf("%d times %d bytes take %v of the processor, %d bytes take %v", parts, size/parts, short, size, long)
}

func processorTime(run func()) time.Duration {
	start := used()
	run()
	return used() - start
}
