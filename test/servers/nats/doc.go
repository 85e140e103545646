// Package nats tests package retrynats with nats-server: embedded, and in a separate process
// that is restarted while workers are killed.
package nats
