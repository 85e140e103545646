package errfacts

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"reflect"
	"strings"
)

// A Variable is what is known about an error variable, such as io.EOF.
type Variable struct {
	Kind         Kind
	Class        Class
	Unrepeatable bool
	broken       bool // the connection was lost, or could not be made
}

func (v Variable) class() Class {
	switch {
	case v.Kind != NoKind:
		return Transient
	case v.Class == Canceled:
		return Permanent
	}
	return v.Class
}

// plainError is the type of the errors that errors.New creates.
var plainError = reflect.TypeOf(errors.New(""))

// IsPlain reports whether errors.New created err, so that err wraps nothing and has no
// other methods.
func IsPlain(err error) bool { return reflect.TypeOf(err) == plainError }

// OfVariable returns what is known about an error that is plain. A variable of the standard
// library that this package can import is compared; its text only says with which one.
func OfVariable(err error) Variable {
	text := err.Error()
	switch text {
	case "EOF":
		return known(err == io.EOF, Variable{Kind: Closed})
	case "unexpected EOF":
		return known(err == io.ErrUnexpectedEOF, Variable{Kind: Truncated})
	case "context canceled": // the operation's own: Do checks the caller's
		return known(err == context.Canceled, Variable{Class: Canceled})
	case "file does not exist", "file already exists", "permission denied", "file already closed", "unsupported operation", "invalid argument":
		switch err {
		case fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, fs.ErrClosed, fs.ErrInvalid, errors.ErrUnsupported:
			return Variable{Class: Permanent}
		}
		return Variable{}
	}
	return ofText(text)
}

func known(same bool, v Variable) Variable {
	if !same {
		return Variable{}
	}
	return v
}

// ofText returns what the text of an error variable of another package means, which cannot
// be compared without importing that package. Apart from one of pgx, only texts that begin
// with the name of their package make an error permanent.
func ofText(text string) Variable {
	switch text {
	case "invalid connection": // of go-sql-driver/mysql: lost after the statement was sent
		return Variable{Class: Transient, Unrepeatable: true, broken: true}
	case "leadership lost while committing log": // of hashicorp/raft
		return Variable{Class: Transient, Unrepeatable: true}
	case "driver: bad connection":
		return Variable{Class: Transient, broken: true}
	case "too many rows in result set": // of pgx, beside "no rows in result set", which wraps that of database/sql
		return Variable{Class: Permanent}
	case "the maximum amount of records are buffered, cannot buffer more": // of franz-go
		return Variable{Class: Throttled}

	case "executable file not found in $PATH", "executable file not found in %PATH%", // exec.ErrNotFound

		"sql: no rows in result set", "sql: connection is already closed", "sql: database is closed",
		"sql: transaction has already been committed or rolled back",

		"http: server gave HTTP response to HTTPS client", "http: no Host in request URL", "http: nil Request.URL",
		"http: Request.RequestURI can't be set in client requests", "http: Server closed",

		"encoding/hex: odd length hex string",

		"mongo: no documents in result", "leveldb: not found", "redis: client is closed", "redis: nil",
		"redigo: nil returned", "redigo: get on closed pool", "memcache: cache miss", "memcache: item not stored",

		"nats: authorization violation", "nats: authentication expired", "nats: authentication revoked",
		"nats: account authentication expired", "nats: permissions violation", "nats: maximum payload exceeded",
		"nats: invalid subject", "nats: invalid subscription", "nats: invalid argument",
		"nats: message does not have a reply", "nats: connection closed", "nats: key not found",

		"zk: node does not exist", "zk: node already exists", "zk: version conflict", "zk: not authenticated",
		"zk: client authentication failed", "zk: node has children", "zk: ephemeral nodes may not have children",
		"zk: invalid ACL specified", "zk: invalid flags specified", "zk: zookeeper is closing",

		"kafka: message is larger than Consumer.Fetch.Max", "kafka: tried to use a client that was closed",
		"kafka: partitioner returned an invalid partition index", "kafka: unknown SCRAM mechanism provided",
		"kafka: partition consumer giving up after consecutive failures":
		return Variable{Class: Permanent}
	}
	if strings.HasPrefix(text, "ssh: unable to authenticate, ") { // the methods that were tried follow
		return Variable{Class: Permanent}
	}
	return Variable{}
}

// isInvalidRequest recognizes errors of net/http that begin with a fixed text. They occur
// only within a url.Error.
func isInvalidRequest(text string) bool {
	return strings.HasPrefix(text, "unsupported protocol scheme") || strings.HasPrefix(text, "net/http: invalid ") || text == "stopped after 10 redirects"
}
