// Package retrykeep keeps a connection: it connects again whenever the connection ends.
//
//	keeper := &retrykeep.Keeper{}
//	err := keeper.Run(ctx, func(ctx context.Context, up func()) error {
//		conn, err := dial(ctx)
//		if err != nil {
//			return err
//		}
//		defer conn.Close()
//		up() // the connection works
//		return receive(ctx, conn)
//	})
//
// Use it for what should never end: a WebSocket, the consumer of a queue, a subscription, a
// watch. [Keeper.Run] calls the session again until ctx ends or the session fails for good. The
// waits grow until a session was useful, which means that it lived for a minute
// ([Keeper.Useful]). A server that accepts its clients and throws them out is therefore called
// less and less often, even if it has sent them something.
//
// After a useful session, the first wait is random, up to 30 seconds ([Keeper.Spread]), so
// that the clients of a server that restarts do not all return at once. If there are few
// clients, set a shorter one.
//
// [Keeper.State] is for a status page. [Keeper.RetryNow] ends the current wait, for example when
// a user clicks. [Keeper.Reconnect] is for a device whose network has changed. With [Probe], a
// session says how to find out whether its connection still works, and the Keeper then also
// notices that the machine has been suspended.
//
// docs/connections.md in the repository has sessions for WebSocket, MQTT, AMQP, Server-Sent
// Events and PostgreSQL's LISTEN.
package retrykeep
