// Package linear checks that reading a peer's words takes time linear in their length.
package linear

import (
	"runtime/debug"
	"slices"
	"testing"
	"time"
)

// Check fails the test if what prepare returns takes more than half a second for input of
// size bytes, or more than 40 times as long as for a tenth of them: a reader that takes
// quadratic time needs 100 times as long, and seconds. The fastest of several runs counts,
// and the limits are far above what an idle machine needs, because it may be busy. The race
// detector, which takes ten times as long for some code and not for other, ends the test.
func Check(t *testing.T, size int, prepare func(size int) (run func())) {
	t.Helper()
	if info, _ := debug.ReadBuildInfo(); info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("the race detector changes the times")
	}
	const limit = 500 * time.Millisecond
	small, large := prepare(size/10), prepare(size)
	small() // allocates what is made once
	short, long := time.Hour, time.Hour
	for start := time.Now(); time.Since(start) < 20*time.Second; {
		short, long = min(short, duration(small)), min(long, duration(large))
		// Below a millisecond, the ratio says nothing.
		if long <= limit && long <= 40*max(short, time.Millisecond) {
			return
		}
	}
	t.Errorf("%d bytes take %v, %d bytes take %v", size/10, short, size, long)
}

func duration(run func()) time.Duration {
	start := time.Now()
	run()
	return time.Since(start)
}
