// Package retry has an error of a program's own with the name of a library's.
package retry

// Error is not the error of a loop that gave up.
type Error struct{ Msg string }

func (e *Error) Error() string { return e.Msg }
