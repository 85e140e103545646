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

// progress tells of what has been done, one goroutine at a time.
type progress struct {
	tell  func(done, total int) // nil: nobody wants to know
	total int

	mu   sync.Mutex
	done int
}

func (p *progress) add(n int) {
	if p.tell == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	p.tell(p.done, p.total)
}
