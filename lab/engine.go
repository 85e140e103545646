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
// false was interrupted and does not count. progress, unless it is nil, is called
// by one goroutine at a time.
func each(ctx context.Context, n, workers int, progress func(done, total int), newWorker func() func(unit int) bool) error {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var (
		group      sync.WaitGroup
		next, done atomic.Int64
		mu         sync.Mutex
		told       int // of the units, to progress
	)
	tell := func() {
		mu.Lock()
		defer mu.Unlock()
		told++
		progress(told, n)
	}
	for range min(workers, n) {
		group.Go(func() {
			work := newWorker()
			for ctx.Err() == nil {
				unit := int(next.Add(1)) - 1
				if unit >= n {
					return
				}
				if !work(unit) {
					continue
				}
				done.Add(1)
				if progress != nil {
					tell()
				}
			}
		})
	}
	group.Wait()
	if int(done.Load()) == n {
		return nil
	}
	return ctx.Err()
}
