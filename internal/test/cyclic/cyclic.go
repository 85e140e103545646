// Package cyclic has an error for tests of those who look into errors.
package cyclic

// Error is an error that wraps itself. It counts the steps of those who look into it, and ends after
// far too many, so that a test fails instead of hanging.
type Error struct{ Steps int }

func (*Error) Error() string { return "cyclic" }

// Unwrap returns e.
func (e *Error) Unwrap() error {
	e.Steps++
	if e.Steps > 1_000_000 {
		return nil
	}
	return e
}
