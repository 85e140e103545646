package opcontext

import (
	"context"
	"time"

	"github.com/gobackoff/retry"
)

type ticks struct{ c <-chan time.Time }

func (t ticks) Wait(context.Context) error {
	<-t.c // want `a Limiter has to return when its context is done, or a canceled call waits on: wait in a select with ctx.Done\(\)`
	return nil
}

type patientTicks struct{ c <-chan time.Time }

func (t patientTicks) Wait(ctx context.Context) error {
	select {
	case <-t.c:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type sleepingClock struct{}

func (sleepingClock) Now() time.Time { return time.Now() }

func (sleepingClock) Sleep(_ context.Context, d time.Duration) error {
	time.Sleep(d) // want `a Clock has to return when its context is done`
	return nil
}

type other struct{ c <-chan time.Time }

func (o other) Wait(context.Context) error { <-o.c; return nil }

func ticking(c <-chan time.Time) []retry.Policy {
	p := retry.Policy{Limiter: ticks{c}}
	p.Clock = sleepingClock{}
	return []retry.Policy{p, {Limiter: patientTicks{c}}}
}
