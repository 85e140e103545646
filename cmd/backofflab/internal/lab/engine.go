package lab

// Trials on several goroutines.

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// each runs the units 0 to n-1 on several goroutines. If ctx ends before all units are
// done, it returns the error of ctx. Each goroutine has a worker, which may keep state
// from unit to unit. A worker returns false if its unit was interrupted.
func each(ctx context.Context, n, workers int, newWorker func() func(unit int) bool) error {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var (
		group      sync.WaitGroup
		next, done atomic.Int64
	)
	for range min(workers, n) {
		group.Go(func() {
			work := newWorker()
			for ctx.Err() == nil {
				unit := int(next.Add(1)) - 1
				if unit >= n {
					return
				}
				if work(unit) {
					done.Add(1)
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

type progress struct {
	report func(done, total int) // nil: no reports
	total  int

	mu   sync.Mutex
	done int
}

func (p *progress) add(n int) {
	if p.report == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	p.report(p.done, p.total)
}
