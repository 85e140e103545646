package errfacts

import (
	"errors"
	"io/fs"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
)

// origin is what kind of type an error has. Types are recognized by the names of their
// package and type, so that their packages need not be linked (package net alone would
// add 107 kB and, with cgo, make the binary dynamic), and so that forks and major
// versions are recognized, too.
type origin uint8

const (
	foreign origin = iota // nothing is known
	plain                 // errors.New
	systemError
	cancellation
	netError
	dnsError
	addressError
	tlsError
	urlError
	localError // a failure that involves neither a network nor a server
	badConnection
	lostCommit // connection lost during COMMIT
	pgxLock
	giveUp  // of a library that has retried
	forbids // a library's marker of errors that must not be retried
	textual // consists of a text, like those of errors.New
	overtime

	withStatus // has a field for an HTTP status
	ownNumber  // has a field that may be an HTTP status, or a number of its own
	sdkStatus  // of an SDK that repeats requests after 409
	kubernetesStatus
	ociStatus
	vaultStatus
	oauthStatus
	googleStatus
	withState // has a field for a SQLSTATE
	withCode  // has a field for a code of words
	redisReply

	// Types with a number that means something only to their library: see replies.
	rpcError
	mysqlError
	sqlServerError
	sqliteError
	mongoError
	oracleError
	clickhouseError
	cassandraError
	ldapError
	kafkaError
	amqpError
	mailError
	webSocketError
	sftpError
	thriftError
)

const kubernetesError = "errors.StatusError"

// knownTypes lists the types that are recognized by name, with the field for their
// number or code.
var knownTypes = [...]struct {
	origin
	field string
	names string
}{
	{cancellation, "", "net.canceledError"},
	{netError, "", "net.OpError"},
	{dnsError, "", "net.DNSError"},
	{addressError, "", "net.AddrError net.ParseError net.UnknownNetworkError net.InvalidAddrError"},
	// Not all of crypto/tls: it also wraps network errors, in its own type.
	{tlsError, "", "tls.CertificateVerificationError tls.RecordHeaderError tls.ECHRejectionError tls.AlertError tls.alert"},
	{urlError, "", "url.Error"},
	{localError, "", "exec.Error strconv.NumError time.ParseError url.EscapeError url.InvalidHostError netip.parseAddrError netip.parsePrefixError " +
		"http.MaxBytesError http.ProtocolError template.ExecError syntax.Error " +
		"pgconn.ParseConfigError validator.ValidationErrors validator.InvalidValidationError oidc.TokenExpiredError " +
		"ent.NotFoundError ent.ConstraintError ent.ValidationError ent.NotSingularError ent.NotLoadedError"},
	{badConnection, "", "mssql.RetryableError"},
	{lostCommit, "", "errorutil.CommitFailedDeadError"},
	{pgxLock, "", "pgconn.connLockError"},
	{giveUp, "", "retry.MaxAttemptsError ratelimit.QuotaExceededError backoff.RetryError retrypolicy.ExceededError retry.Error"},

	{sdkStatus, "StatusCode", "apierror.Error"}, // of OpenAI, Anthropic and other generated SDKs
	{sdkStatus, "HTTPStatusCode", "stripe.Error"},
	{ociStatus, "StatusCode", "common.servicefailure"},
	{sdkStatus, "Code", "shared.ArangoError"}, // a conflict of transactions
	{vaultStatus, "StatusCode", "api.ResponseError"},
	{oauthStatus, "Response.StatusCode", "oauth2.RetrieveError"},
	{googleStatus, "Code", "googleapi.Error"},
	{withStatus, "Actual", "gophercloud.ErrUnexpectedResponseCode"},
	{withStatus, "Code", "tgbotapi.Error api.StatusError fiber.Error"},
	{withStatus, "Status", "elastic.Error types.ElasticsearchError opensearch.StructError opensearch.StringError client.TwilioRestError gowebdav.StatusError"},
	{forbids, "", "backoff.PermanentError backoff.permanent retry.unrecoverableError reconcile.terminalError certmagic.ErrNoRetry"},
	{textual, "", "errors.fundamental jetstream.jsError"}, // of pkg/errors, of nats.go
	{kubernetesStatus, "ErrStatus.Code", kubernetesError},
	{withStatus, "Status.Code", "errors.Error"}, // of Kratos
	{withCode, "code", "twirp.twerr"},
	{withCode, "Err", "slack.SlackErrorResponse"},
	{withCode, "Condition", "encoding.Error"}, // of go-amqp
	{redisReply, "", "redis.Error rueidis.RedisError valkey.ValkeyError internal.RedisError"},

	{rpcError, "s.s.Code", "status.Error"},
	{rpcError, "code", "connect.Error rpctypes.EtcdError"},
	{sqlServerError, "Number", "mssql.Error"},
	{oracleError, "ErrCode", "network.OracleError"},
	{clickhouseError, "Code", "proto.Exception ch.Exception"},
	{ldapError, "ResultCode", "ldap.Error"},
	{kafkaError, "", "kafka.Error sarama.KError kerr.Error"},
	{amqpError, "Code", "amqp091.Error amqp.Error"},
	{mailError, "Code", "textproto.Error smtp.SMTPError smtp.LMTPDataError"},
	{mailError, "errcode", "mail.SendError"},
	{webSocketError, "Code", "websocket.CloseError gws.CloseError wsutil.ClosedError"},
	{sftpError, "Code", "sftp.StatusError"},
	{thriftError, "type_", "thrift.tApplicationException"},
	{thriftError, "typeId", "thrift.tProtocolException"},
}

// permanentTypes lists types that are permanent if nothing else is known: those of
// containerd/errdefs 1.0, of Docker before, and of Temporal's api 1.63 without a status.
const permanentTypes = "errdefs.errNotFound errdefs.errAlreadyExists errdefs.errInvalidArgument errdefs.errInvalidParameter errdefs.errPermissionDenied " +
	"errdefs.errForbidden errdefs.errUnauthorized errdefs.errFailedPrecondition errdefs.errOutOfRange errdefs.errNotImplemented " +
	"serviceerror.NotFound serviceerror.NamespaceNotFound serviceerror.AlreadyExists serviceerror.NamespaceAlreadyExists serviceerror.InvalidArgument " +
	"serviceerror.PermissionDenied serviceerror.FailedPrecondition serviceerror.Unimplemented"

// A typeInfo is what is known about a type.
type typeInfo struct {
	origin
	field string // for the status, number or code
	named Class  // according to its name; permanent only if nothing else is known
	hint  string // the field for the wait that it asks for

	message bool // it has a field Message, as most responses of an API
	of      reflect.Type
	methods bool // readMethods is needed
	blank   bool // there is nothing to read
}

// plainError is the most common type of error, which need not be looked up.
var plainError = reflect.TypeOf(errors.New(""))

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
	switch err.(type) {
	case statusCoder, httpCoder, plainCoder, errorCoder, messager, sqlStater, redisError, labeler, nonRetriable, nonRetryable,
		retryableErr, retryable, isRetryable, isRetriable, safeToRetry, canceledErr, connectionErr, temporary, Timeouter, mongoErr:
		info.methods = true
	}
	info.blank = info.origin == foreign && info.named == Unknown && !info.methods
	if t.String() == "*fmt.wrapError" {
		wrapInfo.Store(info)
	}
	_, _ = typeInfos.LoadOrStore(t, info) // Store would add 2 kB to every program
	return info
}

var plainInfo = typeInfo{origin: plain}

func describe(t reflect.Type) *typeInfo {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[Overtime]() {
		return &typeInfo{origin: overtime}
	}
	path := t.PkgPath()
	if path == "fmt" || path == "errors" {
		return new(typeInfo)
	}
	info := new(typeInfo)
	switch {
	case hasWord(permanentTypes, t.String()):
		info.named = Permanent
	case ofWord(typeWord(t.Name())) == Throttled:
		info.named = Throttled
	}
	switch t.Kind() {
	case reflect.Struct:
		describeFields(t, info)
	case reflect.String:
		info.origin = textual
	}
	if info.origin == ownNumber && (strings.Contains(t.Name(), "HTTP") || t.Name() == "APIError" || info.message && !hasOtherReplies(path)) {
		info.origin = withStatus
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
	}
	for _, known := range knownTypes {
		if hasWord(known.names, t.String()) {
			info.origin, info.field = known.origin, known.field
		}
	}
	switch t.String() {
	case kubernetesError:
		info.hint = "ErrStatus.Details.RetryAfterSeconds"
	case "tgbotapi.Error":
		info.hint = "ResponseParameters.RetryAfter"
	case "discordgo.RateLimitError":
		info.hint = "RateLimit.TooManyRequests.RetryAfter"
	}
	return info
}

// hasOtherReplies reports whether a package is about a protocol whose numbers are like those
// of HTTP but mean something else: 426 of FTP is a connection that was lost.
func hasOtherReplies(path string) bool {
	for _, protocol := range []string{"ftp", "smtp", "nntp", "sip", "imap"} {
		if strings.Contains(path, protocol) {
			return true
		}
	}
	return false
}

// knownFields lists the fields that structs are recognized by, with their type, or
// number, and the field to read. A later one counts more. Without a name, any name counts.
var knownFields = [...]struct {
	origin
	name, typ, field string
}{
	{cassandraError, "errorFrame", "gocql.errorFrame", "errorFrame.code"},
	{rpcError, "st", "*status.Status", "st.s.Code"}, // of Temporal
	{withState, "SQLState", "string", "SQLState"},
	{mysqlError, "SQLState", "[5]uint8", "Number"}, // of go-sql-driver/mysql
	{withCode, "Code", "string", "Code"},
	{ownNumber, "Code", "number", "Code"},
	{ownNumber, "Status", "number", "Status"},
	{withStatus, "statusCode", "number", "statusCode"},
	{withStatus, "", "*http.Response", ".StatusCode"}, // of any name
	{withStatus, "HTTPStatusCode", "number", "HTTPStatusCode"},
	{withStatus, "ResponseStatusCode", "number", "ResponseStatusCode"},
	{withStatus, "ApiError", "abstractions.ApiError", "ApiError.ResponseStatusCode"}, // of Microsoft Graph
	{withStatus, "StatusCode", "number", "StatusCode"},
}

func describeFields(t reflect.Type, info *typeInfo) {
	best := -1
	for i := t.NumField() - 1; i >= 0; i-- { // an iterator would add 600 bytes to every program
		field := t.Field(i)
		typ := field.Type.String()
		switch kind := field.Type.Kind(); {
		case kind >= reflect.Int && kind <= reflect.Uint64:
			typ = "number"
		case kind == reflect.String:
			typ = "string"
		}
		info.message = info.message || field.Name == "Message" && typ == "string"
		if hasWord("RetryAfter RetryAfterS RetryAfterSec RetryAfterSeconds", field.Name) {
			info.hint = field.Name
		}
		for j := range knownFields {
			known := &knownFields[j]
			if j <= best || known.typ != typ {
				continue
			}
			switch known.name {
			case field.Name:
				best, info.origin, info.field = j, known.origin, known.field
			case "":
				best, info.origin, info.field = j, known.origin, field.Name+known.field
			}
		}
	}
}

// readType reads the type and the fields of err.
func (f *Facts) readType(err error, info *typeInfo) Kind {
	if info.named == Throttled {
		f.report(Throttled, false)
	}
	switch o := info.origin; o {
	case foreign:
	case overtime:
		f.Overtime, f.Methods = true, true
		return Timeout
	case forbids:
		if f.Verdict == None {
			f.Verdict = No
		}
	case textual:
		c, _ := ofText(TextOf(err))
		f.Fallback = max(f.Fallback, c)
	case cancellation:
		f.cancel()
	case netError, dnsError, addressError, tlsError, urlError:
		return f.readNetwork(o, reflect.ValueOf(err))
	case systemError, localError, badConnection:
		if isConnectionErrno(err) {
			return Connection
		}
		f.Fallback = max(f.Fallback, ofLocal(o, err))
	case redisReply:
		reply, _ := Guarded(err.Error)
		f.report(ofRedis(reply), false)
	default:
		f.report(info.classOf(reflect.ValueOf(err)))
	}
	if info.named == Permanent {
		f.Fallback = max(f.Fallback, Permanent)
	}
	return NoKind
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

// ofLocal returns the class of an error that involves no server, if nothing else is
// known about it.
func ofLocal(o origin, err error) Class {
	switch o {
	case localError:
		return Permanent
	case badConnection:
		return Transient
	}
	// These do not count after a dial: the socket of a server that is starting may not
	// exist yet.
	if isLocalErrno(err) {
		return Permanent
	}
	if e, ok := err.(interface{ Is(error) bool }); ok {
		for _, local := range [...]error{fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, errors.ErrUnsupported} {
			if e.Is(local) {
				return Permanent
			}
		}
	}
	return Unknown
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
		code := text(v, "Code")
		c = ofResponse(number, code)
		switch {
		case c != Permanent:
		case info.origin == ownNumber:
			c = Unknown
		case hasWord(expiredCodes, code):
			c = Transient
		}
		return c, false
	case sdkStatus, kubernetesStatus, ociStatus, vaultStatus, oauthStatus, googleStatus:
		return ofServiceStatus(info.origin, number, v), false
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
	case giveUp:
		return Unknown, false
	case sqliteError:
		number = sqliteCode(v)
	case kafkaError: // a client's own numbers are negative
		number = max(0, codeOf(v))
	}
	r := replyOf(info.origin, number)
	return r.class, r.unrepeatable
}
