package errfacts

import (
	"reflect"
	"strings"
	"time"
)

// A said is what the type and the fields of one error say, as plain values. An answers is what its
// methods say. Both leave out the errors that it wraps. Only the functions of this file, and those
// that they call, look into an error; everything else decides about a said, an answers or the Facts
// that are made of them.
type said struct {
	number   int64    // in the field that its row names, or the error itself if it is a number
	text     string   // in the same field
	word     string   // a code in words beside the number
	kind     string   // a second such code
	json     string   // of the response
	reasons  []string // why a transaction was canceled
	state    string   // SQLSTATE, if the field with the number is another one
	routine  string   // of PostgreSQL
	notFound bool     // no such host
	errno    Variable // of a system error
	hint     time.Duration
	gaveUp   bool // a library ended with it, after retries of its own

	secondary bool // GitHub's secondary limit is exceeded
}

// An answers is what the methods of one error say. A method that panics says nothing.
type answers struct {
	status     int
	codeOfV1   string // of aws-sdk-go v1
	code       string
	message    string
	hasState   bool
	state      string // SQLSTATE
	routine    string // of PostgreSQL, which reports notSupported
	redis      string
	overloaded bool // the labels of MongoDB
	commitLost bool
	mongo      []int
	connection bool
	temporary  bool
	timeout    bool
	canceled   bool
	verdict    Verdict
	safe       bool // SafeToRetry: nothing was sent
	closed     bool // pgx noticed that the connection was lost before
}

// gather reads what the type and the fields of err say, whose value is v.
func (s *said) gather(info *typeInfo, err error, v reflect.Value) {
	switch info.origin {
	case foreign, overtime, notSent, localError, permanent, throttled, forbids, cancellation, addressError, badConnection, lostCommit:
	case textual, redisReply:
		s.text, _ = Guarded(err.Error)
	case systemError:
		s.errno = ofErrno(err)
	case sqliteError, kafkaError:
		s.number = codeOf(v)
	case giveUp: // a program may have switched off its retries
		s.gaveUp = number(v, info.field) != 1 && (v.Kind() != reflect.Slice || v.Len() > 1)
		return // what it asks for was for its own retries
	default:
		s.number, s.text = value(v, info.field)
		s.gatherBeside(info, err, v)
	}
	if info.reasons {
		s.reasons = texts(field(v, "CancellationReasons"), "Code")
	}
	if info.hinted {
		s.hint = info.waitIn(v, s)
	}
}

// gatherBeside reads the fields that say more than the one that the row of the type names.
func (s *said) gatherBeside(info *typeInfo, err error, v reflect.Value) {
	switch info.origin {
	case textStatus:
		s.number = statusIn(s.text)
	case secondaryStatus:
		s.secondary = true
	case rpcError:
		s.word = text(v, info.word)
		if s.word == "" && s.number == resourceExhausted {
			s.word, _ = Guarded(err.Error)
		}
	case withStatus, ownNumber, sdkStatus:
		s.word, s.kind = text(v, "Code"), text(v, "Type")
		if e, ok := err.(interface{ RawJSON() string }); ok {
			s.json, _ = Guarded(e.RawJSON)
		}
		s.secondary = (s.number == 403 || s.number == 429) && info.message != "" && SaysSecondary(text(v, info.message))
	case googleStatus:
		s.word = googleLimit(field(v, "Errors"))
	case mysqlError:
		s.state = stateOfMySQL(field(v, "SQLState"))
	case withState:
		s.routine = text(v, "Routine")
	case dnsError:
		found := field(v, "IsNotFound")
		s.notFound = found.Kind() == reflect.Bool && found.Bool()
	default:
		if info.word != "" {
			s.word = text(v, info.word)
		}
	}
}

// statusIn returns the HTTP status in a text such as "404 Not Found" or "client error: 429", or 0.
func statusIn(text string) int64 {
	for _, word := range [...]string{text[:max(0, strings.IndexByte(text+" ", ' '))], text[strings.LastIndexByte(text, ' ')+1:]} {
		n, ok := status(word)
		if ok {
			return int64(n)
		}
	}
	return 0
}

// googleLimit returns the reason of the items of a response that says that a limit was reached, or
// "". Several services send such errors with status 403.
func googleLimit(items reflect.Value) string {
	for _, reason := range texts(items, "Reason") {
		if reason == "rateLimitExceeded" || reason == "userRateLimitExceeded" {
			return reason
		}
	}
	return ""
}

func stateOfMySQL(v reflect.Value) string {
	if v.Kind() != reflect.Array || v.Len() != 5 {
		return ""
	}
	var state [5]byte
	for i := range state {
		state[i] = byte(v.Index(i).Uint())
	}
	return string(state[:])
}

// codeOf returns the number in the field of an error that is named code, or of an error
// that is a number itself.
func codeOf(v reflect.Value) int64 { return number(v, "Code") | number(v, "code") | number(v, "") }

// endsConnection reports whether the server closes the connection after this response,
// according to the severity in a field of pgx's and lib/pq's errors. Apart from
// idleInTransaction, the server may have failed after it wrote the commit record.
func endsConnection(v reflect.Value) bool {
	severity := text(v, "SeverityUnlocalized")
	if severity == "" {
		severity = text(v, "Severity")
	}
	return severity == "FATAL" || severity == "PANIC"
}
