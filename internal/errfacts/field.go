package errfacts

import (
	"reflect"
	"strings"
)

// field returns a field of a struct that v is or points to, or the zero Value. path is
// a field name, or several for nested fields, separated by dots.
func field(v reflect.Value, path string) reflect.Value {
	for path != "" && v.IsValid() {
		var name string
		name, path, _ = strings.Cut(path, ".")
		s := Pointee(v)
		v = reflect.Value{}
		if s.Kind() != reflect.Struct {
			break
		}
		f, ok := s.Type().FieldByName(name)
		if !ok || len(f.Index) > 1 { // promoted through an embedded pointer, which may be nil
			return reflect.Value{}
		}
		v = s.Field(f.Index[0])
	}
	return v
}

// Pointee returns what v points to, or v. A pointer may point to itself.
func Pointee(v reflect.Value) reflect.Value {
	for i := 0; i < 8 && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface); i++ {
		v = v.Elem()
	}
	return v
}

// value returns the integer in a field, or the string, or neither.
func value(v reflect.Value, path string) (number int64, text string) {
	v = Pointee(field(v, path))
	switch {
	case v.CanInt():
		number = v.Int()
	case v.CanUint():
		number = int64(v.Uint())
	case v.Kind() == reflect.String:
		text = v.String()
	}
	return number, text
}

// number returns the integer in a field, or 0.
func number(v reflect.Value, path string) int64 {
	n, _ := value(v, path)
	return n
}

// text returns the string in a field, or "".
func text(v reflect.Value, path string) string {
	_, s := value(v, path)
	return s
}

// texts returns a field of the first elements of a slice.
func texts(v reflect.Value, path string) []string {
	if v.Kind() != reflect.Slice {
		return nil
	}
	var found []string
	for i := range min(v.Len(), maxDetails) {
		found = append(found, text(v.Index(i), path))
	}
	return found
}
