package asserted

import (
	"context"
	"os"

	"github.com/gobackoff/retry"
)

func run(ctx context.Context, op func(context.Context) error) string {
	err := retry.Do(ctx, retry.Policy{}, op)
	switch e := err.(type) { // mistake
	case *os.PathError:
		return e.Path
	default:
		return ""
	}
}
