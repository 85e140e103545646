// Package servers tests retrynats with nats-server: embedded, and in a separate process that
// is restarted while workers are killed. A separate module keeps the server out of the
// dependencies of retrynats.
package servers
