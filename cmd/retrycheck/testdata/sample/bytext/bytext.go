// Classifier reads the text of an error. Nothing finds it.
package bytext

import (
	"context"
	"strings"

	"github.com/gobackoff/retry"
)

var P = retry.Policy{Classifier: retry.OnlyIf(func(err error) bool {
	return strings.Contains(err.Error(), "timeout") || strings.HasPrefix(err.Error(), "503")
})}

func Call(ctx context.Context, op func(context.Context) error) error { return retry.Do(ctx, P, op) }
