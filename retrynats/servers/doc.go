// Package servers tests retrynats with nats-server: embedded, and in a process of its own
// that is restarted while workers are killed. It is a module of its own, so that users of
// retrynats do not get the server's requirements.
package servers
