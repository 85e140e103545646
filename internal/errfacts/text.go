package errfacts

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"reflect"
	"strings"
)

// OfPlain returns the class of an error created by errors.New, and whether the operation may
// have taken effect. It reports false for other errors.
func OfPlain(err error) (c Class, unrepeatable, ok bool) {
	if reflect.TypeOf(err) != plainError {
		return Unknown, false, false
	}
	kind, c, unrepeatable := ofPlain(err)
	switch {
	case kind != NoKind:
		c = Transient
	case c == Canceled:
		c = Permanent
	}
	return c, unrepeatable, true
}

// ofPlain returns what an error created by errors.New means. It is not a method of Facts, so
// that the common error needs none.
func ofPlain(err error) (kind Kind, c Class, unrepeatable bool) {
	text := err.Error()
	switch text { // only to know which variable to compare with: all comparisons would take 9 ns
	case "EOF", "unexpected EOF", "context canceled", "file does not exist", "file already exists", "permission denied", "file already closed", "unsupported operation", "invalid argument":
		return ofVariable(err)
	}
	c, unrepeatable = ofText(text)
	return NoKind, c, unrepeatable
}

// ofVariable returns what a variable of the standard library means.
func ofVariable(err error) (kind Kind, c Class, unrepeatable bool) {
	switch err {
	case io.EOF:
		return Closed, Unknown, false
	case io.ErrUnexpectedEOF:
		return Truncated, Unknown, false
	case context.Canceled: // the operation's own: Do checks the caller's
		return NoKind, Canceled, false
	case fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, fs.ErrClosed, fs.ErrInvalid, errors.ErrUnsupported:
		return NoKind, Permanent, false
	}
	return NoKind, Unknown, false
}

// ofText returns what the text of an error variable of another package means, which cannot
// be compared without importing that package. Only texts that begin with the name of their
// package make an error permanent.
func ofText(text string) (fallback Class, unrepeatable bool) {
	switch text {
	case "invalid connection", // of go-sql-driver/mysql: lost after the statement was sent
		"leadership lost while committing log": // of hashicorp/raft
		return Transient, true
	case "driver: bad connection":
		return Transient, false
	case "executable file not found in $PATH", "executable file not found in %PATH%": // exec.ErrNotFound
		return Permanent, false
	}
	if i := strings.IndexByte(text[:min(len(text), longestPrefix)], ':'); i > 0 && isSentinel(text, i) {
		return Permanent, false
	}
	return Unknown, false
}

// IsUnrepeatableByText reports whether err is or wraps an error variable that is unrepeatable
// because of its text, which another program may use for something else.
func IsUnrepeatableByText(err error) bool {
	for e := range All(err) {
		if _, unrepeatable, _ := OfPlain(e); unrepeatable {
			return true
		}
	}
	return false
}

// longestPrefix is the length of the longest prefix in sentinels, and its colon.
const longestPrefix = 13

// sentinels lists the texts of error variables that are permanent, one a line, without the
// prefix that the library begins them with.
var sentinels = [...]struct{ prefix, texts string }{
	{"sql", "no rows in result set\nconnection is already closed\ntransaction has already been committed or rolled back\ndatabase is closed"},
	{"http", "server gave HTTP response to HTTPS client\nno Host in request URL\nnil Request.URL\nRequest.RequestURI can't be set in client requests\nServer closed"},
	{"mongo", "no documents in result"},
	{"nats", "authorization violation\nauthentication expired\nauthentication revoked\naccount authentication expired\npermissions violation\n" +
		"maximum payload exceeded\ninvalid subject\ninvalid subscription\ninvalid argument\nmessage does not have a reply\nconnection closed\n" +
		"key not found"},
	{"zk", "node does not exist\nnode already exists\nversion conflict\nnot authenticated\nclient authentication failed\nnode has children\n" +
		"ephemeral nodes may not have children\ninvalid ACL specified\ninvalid flags specified\nzookeeper is closing"},
	{"leveldb", "not found"},
	{"redis", "client is closed\nnil"},
	{"encoding/hex", "odd length hex string"},
	{"redigo", "nil returned\nget on closed pool"},
	{"memcache", "cache miss\nitem not stored"},
	{"kafka", "message is larger than Consumer.Fetch.Max\ntried to use a client that was closed\npartitioner returned an invalid partition index\n" +
		"unknown SCRAM mechanism provided\npartition consumer giving up after consecutive failures"},
}

// isSentinel reports whether sentinels contains text, whose prefix ends at colon.
func isSentinel(text string, colon int) bool {
	for i := range sentinels {
		if s := &sentinels[i]; s.prefix == text[:colon] {
			return hasItem(s.texts, text[min(len(text), colon+2):], '\n')
		}
	}
	return false
}

// hasItem reports whether a list contains item, if that is not empty.
func hasItem(list, item string, separator byte) bool {
	for item != "" {
		i := strings.Index(list, item)
		if i < 0 {
			break
		}
		end := i + len(item)
		if (i == 0 || list[i-1] == separator) && (end == len(list) || list[end] == separator) {
			return true
		}
		list = list[end:]
	}
	return false
}

// isInvalidRequest recognizes errors of net/http that begin with a fixed text. They occur
// only within a url.Error.
func isInvalidRequest(text string) bool {
	return strings.HasPrefix(text, "unsupported protocol scheme") || strings.HasPrefix(text, "net/http: invalid ") || text == "stopped after 10 redirects"
}
