package lab

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// each calls work for the units 0 to n-1, on several goroutines, until all are
// done or ctx ends, and then returns the error of ctx. Results that are stored
// by unit do not depend on the number of workers. Each worker is made by
// newWorker, for what it keeps from unit to unit. A unit whose work reports
// false was interrupted and does not count.
func each(ctx context.Context, n, workers int, progress func(done, total int), newWorker func() func(unit int) bool) error {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var (
		group sync.WaitGroup
		next  atomic.Int64
		mu    sync.Mutex // progress is called by one goroutine at a time
		done  int
	)
	finished := func() {
		mu.Lock()
		defer mu.Unlock()
		done++
		if progress != nil {
			progress(done, n)
		}
	}
	for range min(workers, n) {
		group.Go(func() {
			work := newWorker()
			for ctx.Err() == nil {
				unit := int(next.Add(1)) - 1
				if unit >= n {
					return
				}
				if work(unit) {
					finished()
				}
			}
		})
	}
	group.Wait()
	if done == n {
		return nil
	}
	return ctx.Err()
}
