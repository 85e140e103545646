// Own classifier after the default one.
package afterdefault

import (
	"context"
	"errors"
	"net/http"

	"github.com/gobackoff/retry"
)

type apiErr struct{ Status int }

func (e *apiErr) Error() string { return http.StatusText(e.Status) }

func (e *apiErr) StatusCode() int { return e.Status }

func lock(err error) retry.Verdict {
	var a *apiErr
	if errors.As(err, &a) && a.Status == 404 {
		return retry.Verdict{Class: retry.ClassTransient}
	}
	return retry.Verdict{}
}

var P = retry.Policy{Classifier: retry.FirstOf(retry.DefaultClassifier{}, retry.ClassifierFunc(lock))} // not found

func Call(ctx context.Context, op func(context.Context) error) error { return retry.Do(ctx, P, op) }
