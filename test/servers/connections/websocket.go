package connections

import (
	"context"
	"time"

	"github.com/coder/websocket"
)

// WebSocket returns a session that receives messages. Pings notice a dead connection.
func WebSocket(url string, options *websocket.DialOptions, handle func([]byte)) func(context.Context, func()) error {
	return func(ctx context.Context, up func()) error {
		conn, _, err := websocket.Dial(ctx, url, options)
		if err != nil {
			return err
		}
		defer conn.CloseNow()
		up()
		go ping(ctx, conn)
		for {
			_, message, err := conn.Read(ctx)
			if err != nil {
				return err
			}
			handle(message)
		}
	}
}

// ping closes the connection if the server does not answer. It ends with the session.
func ping(ctx context.Context, conn *websocket.Conn) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(30 * time.Second):
		}
		answer, cancel := context.WithTimeout(ctx, 10*time.Second)
		err := conn.Ping(answer)
		cancel()
		if err != nil {
			_ = conn.CloseNow()
			return
		}
	}
}
