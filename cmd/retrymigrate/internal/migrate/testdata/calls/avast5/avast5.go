package avast5

import (
	"context"
	"time"

	"github.com/avast/retry-go/v5" // want "2 of 4 calls can be rewritten"
)

func avastFive(ctx context.Context) error {
	return retry.New(retry.Context(ctx), retry.UntilSucceeded(), retry.Delay(time.Second)).Do(func() error { // want "retry\\.Do: can be rewritten; the error names the last failure, not all of them"
		return ping()
	})
}

func avastFiveValue() (int, error) {
	r := retry.NewWithData[int](retry.Attempts(2), retry.LastErrorOnly(true))
	return r.Do(func() (int, error) { return 1, nil }) // want "retry\\.Do: can be rewritten; the call has no context: pass one to end it early"
}

func ping() error { return nil }

func own(n uint, err error, config retry.DelayContext) time.Duration {
	return retry.FixedDelay(n, err, config)
}

func v53() error {
	return retry.New(retry.DelayType(own), retry.LastErrorOnly(true)).Do(func() error { return nil }) // want "retry\\.Do: left alone: its DelayType own has no counterpart: make it a retry\\.BackoffFunc"
}

func v54(r *retry.Retrier) error { return r.Do(func() error { return nil }) } // want "retry\\.Do: left alone: its retrier is not made in the package"
