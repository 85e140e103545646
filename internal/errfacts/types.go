package errfacts

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"reflect"
	"strings"
	"sync"
)

// origin is where an error type comes from. Types are recognized by name, so that their
// packages need not be linked: package net alone would add 107 kB and, with cgo,
// make the binary dynamic.
type origin uint8

const (
	foreign origin = iota // nothing is known
	plain                 // errors.New
	systemError
	netError
	dnsError
	tlsError
	urlError
	localError // a failure that involves neither a network nor a server
	withStatus // has a field for an HTTP status
	grpcError
	connectError
	kubernetesError
	googleError
	githubLimit
	mysqlError
	sqliteError
	sqlServerError
	pgxLock
	badConnection
)

// plainError is the most common type of error, which need not be looked up.
var plainError = reflect.TypeOf(errors.New(""))

// origins caches the results of originOfType, by reflect.Type.
var origins sync.Map

func originOf(err error) origin {
	t := reflect.TypeOf(err)
	if t == plainError {
		return plain
	}
	if o, ok := origins.Load(t); ok {
		return o.(origin)
	}
	o, _ := origins.LoadOrStore(t, originOfType(t))
	return o.(origin)
}

func originOfType(t reflect.Type) origin {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	path := t.PkgPath()
	name := path + "." + t.Name()
	for _, known := range knownTypes {
		if name == known.name || path == known.name {
			return known.origin
		}
	}
	if strings.HasPrefix(name, "github.com/google/go-github/") && strings.HasSuffix(name, "RateLimitError") {
		return githubLimit
	}
	if strings.Contains(path, "sqlite") { // of several drivers
		return sqliteError
	}
	if t.Kind() == reflect.Struct {
		for i := range t.NumField() {
			switch field := t.Field(i); field.Name {
			case "StatusCode", "HTTPStatusCode", "Response":
				return withStatus
			case "SQLState":
				if field.Type == reflect.TypeFor[[5]byte]() { // of go-sql-driver/mysql
					return mysqlError
				}
			}
		}
	}
	return foreign
}

// knownTypes lists the error types that are recognized, and the packages whose types are
// all recognized.
var knownTypes = [...]struct {
	name   string
	origin origin
}{
	{"syscall", systemError},
	{"net.OpError", netError},
	{"net.DNSError", dnsError},
	{"net/url.Error", urlError},
	{"crypto/x509", tlsError},
	// Not all of crypto/tls: it also wraps network errors, in its own type.
	{"crypto/tls.CertificateVerificationError", tlsError},
	{"crypto/tls.RecordHeaderError", tlsError},
	{"crypto/tls.ECHRejectionError", tlsError},
	{"crypto/tls.AlertError", tlsError},
	{"crypto/tls.alert", tlsError},
	{"encoding/json", localError},
	{"os/exec.Error", localError},
	{"google.golang.org/grpc/internal/status.Error", grpcError},
	{"connectrpc.com/connect.Error", connectError},
	{"k8s.io/apimachinery/pkg/api/errors.StatusError", kubernetesError},
	{"google.golang.org/api/googleapi.Error", googleError},
	{"github.com/microsoft/go-mssqldb.Error", sqlServerError},
	{"github.com/microsoft/go-mssqldb.RetryableError", badConnection},
	{"github.com/jackc/pgx/v5/pgconn.connLockError", pgxLock},
}

// readType reads the type and the fields of err.
func (f *Facts) readType(err error) Kind {
	o := originOf(err)
	switch o {
	case foreign:
	case plain:
		if c, unrepeatable := ofPlain(err); c != Unknown {
			f.Fallback = c
			f.report(Unknown, unrepeatable)
		}
	case netError, dnsError, tlsError, urlError:
		return f.readNetwork(o, reflect.ValueOf(err))
	case systemError, localError, badConnection:
		f.Fallback = max(f.Fallback, ofLocal(o, err))
	default:
		f.report(classOf(o, reflect.ValueOf(err)))
	}
	return NoKind
}

func (f *Facts) readNetwork(o origin, v reflect.Value) Kind {
	switch o {
	case netError:
		f.Lost = f.Lost || text(v, "Op") == "dial"
	case dnsError:
		if found := field(v, "IsNotFound"); found.Kind() == reflect.Bool && found.Bool() {
			return NotFound
		}
	case tlsError:
		return TLS
	case urlError:
		return Request
	}
	return Connection
}

// ofLocal returns the class of an error that involves no server, if nothing else is
// known about it.
func ofLocal(o origin, err error) Class {
	switch o {
	case localError:
		return Permanent
	case badConnection:
		return Transient
	}
	// fs.ErrNotExist does not count after a dial: the socket of a server that is
	// starting may not exist yet.
	if e, ok := err.(interface{ Is(error) bool }); ok && e.Is(fs.ErrNotExist) {
		return Permanent
	}
	return Unknown
}

// ofPlain recognizes error variables of libraries by their text. It is not a method of
// Facts, so that IsPlain's stack frame stays small.
func ofPlain(err error) (fallback Class, unrepeatable bool) {
	if err == fs.ErrNotExist {
		return Permanent, false
	}
	switch err.Error() {
	case "sql: no rows in result set",
		"sql: connection is already closed",
		"sql: transaction has already been committed or rolled back",
		"mongo: no documents in result":
		return Permanent, false
	case "driver: bad connection":
		return Transient, false
	case "invalid connection": // of go-sql-driver/mysql: lost after the statement was sent
		return Transient, true
	}
	return Unknown, false
}

// report records the class that a library or server reported, unless a class is already
// set. unrepeatable is ignored if Verdict is already Yes.
func (f *Facts) report(c Class, unrepeatable bool) {
	switch {
	case c == canceled:
		f.Canceled = true
	case f.Class == Unknown:
		f.Class = c
	}
	f.Unrepeatable = f.Unrepeatable || unrepeatable && f.Verdict != Yes
}

func classOf(o origin, v reflect.Value) (c Class, unrepeatable bool) {
	switch o {
	case withStatus:
		return ofStatus(statusOf(v)), false
	case grpcError:
		return ofRPC(number(v, "s.s.Code")), false
	case connectError:
		return ofRPC(number(v, "code")), false
	case kubernetesError:
		return ofStatus(number(v, "ErrStatus.Code")), false
	case googleError:
		if isGoogleLimit(field(v, "Errors")) {
			return Throttled, false
		}
		return ofStatus(number(v, "Code")), false
	case githubLimit:
		return Throttled, false
	case mysqlError:
		r := replyOfMySQL(v)
		return r.class, r.unrepeatable
	case sqliteError:
		return replyOfSQLite(sqliteCode(v)).class, false
	case sqlServerError:
		return ofSQLServer(number(v, "Number")), false
	case pgxLock:
		// SafeToRetry returns true for all of these errors, which is correct for "conn
		// busy". But pgx 5.9 to 5.12 also report a connection lost during COMMIT as "conn
		// closed".
		if text(v, "status") == "conn closed" {
			return Transient, true
		}
	}
	return Unknown, false
}

// statusFields are the fields with an HTTP status in errors of azcore, OpenAI, MinIO,
// Stripe and GitHub, and in many that programs define.
var statusFields = [...]string{"StatusCode", "HTTPStatusCode", "Response.StatusCode"}

func statusOf(v reflect.Value) (status int64) {
	for _, path := range statusFields {
		status = max(status, number(v, path))
	}
	return status
}

// isGoogleLimit reports whether one of the items of the response is about a limit.
// Several services send such errors with status 403.
func isGoogleLimit(items reflect.Value) bool {
	if items.Kind() != reflect.Slice {
		return false
	}
	for i := range items.Len() {
		switch text(items.Index(i), "Reason") {
		case "rateLimitExceeded", "userRateLimitExceeded":
			return true
		}
	}
	return false
}

// field returns a field of a struct that v is or points to, or the zero Value. path is
// a field name, or several for nested fields, separated by dots. A loop over the
// fields costs an importer 8 kB less than FieldByName.
func field(v reflect.Value, path string) reflect.Value {
	for path != "" && v.IsValid() {
		var name string
		name, path, _ = strings.Cut(path, ".")
		s := pointee(v)
		v = reflect.Value{}
		if s.Kind() != reflect.Struct {
			break
		}
		for i := range s.NumField() {
			if s.Type().Field(i).Name == name {
				v = s.Field(i)
			}
		}
	}
	return v
}

func pointee(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Pointer {
		return v.Elem()
	}
	return v
}

// number returns the integer in a field, or 0.
func number(v reflect.Value, path string) int64 {
	v = pointee(field(v, path))
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
	if v = field(v, path); v.Kind() == reflect.String {
		return v.String()
	}
	return ""
}

// IsPlain reports whether err was created by errors.New and is recognized neither by its
// identity, like io.EOF, nor by its text.
func IsPlain(err error) bool {
	if reflect.TypeOf(err) != plainError || err == io.EOF || err == io.ErrUnexpectedEOF || err == context.Canceled {
		return false
	}
	c, _ := ofPlain(err)
	return c == Unknown
}
