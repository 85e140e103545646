package errfacts

// origin is how an error of a type is read. Types are recognized by the end of their import
// path and their name, so that their packages need not be linked (package net alone would
// add 107 kB and, with cgo, make the binary dynamic), and so that forks and major versions
// are recognized, too.
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
	jsonError
	localError // a failure that involves neither a network nor a server
	badConnection
	lostCommit // connection lost during COMMIT
	pgxLock
	giveUp    // of a library that has retried
	forbids   // a library's marker of errors that must not be retried
	permanent // if nothing else is known
	throttled
	textual // consists of a text, like those of errors.New
	overtime
	notSent // a client says that nothing was sent

	withStatus // has a field for an HTTP status
	ownNumber  // has a field that may be an HTTP status, or a number of its own
	sdkStatus  // of an SDK that repeats requests after 409
	kubernetesStatus
	ociStatus
	vaultStatus
	oauthStatus
	googleStatus
	secondaryStatus // of GitHub's secondary limit
	textStatus      // at the beginning or the end of a text
	withState       // has a field for a SQLSTATE
	withCode        // has a field for a code of words
	redisReply

	// Types with a number that means something only to their library: see replyOf.
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
	mqttError
	binanceError
	sshError
)

// hasStatus reports whether the number of an error is an HTTP status.
func (o origin) hasStatus() bool {
	switch o {
	case withStatus, secondaryStatus, textStatus, sdkStatus, kubernetesStatus, ociStatus, vaultStatus, oauthStatus, googleStatus:
		return true
	}
	return false
}

// A typeRow is what the table knows about a type.
type typeRow struct {
	origin origin
	field  string // the field that decides: its status, number, code or text
	word   string // the field for a code in words beside a number
	hint   string // the field for the wait that it asks for
}

// rowOf is the table of types, by the end of their import path and their name: enough of
// the path to name the repository, so that forks are recognized, but not a program's own
// package that has the same last element.
func rowOf(name string) (row typeRow, ok bool) {
	switch name {
	case "net.canceledError":
		return typeRow{origin: cancellation}, true
	case "net.OpError":
		return typeRow{origin: netError, field: "Op"}, true
	case "net.DNSError":
		return typeRow{origin: dnsError, field: "Err"}, true
	case "net.AddrError", "net.ParseError", "net.UnknownNetworkError", "net.InvalidAddrError":
		return typeRow{origin: addressError}, true
	case "crypto/tls.CertificateVerificationError", "crypto/tls.RecordHeaderError", "crypto/tls.ECHRejectionError",
		"crypto/tls.AlertError", "crypto/tls.alert":
		return typeRow{origin: tlsError}, true
	case "net/http.tlsHandshakeTimeoutError": // the request follows the handshake
		return typeRow{origin: notSent}, true
	case "net/url.Error":
		return typeRow{origin: urlError, field: "Op"}, true
	case "os/exec.Error", "strconv.NumError", "time.ParseError", "net/url.EscapeError", "net/url.InvalidHostError",
		"net/netip.parseAddrError", "net/netip.parsePrefixError", "net/http.MaxBytesError", "net/http.ProtocolError",
		"text/template.ExecError", "html/template.Error", "regexp/syntax.Error", "pgx/pgconn.ParseConfigError",
		"jackc/pgconn.ParseConfigError", "go-playground/validator.ValidationErrors",
		"go-playground/validator.InvalidValidationError", "go-oidc/oidc.TokenExpiredError", "ent.NotFoundError",
		"ent.ConstraintError", "ent.ValidationError", "ent.NotSingularError", "ent.NotLoadedError",
		"x/crypto/ssh.ServerAuthError", "x/crypto/ssh.PassphraseMissingError", "x/crypto/ssh/knownhosts.KeyError", "x/crypto/ssh/knownhosts.RevokedError", "jackc/pgx.ScanArgError",
		"aws/smithy-go.SerializationError", "aws/smithy-go.InvalidParamsError", "aws-sdk-go-v2/aws.MissingRegionError",
		"aws-sdk-go-v2/aws.EndpointNotFoundError":
		return typeRow{origin: localError}, true
	case "go-mssqldb.RetryableError", "go-mssqldb.StreamError": // the connection was lost before the request, or within the response
		return typeRow{origin: badConnection}, true
	case "neo4j/internal/errorutil.CommitFailedDeadError":
		return typeRow{origin: lostCommit}, true
	case "pgx/pgconn.connLockError", "jackc/pgconn.connLockError":
		return typeRow{origin: pgxLock, field: "status"}, true
	case "aws-sdk-go-v2/aws/retry.MaxAttemptsError", "aws-sdk-go-v2/aws/ratelimit.QuotaExceededError",
		"cenkalti/backoff.RetryError", "failsafe-go/retrypolicy.ExceededError", "avast/retry-go.Error":
		return typeRow{origin: giveUp, field: "Attempt"}, true
	case "internal/apierror.Error":
		return typeRow{origin: sdkStatus, field: "StatusCode"}, true
	case "stripe-go.Error":
		return typeRow{origin: sdkStatus, field: "HTTPStatusCode"}, true
	case "oci-go-sdk/common.servicefailure":
		return typeRow{origin: ociStatus, field: "StatusCode", word: "Code"}, true
	case "arangodb/shared.ArangoError":
		return typeRow{origin: sdkStatus, field: "Code"}, true
	case "vault/api.ResponseError":
		return typeRow{origin: vaultStatus, field: "StatusCode"}, true
	case "x/oauth2.RetrieveError":
		return typeRow{origin: oauthStatus, field: "Response.StatusCode", word: "ErrorCode"}, true
	case "api/googleapi.Error":
		return typeRow{origin: googleStatus, field: "Code"}, true
	case "gophercloud/gophercloud.ErrUnexpectedResponseCode":
		return typeRow{origin: withStatus, field: "Actual"}, true
	case "ollama/api.StatusError", "gofiber/fiber.Error", "consul/api.StatusError", "google.golang.org/genai.APIError":
		return typeRow{origin: withStatus, field: "Code"}, true
	case "olivere/elastic.Error", "go-elasticsearch/typedapi/types.ElasticsearchError", "opensearch-go.StructError",
		"opensearch-go.StringError", "twilio-go/client.TwilioRestError", "gowebdav.StatusError":
		return typeRow{origin: withStatus, field: "Status"}, true
	case "cenkalti/backoff.PermanentError", "cenkalti/backoff.permanent", "avast/retry-go.unrecoverableError",
		"controller-runtime/pkg/reconcile.terminalError", "caddyserver/certmagic.ErrNoRetry":
		return typeRow{origin: forbids}, true
	case "pkg/errors.fundamental", "nats.go/jetstream.jsError":
		return typeRow{origin: textual}, true
	case "apimachinery/pkg/api/errors.StatusError":
		return typeRow{origin: kubernetesStatus, field: "ErrStatus.Code", word: "ErrStatus.Reason", hint: "ErrStatus.Details.RetryAfterSeconds"}, true
	case "kratos/errors.Error":
		return typeRow{origin: withStatus, field: "Status.Code"}, true
	case "twirp.twerr":
		return typeRow{origin: withCode, field: "code"}, true
	case "slack-go/slack.SlackErrorResponse":
		return typeRow{origin: withCode, field: "Err"}, true
	case "go-amqp/internal/encoding.Error":
		return typeRow{origin: withCode, field: "Condition"}, true
	case "redigo/redis.Error", "go-redis/internal/proto.RedisError", "redis/rueidis.RedisError", "valkey-go.ValkeyError",
		"go-redis/redis.Error":
		return typeRow{origin: redisReply}, true
	case "grpc/internal/status.Error":
		return typeRow{origin: rpcError, field: "s.s.Code", word: "s.s.Message"}, true
	case "connectrpc.com/connect.Error", "bufbuild/connect-go.Error", "api/v3rpc/rpctypes.EtcdError":
		return typeRow{origin: rpcError, field: "code", word: "desc"}, true
	case "go-mssqldb.Error":
		return typeRow{origin: sqlServerError, field: "Number"}, true
	case "go-ora/network.OracleError":
		return typeRow{origin: oracleError, field: "ErrCode"}, true
	case "clickhouse-go/lib/proto.Exception", "ch-go/proto.Exception", "ch-go.Exception":
		return typeRow{origin: clickhouseError, field: "Code"}, true
	case "go-ldap/ldap.Error":
		return typeRow{origin: ldapError, field: "ResultCode"}, true
	case "kafka-go.Error", "confluent-kafka-go/kafka.Error", "IBM/sarama.KError", "Shopify/sarama.KError",
		"franz-go/pkg/kerr.Error":
		return typeRow{origin: kafkaError}, true
	case "amqp091-go.Error", "streadway/amqp.Error":
		return typeRow{origin: amqpError, field: "Code"}, true
	case "net/textproto.Error", "go-smtp.SMTPError", "go-smtp.LMTPDataError":
		return typeRow{origin: mailError, field: "Code"}, true
	case "go-mail.SendError":
		return typeRow{origin: mailError, field: "errcode"}, true
	case "gorilla/websocket.CloseError", "coder/websocket.CloseError", "nhooyr.io/websocket.CloseError", "gws.CloseError",
		"ws/wsutil.ClosedError":
		return typeRow{origin: webSocketError, field: "Code"}, true
	case "pkg/sftp.StatusError":
		return typeRow{origin: sftpError, field: "Code"}, true
	case "go/thrift.tApplicationException":
		return typeRow{origin: thriftError, field: "type_"}, true
	case "go/thrift.tProtocolException":
		return typeRow{origin: thriftError, field: "typeId"}, true
	case "telegram-bot-api.Error":
		return typeRow{origin: withStatus, field: "Code", hint: "ResponseParameters.RetryAfter"}, true
	case "google/go-github/github.AbuseRateLimitError":
		return typeRow{origin: secondaryStatus, field: "Response.StatusCode", hint: "RetryAfter"}, true
	case "discordgo.RateLimitError":
		return typeRow{origin: throttled, hint: "RateLimit.TooManyRequests.RetryAfter"}, true
	case "client_golang/api/prometheus.Error":
		return typeRow{origin: textStatus, field: "Msg"}, true
	case "gravitational/trace.LimitExceededError":
		return typeRow{origin: throttled}, true
	case "encoding/json.SyntaxError":
		return typeRow{origin: jsonError, field: "msg"}, true
	case "go-imap.ErrStatusResp":
		return typeRow{origin: withCode, field: "Resp.Code"}, true
	case "paho.golang/autopaho.ConnackError":
		return typeRow{origin: mqttError, field: "ReasonCode"}, true
	case "x/crypto/ssh.OpenChannelError":
		return typeRow{origin: sshError, field: "Reason"}, true
	case "go-binance/common.APIError":
		return typeRow{origin: binanceError, field: "Code"}, true

	// containerd/errdefs 1.0, Docker before it, and Temporal's api 1.63 without a status.
	case "errdefs.errNotFound", "errdefs.errAlreadyExists", "errdefs.errInvalidArgument", "errdefs.errInvalidParameter", "errdefs.errPermissionDenied",
		"errdefs.errForbidden", "errdefs.errUnauthorized", "errdefs.errFailedPrecondition", "errdefs.errOutOfRange", "errdefs.errNotImplemented",
		"api/serviceerror.NotFound", "api/serviceerror.NamespaceNotFound", "api/serviceerror.AlreadyExists", "api/serviceerror.NamespaceAlreadyExists",
		"api/serviceerror.InvalidArgument", "api/serviceerror.PermissionDenied", "api/serviceerror.FailedPrecondition", "api/serviceerror.Unimplemented",
		"api/serviceerror.WorkflowExecutionAlreadyStarted", "api/serviceerror.ActivityExecutionAlreadyStarted":
		return typeRow{origin: permanent}, true
	}
	return typeRow{}, false
}
