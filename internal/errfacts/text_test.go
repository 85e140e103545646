package errfacts

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestTexts: a text makes an error permanent only if no library retries it. The others are
// of errors that a library retries, or that come back in tests of one's own.
func TestTexts(t *testing.T) {
	for want, texts := range map[Class][]string{
		Permanent: {
			"leveldb: not found", "reference not found", "storage: object doesn't exist", "user does not exist", // goleveldb, go-git, storage, git
			"task already exists", "job too big", "resty: response body too large", "unauthorized", "not Authorized", // asynq, beanstalk, resty, go-tfe, paho
			"auth: permission denied", "operation not supported", "method not implemented", "authentication required", // etcd, trino, moby, go-git
			"invalid uuid", "fasthttp: invalid uri", "unsupported isolation level", "duplicated key not allowed", "closed pool",
			"flag already exists", "426 Upgrade Required", "packet for query is too large. Try adjusting the `Config.MaxAllowedPacket`", "404 Not Found",
			"no rows in result set", "orm: no rows in result set", "no such table", "no such table: users", "no such key", "queue not found",
			"NOT_FOUND", "NotFound", "AlreadyExists", "PERMISSION_DENIED", "UNAUTHENTICATED", "InvalidArgument", "db: NoSuchKey",
			"Not Found", "Bad Request", "Unauthorized", "Forbidden",
		},
		Unknown: {
			"", "x", "flaky", "kafka: broker for ID is not found", "raft: peer not found", "membership: ID not found", "session not found",
			"host not found", "replica not found yet", "not found yet", "lock already exists", "not", "found", "exists", "large", "supported",
			"invalid checksum", "invalid response", "invalid state", "unknown broker", "operation failed", "connection closed", "pool",
			"wait took too long", "zk: session has been expired by the server", "process does not exist", "node does not exist",
			"replication lag too large", "backlog too large", "426 Connection closed; transfer aborted",
			"Request rate is too large", "lock file already exists", "queue too large", "clock skew too large", "session already exists",
			"no such host", "no such server: a", "no such file or directory", "no such", "quota exceeded", "disk quota exceeded", "size limit exceeded",
			"UNAVAILABLE", "HostNotFound", "LEADER_NOT_FOUND", "InvalidState", "CANCELLED", "Not found yet", "Host Not Found", "Conflict", "Gone", "Internal Server Error", "iterator exhausted", "authentication",
			"nats: ", "sql:", "http: ", "unsupporte", "invalid ", "invalid", ": not", "already exist", "403 x",
		},
		Transient: {"driver: bad connection", "503 Service Unavailable", "503 Key not found", "502 Proxy authentication failed"},
		Throttled: {
			"429 Too Many Requests", "Too Many Requests", "too many requests", "rate limit exceeded", "API rate limit exceeded", "Rate exceeded", "rate limited",
			"rate limit reached for requests", "too many requests: later", "throttled", "request throttled", "throttling of writes",
			"openai: rate limit reached", "RESOURCE_EXHAUSTED", "ThrottlingException", "SlowDown",
		},
	} {
		for _, text := range texts {
			c, _ := Classify(errors.New(text), nil)
			assert.Equal(t, want, c, text)
		}
	}
}

// TestEndings: each of endings is found, whatever shares its slot.
func TestEndings(t *testing.T) {
	for _, e := range endings[1:] {
		if e.text == "" {
			break
		}
		assert.Equal(t, e.Class, ofPhrase(e.text), e.text)
		longer := map[where]Class{atEnd: e.Class, whole: Unknown, afterData: Unknown}[e.where]
		assert.Equal(t, longer, ofPhrase("such a thing "+e.text), e.text)
	}
}

func FuzzText(f *testing.F) {
	f.Add("sql: no rows in result set")
	f.Fuzz(func(t *testing.T, text string) { ofText(text) })
}

// namedText is an error that consists of its text, as those of many libraries do.
type namedText string

func (e namedText) Error() string { return string(e) }

// openAPIError has the fields of the GenericOpenAPIError of generated clients.
type openAPIError struct {
	body  []byte
	error string
}

func (e openAPIError) Error() string { return e.error }

func TestTextualTypes(t *testing.T) {
	for err, want := range map[error]Class{
		namedText("record not found"):                   Permanent,
		namedText("flaky"):                              Unknown,
		&openAPIError{[]byte("{}"), "404 Not Found"}:    Permanent,
		&openAPIError{error: "503 Service Unavailable"}: Transient,
		&openAPIError{error: "EOF"}:                     Unknown,
	} {
		c, _ := Classify(err, nil)
		assert.Equal(t, want, c, "%v", err)
	}
}
