// Package redis has an error of a program's own with the name of a library's.
package redis

// Error is not the error of a Redis client.
type Error struct{ Op string }

func (e *Error) Error() string { return e.Op + ": connection pool exhausted" }
