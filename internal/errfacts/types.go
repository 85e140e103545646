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
	header    string // the field with the header of a response
	reasons   bool   // it has the reasons of a canceled transaction of DynamoDB
	message   string // the field Message, as most responses of an API have
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
	info.hinted = info.hint != "" || info.response != "" || info.header != "" || info.origin == rpcError || info.details ||
		info.origin == withStatus && info.message != ""
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
	case t.Name() == "GenericOpenAPIError", t.Name() == "GenericSwaggerError": // of OpenAPI Generator
		info.typeRow = typeRow{origin: textStatus, field: "error"}
	case info.origin == ownNumber && info.problem && strings.HasSuffix(info.field, "Status"):
		info.origin = withStatus
	case info.origin == ownNumber && (isOfHTTP(t.Name()) || info.message != "" && !hasOtherReplies(path)):
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

// isOfHTTP reports whether the name of a type says that its number is an HTTP status.
func isOfHTTP(name string) bool {
	return strings.Contains(strings.ToLower(name), "http") || strings.EqualFold(name, "APIError")
}

// knownFields lists the fields that structs are recognized by, with their kind (see fieldAt.kind) and
// the field in them to read. The first one that a struct has counts. Without a name, a field of any
// name is one. Most types with the method GRPCStatus have a field for the status or its code. To
// call that method would add 132 kB to each program.
var knownFields = [...]struct {
	origin
	name, kind, field string
}{
	{withStatus, "", "status", ""},
	{withStatus, "", "*http.Response", "StatusCode"},
	{rpcError, "", "*status.Status", "s.Code"},
	{rpcError, "", "codes.Code", ""},
	{ownNumber, "Status", "number", ""},
	{ownNumber, "Code", "number", ""},
	{withCode, "Code", "string", ""},
	{mysqlError, "SQLState", "[5]uint8", ""},
	{withState, "SQLState", "string", ""},
	{cassandraError, "", "gocql.errorFrame", "code"},
}

// describeFields describes a struct by its fields.
func describeFields(t reflect.Type, info *typeInfo) {
	fields := fieldsOf(t)
	for _, f := range slices.Backward(fields) { // the outermost of a name counts
		switch kind := f.kind(); {
		case f.Name == "Message" && kind == "string":
			info.message = f.path
		case f.Name == "RetryAfter", f.Name == "RetryAfterS", f.Name == "RetryAfterSec", f.Name == "RetryAfterSeconds":
			info.hint = f.path
		case f.Name == "CancellationReasons":
			info.reasons = f.path == f.Name
		case f.Name == "Details":
			info.details = f.path == f.Name && f.IsExported() && f.Type == reflect.TypeFor[[]map[string]any]()
		case f.Name == "Title", f.Name == "Detail":
			info.problem = info.problem || kind == "string"
		case kind == "*http.Response":
			info.response = f.path
		case kind == "http.Header":
			info.header = f.path
		}
	}
	for _, known := range knownFields {
		for _, f := range fields {
			if f.kind() != known.kind || known.name != "" && known.name != f.Name {
				continue
			}
			info.origin, info.field = known.origin, f.path
			switch known.origin {
			case mysqlError: // of go-sql-driver/mysql
				info.field = "Number"
			case rpcError:
				if known.field != "" {
					info.word = f.path + ".s.Message"
				}
			}
			if known.field != "" {
				info.field += "." + known.field
			}
			return
		}
	}
}

// A fieldAt is a field of a struct, or of one that it embeds.
type fieldAt struct {
	reflect.StructField
	path string
}

// fieldsOf returns the fields of a struct, then those of the structs that it embeds, and so on. Fields
// that are embedded twice, which Go does not promote, are not told apart.
func fieldsOf(t reflect.Type) (all []fieldAt) {
	const most = 3
	level := []fieldAt{{StructField: reflect.StructField{Type: t}}}
	for range most {
		var next []fieldAt
		for _, outer := range level {
			for f := range structOf(outer.Type).Fields() {
				at := fieldAt{f, strings.TrimPrefix(outer.path+"."+f.Name, ".")}
				all = append(all, at)
				if f.Anonymous && structOf(f.Type) != nil {
					next = append(next, at)
				}
			}
		}
		level = next
	}
	return all
}

// structOf returns the struct that t is or points to, or nil.
func structOf(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	return t
}

// kind returns what a field may be, as in knownFields: "status" for an HTTP status, "number" for
// another integer or a pointer to one, "string", or its type. Types of other packages are recognized
// by their names and the ends of their paths, so that those need not be linked.
func (f fieldAt) kind() string {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	isPointer := t != f.Type
	switch kind := t.Kind(); {
	case isPointer && t.Name() == "Response" && t.PkgPath() == "net/http":
		return "*http.Response"
	case isPointer && t.Name() == "Status" && strings.HasSuffix(t.PkgPath(), "grpc/internal/status"):
		return "*status.Status"
	case t.Name() == "Code" && isRPC(withoutVersion(t.PkgPath())):
		return "codes.Code"
	case kind >= reflect.Int && kind <= reflect.Uint64:
		if isStatusName(f.Name) {
			return "status"
		}
		return "number"
	case kind == reflect.String:
		return "string"
	}
	return t.String()
}

// isRPC reports whether a path is that of a package with the status codes of gRPC.
func isRPC(path string) bool {
	return strings.HasSuffix(path, "grpc/codes") || path == "connectrpc.com/connect" || strings.HasSuffix(path, "bufbuild/connect-go")
}

// isStatusName reports whether a number of this name is an HTTP status.
func isStatusName(name string) bool {
	switch strings.ToLower(strings.TrimLeft(name, "_")) { // _statusCode of go-swagger
	case "statuscode", "httpstatuscode", "responsestatuscode", "httpstatus", "httpcode":
		return true
	}
	return false
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
