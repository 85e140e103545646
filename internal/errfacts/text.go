package errfacts

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"reflect"
	"strings"
)

// ofText returns what the text of an error means, to recognize error variables. It is not
// a method of Facts, so that OfPlain's stack frame stays small.
func ofText(text string) (fallback Class, unrepeatable bool) {
	if len(text) < 5 {
		return Unknown, false
	}
	switch text {
	case "driver: bad connection":
		return Transient, false
	case "invalid connection", // of go-sql-driver/mysql: lost after the statement was sent
		"leadership lost while committing log": // of hashicorp/raft
		return Transient, true
	}
	if i := strings.IndexByte(text[:min(len(text), longestPrefix)], ':'); i > 0 {
		if hasPrefixed(text, i) {
			return Permanent, false
		}
		text = text[min(len(text), i+2):]
	} else if text[3] == ' ' {
		fallback = ofStatus(statusLine(text))
	}
	if fallback == Unknown && isPermanentText(text) {
		return Permanent, false
	}
	return fallback, false
}

// isPermanentText reports whether the text of an error of any library, without the
// library's name, means that a retry would fail again. "not found" does so only about
// data: servers and connections come back.
//
// The words were chosen from the 12,000 error variables of 260 modules, and those that
// they recognize were read: none is retried by its library.
func isPermanentText(text string) bool {
	if len(text) < 4 {
		return false
	}
	switch text[len(text)-4:] { // faster than each suffix
	case "ound":
		return isData(text, "not found")
	case "xist":
		return isData(text, " does not exist") || isData(text, " doesn't exist")
	case "ists", "arge", " big", "nied", "rted", "nted", "ized", "ised", "ired", "iled", "ated", "dden",
		"osed", "pool", "PATH", "ATH%", "ects", " set", "rmed", "alid", "imes", "owed", "aint", "ket`", "task":
		return hasEnding(text) || hasItem(otherTexts, text, '\n')
	}
	const invalid = "invalid "
	switch text[0] {
	case 'i':
		return strings.HasPrefix(text, invalid) && hasItem(invalidThings, text[len(invalid):], ' ')
	case 'u':
		return strings.HasPrefix(text, "unsupported ")
	}
	return false
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
var localErrors = [...]error{fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, fs.ErrInvalid, fs.ErrClosed, errors.ErrUnsupported}

// longestPrefix is the length of the longest prefix in permanentTexts, and its colon.
const longestPrefix = 12

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

// otherTexts lists texts without a prefix.
const otherTexts = "executable file not found in $PATH\nexecutable file not found in %PATH%\n" + // exec.ErrNotFound
	"stopped after 10 redirects\nfile already closed\n" + // net/http, io/fs
	"too many rows in result set\ntx is closed\nclosed pool\n" + // pgx
	"token is malformed\ntoken signature is invalid\ntoken is expired\n" + // golang-jwt
	"task ID conflicts with another task\n" + // asynq
	"duplicated key not allowed\nviolates foreign key constraint\n" + // gorm
	"packet for query is too large. Try adjusting the `Config.MaxAllowedPacket`\n" + // go-sql-driver/mysql
	"record failed after being retried too many times" // franz-go

const (
	permanentEndings = "already exists\ntoo large\ntoo big\npermission denied\naccess denied\nnot supported\nunsupported\n" +
		"not implemented\nunimplemented\nnauthorized\nnot authorized\nnot Authorized\nauthentication required\n" +
		"authentication failed\nauthorization failed\nunauthenticated\nforbidden"
	passingWords = "lock queue rate" // of states that pass: "lock file already exists", "queue too large"
	data         = "key Key record row document object item entry Entry user account file directory path task message bucket blob " +
		"reference repository resource branch tag role group secret token table schema column field queue stream consumer " +
		"project organization workspace team template image layer device order package module plugin method command function " +
		"certificate revision release page policy"
	invalidThings = "argument arguments parameter parameters name token credentials password username subject url URL uri uuid UUID " +
		"query syntax path topic key option options configuration algorithm input value request format id ID"
)

// hasEnding reports whether text ends with one of permanentEndings and has none of
// passingWords.
func hasEnding(text string) bool {
	for endings, ending := permanentEndings, ""; endings != ""; {
		if ending, endings, _ = strings.Cut(endings, "\n"); !strings.HasSuffix(text, ending) {
			continue
		}
		for words, word := passingWords, ""; words != ""; {
			if word, words, _ = strings.Cut(words, " "); strings.Contains(text, word) {
				return false
			}
		}
		return true
	}
	return false
}

// isData reports whether text ends with a word for data and then with suffix, or consists
// of suffix.
func isData(text, suffix string) bool {
	subject, ok := strings.CutSuffix(text, suffix)
	subject = strings.TrimSuffix(subject, " ")
	return ok && (subject == "" || hasItem(data, subject[strings.LastIndexByte(subject, ' ')+1:], ' '))
}

// hasPrefixed reports whether permanentTexts contains text, whose prefix ends at colon.
func hasPrefixed(text string, colon int) bool {
	for i := range permanentTexts {
		if p := &permanentTexts[i]; p.prefix == text[:colon] {
			return hasItem(p.texts, text[min(len(text), colon+2):], '\n')
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
func isInvalidRequest(err error) bool {
	text := err.Error()
	return strings.HasPrefix(text, "unsupported protocol scheme") || strings.HasPrefix(text, "net/http: invalid ")
}

// OfPlain returns the class of an error created by errors.New, and whether the operation
// may have taken effect. It reports false for other errors, and for those that are
// recognized by their identity, like io.EOF.
func OfPlain(err error) (c Class, unrepeatable, ok bool) {
	if reflect.TypeOf(err) != plainError || err == io.EOF || err == io.ErrUnexpectedEOF || err == context.Canceled {
		return Unknown, false, false
	}
	c, unrepeatable = ofText(err.Error())
	return c, unrepeatable, true
}
