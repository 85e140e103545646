// Package servers tests retrynats with nats-server: embedded, and in a separate process that
// is restarted while workers are killed. It is a separate module, so that users of retrynats
// do not depend on the server.
package servers
