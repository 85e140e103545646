package connections

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Listen returns a session that receives PostgreSQL's notifications. Those that were sent
// while it was away are lost, so changed is also called when the session is up. No notification is repeated:
// if changed cannot read the table, it tries again by itself.
func Listen(url, channel string, changed func(payload string)) func(context.Context, func()) error {
	return func(ctx context.Context, up func()) error {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return err
		}
		defer conn.Close(context.WithoutCancel(ctx))
		if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{channel}.Sanitize()); err != nil {
			return err
		}
		up()
		changed("")
		for {
			notification, err := conn.WaitForNotification(ctx)
			if err != nil {
				return err
			}
			changed(notification.Payload)
		}
	}
}
