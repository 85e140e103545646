// sync.Once in the operation.
package once

import (
	"context"
	"sync"

	"github.com/gobackoff/retry"
)

type Lazy struct {
	once sync.Once
	err  error
	dial func(context.Context) error
}

func (l *Lazy) Connect(ctx context.Context) error {
	return retry.Do(ctx, retry.Policy{MaxAttempts: 5}, func(ctx context.Context) error {
		l.once.Do(func() { l.err = l.dial(ctx) }) // mistake
		return l.err
	})
}
