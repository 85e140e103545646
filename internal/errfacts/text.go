package errfacts

import (
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
	if fallback == Unknown && len(text) >= 4 {
		fallback = ofPhrase(text)
	}
	return fallback, false
}

// ofPhrase returns the class of the text of an error of any library, without the library's
// name: throttled, or permanent if a retry would fail again. "not found" means that only
// about data: servers and connections come back.
//
// The words were chosen from the 12,000 error variables of 260 modules, and those that
// they recognize were read: no library retries those that are permanent.
func ofPhrase(text string) Class {
	switch text[0] {
	case 'i':
		if thing, ok := strings.CutPrefix(text, "invalid "); ok && hasWord(invalidThings, thing) {
			return Permanent
		}
	case 'n':
		if thing, ok := strings.CutPrefix(text, "no such "); ok && isNamed(thing) {
			return Permanent
		}
	case 'u':
		if strings.HasPrefix(text, "unsupported ") {
			return Permanent
		}
	case 'r', 'R', 't', 'T':
		if isThrottled(text[1:]) {
			return Throttled
		}
	}
	n := len(text)
	for i := firstEnding[(uint(text[n-1])+31*uint(text[n-3])+51*uint(text[n-4]))%1024]; i > 0; {
		e := &endings[i]
		i = e.next
		subject, ok := strings.CutSuffix(text, e.text)
		switch {
		case !ok, e.where == whole && subject != "", e.where == afterData && !isData(subject):
		case e.Class == Permanent && e.where == atEnd && hasPassingWord(subject):
		default:
			return e.Class
		}
	}
	return Unknown
}

// isNamed reports whether thing is a word for data, and perhaps a name after a colon, as in
// "table: users".
func isNamed(thing string) bool {
	thing, _, _ = strings.Cut(thing, ":")
	return hasWord(data, thing)
}

// isThrottled recognizes texts that say so, without their first letter.
func isThrottled(rest string) bool {
	switch rest[0] { // most differ here
	case 'a':
		return strings.HasPrefix(rest, "ate limit")
	case 'h':
		return strings.HasPrefix(rest, "hrottl")
	case 'o':
		return strings.HasPrefix(rest, "oo many requests")
	}
	return false
}

// phrases lists texts of any library, one a line, and where they must be in the text of an
// error to decide about its class.
var phrases = [...]struct {
	where
	Class
	texts string
}{
	{afterData, Permanent, "not found\n does not exist\n doesn't exist"},
	{atEnd, Permanent, "already exists\ntoo large\ntoo big\npermission denied\naccess denied\nnot supported\nunsupported\n" +
		"not implemented\nunimplemented\nnauthorized\nnot authorized\nnot Authorized\nauthentication required\n" +
		"authentication failed\nauthorization failed\nunauthenticated\nforbidden"},
	{whole, Permanent, "no rows in result set\ntoo many rows in result set\ntx is closed\nclosed pool\n" + // database/sql, pgx
		"executable file not found in $PATH\nexecutable file not found in %PATH%\n" + // exec.ErrNotFound
		"stopped after 10 redirects\nfile already closed\n" + // net/http, io/fs
		"token is malformed\ntoken signature is invalid\ntoken is expired\n" + // golang-jwt
		"task ID conflicts with another task\n" + // asynq
		"duplicated key not allowed\nviolates foreign key constraint\n" + // gorm
		"packet for query is too large. Try adjusting the `Config.MaxAllowedPacket`\n" + // go-sql-driver/mysql
		"record failed after being retried too many times\n" + // franz-go
		// Codes, and texts of http.StatusText.
		"NOT_FOUND\nNotFound\nNot Found\nnot_found\nALREADY_EXISTS\nAlreadyExists\nalready_exists\nINVALID_ARGUMENT\nInvalidArgument\n" +
		"BAD_REQUEST\nBadRequest\nBad Request\nPERMISSION_DENIED\nPermissionDenied\nACCESS_DENIED\nAccessDenied\nUNAUTHENTICATED\n" +
		"Unauthenticated\nUNAUTHORIZED\nUNIMPLEMENTED\nUnimplemented\nFORBIDDEN\nForbidden\nNoSuchKey\nNoSuchBucket"},
	{atEnd, Throttled, "too many requests\nrate limit exceeded\nRate exceeded\nrate limited\nthrottled"},
	{whole, Throttled, "TOO_MANY_REQUESTS\nTooManyRequests\nToo Many Requests\nRESOURCE_EXHAUSTED\nResourceExhausted\n" +
		"RATE_LIMITED\nRateLimited\nrate_limited\nrate_limit_exceeded\nThrottling\nThrottlingException\nSlowDown"},
}

// where says what a phrase must be of a text: its end, all of it, or its end after a word for
// data or nothing.
type where uint8

const (
	atEnd where = iota
	whole
	afterData
)

// An ending is one text of phrases.
type ending struct {
	text string
	where
	Class
	next uint8 // in the same slot, or 0
}

// endings contains the texts of phrases, from 1, and firstEnding is a hash table of them: by
// three of the last four bytes, which few other texts have.
var (
	endings     [80]ending
	firstEnding [1024]uint8
)

func init() {
	i := uint8(0)
	for j := range phrases {
		p := &phrases[j]
		for text, rest := "", p.texts; rest != ""; {
			text, rest, _ = strings.Cut(rest, "\n")
			n := len(text)
			first := &firstEnding[(uint(text[n-1])+31*uint(text[n-3])+51*uint(text[n-4]))%1024]
			i++
			endings[i] = ending{text, p.where, p.Class, *first}
			*first = i
		}
	}
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
	if status == 426 && text[4] == 'C' { // "Connection closed" of FTP, not "Upgrade Required"
		return 0
	}
	return status
}

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

const (
	data = "key Key record row document object item entry Entry user account file directory path task message bucket blob " +
		"reference repository resource branch tag role group secret token table schema column field queue stream consumer " +
		"project organization workspace team template image layer device order package module plugin method command function " +
		"certificate revision release page policy"
	invalidThings = "argument arguments parameter parameters name token credentials password username subject url URL uri uuid UUID " +
		"query syntax path topic key option options configuration algorithm input value request format id ID"
)

// passingWords are about states that pass: "lock file already exists", "queue too large",
// "replication lag too large", but not a flag.
var passingWords = [...]string{"lock", "queue", "rate", "skew", "session", " lag", "backlog"}

func hasPassingWord(text string) bool {
	for _, word := range passingWords[:] {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// isData reports whether subject ends with a word for data, or is empty.
func isData(subject string) bool {
	subject = strings.TrimSuffix(subject, " ")
	return subject == "" || hasItem(data, subject[strings.LastIndexByte(subject, ' ')+1:], ' ')
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
func isInvalidRequest(text string) bool {
	return strings.HasPrefix(text, "unsupported protocol scheme") || strings.HasPrefix(text, "net/http: invalid ")
}

// OfPlain returns the class of an error created by errors.New, and whether the operation
// may have taken effect. It reports false for other errors, and for those that are
// recognized by their identity, like context.Canceled.
func OfPlain(err error) (c Class, unrepeatable, ok bool) {
	if reflect.TypeOf(err) != plainError {
		return Unknown, false, false
	}
	text := err.Error()
	switch text { // of io.EOF, io.ErrUnexpectedEOF, context.Canceled and retry.ErrInvalid, but faster
	case "EOF", "unexpected EOF", "context canceled", "invalid":
		return Unknown, false, false
	}
	c, unrepeatable = ofText(text)
	return c, unrepeatable, true
}
