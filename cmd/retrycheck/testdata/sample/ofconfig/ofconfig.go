// Seconds of the configuration as a Duration.
package ofconfig

import (
	"context"
	"time"

	"github.com/gobackoff/retry"
)

type Config struct {
	TimeoutSeconds int `json:"timeout_seconds"`
}

func Call(ctx context.Context, c Config, op func(context.Context) error) error {
	p := retry.Policy{AttemptTimeout: time.Duration(c.TimeoutSeconds), MaxAttempts: 3} // mistake
	return retry.Do(ctx, p, op)
}
