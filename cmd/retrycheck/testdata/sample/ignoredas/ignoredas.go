// The result of errors.As is ignored.
package ignoredas

import (
	"context"
	"errors"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

var P = retry.Policy{Classifier: retry.OnlyIf(func(err error) bool {
	var s *retryhttp.StatusError
	errors.As(err, &s) // not found
	return s.HTTPStatusCode() == 404 || s.HTTPStatusCode() >= 500
})}

func Call(ctx context.Context, op func(context.Context) error) error { return retry.Do(ctx, P, op) }
