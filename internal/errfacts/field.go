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

// number returns the integer in a field, or 0.
func number(v reflect.Value, path string) int64 {
	v = Pointee(field(v, path))
	switch {
	case v.CanInt():
		return v.Int()
	case v.CanUint():
		return int64(v.Uint())
	}
	return 0
}

// text returns the string in a field, or "".
func text(v reflect.Value, path string) string {
	v = Pointee(field(v, path))
	if v.Kind() != reflect.String {
		return ""
	}
	return v.String()
}
