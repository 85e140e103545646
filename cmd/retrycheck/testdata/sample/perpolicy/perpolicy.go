// Shared policy changed in each call.
package perpolicy

import (
	"context"
	"time"

	"github.com/gobackoff/retry"
)

type Client struct{ policy retry.Policy }

func (c *Client) Get(ctx context.Context, timeout time.Duration, op func(context.Context) error) error {
	c.policy.MaxElapsed = timeout // mistake
	return retry.Do(ctx, c.policy, op)
}
