package compat

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
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
	name   string
	faults func(*testing.T) []fault
}{
	{"net, crypto/x509", networkFaults},
	{"os, os/exec, encoding/json", localFaults},
	{"database/sql", databaseFaults},
	{"grpc-go", grpcFaults},
	{"connect", connectFaults},
	{"googleapi", googleFaults},
	{"azcore", azureFaults},
	{"go-github", githubFaults},
	{"stripe-go", stripeFaults},
	{"openai-go", openaiFaults},
	{"minio-go", minioFaults},
	{"Kubernetes (apimachinery)", kubernetesFaults},
	{"Vault", vaultFaults},
	{"GitLab", gitlabFaults},
	{"DigitalOcean (godo)", godoFaults},
	{"Linode (linodego)", linodeFaults},
	{"anthropic-sdk-go", anthropicFaults},
	{"go-openai", gopenaiFaults},
	{"genai", genaiFaults},
	{"PagerDuty", pagerDutyFaults},
	{"slack-go", slackFaults},
	{"telegram-bot-api, discordgo, twilio-go", messengerFaults},
	{"olivere/elastic, opensearch-go", searchFaults},
	{"InfluxDB (influxdb-client-go)", influxFaults},
	{"oauth2", oauthFaults},
	{"gax-go", gaxFaults},
	{"twirp", twirpFaults},
	{"Temporal", temporalFaults},
	{"kratos", kratosFaults},
	{"containerd (errdefs)", containerdFaults},
	{"PostgreSQL, CockroachDB (pgx)", pgxFaults},
	{"PostgreSQL, CockroachDB (lib/pq)", pqFaults},
	{"MySQL, MariaDB (go-sql-driver)", mysqlFaults},
	{"SQL Server (go-mssqldb)", sqlServerFaults},
	{"SQLite (modernc.org)", moderncFaults},
	{"SQLite (mattn)", mattnFaults},
	{"SQLite (ncruces)", ncrucesFaults},
	{"Redis (go-redis)", redisFaults},
	{"Redis (redigo)", redigoFaults},
	{"MongoDB (mongo-driver)", mongoFaults},
	{"ClickHouse (clickhouse-go)", clickhouseFaults},
	{"ClickHouse (ch-go)", chFaults},
	{"Neo4j", neo4jFaults},
	{"Oracle (go-ora)", oracleFaults},
	{"Memcached (gomemcache)", memcacheFaults},
	{"ZooKeeper (zk)", zookeeperFaults},
	{"etcd", etcdFaults},
	{"badger, bbolt, raft", embeddedFaults},
	{"Kafka (kafka-go)", kafkaFaults},
	{"Kafka (sarama)", saramaFaults},
	{"Kafka (franz-go)", franzFaults},
	{"RabbitMQ (amqp091-go)", amqp091Faults},
	{"AMQP 1.0 (go-amqp)", goAMQPFaults},
	{"NATS", natsFaults},
	{"gorilla/websocket", webSocketFaults(gorillaClosed)},
	{"coder/websocket", webSocketFaults(coderClosed)},
	{"quic-go", quicFaults},
	{"SMTP", smtpFaults},
	{"FTP (jlaffaye/ftp)", ftpFaults},
	{"LDAP (go-ldap)", ldapFaults},
	{"SFTP (pkg/sftp)", sftpFaults},
}

// TestErrors: the libraries' errors are classified as expected, and docs/errors.md lists
// all of them.
func TestErrors(t *testing.T) {
	var names, contents []string
	for _, library := range libraries {
		faults := library.faults(t)
		for _, f := range faults {
			t.Run(library.name+"/"+f.name, func(t *testing.T) { check(t, f) })
		}
		content := lines(faults)
		if i := slices.Index(contents, content); i >= 0 {
			names[i] += ", " + library.name
			continue
		}
		names, contents = append(names, library.name), append(contents, content)
	}
	var table strings.Builder
	table.WriteString("| library | class | errors |\n|---|---|---|\n")
	for i, content := range contents {
		table.WriteString("| " + names[i] + " " + content)
	}
	checkPage(t, "errors", table.String())
}

// check checks the classification of f's error and of errors that wrap it.
func check(t *testing.T, f fault) {
	require.Error(t, f.err)
	for _, err := range []error{f.err, fmt.Errorf("outer: %w", f.err), errors.Join(errors.New("other"), f.err)} {
		got := retry.Policy{}.Classify(err)
		want := retry.Verdict{Class: f.class, Unrepeatable: f.unrepeatable, Hint: f.hint}
		if f.class == unknown {
			want.Class = transient
		}
		assert.Equal(t, want, got, "%T: %v", f.err, f.err)
		alone := retry.Verdict{Class: f.class, Unrepeatable: f.unrepeatable}
		assert.Equal(t, alone, retry.DefaultClassifier{}.Classify(err), "%T: %v", f.err, f.err)
		assert.Equal(t, want, retry.Policy{Classifier: retry.FirstOf(retry.DefaultClassifier{})}.Classify(err))
	}
}

// sorted returns faults in the order of their names.
func sorted(faults []fault) []fault {
	slices.SortFunc(faults, func(a, b fault) int { return strings.Compare(a.name, b.name) })
	return faults
}

// lines returns one library's rows of the table, one per class, without the library's name.
func lines(faults []fault) string {
	var order []string
	names := map[string][]string{}
	for _, f := range faults {
		class := f.class.String()
		switch {
		case f.class == unknown:
			class = "unknown, so transient"
		case f.unrepeatable:
			class = "unrepeatable (" + class + ")"
		}
		if !slices.Contains(order, class) {
			order = append(order, class)
		}
		name := f.name
		if f.hint > 0 {
			name += " (with hint)"
		}
		names[class] = append(names[class], name)
	}
	slices.Sort(order)
	var rows []string
	for _, class := range order {
		rows = append(rows, fmt.Sprintf("| %s | %s |\n", class, strings.Join(names[class], "; ")))
	}
	return strings.Join(rows, "| ")
}

// checkPage checks, or with -update writes, what is between two marks of docs/errors.md.
func checkPage(t *testing.T, mark, table string) {
	t.Helper()
	const page = "../../docs/errors.md"
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(text), "<!-- "+mark+" -->\n")
	require.True(t, found)
	_, after, found := strings.Cut(rest, "<!-- end -->\n")
	require.True(t, found)
	want := before + "<!-- " + mark + " -->\n" + table + "<!-- end -->\n" + after
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(want), 0o644))
		return
	}
	if want != string(text) { // both are too long to show
		t.Errorf("the table of %s is stale: go test -run '%s' -update", page, t.Name())
	}
}
