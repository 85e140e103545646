package known

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/gobackoff/retry/internal/errfacts"
)

// These rules find the response of a server in the errors of any client, generated or
// written by hand. They are asked if neither the tables nor DefaultClassifier's rules know
// anything about an error and those that it wraps.

// A search is for the response within one error. It ends when it has read so many parts,
// because errors may contain one another; an error that is a part counts as 32.
type search struct{ left int }

// ofResponse returns the class that a method or a field of one of the errors in err's tree
// reports.
func ofResponse(err error) errfacts.Class {
	s := search{left: 256}
	for e := range errfacts.All(err) {
		if c := ofMethods(e); c != errfacts.Unknown {
			return c
		}
		if c := s.ofFields(e); c != errfacts.Unknown {
			return c
		}
	}
	return errfacts.Unknown
}

// ofMethods calls methods that return an HTTP status, and marker methods such as those of
// Docker's and containerd's errors.
func ofMethods(err error) errfacts.Class {
	var status func() int
	switch e := err.(type) {
	case interface{ Status() int }:
		status = e.Status
	case interface{ HTTPStatus() int }:
		status = e.HTTPStatus
	case interface{ HttpStatus() int }:
		status = e.HttpStatus
	case interface{ HttpStatusCode() int }:
		status = e.HttpStatusCode
	case interface{ HttpCode() int }:
		status = e.HttpCode
	case interface{ GetStatus() int }:
		status = e.GetStatus
	case interface{ GetStatusCode() int }:
		status = e.GetStatusCode
	case interface{ GetHTTPStatusCode() int }:
		status = e.GetHTTPStatusCode
	case interface{ GetHttpStatusCode() int }:
		status = e.GetHttpStatusCode
	case interface{ ResponseCode() int }:
		status = e.ResponseCode
	case interface{ IsNotFound() bool }:
		if errfacts.Reports(e.IsNotFound) {
			return errfacts.Permanent
		}
	case interface{ NotFound() }, interface{ AlreadyExists() }, interface{ Conflict() }, interface{ InvalidParameter() },
		interface{ InvalidArgument() }, interface{ Unauthorized() }, interface{ Unauthenticated() }, interface{ Forbidden() },
		interface{ PermissionDenied() }, interface{ FailedPrecondition() }, interface{ NotImplemented() }:
		return errfacts.Permanent
	case interface{ ResourceExhausted() }:
		return errfacts.Throttled
	case interface{ Unavailable() }, interface{ System() }, interface{ Aborted() }:
		return errfacts.Transient
	}
	if status == nil {
		return errfacts.Unknown
	}
	number, _ := errfacts.Guarded(status)
	return errfacts.OfStatus(int64(number))
}

// ofFields reads the fields of an error, and of what they contain.
func (s *search) ofFields(err error) errfacts.Class {
	t := reflect.TypeOf(err)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name := strings.ToLower(t.PkgPath() + "." + t.Name())
	if isStandard(t) {
		return errfacts.Unknown
	}
	for protocol := range strings.FieldsSeq("smtp ftp nntp sip amqp irc imap pop3 textproto exec websocket sql ldap kafka redis") {
		if strings.Contains(name, protocol) { // its numbers are not HTTP's
			return errfacts.Unknown
		}
	}
	return s.ofContents(reflect.ValueOf(err), 3)
}

// isStandard reports whether a type is of the standard library, or of a module that is not
// meant to be imported.
func isStandard(t reflect.Type) bool {
	domain, _, _ := strings.Cut(t.PkgPath(), "/")
	return domain != "" && domain != "main" && !strings.Contains(domain, ".")
}

// ofContents returns the class of the status in a value, or within it up to this depth.
func (s *search) ofContents(v reflect.Value, depth int) errfacts.Class {
	if s.left--; s.left < 0 {
		return errfacts.Unknown
	}
	v = errfacts.Pointee(v)
	switch {
	case v.Kind() == reflect.Slice && v.Len() > 0:
		return s.ofPart(v.Index(0), depth) // not deeper: a slice may contain itself
	case v.Kind() != reflect.Struct:
		return errfacts.Unknown
	}
	switch path := v.Type().PkgPath(); {
	case path == "net/http" && v.Type().Name() == "Response":
		return errfacts.OfStatus(v.FieldByName("StatusCode").Int())
	case isStandard(v.Type()):
		return errfacts.Unknown
	case strings.HasSuffix(path, "/errdefs") && v.Type().Name() == "errConflict": // a name in use
		return errfacts.Permanent
	case strings.HasSuffix(path, "/errdefs"):
		return errfacts.OfWord(strings.TrimPrefix(v.Type().Name(), "err"))
	}
	for i := range v.NumField() {
		name := strings.ToLower(strings.ReplaceAll(v.Type().Field(i).Name, "_", ""))
		if certain := isListed(statusFields, name); certain || isListed(numberFields, name) {
			if c := ofNumber(v.Field(i), certain); c != errfacts.Unknown {
				return c
			}
		}
	}
	for _, field := range v.Fields() {
		if c := s.ofPart(field, depth); c != errfacts.Unknown {
			return c
		}
	}
	return errfacts.Unknown
}

// statusFields lists, in lower case, the fields that contain an HTTP status, and
// numberFields those that may contain one.
const (
	statusFields = " status statuscode httpstatus httpstatuscode httpcode httpresponsecode responsestatuscode responsecode "
	numberFields = " code errorcode errcode actual got "
)

func isListed(list, word string) bool { return strings.Contains(list, " "+word+" ") }

// ofPart returns the class of what a field contains: an error that is not wrapped, or a
// response.
func (s *search) ofPart(v reflect.Value, depth int) errfacts.Class {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return errfacts.Unknown
		}
	case reflect.Struct, reflect.Slice:
	default:
		return errfacts.Unknown
	}
	if v.CanInterface() {
		if err, ok := v.Interface().(error); ok && s.left > 0 {
			s.left -= 32
			if c, _ := errfacts.Classify(err, classOf); c != errfacts.Unknown {
				return c
			}
		}
	}
	if depth == 0 {
		return errfacts.Unknown
	}
	return s.ofContents(v, depth-1)
}

// ofNumber returns the class of the status in a field, a number or a text such as
// "404 Not Found". If the field may contain another number, only common statuses count.
func ofNumber(v reflect.Value, certain bool) errfacts.Class {
	v = errfacts.Pointee(v)
	var n int64
	switch {
	case v.CanInt():
		n = v.Int()
	case v.CanUint():
		n = int64(v.Uint())
	case v.Kind() == reflect.String:
		word, _, _ := strings.Cut(v.String(), " ")
		n, _ = strconv.ParseInt(word, 10, 64)
	}
	switch {
	case certain:
	case n == -32700, n == -32600, n == -32601, n == -32602: // of JSON-RPC 2.0: no JSON, no request, no such method, wrong parameters
		return errfacts.Permanent
	case !isCommon(n):
		return errfacts.Unknown
	}
	return errfacts.OfStatus(n)
}

// isCommon reports whether a field that may contain another number contains an HTTP status.
func isCommon(n int64) bool {
	return n >= 400 && n <= 415 && n != 407 || n == 422 || n == 429 || n >= 500 && n <= 504
}
