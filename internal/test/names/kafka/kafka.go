// Package kafka has an error of a program's own with the name of a library's.
package kafka

// Error is not an error of Kafka's protocol.
type Error struct{ Code int }

func (e *Error) Error() string { return "broker said no" }
