// Package gossip has an error of a program's own.
package gossip

// Error has a number and a text.
type Error struct {
	Code    int
	Message string
}

func (e *Error) Error() string { return e.Message }
