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

const kubernetesError = "apimachinery/pkg/api/errors.StatusError"

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
	{tlsError, "", "crypto/tls.CertificateVerificationError crypto/tls.RecordHeaderError crypto/tls.ECHRejectionError crypto/tls.AlertError crypto/tls.alert"},
	{urlError, "", "net/url.Error"},
	{localError, "", "os/exec.Error strconv.NumError time.ParseError net/url.EscapeError net/url.InvalidHostError net/netip.parseAddrError net/netip.parsePrefixError " +
		"net/http.MaxBytesError net/http.ProtocolError text/template.ExecError html/template.Error regexp/syntax.Error " +
		"pgx/pgconn.ParseConfigError jackc/pgconn.ParseConfigError go-playground/validator.ValidationErrors go-playground/validator.InvalidValidationError go-oidc/oidc.TokenExpiredError " +
		"/ent.NotFoundError /ent.ConstraintError /ent.ValidationError /ent.NotSingularError /ent.NotLoadedError"},
	{badConnection, "", "go-mssqldb.RetryableError"},
	{lostCommit, "", "neo4j/internal/errorutil.CommitFailedDeadError"},
	{pgxLock, "", "pgx/pgconn.connLockError jackc/pgconn.connLockError"},
	{giveUp, "", "aws-sdk-go-v2/aws/retry.MaxAttemptsError aws-sdk-go-v2/aws/ratelimit.QuotaExceededError cenkalti/backoff.RetryError failsafe-go/retrypolicy.ExceededError avast/retry-go.Error"},

	{sdkStatus, "StatusCode", "/internal/apierror.Error"}, // of OpenAI, Anthropic and other generated SDKs
	{sdkStatus, "HTTPStatusCode", "stripe-go.Error"},
	{ociStatus, "StatusCode", "oci-go-sdk/common.servicefailure"},
	{sdkStatus, "Code", "arangodb/shared.ArangoError"}, // a conflict of transactions
	{vaultStatus, "StatusCode", "vault/api.ResponseError"},
	{oauthStatus, "Response.StatusCode", "x/oauth2.RetrieveError"},
	{googleStatus, "Code", "api/googleapi.Error"},
	{withStatus, "Actual", "gophercloud/gophercloud.ErrUnexpectedResponseCode"},
	{withStatus, "Code", "telegram-bot-api.Error ollama/api.StatusError gofiber/fiber.Error"},
	{withStatus, "Status", "olivere/elastic.Error go-elasticsearch/typedapi/types.ElasticsearchError opensearch-go.StructError opensearch-go.StringError twilio-go/client.TwilioRestError gowebdav.StatusError"},
	{forbids, "", "cenkalti/backoff.PermanentError cenkalti/backoff.permanent avast/retry-go.unrecoverableError controller-runtime/pkg/reconcile.terminalError caddyserver/certmagic.ErrNoRetry"},
	{textual, "", "pkg/errors.fundamental nats.go/jetstream.jsError"},
	{kubernetesStatus, "ErrStatus.Code", kubernetesError},
	{withStatus, "Status.Code", "kratos/errors.Error"},
	{withCode, "code", "twirp.twerr"},
	{withCode, "Err", "slack-go/slack.SlackErrorResponse"},
	{withCode, "Condition", "go-amqp/internal/encoding.Error"},
	{redisReply, "", "redigo/redis.Error go-redis/internal/proto.RedisError redis/rueidis.RedisError valkey-go.ValkeyError go-redis/redis.Error"},

	{rpcError, "s.s.Code", "grpc/internal/status.Error"},
	{rpcError, "code", "connectrpc.com/connect.Error bufbuild/connect-go.Error api/v3rpc/rpctypes.EtcdError"},
	{sqlServerError, "Number", "go-mssqldb.Error"},
	{oracleError, "ErrCode", "go-ora/network.OracleError"},
	{clickhouseError, "Code", "clickhouse-go/lib/proto.Exception ch-go/proto.Exception ch-go.Exception"},
	{ldapError, "ResultCode", "go-ldap/ldap.Error"},
	{kafkaError, "", "kafka-go.Error confluent-kafka-go/kafka.Error IBM/sarama.KError Shopify/sarama.KError franz-go/pkg/kerr.Error"},
	{amqpError, "Code", "amqp091-go.Error streadway/amqp.Error"},
	{mailError, "Code", "net/textproto.Error go-smtp.SMTPError go-smtp.LMTPDataError"},
	{mailError, "errcode", "go-mail.SendError"},
	{webSocketError, "Code", "gorilla/websocket.CloseError coder/websocket.CloseError nhooyr.io/websocket.CloseError gws.CloseError ws/wsutil.ClosedError"},
	{sftpError, "Code", "pkg/sftp.StatusError"},
	{thriftError, "type_", "go/thrift.tApplicationException"},
	{thriftError, "typeId", "go/thrift.tProtocolException"},
}

// permanentTypes lists types that are permanent if nothing else is known: those of
// containerd/errdefs 1.0, of Docker before, and of Temporal's api 1.63 without a status.
const permanentTypes = "errdefs.errNotFound errdefs.errAlreadyExists errdefs.errInvalidArgument errdefs.errInvalidParameter errdefs.errPermissionDenied " +
	"errdefs.errForbidden errdefs.errUnauthorized errdefs.errFailedPrecondition errdefs.errOutOfRange errdefs.errNotImplemented " +
	"api/serviceerror.NotFound api/serviceerror.NamespaceNotFound api/serviceerror.AlreadyExists api/serviceerror.NamespaceAlreadyExists api/serviceerror.InvalidArgument " +
	"api/serviceerror.PermissionDenied api/serviceerror.FailedPrecondition api/serviceerror.Unimplemented"

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
	typeInfos.Store(t, info)
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
	full := "/" + withoutVersion(path) + "." + t.Name()
	switch {
	case isNamed(permanentTypes, full):
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
		if isNamed(known.names, full) {
			info.origin, info.field = known.origin, known.field
		}
	}
	switch {
	case isNamed(kubernetesError, full):
		info.hint = "ErrStatus.Details.RetryAfterSeconds"
	case isNamed("telegram-bot-api.Error", full):
		info.hint = "ResponseParameters.RetryAfter"
	case isNamed("discordgo.RateLimitError", full):
		info.hint = "RateLimit.TooManyRequests.RetryAfter"
	}
	return info
}

// isNamed reports whether a list, separated by spaces, contains the end of the full name
// of a type: enough of its import path to name the repository, so that forks are
// recognized, but not a user's package that has the same last element.
func isNamed(list, full string) bool {
	for name := range strings.SplitSeq(list, " ") {
		if end, ok := strings.CutSuffix(full, name); ok && (name[0] == '/' || strings.HasSuffix(end, "/")) {
			return true
		}
	}
	return false
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
		return hasWord("ftp smtp nntp sip imap sftp goftp gosmtp goimap", word)
	})
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
	for i := t.NumField() - 1; i >= 0; i-- {
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
		text, _ := Guarded(err.Error)
		c, _ := ofText(text)
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
