package compat

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
)

var update = flag.Bool("update", false, "rewrite the table of docs/reference/errors.md")

// A fault is an error returned by a library, and its classification by a policy without a
// Classifier.
type fault struct {
	name         string
	err          error
	class        retry.Class
	unrepeatable bool
	hint         time.Duration
	unknown      bool // no rule knows it, so it is retried
}

const (
	unknown   = retry.ClassUnknown
	permanent = retry.ClassPermanent
	transient = retry.ClassTransient
	timeout   = retry.ClassTimeout
	throttled = retry.ClassThrottled
)

// libraries lists the libraries in the order of the table in docs/reference/errors.md.
var libraries = []struct {
	name   string
	source string // of the expected classes
	faults func(*testing.T) []fault
}{
	{"net, crypto/x509", "go-retryablehttp 0.7.8, baseRetryPolicy", networkFaults},
	{"os, os/exec, encoding/json", "documentation of the packages", localFaults},
	{"net/http, net/url", "go-retryablehttp 0.7.8, baseRetryPolicy", requestFaults},
	{"strconv, time, net/netip, regexp, text/template", "documentation of the packages", parseFaults},
	{"markers of other libraries", "documentation of the functions", markerFaults},
	{"database/sql", "documentation of database/sql", databaseFaults},
	{"grpc-go", "retryable codes of gRPC A6, google.rpc.Code", grpcFaults},
	{"connect", "connectrpc.com, error codes", connectFaults},
	{"googleapi", "gensupport.shouldRetry", googleFaults},
	{"azcore", "policy.RetryOptions.StatusCodes", azureFaults},
	{"go-github", "docs.github.com, rate limits", githubFaults},
	{"stripe-go", "BackendImplementation.shouldRetry", stripeFaults},
	{"openai-go", "requestconfig.shouldRetry", openaiFaults},
	{"minio-go", "retry.go", minioFaults},
	{"Kubernetes (apimachinery)", "errors.SuggestsClientDelay, client-go rest.withRetry", kubernetesFaults},
	{"Vault", "DefaultRetryPolicy", vaultFaults},
	{"genai", "ai.google.dev, troubleshooting", genaiFaults},
	{"slack-go", "RateLimitedError.Retryable, StatusCodeError.Retryable", slackFaults},
	{"telegram-bot-api, discordgo, twilio-go", "documentation of the APIs", messengerFaults},
	{"olivere/elastic, opensearch-go", "RetryOnStatus of elastic-transport-go 8.9", searchFaults},
	{"Hetzner Cloud (hcloud)", "retryPolicy, comments of ErrorCode", hcloudFaults},
	{"Scaleway", "comments of the types", scalewayFaults},
	{"OpenStack (gophercloud)", "documentation of the errors", openStackFaults},
	{"DNSimple", "developer.dnsimple.com, response codes", dnsimpleFaults},
	{"Alibaba Cloud OSS", "documentation of the API, error responses", ossFaults},
	{"Tencent Cloud", "ratelimitretry.go, common error codes", tencentFaults},
	{"Docker (moby)", "containerd/errdefs, errhttp", dockerFaults},
	{"Prometheus", "HTTP API, format overview", prometheusFaults},
	{"LINE", "Messaging API, status codes", lineFaults},
	{"Postmark", "API error codes", postmarkFaults},
	{"Rollbar", "HTTP statuses", rollbarFaults},
	{"Binance (go-binance)", "API, error codes", binanceFaults},
	{"OpenFeature", "comments of ErrorCode", featureFaults},
	{"Juju (errors)", "comments of the constants", jujuFaults},
	{"Teleport (trace)", "comments of the types", traceFaults},
	{"oauth2", "Config.DeviceAccessToken; RFC 8628", oauthFaults},
	{"gax-go", "OnCodes, OnHTTPCodes", gaxFaults},
	{"twirp", "twirp specification, error codes", twirpFaults},
	{"Temporal", "common/retry of the Go SDK", temporalFaults},
	{"kratos", "errors/types.go", kratosFaults},
	{"containerd (errdefs)", "errors.go", containerdFaults},
	{"PostgreSQL, CockroachDB (pgx)", "PostgreSQL Error Codes", pgxFaults},
	{"PostgreSQL, CockroachDB (lib/pq)", "PostgreSQL Error Codes", pqFaults},
	{"MySQL, MariaDB (go-sql-driver)", "MySQL 8.4 Error Message Reference", mysqlFaults},
	{"SQL Server (go-mssqldb)", "SqlServerTransientExceptionDetector of Entity Framework Core", sqlServerFaults},
	{"SQLite (modernc.org)", "sqlite.org/rescode.html", moderncFaults},
	{"SQLite (mattn)", "sqlite.org/rescode.html", mattnFaults},
	{"SQLite (ncruces)", "sqlite.org/rescode.html", ncrucesFaults},
	{"migrate", "documentation of the errors", migrateFaults},
	{"Redis (go-redis)", "shouldRetry", redisFaults},
	{"Redis (redigo)", "shouldRetry of go-redis", redigoFaults},
	{"Redis (rueidis)", "retry.go; shouldRetry of go-redis", rueidisFaults},
	{"locks in Redis (redislock, redsync)", "documentation of the errors", lockFaults},
	{"Cassandra (gocql)", "documentation of the errors", gocqlFaults},
	{"MongoDB (mongo-driver)", "specifications of retryable reads and writes", mongoFaults},
	{"ClickHouse (clickhouse-go)", "ErrorCodes.cpp", clickhouseFaults},
	{"ClickHouse (ch-go)", "ErrorCodes.cpp", chFaults},
	{"Neo4j", "IsRetryable", neo4jFaults},
	{"Oracle (go-ora)", "OracleError.Bad; Oracle Database Error Messages", oracleFaults},
	{"Memcached (gomemcache)", "resumableError", memcacheFaults},
	{"ZooKeeper (zk)", "ZooKeeper Programmer's Guide, recoverable errors", zookeeperFaults},
	{"etcd", "client/v3 retry_interceptor.go", etcdFaults},
	{"raft", "documentation of the errors", raftFaults},
	{"goleveldb", "documentation of the errors", levelFaults},
	{"Kafka (kafka-go)", "Error.Temporary; Kafka protocol guide", kafkaFaults},
	{"Kafka (sarama)", "asyncProducer.retryMessages; Kafka protocol guide", saramaFaults},
	{"Kafka (franz-go)", "kerr.IsRetriable", franzFaults},
	{"RabbitMQ (amqp091-go)", "AMQP 0-9-1, reply codes", amqp091Faults},
	{"AMQP 1.0 (go-amqp)", "azservicebus, internal.GetRecoveryKind", goAMQPFaults},
	{"NATS", "processAuthError; JetStream API errors", natsFaults},
	{"NSQ (go-nsq)", "nsqd, protocol specification", nsqFaults},
	{"MQTT 5 (paho)", "MQTT 5, section 3.2.2.2", mqttFaults},
	{"gorilla/websocket", "RFC 6455, section 7.4", webSocketFaults(gorillaClosed)},
	{"coder/websocket", "RFC 6455, section 7.4", webSocketFaults(coderClosed)},
	{"SMTP", "RFC 5321, section 4.2.1; SMTPError.Temporary", smtpFaults},
	{"FTP (jlaffaye/ftp)", "RFC 959, section 4.2.1", ftpFaults},
	{"LDAP (go-ldap)", "RFC 4511, appendix A", ldapFaults},
	{"SFTP (pkg/sftp)", "draft-ietf-secsh-filexfer-02", sftpFaults},
}

// TestErrors: the libraries' errors are classified as expected, and docs/reference/errors.md lists
// all of them.
func TestErrors(t *testing.T) {
	var byDefault table
	errs := 0
	for _, library := range libraries {
		faults := library.faults(t)
		for _, f := range faults {
			t.Run(library.name+"/"+f.name, func(t *testing.T) { check(t, f) })
		}
		byDefault.add(library.name, faults)
		errs += len(faults)
	}
	assert.GreaterOrEqual(t, errs, 200)
	checkPage(t, "errors", byDefault)
}

// check checks the classification of f's error and of errors that wrap it.
func check(t *testing.T, f fault) {
	require.Error(t, f.err)
	wrapping := []error{f.err, fmt.Errorf("outer: %w", f.err), errors.Join(f.err, f.err), errors.Join(errors.New("other"), f.err), several{f.err, errors.New("other")}}
	if isCancellation(f.name) { // beside another failure, that one decides
		wrapping = wrapping[:3]
	}
	for _, err := range wrapping {
		want := retry.Verdict{Class: f.class, Unrepeatable: f.unrepeatable, Hint: f.hint}
		alone := retry.Verdict{Class: f.class, Unrepeatable: f.unrepeatable}
		byDefault := retry.DefaultClassifier{}.Classify(err)
		if f.unknown {
			assert.NotEqual(t, alone, byDefault, "%T: %v", f.err, f.err)
			assert.NotEqual(t, permanent, byDefault.Class, "%T: %v", f.err, f.err)
			continue
		}
		assert.Equal(t, alone, byDefault, "%T: %v", f.err, f.err)
		assert.Equal(t, want, retry.Policy{}.Classify(err), "%T: %v", f.err, f.err)
		assert.Equal(t, want, retry.Policy{Classifier: retry.FirstOf(retry.DefaultClassifier{})}.Classify(err))
	}
}

// isCancellation reports whether a fault may be that the caller canceled the operation.
func isCancellation(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "cancel") || strings.Contains(name, "interrupted") || name == "alone"
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

// A table has a row for each library, or for several whose errors are the same.
type table struct{ names, errors []string }

// add adds a library with its faults. What no rule knows, and what has the class of its HTTP status, is left out.
func (tab *table) add(library string, faults []fault) {
	var columns [3][]string
	for _, f := range faults {
		column, name := 0, f.name
		switch {
		case f.unknown, f.class == classOfStatus(f.name):
			continue
		case f.unrepeatable:
			column, name = 2, name+" (unrepeatable)"
		case f.class == permanent:
			column = 2
		case f.class == throttled:
			column = 1
		}
		if f.hint > 0 {
			name += " (with hint)"
		}
		columns[column] = append(columns[column], name)
	}
	errs := fmt.Sprintf("%s | %s | %s", strings.Join(columns[0], "; "), strings.Join(columns[1], "; "), strings.Join(columns[2], "; "))
	switch i := slices.Index(tab.errors, errs); {
	case errs == " |  | ":
	case i >= 0:
		tab.names[i] += ", " + library
	default:
		tab.names, tab.errors = append(tab.names, library), append(tab.errors, errs)
	}
}

// errorsPage returns the page with the rules.
func errorsPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/errors.md")
	require.NoError(t, err)
	return string(text)
}

type statusError int

func (statusError) Error() string         { return "failed" }
func (e statusError) HTTPStatusCode() int { return int(e) }

// classOfStatus returns the class of an HTTP status, such as "404", and unknown for other
// names.
func classOfStatus(name string) retry.Class {
	status, err := strconv.Atoi(name)
	if err != nil {
		return unknown
	}
	return retry.DefaultClassifier{}.Classify(statusError(status)).Class
}

// checkPage checks, or with -update writes, the table of docs/reference/errors.md.
func checkPage(t *testing.T, mark string, tab table) {
	t.Helper()
	const page = "../../docs/reference/errors.md"
	var rows strings.Builder
	rows.WriteString("| library | retried | throttled | not retried |\n|---|---|---|---|\n")
	for i, name := range tab.names {
		fmt.Fprintf(&rows, "| %s | %s |\n", name, tab.errors[i])
	}
	data, err := os.ReadFile(page)
	require.NoError(t, err)
	text := string(data)
	before, rest, found := strings.Cut(text, "<!-- "+mark+" -->\n")
	require.True(t, found)
	_, after, found := strings.Cut(rest, "<!-- end -->\n")
	require.True(t, found)
	want := before + "<!-- " + mark + " -->\n" + rows.String() + "<!-- end -->\n" + after
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(want), 0o644))
		return
	}
	if want != text { // both are too long to show
		t.Errorf("table %q of %s is stale: go test -run '%s' -update", mark, page, t.Name())
	}
}
