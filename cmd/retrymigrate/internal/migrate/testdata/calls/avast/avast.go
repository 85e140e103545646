package avast

import (
	"context"
	"errors"
	"log"
	"time"

	"github.com/avast/retry-go/v4" // want "8 of 13 calls can be rewritten"
)

var (
	rtyAttNum = uint(5)
	rtyAtt    = retry.Attempts(rtyAttNum)
	rtyDel    = retry.Delay(time.Millisecond * 400)
	rtyErr    = retry.LastErrorOnly(true)
)

func a1(ctx context.Context) error {
	return retry.Do(func() error { // want "retry\\.Do: can be rewritten"
		return retry.Unrecoverable(errors.New("x"))
	}, retry.Context(ctx), rtyAtt, rtyDel, rtyErr, retry.OnRetry(func(n uint, err error) {
		log.Println(n, err)
	}))
}

func a2() (int, error) {
	opts := []retry.Option{retry.Attempts(3), retry.DelayType(retry.FixedDelay), retry.MaxDelay(time.Second)}
	return retry.DoWithData(func() (int, error) { return 1, nil }, opts...) // want "retry\\.DoWithData: can be rewritten; the error names the last failure, not all of them; the call has no context: pass one to end it early"
}

func a3() {
	err := retry.Do(ping, retry.RetryIf(func(err error) bool { return err != nil })) // want "retry\\.Do: can be rewritten; the error names the last failure, not all of them; the call has no context: pass one to end it early"
	if err != nil {
		log.Print(err)
	}
}
func ping() error { return nil }

func a4() error {
	return retry.Do(ping, retry.LastErrorOnly(true), retry.Delay(time.Second), retry.DelayType(delay)) // want "retry\\.Do: left alone: its DelayType delay has no counterpart: make it a retry\\.BackoffFunc"
}

func delay(n uint, err error, config *retry.Config) time.Duration {
	if errors.Is(err, context.Canceled) {
		return 0
	}
	return retry.BackOffDelay(n, err, config)
}

func a5(opts ...retry.Option) error {
	if err := retry.Do(ping, retry.AttemptsForError(3, context.Canceled)); err != nil { // want "retry\\.Do: left alone: the option AttemptsForError has no counterpart"
		return err
	}
	return retry.Do(ping, opts...) // want "retry\\.Do: left alone: its options are not listed in the package: opts"
}

func a6() error {
	for _, err := range []error{
		retry.Do(ping, retry.LastErrorOnly(true), retry.DelayType(retry.RandomDelay), retry.MaxJitter(time.Second)),                              // want "retry\\.Do: can be rewritten; the call has no context: pass one to end it early"
		retry.Do(ping, retry.LastErrorOnly(true), retry.DelayType(retry.FullJitterBackoffDelay), retry.Attempts(0), retry.MaxDelay(time.Minute)), // want "retry\\.Do: can be rewritten; the call has no context: pass one to end it early"
		retry.Do(ping, retry.LastErrorOnly(true), retry.DelayType(retry.BackOffDelay), retry.MaxDelay(30*time.Second), retry.UntilSucceeded()),   // want "retry\\.Do: can be rewritten; the call has no context: pass one to end it early"
		retry.Do(ping, retry.LastErrorOnly(true), retry.DelayType(retry.CombineDelay(retry.BackOffDelay))),                                       // want "retry\\.Do: left alone: its DelayType retry\\.CombineDelay\\(retry\\.BackOffDelay\\) has no counterpart: make it a retry\\.BackoffFunc"
		retry.Do(ping, retry.LastErrorOnly(true), retry.Delay(0)),                                                                                // want "retry\\.Do: can be rewritten; the call has no context: pass one to end it early"
		retry.Do(ping, retry.LastErrorOnly(true), retry.Delay(0), retry.DelayType(retry.FixedDelay)),                                             // want "retry\\.Do: can be rewritten; the call has no context: pass one to end it early"
		retry.Do(ping, a7()), // want "retry\\.Do: left alone: the option a7\\(\\) is not understood"
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

func a7() retry.Option { return retry.Attempts(3) }
