package dur

import (
	"context"
	"time"
)

// Slice is the longest time between two looks of Sleep at the wall clock.
const Slice = 30 * time.Second

// Sleep waits until a timer or the wall clock has gone d further. Timers stand still while the
// machine is suspended. The wall clock does not, so a wait that was over meanwhile ends within a
// Slice after that. now tells the time of the wall clock. If ctx is done before, Sleep returns
// ctx.Err().
func Sleep(ctx context.Context, d time.Duration, now func() time.Time) error {
	wall := func() time.Time { return now().Round(0) }
	due := wall().Add(d)
	// The rest comes first. If the clock is set forward, waits that began together and differ in
	// length then do not end together.
	step := d % Slice
	if step == 0 {
		step = Slice
	}
	for d > 0 {
		select {
		case <-time.After(step):
		case <-ctx.Done():
			return ctx.Err()
		}
		if !wall().Before(due) {
			return nil
		}
		d -= step
		step = Slice
	}
	return nil
}
