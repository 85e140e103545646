package errfacts

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestTexts: only the whole text of an error variable counts, with the name of its package.
func TestTexts(t *testing.T) {
	for want, texts := range map[Class][]string{
		Permanent: {
			"sql: no rows in result set", "http: Server closed", "nats: connection closed", "zk: node does not exist", "redis: nil", "redigo: nil returned",
			"memcache: cache miss", "mongo: no documents in result", "kafka: tried to use a client that was closed", "executable file not found in $PATH",
		},
		Unknown: {
			"", "x", "flaky", ":", "sql:", "sql: ", "sql: no rows", "no rows in result set", "find user: sql: no rows in result set", "redis: nil pointer",
			"order not found", "record not found", "user already exists", "permission denied: bucket", "unauthorized", "invalid argument", "EOF", "context canceled",
			"404 Not Found", "429 Too Many Requests", "rate limit exceeded", "NOT_FOUND", "AccessDenied", "file does not exist", "zk: session has been expired by the server",
		},
		Transient: {"driver: bad connection", "invalid connection", "leadership lost while committing log"},
	} {
		for _, text := range texts {
			c, unrepeatable := Classify(errors.New(text))
			assert.Equal(t, want, c, text)
			assert.Equal(t, want == Transient && text[:6] != "driver", unrepeatable, text)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("sql: no rows in result set")
	f.Fuzz(func(t *testing.T, text string) { _ = ofText(text) })
}

// namedText is an error that consists of its text, as the constants of some libraries do.
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
		namedText("redis: nil"):                         Permanent,
		namedText("record not found"):                   Unknown,
		&openAPIError{[]byte("{}"), "404 Not Found"}:    Unknown,
		&openAPIError{error: "503 Service Unavailable"}: Unknown,
	} {
		c, _ := Classify(err)
		assert.Equal(t, want, c, "%v", err)
	}
}
