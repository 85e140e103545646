package errfacts

import (
	"errors"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// A typeInfo is what is known about a type: its row in the table, or else what its name and
// its fields say.
type typeInfo struct {
	typeRow
	of        reflect.Type
	throttled bool   // its name says that
	response  string // the field with an *http.Response
	reasons   bool   // it has the reasons of a canceled transaction of DynamoDB
	message   bool   // it has a field Message, as most responses of an API
	problem   bool   // it has a field of a problem (RFC 9457) beside the status
	details   bool   // it has a field Details with JSON
	hinted    bool   // a field may ask for a wait
	fields    bool   // its type or its fields say something
	asks      asks   // the methods that it has
	byPointer bool   // the methods are those of a pointer to the value
	blank     bool   // there is nothing to read
}

// typeInfos caches the results of describe, by reflect.Type, except the one that is most
// common, that of fmt.Errorf.
var (
	typeInfos sync.Map
	wrapInfo  atomic.Pointer[typeInfo]
)

func infoOf(err error) *typeInfo {
	t := reflect.TypeOf(err)
	if t == plainError {
		return &plainInfo
	}
	if info := wrapInfo.Load(); info != nil && info.of == t {
		return info
	}
	if info, ok := typeInfos.Load(t); ok {
		return info.(*typeInfo)
	}
	info := describe(t)
	info.of = t
	if info.origin != overtime {
		info.asks = asksOf(err)
	}
	if t.Kind() != reflect.Pointer && reflect.PointerTo(t).NumMethod() > t.NumMethod() {
		pointer := reflect.New(t).Interface()
		info.asks = asksOf(pointer)
		info.byPointer = info.asks != 0
	}
	info.hinted = info.hint != "" || info.response != "" || info.origin == rpcError || info.details
	info.fields = info.origin != foreign || info.reasons || info.hinted
	info.blank = !info.fields && !info.throttled && info.asks == 0
	if t.String() == "*fmt.wrapError" {
		wrapInfo.Store(info)
	}
	typeInfos.Store(t, info)
	return info
}

var plainInfo = typeInfo{typeRow: typeRow{origin: plain}}

func describe(t reflect.Type) *typeInfo {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	info := new(typeInfo)
	path := t.PkgPath()
	switch {
	case t == reflect.TypeFor[Overtime]():
		info.origin = overtime
		return info
	case t == reflect.TypeFor[NotSent]():
		info.origin = notSent
		return info
	case path == "fmt" || path == "errors":
		return info
	}
	if t.Kind() == reflect.Struct {
		describeFields(t, info)
	}
	info.throttled = ofWord(typeWord(t.Name())) == Throttled
	if row, ok := findRow("/" + withoutVersion(path) + "." + t.Name()); ok {
		hint := info.hint
		info.typeRow = row
		if row.hint == "" {
			info.hint = hint
		}
		return info
	}
	switch {
	case path == "syscall":
		info.origin = systemError
	case path == "crypto/x509":
		info.origin = tlsError
	case strings.HasPrefix(path, "encoding/"):
		info.origin = localError
	case strings.Contains(path, "sqlite"): // several drivers
		info.origin = sqliteError
	case strings.Contains(path, "mongo"): // its methods are read
		info.origin = foreign
	case t.Kind() == reflect.String:
		info.origin = textual
	case info.origin == ownNumber && info.problem && info.field == "Status":
		info.origin = withStatus
	case info.origin == ownNumber && (strings.Contains(t.Name(), "HTTP") || t.Name() == "APIError" || info.message && !hasOtherReplies(path)):
		info.origin = withStatus
	}
	return info
}

// findRow looks up each end of a full name that begins after a slash.
func findRow(full string) (typeRow, bool) {
	for {
		_, rest, found := strings.Cut(full, "/")
		if !found {
			return typeRow{}, false
		}
		if row, ok := rowOf(rest); ok {
			return row, true
		}
		full = rest
	}
}

// withoutVersion removes the major version from an import path.
func withoutVersion(path string) string {
	var kept []string
	for part := range strings.SplitSeq(path, "/") {
		if name, version, ok := strings.Cut(part, ".v"); ok && isNumber(version) { // of gopkg.in
			part = name
		}
		if !strings.HasPrefix(part, "v") || !isNumber(part[1:]) {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "/")
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// hasOtherReplies reports whether a package is about a protocol whose numbers are like those
// of HTTP but mean something else: 426 of FTP is a connection that was lost.
func hasOtherReplies(path string) bool {
	words := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '-' || r == '.' })
	return slices.ContainsFunc(words, func(word string) bool {
		switch word {
		case "ftp", "smtp", "nntp", "sip", "imap", "sftp", "goftp", "gosmtp", "goimap":
			return true
		}
		return false
	})
}

// knownFields lists the fields that structs are recognized by, with their type, or
// "number", and the field to read. The first one that a struct has counts.
var knownFields = [...]struct {
	origin
	name, typ, field string
}{
	{withStatus, "StatusCode", "number", "StatusCode"},
	{withStatus, "ApiError", "abstractions.ApiError", "ApiError.ResponseStatusCode"}, // of Microsoft Graph
	{withStatus, "ResponseStatusCode", "number", "ResponseStatusCode"},
	{withStatus, "HTTPStatusCode", "number", "HTTPStatusCode"},
	{withStatus, "response", "*http.Response", ""}, // of any name: see responseField
	{withStatus, "statusCode", "number", "statusCode"},
	{ownNumber, "Status", "number", "Status"},
	{ownNumber, "Code", "number", "Code"},
	{withCode, "Code", "string", "Code"},
	{mysqlError, "SQLState", "[5]uint8", "Number"}, // of go-sql-driver/mysql
	{withState, "SQLState", "string", "SQLState"},
	{rpcError, "status", "*status.Status", ""}, // of any name: see describeStatus
	{cassandraError, "errorFrame", "gocql.errorFrame", "errorFrame.code"},
}

func describeFields(t reflect.Type, info *typeInfo) {
	types := map[string]string{} // of the fields, by name
	for field := range t.Fields() {
		types[field.Name] = fieldType(field.Type)
		switch field.Name {
		case "Message":
			info.message = fieldType(field.Type) == "string"
		case "RetryAfter", "RetryAfterS", "RetryAfterSec", "RetryAfterSeconds":
			info.hint = field.Name
		case "CancellationReasons":
			info.reasons = true
		case "Details":
			info.details = field.IsExported() && field.Type == reflect.TypeFor[[]map[string]any]()
		case "Title", "Detail":
			info.problem = info.problem || fieldType(field.Type) == "string"
		}
	}
	info.response = responseField(t)
	for _, known := range knownFields {
		switch {
		case known.typ == "*http.Response":
			if info.response == "" {
				continue
			}
			info.origin, info.field = known.origin, info.response+".StatusCode"
			return
		case known.typ == "*status.Status":
			if describeStatus(t, info) {
				return
			}
		case types[known.name] == known.typ:
			info.origin, info.field = known.origin, known.field
			return
		}
	}
}

// fieldType returns the type of a field as in knownFields.
func fieldType(t reflect.Type) string {
	switch kind := t.Kind(); {
	case kind >= reflect.Int && kind <= reflect.Uint64:
		return "number"
	case kind == reflect.String:
		return "string"
	}
	return t.String()
}

// responseField returns the path of a field of type *http.Response, in the struct or in one
// that it embeds, or "".
func responseField(t reflect.Type) string {
	for field := range t.Fields() {
		if isResponse(field.Type) {
			return field.Name
		}
	}
	for embedded := range t.Fields() {
		if !embedded.Anonymous || embedded.Type.Kind() != reflect.Struct {
			continue
		}
		for inner := range embedded.Type.Fields() {
			if isResponse(inner.Type) {
				return embedded.Name + "." + inner.Name
			}
		}
	}
	return ""
}

// describeStatus describes a type with a field for a status of gRPC, as most types with the method
// GRPCStatus have. (To call that method would add 132 kB to each program.)
func describeStatus(t reflect.Type, info *typeInfo) bool {
	for field := range t.Fields() {
		if field.Type.Kind() != reflect.Pointer {
			continue
		}
		status := field.Type.Elem()
		if status.Name() == "Status" && strings.HasSuffix(status.PkgPath(), "grpc/internal/status") {
			info.origin, info.field, info.word = rpcError, field.Name+".s.Code", field.Name+".s.Message"
			return true
		}
	}
	return false
}

// isResponse reports whether t is *http.Response, without importing net/http.
func isResponse(t reflect.Type) bool {
	return t.Kind() == reflect.Pointer && t.Elem().Name() == "Response" && t.Elem().PkgPath() == "net/http"
}

// ofErrno returns what is known about a system error.
func ofErrno(err error) Variable {
	if isConnectionErrno(err) {
		return Variable{Kind: Connection}
	}
	// These do not count after a dial: the socket of a server that is starting may not
	// exist yet.
	if isLocalErrno(err) {
		return Variable{Class: Permanent}
	}
	if e, ok := err.(interface{ Is(error) bool }); ok {
		for _, local := range [...]error{fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, errors.ErrUnsupported} {
			if e.Is(local) {
				return Variable{Class: Permanent}
			}
		}
	}
	return Variable{}
}
