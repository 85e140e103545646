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

// ofResponse returns the class that a method, a field or the text of one of the errors in
// err's tree reports. A status such as 412 does not count if the text says that a retry may
// succeed.
func ofResponse(err error) errfacts.Class {
	for e := range errfacts.All(err) {
		for _, rule := range [...]func(error) errfacts.Class{ofMethods, ofFields, ofErrorText} {
			switch c := rule(e); {
			case c == errfacts.Permanent && mentionsLimit(e): // some clouds throttle with status 400
				return errfacts.Throttled
			case c == errfacts.Permanent && invitesRetry(e):
				return errfacts.Unknown
			case c != errfacts.Unknown:
				return c
			}
		}
	}
	return errfacts.Unknown
}

// invitesRetry reports whether the text of an error says that a retry may succeed.
func invitesRetry(err error) bool {
	return mentions(err, "unavailable", "temporar", "try again", "retry", "timeout", "timed out", "is locked", "in progress", "overloaded", "busy", "not ready", "not yet")
}

func mentionsLimit(err error) bool {
	return mentions(err, "rate limit", "ratelimit", "too many requests", "toomanyrequests", "throttl")
}

func mentions(err error, phrases ...string) bool {
	text, _ := errfacts.Guarded(err.Error)
	return contains(strings.ToLower(text), phrases)
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
func ofFields(err error) errfacts.Class {
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
	return ofContents(reflect.ValueOf(err), 3)
}

// isStandard reports whether a type is of the standard library, or of a module that is not
// meant to be imported.
func isStandard(t reflect.Type) bool {
	domain, _, _ := strings.Cut(t.PkgPath(), "/")
	return domain != "" && domain != "main" && !strings.Contains(domain, ".")
}

// ofContents returns the class of the status in a value, or within it up to this depth.
func ofContents(v reflect.Value, depth int) errfacts.Class {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	switch {
	case v.Kind() == reflect.Slice && v.Len() > 0:
		return ofPart(v.Index(0), depth) // not deeper: a slice may contain itself
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
		return ofWord(strings.TrimPrefix(v.Type().Name(), "err"))
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
		if c := ofPart(field, depth); c != errfacts.Unknown {
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
func ofPart(v reflect.Value, depth int) errfacts.Class {
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
		if err, ok := v.Interface().(error); ok {
			if c, _ := errfacts.Classify(err, classOf); c != errfacts.Unknown {
				return c
			}
		}
	}
	if depth == 0 {
		return errfacts.Unknown
	}
	return ofContents(v, depth-1)
}

// ofNumber returns the class of the status in a field, a number or a text such as
// "404 Not Found". If the field may contain another number, only common statuses count.
func ofNumber(v reflect.Value, certain bool) errfacts.Class {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
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
	case reasons[n] == "":
		return errfacts.Unknown
	}
	return errfacts.OfStatus(n)
}

// reasons lists the statuses that texts and ambiguous fields may contain, and the phrases
// that follow them.
var reasons = map[int64]string{
	400: "bad request", 401: "unauthorized", 402: "payment required", 403: "forbidden", 404: "not found", 405: "method not allowed",
	406: "not acceptable", 408: "request timeout", 409: "conflict", 410: "gone", 411: "length required", 412: "precondition failed",
	413: "request entity too large", 414: "request uri too long", 415: "unsupported media type", 422: "unprocessable entity",
	429: "too many requests", 500: "internal server error", 501: "not implemented", 502: "bad gateway", 503: "service unavailable",
	504: "gateway timeout",
}

// ofErrorText returns the class that the text of an error reports: that of a status, as in
// "unexpected status code: 404", or a code, as in "rpc error: code = NotFound".
func ofErrorText(err error) errfacts.Class {
	original, _ := errfacts.Guarded(err.Error)
	original = original[:min(len(original), 400)]
	if _, code, ok := strings.Cut(original, "rpc error: code = "); ok {
		code, _, _ = strings.Cut(code, " desc")
		return ofWord(code)
	}
	text := strings.ToLower(original)
	for status, reason := range reasons {
		if text == reason && status != 409 { // a conflict with another writer may pass
			return errfacts.OfStatus(status)
		}
	}
	for i := 0; i+3 <= len(text); i++ {
		n, err := strconv.ParseInt(text[i:i+3], 10, 64)
		if err != nil || reasons[n] == "" || isWordByte(text, i-1) || isWordByte(text, i+3) {
			continue
		}
		before := strings.TrimRight(text[:i], ` :=("'[`)
		after := strings.TrimLeft(text[i+3:], " -:(")
		if strings.HasPrefix(after, reasons[n]) || hasSuffix(before, []string{"status", "code", "http", "http/1.1", "error", "response"}) {
			return errfacts.OfStatus(n)
		}
	}
	if mentionsLimit(err) {
		return errfacts.Throttled
	}
	if code, _, ok := strings.Cut(text, ":"); ok && !strings.Contains(code, " ") { // of a registry, for example
		if c := ofWord(code); c != errfacts.Unknown {
			return c
		}
	}
	for code := range strings.FieldsFuncSeq(text, func(c rune) bool { return c != '_' && (c < 'a' || c > 'z') }) {
		if strings.Contains(code, "_") {
			if c := ofWord(code); c != errfacts.Unknown {
				return c
			}
		}
	}
	return errfacts.Unknown
}

// ofWord returns the class of a code, unless it is about a server, which may come back, or a
// cancellation.
func ofWord(code string) errfacts.Class {
	for _, server := range [...]string{"host", "server", "node", "leader", "peer", "service", "broker", "connection", "session", "state", "response"} {
		if strings.Contains(strings.ToLower(code), server) {
			return errfacts.Unknown
		}
	}
	if code == "denied" {
		return errfacts.Permanent
	}
	if c := errfacts.OfWord(code); c != errfacts.Canceled {
		return c
	}
	return errfacts.Unknown
}

// isWordByte reports whether text[i] belongs to a word, a number or a path.
func isWordByte(text string, i int) bool {
	if i < 0 || i >= len(text) {
		return false
	}
	c := text[i]
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '/' || c == '.' && i+1 < len(text) && text[i+1] != ' ' || c == '-'
}
