// Package sqlitefake defines test errors that have the same shape as the errors returned
// by SQLite drivers. Package retrysql recognizes them because their package path contains
// "sqlite".
package sqlitefake

import "fmt"

// Modernc has the shape of *Error of modernc.org/sqlite v1.55.0.
func Modernc(code int) error { return &modernc{code: code} }

// Mattn has the shape of Error of github.com/mattn/go-sqlite3 v1.14.53.
func Mattn(code int) error { return mattn{Code: number(code & 0xff), ExtendedCode: number(code)} }

// Ncruces has the shape of *Error of github.com/ncruces/go-sqlite3 v0.36.0.
func Ncruces(code uint32) error { return &ncruces{code: code} }

// Other is an error that has no code, although its package path contains "sqlite".
func Other() error { return other{} }

type (
	modernc struct{ code int }
	mattn   struct{ Code, ExtendedCode number }
	ncruces struct{ code uint32 }
	other   struct{}
	number  int
)

func (e *modernc) Error() string { return fmt.Sprint("sqlite ", e.code) }
func (e mattn) Error() string    { return fmt.Sprint("sqlite ", e.Code) }
func (e *ncruces) Error() string { return fmt.Sprint("sqlite ", e.code) }
func (other) Error() string      { return "sqlite" }

// Temporary and Timeout make *ncruces a net.Error, like the driver's own error.
func (e *ncruces) Temporary() bool { return e.code&0xff == 5 }
func (e *ncruces) Timeout() bool   { return false }
