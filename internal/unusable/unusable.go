// Package unusable finds what would panic at a policy's first failure, for clients that use
// a policy for a long time: nil pointers and functions where an interface is not nil.
package unusable

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/gobackoff/retry"
)

// Check returns an error that matches retry.ErrInvalid and names the first such part of p,
// or nil. Unlike [retry.Policy.Validate], it finds nothing else: a policy that merely
// seems wrong works.
func Check(p retry.Policy) error {
	if path := find(reflect.ValueOf(&p).Elem(), "", 0); path != "" {
		return fmt.Errorf("%w retry policy: %s", retry.ErrInvalid, path)
	}
	return nil
}

var parts = []reflect.Type{
	reflect.TypeFor[retry.Backoff](), reflect.TypeFor[retry.Classifier](), reflect.TypeFor[retry.HintRule](),
	reflect.TypeFor[retry.Budget](), reflect.TypeFor[retry.Limiter](), reflect.TypeFor[retry.Clock](),
}

const maxDepth = 16 // of compositions, which could contain themselves

// find returns a description of the first nil part in the fields of v, or "".
func find(v reflect.Value, path string, depth int) string {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct || depth > maxDepth {
		return ""
	}
	for i := range v.NumField() {
		field, kind := v.Field(i), v.Type().Field(i)
		if !slices.Contains(parts, kind.Type) || field.IsNil() {
			continue
		}
		part := field.Elem()
		if (part.Kind() == reflect.Pointer || part.Kind() == reflect.Func) && part.IsNil() {
			return fmt.Sprintf("%s%s is a nil %v", path, kind.Name, part.Type())
		}
		if found := find(part, path+kind.Name+".", depth+1); found != "" {
			return found
		}
	}
	return ""
}
