// Package foo has an error of a program's own.
package foo

// Error has a number and a text.
type Error struct {
	Code    int
	Message string
}

func (e *Error) Error() string { return e.Message }
