package compat

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/known"
)

var update = flag.Bool("update", false, "rewrite the table of docs/errors.md")

// A fault is an error returned by a library, and its classification by a policy without a
// Classifier.
type fault struct {
	name         string
	err          error
	class        retry.Class
	unrepeatable bool
	hint         time.Duration
	known        bool // it has this class with a known.Classifier only
}

const (
	unknown   = retry.ClassUnknown
	permanent = retry.ClassPermanent
	transient = retry.ClassTransient
	timeout   = retry.ClassTimeout
	throttled = retry.ClassThrottled
)

// libraries lists the libraries in the order of the table in docs/errors.md.
var libraries = []struct {
	name    string
	modules string // separated by spaces; none for the standard library
	source  string // of the expected classes
	faults  func(*testing.T) []fault
}{
	{"net, crypto/x509", "", "go-retryablehttp 0.7.8, baseRetryPolicy", networkFaults},
	{"os, os/exec, encoding/json", "", "documentation of the packages", localFaults},
	{"net/http, net/url", "", "go-retryablehttp 0.7.8, baseRetryPolicy", requestFaults},
	{"strconv, time, net/netip, regexp, text/template", "", "documentation of the packages", parseFaults},
	{"markers of other libraries", "github.com/cenkalti/backoff/v7 github.com/avast/retry-go/v5 go.temporal.io/sdk", "documentation of the functions", markerFaults},
	{"database/sql", "", "documentation of database/sql", databaseFaults},
	{"grpc-go", "google.golang.org/grpc", "retryable codes of gRPC A6, google.rpc.Code", grpcFaults},
	{"connect", "connectrpc.com/connect", "connectrpc.com, error codes", connectFaults},
	{"googleapi", "google.golang.org/api", "gensupport.shouldRetry", googleFaults},
	{"azcore", "github.com/Azure/azure-sdk-for-go/sdk/azcore", "policy.RetryOptions.StatusCodes", azureFaults},
	{"go-github", "github.com/google/go-github/v81", "docs.github.com, rate limits", githubFaults},
	{"stripe-go", "github.com/stripe/stripe-go/v85", "BackendImplementation.shouldRetry", stripeFaults},
	{"openai-go", "github.com/openai/openai-go/v3", "requestconfig.shouldRetry", openaiFaults},
	{"minio-go", "github.com/minio/minio-go/v7", "retry.go", minioFaults},
	{"Kubernetes (apimachinery)", "k8s.io/apimachinery", "errors.SuggestsClientDelay, client-go rest.withRetry", kubernetesFaults},
	{"Vault", "github.com/hashicorp/vault/api", "DefaultRetryPolicy", vaultFaults},
	{"genai", "google.golang.org/genai", "ai.google.dev, troubleshooting", genaiFaults},
	{"slack-go", "github.com/slack-go/slack", "RateLimitedError.Retryable, StatusCodeError.Retryable", slackFaults},
	{"telegram-bot-api, discordgo, twilio-go", "github.com/go-telegram-bot-api/telegram-bot-api/v5 github.com/bwmarrin/discordgo github.com/twilio/twilio-go", "documentation of the APIs", messengerFaults},
	{"olivere/elastic, opensearch-go", "github.com/olivere/elastic/v7 github.com/opensearch-project/opensearch-go/v4", "RetryOnStatus of elastic-transport-go 8.9", searchFaults},
	{"Hetzner Cloud (hcloud)", "github.com/hetznercloud/hcloud-go/v2", "retryPolicy, comments of ErrorCode", hcloudFaults},
	{"Scaleway", "github.com/scaleway/scaleway-sdk-go", "comments of the types", scalewayFaults},
	{"OpenStack (gophercloud)", "github.com/gophercloud/gophercloud/v2", "documentation of the errors", openStackFaults},
	{"DNSimple", "github.com/dnsimple/dnsimple-go", "developer.dnsimple.com, response codes", dnsimpleFaults},
	{"Alibaba Cloud OSS", "github.com/aliyun/aliyun-oss-go-sdk", "documentation of the API, error responses", ossFaults},
	{"Tencent Cloud", "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common", "ratelimitretry.go, common error codes", tencentFaults},
	{"Docker (moby)", "github.com/moby/moby/client", "containerd/errdefs, errhttp", dockerFaults},
	{"Prometheus", "github.com/prometheus/client_golang", "HTTP API, format overview", prometheusFaults},
	{"LINE", "github.com/line/line-bot-sdk-go/v8", "Messaging API, status codes", lineFaults},
	{"Postmark", "github.com/mrz1836/postmark", "API error codes", postmarkFaults},
	{"Rollbar", "github.com/rollbar/rollbar-go", "HTTP statuses", rollbarFaults},
	{"Binance (go-binance)", "github.com/adshao/go-binance/v2", "API, error codes", binanceFaults},
	{"OpenFeature", "github.com/open-feature/go-sdk", "comments of ErrorCode", featureFaults},
	{"Juju (errors)", "github.com/juju/errors", "comments of the constants", jujuFaults},
	{"Teleport (trace)", "github.com/gravitational/trace", "comments of the types", traceFaults},
	{"oauth2", "golang.org/x/oauth2", "Config.DeviceAccessToken; RFC 8628", oauthFaults},
	{"gax-go", "github.com/googleapis/gax-go/v2", "OnCodes, OnHTTPCodes", gaxFaults},
	{"twirp", "github.com/twitchtv/twirp", "twirp specification, error codes", twirpFaults},
	{"Temporal", "go.temporal.io/api", "common/retry of the Go SDK", temporalFaults},
	{"kratos", "github.com/go-kratos/kratos/v2", "errors/types.go", kratosFaults},
	{"containerd (errdefs)", "github.com/containerd/errdefs", "errors.go", containerdFaults},
	{"PostgreSQL, CockroachDB (pgx)", "github.com/jackc/pgx/v5", "PostgreSQL Error Codes", pgxFaults},
	{"PostgreSQL, CockroachDB (lib/pq)", "github.com/lib/pq", "PostgreSQL Error Codes", pqFaults},
	{"MySQL, MariaDB (go-sql-driver)", "github.com/go-sql-driver/mysql", "MySQL 8.4 Error Message Reference", mysqlFaults},
	{"SQL Server (go-mssqldb)", "github.com/microsoft/go-mssqldb", "SqlServerTransientExceptionDetector of Entity Framework Core", sqlServerFaults},
	{"SQLite (modernc.org)", "modernc.org/sqlite", "sqlite.org/rescode.html", moderncFaults},
	{"SQLite (mattn)", "github.com/mattn/go-sqlite3", "sqlite.org/rescode.html", mattnFaults},
	{"SQLite (ncruces)", "github.com/ncruces/go-sqlite3", "sqlite.org/rescode.html", ncrucesFaults},
	{"migrate", "github.com/golang-migrate/migrate/v4", "documentation of the errors", migrateFaults},
	{"Redis (go-redis)", "github.com/redis/go-redis/v9", "shouldRetry", redisFaults},
	{"Redis (redigo)", "github.com/gomodule/redigo", "shouldRetry of go-redis", redigoFaults},
	{"Redis (rueidis)", "github.com/redis/rueidis", "retry.go; shouldRetry of go-redis", rueidisFaults},
	{"locks in Redis (redislock, redsync)", "github.com/bsm/redislock github.com/go-redsync/redsync/v4", "documentation of the errors", lockFaults},
	{"Cassandra (gocql)", "github.com/gocql/gocql", "documentation of the errors", gocqlFaults},
	{"MongoDB (mongo-driver)", "go.mongodb.org/mongo-driver/v2", "specifications of retryable reads and writes", mongoFaults},
	{"ClickHouse (clickhouse-go)", "github.com/ClickHouse/clickhouse-go/v2", "ErrorCodes.cpp", clickhouseFaults},
	{"ClickHouse (ch-go)", "github.com/ClickHouse/ch-go", "ErrorCodes.cpp", chFaults},
	{"Neo4j", "github.com/neo4j/neo4j-go-driver/v5", "IsRetryable", neo4jFaults},
	{"Oracle (go-ora)", "github.com/sijms/go-ora/v2", "OracleError.Bad; Oracle Database Error Messages", oracleFaults},
	{"Memcached (gomemcache)", "github.com/bradfitz/gomemcache", "resumableError", memcacheFaults},
	{"ZooKeeper (zk)", "github.com/go-zookeeper/zk", "ZooKeeper Programmer's Guide, recoverable errors", zookeeperFaults},
	{"etcd", "go.etcd.io/etcd/api/v3", "client/v3 retry_interceptor.go", etcdFaults},
	{"raft", "github.com/hashicorp/raft", "documentation of the errors", raftFaults},
	{"goleveldb", "github.com/syndtr/goleveldb", "documentation of the errors", levelFaults},
	{"Kafka (kafka-go)", "github.com/segmentio/kafka-go", "Error.Temporary; Kafka protocol guide", kafkaFaults},
	{"Kafka (sarama)", "github.com/IBM/sarama", "asyncProducer.retryMessages; Kafka protocol guide", saramaFaults},
	{"Kafka (franz-go)", "github.com/twmb/franz-go", "kerr.IsRetriable", franzFaults},
	{"RabbitMQ (amqp091-go)", "github.com/rabbitmq/amqp091-go", "AMQP 0-9-1, reply codes", amqp091Faults},
	{"AMQP 1.0 (go-amqp)", "github.com/Azure/go-amqp", "azservicebus, internal.GetRecoveryKind", goAMQPFaults},
	{"NATS", "github.com/nats-io/nats.go", "processAuthError; JetStream API errors", natsFaults},
	{"NSQ (go-nsq)", "github.com/nsqio/go-nsq", "nsqd, protocol specification", nsqFaults},
	{"MQTT 5 (paho)", "github.com/eclipse/paho.golang", "MQTT 5, section 3.2.2.2", mqttFaults},
	{"gorilla/websocket", "github.com/gorilla/websocket", "RFC 6455, section 7.4", webSocketFaults(gorillaClosed)},
	{"coder/websocket", "github.com/coder/websocket", "RFC 6455, section 7.4", webSocketFaults(coderClosed)},
	{"SMTP", "github.com/emersion/go-smtp github.com/wneessen/go-mail", "RFC 5321, section 4.2.1; SMTPError.Temporary", smtpFaults},
	{"FTP (jlaffaye/ftp)", "github.com/jlaffaye/ftp", "RFC 959, section 4.2.1", ftpFaults},
	{"LDAP (go-ldap)", "github.com/go-ldap/ldap/v3", "RFC 4511, appendix A", ldapFaults},
	{"SFTP (pkg/sftp)", "github.com/pkg/sftp", "draft-ietf-secsh-filexfer-02", sftpFaults},
}

const (
	responses = "responses of a scripted server"
	calls     = "calls of the library"
	values    = "the library's exported types and variables"
)

// origins says how the errors of a library arise, unless they are values.
var origins = map[string]string{
	"net, crypto/x509": "calls of a local server", "os, os/exec, encoding/json": calls, "net/http, net/url": "calls of a local server",
	"strconv, time, net/netip, regexp, text/template": calls, "markers of other libraries": calls,
	"grpc-go": "calls of a local server", "connect": "calls of a local server",
	"googleapi": responses, "azcore": responses, "go-github": responses, "stripe-go": responses, "openai-go": responses,
	"minio-go": responses, "Vault": responses,
	"genai": responses, "slack-go": responses,
	"telegram-bot-api, discordgo, twilio-go": responses, "olivere/elastic, opensearch-go": responses,
	"Hetzner Cloud (hcloud)": responses, "Scaleway": responses, "OpenStack (gophercloud)": responses, "DNSimple": responses,
	"Alibaba Cloud OSS": responses, "Docker (moby)": responses,
	"Prometheus": responses, "LINE": responses, "Postmark": responses,
	"oauth2":                        responses,
	"PostgreSQL, CockroachDB (pgx)": responses, "PostgreSQL, CockroachDB (lib/pq)": responses,
	"SQLite (modernc.org)": "statements", "SQLite (mattn)": "statements", "SQLite (ncruces)": "statements",
	"Redis (go-redis)": responses, "Redis (redigo)": responses, "Memcached (gomemcache)": responses,
	"SMTP": responses, "Redis (rueidis)": responses,
	"goleveldb": calls, "FTP (jlaffaye/ftp)": responses,
}

// TestErrors: the libraries' errors are classified as expected, and docs/errors.md lists
// all of them.
func TestErrors(t *testing.T) {
	var rows []string
	modules, errs, unused := map[string]bool{}, 0, maps.Clone(origins)
	for _, library := range libraries {
		faults := library.faults(t)
		for _, f := range faults {
			t.Run(library.name+"/"+f.name, func(t *testing.T) { check(t, f) })
		}
		var versions []string
		for module := range strings.FieldsSeq(library.modules) {
			modules[module] = true
			versions = append(versions, version(t, module))
		}
		origin, ok := origins[library.name]
		if !ok {
			origin = values
		}
		delete(unused, library.name)
		rows = append(rows, lines(library.name, strings.Join(versions, ", "), origin, library.source, faults)...)
		errs += len(faults)
	}
	assert.Empty(t, unused, "origins of no library")
	assert.GreaterOrEqual(t, len(modules), 60)
	assert.GreaterOrEqual(t, errs, 200)
	t.Logf("%d errors of %d modules and the standard library", errs, len(modules))
	checkPage(t, "| library | version | how the errors arise | class | errors | source of the class |\n|---|---|---|---|---|---|\n"+strings.Join(rows, ""))
}

// version returns the version of a module in go.mod.
func version(t *testing.T, module string) string {
	t.Helper()
	text, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(words) > 1 && words[0] == module {
			return strings.TrimSuffix(words[1], "+incompatible")
		}
	}
	t.Errorf("go.mod does not require %s", module)
	return ""
}

// check checks the classification of f's error and of errors that wrap it.
func check(t *testing.T, f fault) {
	require.Error(t, f.err)
	for _, err := range []error{f.err, fmt.Errorf("outer: %w", f.err), errors.Join(errors.New("other"), f.err), several{f.err, errors.New("other")}} {
		want := retry.Verdict{Class: f.class, Unrepeatable: f.unrepeatable, Hint: f.hint}
		alone := retry.Verdict{Class: f.class, Unrepeatable: f.unrepeatable}
		if f.class == unknown {
			want.Class = transient
		}
		assert.Equal(t, want, retry.Policy{Classifier: known.Classifier{}}.Classify(err), "%T: %v", f.err, f.err)
		assert.Equal(t, alone, known.Classifier{}.Classify(err), "%T: %v", f.err, f.err)
		byDefault := retry.DefaultClassifier{}.Classify(err)
		if f.known {
			assert.NotEqual(t, alone, byDefault, "%T: %v", f.err, f.err)
			assert.NotEqual(t, permanent, byDefault.Class, "%T: %v", f.err, f.err)
			continue
		}
		assert.Equal(t, alone, byDefault, "%T: %v", f.err, f.err)
		assert.Equal(t, want, retry.Policy{}.Classify(err), "%T: %v", f.err, f.err)
		assert.Equal(t, want, retry.Policy{Classifier: retry.FirstOf(retry.DefaultClassifier{})}.Classify(err))
	}
}

// several is an error of another package's that wraps more than one.
type several []error

func (s several) Error() string   { return fmt.Sprint(len(s), " errors") }
func (s several) Unwrap() []error { return s }

// sorted returns faults in the order of their names.
func sorted(faults []fault) []fault {
	slices.SortFunc(faults, func(a, b fault) int { return strings.Compare(a.name, b.name) })
	return faults
}

// lines returns one library's rows of the table, one per class.
func lines(name, version, origin, source string, faults []fault) []string {
	names := map[string][]string{}
	for _, f := range faults {
		class := f.class.String()
		switch {
		case f.class == unknown:
			class = "unknown, so transient"
		case f.unrepeatable:
			class = "unrepeatable (" + class + ")"
		}
		name := f.name
		if f.hint > 0 {
			name += " (with hint)"
		}
		if f.known {
			name += " (known)"
		}
		names[class] = append(names[class], name)
	}
	var rows []string
	for _, class := range slices.Sorted(maps.Keys(names)) {
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s | %s | %s |\n", name, version, origin, class, strings.Join(names[class], "; "), source))
		name, version, origin, source = "", "", "", ""
	}
	return rows
}

const errorsMD = "../../../docs/errors.md"

func errorsPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(errorsMD)
	require.NoError(t, err)
	return string(text)
}

// checkPage checks, or with -update writes, the table in docs/errors.md.
func checkPage(t *testing.T, table string) {
	t.Helper()
	text := errorsPage(t)
	before, rest, found := strings.Cut(text, "<!-- errors -->\n")
	require.True(t, found)
	_, after, found := strings.Cut(rest, "<!-- end -->\n")
	require.True(t, found)
	want := before + "<!-- errors -->\n" + table + "<!-- end -->\n" + after
	if *update {
		require.NoError(t, os.WriteFile(errorsMD, []byte(want), 0o644))
		return
	}
	if want != text { // both are too long to show
		t.Errorf("the table of %s is stale: go test -run '%s' -update", errorsMD, t.Name())
	}
}
