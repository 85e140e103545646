package connections

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/gobackoff/retry/retrykeep"
)

// WebSocket returns a session that receives messages. Pings notice a dead connection, and the
// Keeper pings, too, after Reconnect and when the machine has been suspended. A handler that is slow
// does not end the connection. A message of more than 32 KiB does: see SetReadLimit of the
// connection.
func WebSocket(url string, options *websocket.DialOptions, handle func([]byte)) func(context.Context, func()) error {
	return func(ctx context.Context, up func()) error {
		conn, _, err := websocket.Dial(ctx, url, options)
		if err != nil {
			return err
		}
		defer conn.CloseNow()
		var steps atomic.Int64 // odd while handle runs
		answers := func(ctx context.Context) error {
			before := steps.Load()
			if before%2 == 1 {
				return nil // an answer would not be read before the message is handled
			}
			err := conn.Ping(ctx)
			if steps.Load() != before {
				return nil
			}
			return err
		}
		retrykeep.Probe(ctx, answers)
		up()
		go ping(ctx, conn, answers)
		for {
			_, message, err := conn.Read(ctx)
			if err != nil {
				return err
			}
			steps.Add(1)
			handle(message)
			steps.Add(1)
		}
	}
}

// ping closes the connection if the server does not answer. It ends with the session.
func ping(ctx context.Context, conn *websocket.Conn, answers func(context.Context) error) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(30 * time.Second):
		}
		limited, cancel := context.WithTimeout(ctx, 10*time.Second)
		err := answers(limited)
		cancel()
		if err != nil {
			_ = conn.CloseNow()
			return
		}
	}
}
