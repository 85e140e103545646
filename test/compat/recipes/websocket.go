package recipes

import (
	"context"
	"time"

	"github.com/coder/websocket"

	"github.com/gobackoff/retry"
)

// Consume reads messages until ctx ends, and reconnects when the connection breaks.
func Consume(ctx context.Context, url string, options *websocket.DialOptions, handle func([]byte)) error {
	const longest = 30 * time.Second
	policy := retry.Policy{
		Backoff:     retry.FullJitter{Base: 100 * time.Millisecond, Cap: longest},
		MaxAttempts: retry.Unlimited,
	}
	return retry.Do(ctx, policy, func(ctx context.Context) error {
		conn, _, err := websocket.Dial(ctx, url, options)
		if err != nil {
			return err
		}
		defer func() { _ = conn.CloseNow() }()
		connected := time.Now()
		for {
			_, message, err := conn.Read(ctx)
			if err != nil {
				if time.Since(connected) > longest {
					err = retry.Progress(err)
				}
				return err
			}
			handle(message)
		}
	})
}
