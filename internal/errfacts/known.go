package errfacts

import "reflect"

// These functions are for package known, whose tables the linker leaves out of programs
// that do not import it.

// TextOf returns the text of an error that consists of one, such as those of errors.New and
// of pkg/errors, or "".
func TextOf(err error) string {
	switch infoOf(err).origin {
	case plain:
		return err.Error()
	case textual:
		text, _ := Guarded(err.Error)
		return text
	}
	return ""
}

// Field returns a field of the struct that err is or points to, or err itself if path is
// empty. path names fields within fields, separated by dots.
func Field(err error, path string) reflect.Value { return Pointee(field(reflect.ValueOf(err), path)) }

// OfStatus returns the class of an HTTP status.
func OfStatus(status int64) Class { return ofStatus(status) }

// OfWord returns the class of a code such as not_found or InvalidParameter.
func OfWord(code string) Class { return ofWord(codeWord(code)) }
