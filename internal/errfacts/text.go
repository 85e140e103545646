package errfacts

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"reflect"
	"strings"
)

// ofPlain recognizes error variables by their text. It is not a method of Facts, so that
// IsPlain's stack frame stays small.
func ofPlain(err error) (fallback Class, unrepeatable bool) {
	text := err.Error()
	switch text {
	case "driver: bad connection":
		return Transient, false
	case "invalid connection", // of go-sql-driver/mysql: lost after the statement was sent
		"leadership lost while committing log": // of hashicorp/raft
		return Transient, true
	case "executable file not found in $PATH", "executable file not found in %PATH%", // exec.ErrNotFound
		"stopped after 10 redirects",                                 // net/http
		"tx is closed", "closed pool", "too many rows in result set", // pgx
		"not found", "record not found", "Key not found", // gocql, gorm, badger
		"token is malformed", "token is expired", "token signature is invalid", // golang-jwt
		"record failed after being retried too many times": // franz-go
		return Permanent, false
	}
	if i := strings.IndexByte(text[:min(len(text), longestPrefix)], ':'); i > 0 {
		if isPermanentText(text, i) {
			return Permanent, false
		}
	} else if len(text) > 4 && text[3] == ' ' {
		return ofStatus(statusLine(text)), false
	} else if len(text) >= 15 && len(text) <= 21 && isLocal(err) {
		return Permanent, false
	}
	return Unknown, false
}

// statusLine returns the status in a text such as "404 Not Found", the Status of an
// http.Response, or 0.
func statusLine(text string) (status int64) {
	if text[4] < 'A' || text[4] > 'Z' {
		return 0
	}
	for _, digit := range []byte(text[:3]) {
		if digit < '0' || digit > '9' {
			return 0
		}
		status = status*10 + int64(digit-'0')
	}
	return status
}

// localErrors are failures of the file system, or of the program, that a retry cannot fix.
// Their texts have 15 to 21 bytes.
var localErrors = [...]error{fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, fs.ErrInvalid, fs.ErrClosed, errors.ErrUnsupported}

func isLocal(err error) bool {
	for _, local := range localErrors {
		if err == local {
			return true
		}
	}
	return false
}

// longestPrefix is the length of the longest prefix in permanentTexts, and its colon.
const longestPrefix = 10

// permanentTexts lists the texts of errors that are permanent, one a line, without the
// prefix that the library begins them with.
var permanentTexts = [...]struct{ prefix, texts string }{
	{"sql", "no rows in result set\nconnection is already closed\ntransaction has already been committed or rolled back\ndatabase is closed"},
	{"http", "server gave HTTP response to HTTPS client\nno Host in request URL\nnil Request.URL\nRequest.RequestURI can't be set in client requests\nServer closed"},
	{"mongo", "no documents in result"},
	{"nats", "authorization violation\nauthentication expired\nauthentication revoked\naccount authentication expired\npermissions violation\n" +
		"maximum payload exceeded\ninvalid subject\ninvalid subscription\ninvalid argument\nmessage does not have a reply\nconnection closed"},
	{"zk", "node does not exist\nnode already exists\nversion conflict\nnot authenticated\nclient authentication failed\nnode has children\n" +
		"ephemeral nodes may not have children\ninvalid ACL specified\ninvalid flags specified\nzookeeper is closing"},
	{"redis", "client is closed\nnil"},
	{"redigo", "nil returned\nget on closed pool"},
	{"memcache", "cache miss\nitem not stored"},
	{"kafka", "message is larger than Consumer.Fetch.Max\ntried to use a client that was closed\npartitioner returned an invalid partition index\n" +
		"unknown SCRAM mechanism provided\npartition consumer giving up after consecutive failures"},
	{"malformed", "key is too long or contains invalid characters"}, // of gomemcache
}

// isPermanentText reports whether permanentTexts contains text, whose prefix ends at colon.
func isPermanentText(text string, colon int) bool {
	for i := range permanentTexts {
		if p := &permanentTexts[i]; p.prefix == text[:colon] {
			return hasLine(p.texts, text[colon+1:])
		}
	}
	return false
}

// hasLine reports whether lines contain text, which begins with a space.
func hasLine(lines, text string) bool {
	for lines != "" && text != "" {
		var line string
		if line, lines, _ = strings.Cut(lines, "\n"); line == text[1:] {
			return true
		}
	}
	return false
}

// isInvalidRequest recognizes errors of net/http that begin with a fixed text. They occur
// only within a url.Error.
func isInvalidRequest(err error) bool {
	text := err.Error()
	return strings.HasPrefix(text, "unsupported protocol scheme") || strings.HasPrefix(text, "net/http: invalid ")
}

// IsPlain reports whether err was created by errors.New and is recognized neither by its
// identity, like io.EOF, nor by its text.
func IsPlain(err error) bool {
	if reflect.TypeOf(err) != plainError || err == io.EOF || err == io.ErrUnexpectedEOF || err == context.Canceled {
		return false
	}
	c, _ := ofPlain(err)
	return c == Unknown
}
