// Own ClassifierFunc replaces the default one.
package onlymine

import (
	"context"
	"errors"

	"github.com/gobackoff/retry"
)

var ErrInvalidOrder = errors.New("invalid order")
var P = retry.Policy{Classifier: retry.ClassifierFunc(func(err error) retry.Verdict {
	if errors.Is(err, ErrInvalidOrder) {
		return retry.Verdict{Class: retry.ClassPermanent}
	}
	return retry.Verdict{Class: retry.ClassTransient} // mistake
})}

func Call(ctx context.Context, op func(context.Context) error) error { return retry.Do(ctx, P, op) }
