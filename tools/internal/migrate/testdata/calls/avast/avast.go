package avast

import (
	"context"
	"errors"
	"log"
	"time"

	"github.com/avast/retry-go/v4" // want "3 of 3 calls can be rewritten"
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
	return retry.DoWithData(func() (int, error) { return 1, nil }, opts...) // want "retry\\.DoWithData: can be rewritten; the call has no context: pass one to end it early; the error names the last failure, not all of them"
}

func a3() {
	err := retry.Do(ping, retry.RetryIf(func(err error) bool { return err != nil })) // want "retry\\.Do: can be rewritten; the call has no context: pass one to end it early; the error names the last failure, not all of them"
	if err != nil {
		log.Print(err)
	}
}
func ping() error { return nil }
