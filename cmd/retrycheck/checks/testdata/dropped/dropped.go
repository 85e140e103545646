package dropped

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"time"

	avast "github.com/avast/retry-go/v5"
	"github.com/cenkalti/backoff/v4"
	"github.com/gobackoff/retry"
	sethvargo "github.com/sethvargo/go-retry"
)

var errGone = errors.New("gone")

func marks(context.Context) error {
	retry.Permanent(errGone) // want `retry.Permanent has no effect unless its result is used`
	retry.After(errGone, 1)  // want `retry.After has no effect`
	_ = retry.After(errGone, 1)
	if err := retry.Transient(errGone); err == nil {
		return nil
	}
	return retry.Permanent(errGone)
}

func wraps(err error) error {
	if err == nil {
		return fmt.Errorf("reading: %v", retry.Permanent(errGone)) // want `retry.Permanent has no effect unless the format wraps its result with %w`
	}
	return fmt.Errorf("reading: %w", retry.Permanent(err))
}

func status(resp *http.Response, err error) error {
	if resp.StatusCode == http.StatusNotFound {
		retry.Permanent(err) // want `retry.Permanent has no effect`
	}
	return err
}

func hooks(ctx context.Context, p retry.Policy) error {
	p.With(retry.Hooks{})   // want `Policy.With has no effect unless its result is used`
	retry.Do(ctx, p, marks) // want `the error of retry.Do is not used`
	_ = retry.Do(ctx, p, marks)
	go retry.Do(ctx, p, marks)    // want `the error of retry.Do is not used`
	defer retry.Do(ctx, p, marks) // want `the error of retry.Do is not used`
	p = p.With(retry.Hooks{})
	return retry.Do(ctx, p, marks)
}

func others(ctx context.Context) error {
	b := backoff.NewExponentialBackOff()
	backoff.WithMaxRetries(b, 3) // want `backoff.WithMaxRetries has no effect`
	backoff.Permanent(errGone)   // want `backoff.Permanent has no effect`

	s := sethvargo.NewConstant(time.Second)
	sethvargo.WithMaxRetries(3, s) // want `go-retry.WithMaxRetries has no effect`
	return sethvargo.Do(ctx, sethvargo.WithMaxRetries(3, s), func(context.Context) error {
		sethvargo.RetryableError(errGone) // want `go-retry.RetryableError has no effect`
		return sethvargo.RetryableError(errGone)
	})
}

func ignored(ctx context.Context, op func() error) {
	avast.New().Do(op)                        // want `the error of retry-go.Retrier.Do is not used`
	backoff.Retry(op, &backoff.ZeroBackOff{}) // want `the error of backoff.Retry is not used`
	go backoff.Retry(op, &backoff.ZeroBackOff{})
	_ = avast.New().Do(op)
}

func hides(ctx context.Context, p retry.Policy, find func(context.Context) error) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		if err := find(ctx); err != nil {
			return fmt.Errorf("find %s: %v", p, err) // want `the operation hides err, so what it says of a retry is lost: wrap it with %w`
		}
		if err := find(ctx); errors.Is(err, errGone) {
			return fmt.Errorf("find: %w (%s)", errGone, err)
		}
		err := find(ctx)
		log.Print(fmt.Errorf("find: %v", err))
		return fmt.Errorf("found %d", 1)
	})
}

var _ = []retry.Classifier{
	retry.FirstOf(retry.OnlyIf(func(err error) bool { return err == errGone }), retry.DefaultClassifier{}), // want `OnlyIf decides about every error, so what follows it in FirstOf is never asked`
	retry.FirstOf(retry.PermanentIf(errGone), retry.OnlyIf(nil)),
}

type codeError struct{ code int }

func (*codeError) Error() string { return "code" }

var assumed = retry.OnlyIf(func(err error) bool {
	var e *codeError
	errors.As(err, &e)
	return e.code == 503
})

var asked = retry.OnlyIf(func(err error) bool {
	var e *codeError
	errors.As(err, &e)
	return e != nil && e.code == 503
})
