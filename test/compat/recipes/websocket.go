package recipes

import (
	"context"
	"time"

	"github.com/coder/websocket"

	"github.com/gobackoff/retry"
)

// Consume reads messages until ctx ends, and reconnects when the connection breaks.
func Consume(ctx context.Context, url string, handle func([]byte)) error {
	policy := retry.Policy{
		Backoff:     retry.FullJitter{Base: 100 * time.Millisecond, Cap: 30 * time.Second},
		MaxAttempts: retry.Unlimited,
	}
	return retry.Do(ctx, policy, func(ctx context.Context) error {
		conn, _, err := websocket.Dial(ctx, url, nil)
		if err != nil {
			return err
		}
		defer func() { _ = conn.CloseNow() }()
		useful := false
		for {
			_, message, err := conn.Read(ctx)
			if err != nil && useful {
				return retry.Progress(err)
			}
			if err != nil {
				return err
			}
			useful = true
			handle(message)
		}
	})
}
