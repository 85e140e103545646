package errfacts

import (
	"errors"
	"io/fs"
	"reflect"
	"slices"
	"strconv"
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
	methods   bool   // readMethods is needed
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
	info.methods = hasMethods(err)
	if t.Kind() != reflect.Pointer && reflect.PointerTo(t).NumMethod() > t.NumMethod() {
		pointer := reflect.New(t).Interface()
		_, hinted := pointer.(retryAfterer)
		info.methods = hasMethods(pointer)
		info.byPointer = info.methods || hinted
	}
	info.blank = info.origin == foreign && !info.methods && !info.reasons && !info.throttled
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
	{rpcError, "st", "*status.Status", "st.s.Code"}, // of Temporal
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

// isResponse reports whether t is *http.Response, without importing net/http.
func isResponse(t reflect.Type) bool {
	return t.Kind() == reflect.Pointer && t.Elem().Name() == "Response" && t.Elem().PkgPath() == "net/http"
}

// readType reads the type and the fields of err.
func (f *Facts) readType(err error, info *typeInfo) {
	if info.throttled {
		f.report(Throttled, false)
	}
	if info.reasons {
		f.Reasons = max(f.Reasons, ofReasons(field(reflect.ValueOf(err), "CancellationReasons")))
	}
	switch info.origin {
	case foreign, giveUp:
	case overtime:
		f.Overtime = true
		f.Kind = max(f.Kind, Timeout)
	case forbids:
		if f.Verdict == None {
			f.Verdict = No
		}
	case permanent:
		f.Fallback = max(f.Fallback, Permanent)
	case throttled:
		f.report(Throttled, false)
	case textual:
		text, _ := Guarded(err.Error)
		f.Fallback = max(f.Fallback, ofText(text).Class)
	case cancellation:
		f.cancel()
	case netError, dnsError, addressError, tlsError, urlError:
		f.Kind = max(f.Kind, f.readNetwork(info.origin, reflect.ValueOf(err)))
	case jsonError:
		if text(reflect.ValueOf(err), info.field) == "unexpected end of JSON input" {
			f.Kind = max(f.Kind, Truncated) // as io.ErrUnexpectedEOF, which a Decoder returns
		}
		f.Fallback = max(f.Fallback, Permanent)
	case localError:
		f.Fallback = max(f.Fallback, Permanent)
	case badConnection:
		f.Fallback = max(f.Fallback, Transient)
	case systemError:
		f.readErrno(err)
	case redisReply:
		reply, _ := Guarded(err.Error)
		f.report(ofRedis(reply), false)
	default:
		f.report(info.classOf(reflect.ValueOf(err)))
	}
}

func (f *Facts) readNetwork(o origin, v reflect.Value) Kind {
	switch o {
	case netError:
		f.Lost = f.Lost || text(v, "Op") == "dial"
	case dnsError:
		if text(v, "Err") == "unknown port" {
			return Invalid
		}
		if found := field(v, "IsNotFound"); found.Kind() == reflect.Bool && found.Bool() {
			return NotFound
		}
	case tlsError:
		const internalError = 80
		if number(v, "") == internalError { // an alert that ends the handshake: nothing was sent
			return Connection
		}
		return TLS
	case addressError:
		return Invalid
	case urlError:
		if text(v, "Op") == "parse" {
			f.Fallback = max(f.Fallback, Permanent)
			return NoKind
		}
		return Request
	}
	return Connection
}

// readErrno reads a system error.
func (f *Facts) readErrno(err error) {
	if isConnectionErrno(err) {
		f.Kind = max(f.Kind, Connection)
		return
	}
	// These do not count after a dial: the socket of a server that is starting may not
	// exist yet.
	if isLocalErrno(err) {
		f.Fallback = max(f.Fallback, Permanent)
		return
	}
	e, ok := err.(interface{ Is(error) bool })
	if !ok {
		return
	}
	for _, local := range [...]error{fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, errors.ErrUnsupported} {
		if e.Is(local) {
			f.Fallback = max(f.Fallback, Permanent)
		}
	}
}

// report records the class that a library or server reported, unless a class is already
// set. unrepeatable is ignored if Verdict is already Yes.
func (f *Facts) report(c Class, unrepeatable bool) {
	switch {
	case c == Canceled:
		f.cancel()
	case f.Class == Unknown:
		f.Class = c
	}
	f.Unrepeatable = f.Unrepeatable || unrepeatable && f.Verdict != Yes
}

// classOf returns the class of an error according to the field of its type, and whether
// the operation may have taken effect.
func (info *typeInfo) classOf(v reflect.Value) (c Class, unrepeatable bool) {
	number := number(v, info.field)
	switch info.origin {
	case withStatus, ownNumber:
		code := serviceCode(v)
		c = ofResponse(int(number), code)
		switch {
		case c != Permanent:
		case info.origin == ownNumber:
			c = Unknown
		case isRenewed(code):
			c = Transient
		}
		return c, false
	case sdkStatus, kubernetesStatus, ociStatus, vaultStatus, oauthStatus, googleStatus:
		return ofServiceStatus(info.origin, int(number), v), false
	case prometheusStatus: // such as "client error: 429"
		_, status, _ := strings.Cut(text(v, info.field), " error: ")
		n, _ := strconv.Atoi(status)
		return OfStatus(n), false
	case withState:
		r := replyOfSQLState(text(v, info.field), v)
		return r.class, r.unrepeatable
	case withCode:
		return ofWord(codeWord(text(v, info.field))), false
	case lostCommit:
		return Transient, true
	case pgxLock:
		// SafeToRetry returns true for all of these errors, which is correct for "conn
		// busy". But pgx 5.9 to 5.12 also report a connection lost during COMMIT as "conn
		// closed".
		if text(v, "status") != "conn closed" {
			return Unknown, false
		}
		return Transient, true
	case rpcError:
		if number == resourceExhausted && isFull(v) {
			return Permanent, false
		}
	case sqliteError:
		number = sqliteCode(v)
	case kafkaError: // a client's own numbers are negative
		number = max(0, codeOf(v))
	}
	r := replyOf(info.origin, number)
	return r.class, r.unrepeatable
}

// resourceExhausted is a status code of gRPC.
const resourceExhausted = 8

// isFull reports whether an error of gRPC says that etcd's database is full, which lasts
// until a person makes room.
func isFull(v reflect.Value) bool {
	const full = "etcdserver: mvcc: database space exceeded"
	return text(v, "desc") == full || text(v, "s.s.Message") == full
}

// serviceCode returns the code of a service in an error with a status: that of a field Code
// or, if that says nothing about retrying, of a field Type, as OpenAI has it, or of the JSON
// of the response, as Anthropic has it.
func serviceCode(v reflect.Value) string {
	code := text(v, "Code")
	if ofWord(typeWord(code)) != Unknown {
		return code
	}
	if kind := text(v, "Type"); ofWord(typeWord(kind)) != Unknown {
		return kind
	}
	if !v.CanInterface() {
		return code
	}
	if e, ok := v.Interface().(interface{ RawJSON() string }); ok {
		raw, _ := Guarded(e.RawJSON)
		if kind := errorType(raw); kind != "" {
			return kind
		}
	}
	return code
}

// errorType returns the type of an error in the JSON of a response, such as
// overloaded_error, or "".
func errorType(raw string) string {
	for len(raw) > 0 {
		_, rest, found := strings.Cut(raw, `"type"`)
		if !found {
			break
		}
		raw = rest
		value := strings.TrimLeft(rest, ": \t\r\n")
		if !strings.HasPrefix(value, `"`) {
			continue
		}
		kind, _, _ := strings.Cut(value[1:], `"`)
		if strings.HasSuffix(kind, "_error") {
			return kind
		}
	}
	return ""
}

// ofReasons returns what the reasons of a canceled transaction of DynamoDB mean together.
func ofReasons(reasons reflect.Value) Class {
	c := Unknown
	if reasons.Kind() != reflect.Slice {
		return c
	}
	for i := range min(reasons.Len(), maxDetails) {
		switch ofWord(typeWord(text(reasons.Index(i), "Code"))) {
		case Permanent:
			return Permanent
		case Throttled:
			c = Throttled
		case Transient, TimedOut:
			c = max(c, Transient)
		}
	}
	return c
}
