package retryotel

import (
	"reflect"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"github.com/gobackoff/retry"
)

// errorType returns the attribute error.type of a failure.
func errorType(err error) attribute.KeyValue { return attribute.String("error.type", nameOf(err)) }

// nameOf looks for a name from the outside to the inside. It looks through the errors of
// package retry and of the packages fmt and errors, which say nothing about the failure.
func nameOf(err error) (name string) {
	defer func() {
		if recover() != nil { // in a method of a typed nil
			name = typeName(err)
		}
	}()
	const most = 256 // errors: one may wrap itself
	for range most {
		if e, ok := err.(interface{ ErrorType() string }); ok && e.ErrorType() != "" {
			return e.ErrorType()
		}
		if e, ok := err.(interface{ HTTPStatusCode() int }); ok {
			return strconv.Itoa(e.HTTPStatusCode())
		}
		_, gaveUp := err.(*retry.Error) // whose Timeout may be about the reason
		if e, ok := err.(interface{ Timeout() bool }); ok && !gaveUp && e.Timeout() {
			return "timeout"
		}
		inner := unwrap(err)
		if inner == nil || !isWrapper(err) {
			return typeName(err)
		}
		err = inner
	}
	return typeName(err)
}

func isWrapper(err error) bool {
	t := reflect.TypeOf(err)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	path := t.PkgPath()
	return path == "fmt" || path == "errors" || path == module || strings.HasPrefix(path, module+"/")
}

func unwrap(err error) error {
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return e.Unwrap()
	case interface{ Unwrap() []error }:
		if all := e.Unwrap(); len(all) > 0 {
			return all[0]
		}
	}
	return nil
}

// typeName is that of OpenTelemetry's own function: "io/fs.Error" or "*fs.PathError".
func typeName(err error) string {
	t := reflect.TypeOf(err)
	if t.PkgPath() != "" && t.Name() != "" {
		return t.PkgPath() + "." + t.Name()
	}
	return t.String()
}
